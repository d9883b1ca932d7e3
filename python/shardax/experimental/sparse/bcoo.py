"""shardax.experimental.sparse.bcoo - arrays as lists of elements and their indices, batched.

An array consists of `data` of shape [*batch, nse, *dense] and `indices` of shape [*batch, nse,
sparse]. Element i of a batch stands at indices[i] of the sparse dimensions; elements beyond the
shape are padding, those at one place are added. Batch dimensions of size 1 stand for all.
"""

import operator

import numpy as np

from shardax import lax, tree_util
from shardax import numpy as jnp
from shardax._transform.pmap_vmap import vmap
from shardax.experimental.sparse._base import JAXSparse, mapped_shape


@tree_util.register_pytree_node_class
class BCOO(JAXSparse):
    """An array of stored elements and their indices; batch dimensions first, dense ones last.

    Args:
      args: (data, indices), of shapes [*batch, nse, *dense] and [*batch, nse, sparse].
      shape: of the array.
      indices_sorted, unique_indices: what is known of the indices.

    Example:
      >>> shardax.experimental.sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      BCOO(float32[2, 2], nse=2)
    """

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        self.data, self.indices = map(jnp.asarray, args)
        self.indices_sorted = indices_sorted
        self.unique_indices = unique_indices
        super().__init__(args, shape=shape)
        _validate(self.data, self.indices, self.shape)

    @property
    def _bufs(self):
        return self.data, self.indices

    @property
    def nse(self):
        """The number of elements stored (in each batch)."""
        return self.indices.shape[-2]

    @property
    def n_batch(self):
        """The number of batch dimensions."""
        return self.indices.ndim - 2

    @property
    def n_sparse(self):
        """The number of sparse dimensions."""
        return self.indices.shape[-1]

    @property
    def n_dense(self):
        """The number of dense dimensions."""
        return self.data.ndim - 1 - self.n_batch

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32, n_dense=0, n_batch=0):
        """As `bcoo_fromdense`."""
        return bcoo_fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_scipy_sparse(cls, mat, *, index_dtype=None, n_dense=0, n_batch=0):
        """A matrix of scipy.sparse."""
        if n_dense != 0 or n_batch != 0:
            raise NotImplementedError("BCOO.fromscipy with nonzero n_dense/n_batch")
        mat = mat.tocoo()
        indices = np.stack([mat.row, mat.col], 1).astype(index_dtype or np.int32)
        return cls((jnp.asarray(mat.data), jnp.asarray(indices)), shape=mat.shape)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32", n_dense=0, n_batch=0, nse=0):
        shape = tuple(shape)
        n_sparse = len(shape) - n_dense - n_batch
        if n_sparse < 0 or n_dense < 0 or n_batch < 0 or nse < 0:
            raise ValueError(f"Invalid inputs: {shape=}, {n_dense=}, {n_batch=}, {nse=}")
        batch, sparse, dense = split(shape, n_batch, n_sparse)
        data = jnp.zeros((*batch, nse, *dense), dtype)
        indices = jnp.broadcast_to(jnp.array(sparse, index_dtype), (*batch, nse, n_sparse))
        return cls((data, indices), shape=shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32", n_batch=0, n_dense=0):
        if min(2 - n_batch - n_dense, n_dense, n_batch) < 0:
            raise ValueError(f"Invalid inputs: shape={(N, M)}, {n_dense=}, {n_batch=}")
        size = min(N, M - k) if k > 0 else min(N + k, M)
        layout = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
        if size <= 0:
            return cls._empty((N, M), dtype=dtype, **layout)
        if n_dense > 0 or n_batch > 1:
            return cls.fromdense(jnp.eye(N, M, k, dtype=dtype), **layout)
        if n_batch:
            column = np.arange(N) + k
            inside = (column >= 0) & (column < M)
            data = jnp.asarray(inside[:, None]).astype(dtype or float)
            indices = jnp.asarray(np.where(inside, column, M)[:, None, None], index_dtype)
        else:
            data = jnp.ones(size, dtype)
            index = np.arange(size)[:, None] + [max(-k, 0), max(k, 0)]
            indices = jnp.asarray(index, index_dtype)
        return cls((data, indices), shape=(N, M), indices_sorted=True, unique_indices=True)

    def tree_flatten(self):
        """(data, indices) and the static parts."""
        return (self.data, self.indices), {
            "shape": self.shape,
            "indices_sorted": self.indices_sorted,
            "unique_indices": self.unique_indices,
            "n_batch": self.n_batch if hasattr(self.indices, "ndim") else 0,
        }

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        """The inverse of `tree_flatten`, unchecked; vmap of axis 0 takes a batch dimension away."""
        obj = object.__new__(cls)
        obj.data, obj.indices = children
        shape = getattr(obj.indices, "shape", None)
        n_batch = aux_data["n_batch"] if shape is None else len(shape) - 2
        batches = (0,) * n_batch if shape is None else tuple(shape[:n_batch])
        vars(obj).update(mapped_shape(aux_data, batches))
        return obj

    def todense(self):
        """The array with its zeros."""
        return bcoo_todense(self)

    def transpose(self, axes=None):
        """With dimensions in another order; batch, sparse and dense ones each among themselves."""
        n = self.ndim
        axes = tuple(range(n)[::-1]) if axes is None else tuple(operator.index(a) % n for a in axes)
        return bcoo_transpose(self, permutation=axes)

    def sort_indices(self):
        """With indices in lexicographic order."""
        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse=None, remove_zeros=True):
        """With elements at one place added, and padding (and zeros) last; see
        `bcoo_sum_duplicates`.
        """
        return _merged(self, nse, remove_zeros)


def split(seq, *lengths):
    """Parts of a sequence: of these lengths, and the rest."""
    parts, start = [], 0
    for n in lengths:
        parts.append(tuple(seq[start : start + n]))
        start += n
    return (*parts, tuple(seq[start:]))


def _validate(data, indices, shape):
    """Throws ValueError where the shapes do not go together."""
    n_batch, nse, n_sparse = indices.ndim - 2, *indices.shape[-2:]
    if not np.issubdtype(indices.dtype, np.integer):
        raise ValueError(f"indices must have integer dtype; got {indices.dtype}")
    if n_batch < 0 or n_batch + n_sparse > len(shape):
        raise ValueError(f"Invalid indices for BCOO: indices.shape={indices.shape}, {shape=}")
    batch, _, dense = split(shape, n_batch, n_sparse)

    def fits(part):
        return all(p in (1, s) for p, s in zip(part, batch))

    if not fits(indices.shape[:n_batch]):
        raise ValueError(
            f"indices batch dimensions not compatible for indices.shape={indices.shape}, {shape=}"
        )
    if data.shape[n_batch:] != (nse, *dense) or not fits(data.shape[:n_batch]):
        raise ValueError(f"Invalid {data.shape=} for {indices.shape=}, {shape=}")


def over_batches(function, count):
    """`function` of unbatched arrays mapped over `count` leading dimensions."""
    for _ in range(count):
        function = vmap(function)
    return function


def full_batches(mat):
    """(data, indices) with batch dimensions of their whole sizes."""
    batch = mat.shape[: mat.n_batch]
    return tuple(jnp.broadcast_to(x, batch + x.shape[mat.n_batch :]) for x in mat._bufs)


def _columns(indices):
    return tuple(indices[..., i] for i in range(indices.shape[-1]))


def bcoo_todense(mat):
    """The array with its zeros; elements at one place are added.

    Args:
      mat: a BCOO array.

    Returns:
      An array of the same shape and dtype.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO((jnp.ones(3), jnp.array([[0], [2], [2]])), shape=(4,))
      >>> sparse.bcoo_todense(M)
      Array([1., 0., 2., 0.], dtype=float32)
    """
    shape = mat.shape[mat.n_batch :]

    def fill(data, indices):
        if not indices.shape[-1]:
            return data.sum(0, dtype=data.dtype)
        return jnp.zeros(shape, data.dtype).at[_columns(indices)].add(data, mode="drop")

    return over_batches(fill, mat.n_batch)(*full_batches(mat))


def bcoo_fromdense(mat, *, nse=None, n_batch=0, n_dense=0, index_dtype=np.int32):
    """The elements of an array that are not zero.

    Args:
      mat: an array.
      nse: how many to store, padded or cut; None: as many as there are (not under `jit`).
      n_batch, n_dense: how many dimensions are batches (each with its elements), and dense (stored
        where one of their elements is not zero).
      index_dtype: the dtype of the indices.

    Returns:
      A BCOO array of the same shape and dtype.

    Raises:
      ValueError: `n_batch` and `n_dense` are negative, or more than there are dimensions.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.bcoo_fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> M.data, M.indices.tolist()
      (Array([2., 1.], dtype=float32), [[0, 1], [1, 0]])
    """
    mat = jnp.asarray(mat)
    n_sparse = mat.ndim - n_batch - n_dense
    if n_sparse < 0 or n_batch < 0 or n_dense < 0:
        raise ValueError(f"Invalid inputs: {mat.shape=}, {n_batch=}, {n_dense=}")
    shape = mat.shape[n_batch : n_batch + n_sparse]
    mask = (mat != 0).any(tuple(range(mat.ndim - n_dense, mat.ndim)))
    if nse is None:
        nse = int(mask.sum(tuple(range(n_batch, mask.ndim))).max(initial=0))
    nse = operator.index(nse)

    def find(mask):
        if not shape:
            return jnp.zeros((nse, 0), index_dtype)
        index = jnp.nonzero(mask, size=nse, fill_value=shape)
        return jnp.stack(index, -1).astype(index_dtype)

    indices = over_batches(find, n_batch)(mask)
    data = extracted(mat, indices)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


def extracted(mat, indices):
    """Elements of a dense array at indices [*batch, nse, sparse]; 0 beyond it."""

    def take(mat, indices):
        if not indices.shape[-1]:
            first = (jnp.arange(indices.shape[0]) < 1).reshape(-1, *[1] * mat.ndim)
            return jnp.where(first, mat[None], jnp.zeros_like(mat)[None])
        return mat.at[_columns(indices)].get(mode="fill", fill_value=0)

    n_batch = indices.ndim - 2
    indices = jnp.broadcast_to(indices, mat.shape[:n_batch] + indices.shape[n_batch:])
    return over_batches(take, n_batch)(mat, indices)


def bcoo_extract(sparr, arr, *, assume_unique=None):
    """The elements of a dense array at the places of `sparr`'s, as another sparse array.

    Args:
      sparr: a BCOO array.
      arr: an array of its shape.
      assume_unique: no two elements of `sparr` are at one place (None: what `sparr` says). Else the
        first of them has the element, later ones 0.

    Raises:
      ValueError: the shapes differ.

    Example:
      >>> from shardax.experimental import sparse
      >>> sparse.bcoo_extract(sparse.eye(2), jnp.array([[1.0, 2.0], [3.0, 4.0]])).data
      Array([1., 4.], dtype=float32)
    """
    arr = jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(f"shape mismatch: {sparr.shape=} {arr.shape=}")
    unique = sparr.unique_indices if assume_unique is None else assume_unique
    mat = arr if unique else _at_first_places(sparr, arr)
    if unique and not sparr.n_sparse:
        shape = arr.shape[: sparr.n_batch] + sparr.data.shape[sparr.n_batch :]
        data = jnp.broadcast_to(jnp.expand_dims(arr, sparr.n_batch), shape)
    elif unique:
        data = extracted(mat, sparr.indices)
        batch = [i for i in range(sparr.n_batch) if sparr.data.shape[i] == 1 != arr.shape[i]]
        if sparr.indices.shape[: sparr.n_batch] == sparr.data.shape[: sparr.n_batch] and batch:
            data = data.sum(tuple(batch), keepdims=True)
    else:
        data = mat
    return BCOO(
        (data, sparr.indices),
        shape=sparr.shape,
        indices_sorted=sparr.indices_sorted,
        unique_indices=sparr.unique_indices,
    )


def _at_first_places(sparr, arr):
    """As `extracted`, with 0 for the second and later elements at one place."""

    def first(indices):
        same = (indices[:, None] == indices[None]).all(-1)
        return jnp.argmax(same, -1) == jnp.arange(indices.shape[0])

    data = extracted(arr, sparr.indices)
    keep = over_batches(first, sparr.n_batch)(sparr.indices)
    return jnp.where(keep.reshape(keep.shape + (1,) * sparr.n_dense), data, 0)


def bcoo_transpose(mat, *, permutation):
    """With dimensions in another order: batch, sparse and dense ones each among themselves.

    Args:
      mat: a BCOO array.
      permutation: the dimension of `mat` for each of the result.

    Raises:
      ValueError: it is no permutation of the dimensions.
      NotImplementedError: it mixes batch, sparse and dense dimensions.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0, 3.0]]))
      >>> sparse.bcoo_transpose(M, permutation=(1, 0))
      BCOO(float32[3, 1], nse=2)
    """
    permutation = tuple(operator.index(p) for p in permutation)
    if sorted(permutation) != list(range(mat.ndim)):
        raise ValueError(f"permutation {permutation} does not match {mat.ndim} dimensions")
    nb, ns = mat.n_batch, mat.n_sparse
    batch, sparse, dense = split(permutation, nb, ns)
    if any(p >= nb for p in batch) or any(not nb <= p < nb + ns for p in sparse):
        raise NotImplementedError("transpose: dimensions stay among batch, sparse or dense ones")
    data = mat.data.transpose((*batch, nb, *(p - ns + 1 for p in dense)))
    indices = mat.indices.transpose((*batch, nb, nb + 1))
    if not (in_order := sparse == tuple(sorted(sparse))):
        indices = indices[..., np.array([p - nb for p in sparse], int)]
    return BCOO(
        (data, indices),
        shape=tuple(mat.shape[p] for p in permutation),
        unique_indices=mat.unique_indices,
        indices_sorted=mat.indices_sorted and in_order,
    )


# ---- order and duplicates ------------------------------------------------------------------------


def _sorted(indices, order):
    """Rows of indices in lexicographic order, and `order` sorted along."""
    columns = _columns(indices)
    *columns, order = lax.sort((*columns, order), num_keys=len(columns))
    return jnp.stack(columns, -1) if columns else indices, order


def bcoo_sort_indices(mat):
    """With indices in lexicographic order.

    Args:
      mat: a BCOO array.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO((jnp.array([5.0, 6.0]), jnp.array([[3], [1]])), shape=(4,))
      >>> sparse.bcoo_sort_indices(M).data
      Array([6., 5.], dtype=float32)
    """

    nb = mat.n_batch
    data, indices = mat._bufs
    if mat.n_sparse:
        places = jnp.arange(mat.nse)
        indices, order = over_batches(lambda i: _sorted(i, places), nb)(indices)
        batch = np.broadcast_shapes(data.shape[:nb], order.shape[:nb])
        data, order = (jnp.broadcast_to(x, batch + x.shape[nb:]) for x in (data, order))
        data = over_batches(lambda d, at: d[at], nb)(data, order)
    return BCOO(
        (data, indices), shape=mat.shape, indices_sorted=True, unique_indices=mat.unique_indices
    )


def _groups(indices, shape):
    """(sorted indices with padding last, the order, the number of each row's group)."""
    limit = jnp.array(shape, indices.dtype)
    outside = (indices >= limit).any(-1, keepdims=True)
    indices, order = _sorted(jnp.where(outside, limit, indices), jnp.arange(indices.shape[0]))
    new = (indices[1:] != indices[:-1]).any(-1)
    return indices, order, jnp.concatenate([jnp.zeros(1, int), jnp.cumsum(new)])


def _merged(mat, nse, remove_zeros):
    shape = mat.shape[mat.n_batch : mat.n_batch + mat.n_sparse]
    data, indices = full_batches(mat)
    if not mat.n_sparse or not mat.nse:
        nse = (min(mat.nse, 1) if nse is None else nse) if not mat.n_sparse else nse or 0
        total = data.sum(mat.n_batch, keepdims=True, dtype=data.dtype)
        total = _resized(total, nse, mat.n_batch, 0)
        indices = jnp.zeros((*indices.shape[: mat.n_batch], nse, mat.n_sparse), indices.dtype)
        if mat.n_sparse:
            indices = indices + jnp.array(shape, indices.dtype)
        return BCOO((total, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)
    if remove_zeros:
        zero = (data == 0).all(tuple(range(mat.n_batch + 1, data.ndim)))
        indices = jnp.where(zero[..., None], jnp.array(shape, indices.dtype), indices)
    ordered, order, group = over_batches(lambda i: _groups(i, shape), mat.n_batch)(indices)
    if nse is None:
        last_inside = (ordered[..., -1, :] < jnp.array(shape)).all(-1)
        nse = int((group[..., -1] + last_inside).max(initial=0))

    def merge(data, ordered, order, group):
        def at(x):
            return x.at[group]

        out = at(jnp.zeros((nse, *data.shape[1:]), data.dtype)).add(data[order], mode="drop")
        limit = jnp.broadcast_to(jnp.array(shape, ordered.dtype), (nse, len(shape)))
        index = at(limit).set(ordered, mode="drop")
        inside = (index < limit).all(-1).reshape(-1, *[1] * (data.ndim - 1))
        return jnp.where(inside, out, 0), index

    data, indices = over_batches(merge, mat.n_batch)(data, ordered, order, group)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


def _resized(x, size, axis, value):
    """x cut or padded to `size` along an axis."""
    x = lax.slice_in_dim(x, 0, min(size, x.shape[axis]), axis=axis)
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, size - x.shape[axis])
    return jnp.pad(x, widths, constant_values=value)


def bcoo_sum_duplicates(mat, nse=None):
    """With elements at one place added, in lexicographic order.

    Args:
      mat: a BCOO array.
      nse: how many to store; None: as many places as there are in the fullest batch (not under
        `jit`).

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO((jnp.array([5.0, 6.0]), jnp.array([[1], [1]])), shape=(4,))
      >>> sparse.bcoo_sum_duplicates(M).data
      Array([11.], dtype=float32)
    """
    return _merged(mat, nse, False)


def bcoo_eliminate_zeros(mat, nse=None):
    """As `bcoo_sum_duplicates`, without elements that are 0.

    Args:
      mat: a BCOO array.
      nse: how many to store; None: as many as are left in the fullest batch (not under `jit`).

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO((jnp.array([5.0, 0.0]), jnp.array([[1], [2]])), shape=(4,))
      >>> sparse.bcoo_eliminate_zeros(M)
      BCOO(float32[4], nse=1)
    """
    return _merged(mat, nse, True)
