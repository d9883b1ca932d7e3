"""shardax/experimental/sparse/_base.py - the base class of sparse arrays."""

import math

import shardax._core as _core
from shardax.tree_util import tree_leaves


class SparseEfficiencyError(ValueError):
    """A layout would store many zeros."""


class SparseEfficiencyWarning(UserWarning):
    """A layout stores many zeros."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A name of JAX's; there is no cuSPARSE here."""


def _without(shape, batches):
    """`shape` without the one dimension that leaves room for batch dimensions of these sizes."""
    for d in range(len(batches) + 1):
        rest = shape[:d] + shape[d + 1 :]
        if all(b in (0, 1, n) for b, n in zip(batches, rest)):
            return rest
    return shape[1:]


def mapped_shape(aux, batches):
    """The static part of an array whose leaves now have batch dimensions of these sizes. There are
    fewer after vmap took some away, more after it put them back.
    """
    shape = aux["shape"]
    for k in range(aux["n_batch"] - 1, len(batches) - 1, -1):
        shape = _without(shape, batches[:k]) if k == len(batches) else shape[1:]
    for k in range(aux["n_batch"], len(batches)):
        grown = [(*shape[:d], batches[d], *shape[d:]) for d in range(k + 1)]
        fits = [g for g in grown if all(b in (0, 1, n) for b, n in zip(batches, g))]
        shape = (fits or grown)[0]
    return {**{k: v for k, v in aux.items() if k != "n_batch"}, "shape": shape}


def unavailable(name):
    def method(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self)}.{name}")

    method.__name__ = name
    return method


class JAXSparse:
    """An array that stores the elements which are not zero. Subclasses are trees of arrays, and
    keep `args` themselves.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.eye(3)
      >>> isinstance(M, sparse.JAXSparse), M.shape, M.dtype
      (True, (3, 3), dtype('float32'))
    """

    __hash__ = None
    __array_priority__ = 1000

    def __init__(self, args, *, shape):
        self.shape = tuple(int(n) for n in shape)

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def size(self):
        """The number of elements, stored or not."""
        return math.prod(self.shape)

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def T(self):
        """The transpose."""
        return self.transpose()

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        name = type(self).__name__
        try:
            more = "".join(
                f", {key}={getattr(self, key)}"
                for key in ("n_batch", "n_dense")
                if getattr(self, key, 0)
            )
            text = f"{name}({self.dtype}{list(self.shape)}, nse={self.nse}{more})"
        except Exception:  # a tree of something else than arrays
            text = f"{name}(<invalid>)"
        if isinstance(getattr(self, "data", None), _core.Tracer):
            return f"{type(self.data).__name__}[{text}]"
        return text

    def block_until_ready(self):
        """Itself, once it is computed."""
        for leaf in tree_leaves(self):
            leaf.block_until_ready()
        return self

    sum = unavailable("sum")
    __neg__ = unavailable("__neg__")
    __pos__ = unavailable("__pos__")
    __matmul__ = unavailable("__matmul__")
    __rmatmul__ = unavailable("__rmatmul__")
    __mul__ = unavailable("__mul__")
    __rmul__ = unavailable("__rmul__")
    __add__ = unavailable("__add__")
    __radd__ = unavailable("__radd__")
    __sub__ = unavailable("__sub__")
    __rsub__ = unavailable("__rsub__")
    __getitem__ = unavailable("__getitem__")
