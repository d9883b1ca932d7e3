"""python/shardax/flatten_util.py - a tree of arrays as one vector."""

from shardax import numpy as jnp
from shardax.tree_util import tree_flatten, tree_unflatten

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree):
    """Joins the arrays of a tree into one vector.

    Args:
      pytree: a tree of arrays and scalars.

    Returns:
      The vector, of the dtype that the leaves promote to (float32 of length 0 for a tree without
      leaves). Then the function that turns such a vector back into a tree. If the leaves' dtypes
      differ, the function restores them, and takes vectors of the promoted dtype only. If they
      agree it keeps the vector's dtype.

    >>> import shardax.numpy as jnp
    >>> from shardax.flatten_util import ravel_pytree
    >>> vector, unravel = ravel_pytree({'a': jnp.zeros((2, 2)), 'b': jnp.ones(2)})
    >>> vector.shape
    (6,)
    >>> unravel(vector)['a'].shape
    (2, 2)
    """
    leaves, treedef = tree_flatten(pytree)
    if not leaves:
        return jnp.zeros((0,), jnp.float32), _Unravel(treedef, (), (), None)
    dtypes = tuple(jnp.result_type(leaf) for leaf in leaves)
    shapes = tuple(jnp.shape(leaf) for leaf in leaves)
    same = all(dtype == dtypes[0] for dtype in dtypes)
    if same:
        parts = [jnp.ravel(leaf) for leaf in leaves]
        unravel = _Unravel(treedef, shapes, dtypes, None)
    else:
        joined = jnp.result_type(*dtypes)
        parts = [jnp.ravel(jnp.asarray(leaf).astype(joined)) for leaf in leaves]
        unravel = _Unravel(treedef, shapes, dtypes, joined)
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts), unravel


class _Unravel:
    """The function that ravel_pytree returns; equal ones compare and hash as equal."""

    def __init__(self, treedef, shapes, dtypes, joined):
        self._key = treedef, shapes, dtypes, joined

    def __eq__(self, other):
        return isinstance(other, _Unravel) and self._key == other._key

    def __hash__(self):
        return hash(self._key)

    def __call__(self, vector):
        treedef, shapes, dtypes, joined = self._key
        if not shapes:
            return tree_unflatten(treedef, [])
        if joined is not None and jnp.result_type(vector) != joined:
            raise TypeError(
                f"unravel function given array of dtype {jnp.result_type(vector)}, "
                f"but expected dtype {joined}"
            )
        sizes = [_size(shape) for shape in shapes]
        if jnp.shape(vector) != (sum(sizes),):
            raise ValueError(
                f"unravel function given array of shape {jnp.shape(vector)}, "
                f"but expected shape {(sum(sizes),)}"
            )
        vector = jnp.asarray(vector)  # slices of NumPy's arrays would be NumPy's
        leaves, start = [], 0
        for shape, dtype, size in zip(shapes, dtypes, sizes, strict=True):
            leaf = jnp.reshape(vector[start : start + size], shape)
            leaves.append(leaf if joined is None else leaf.astype(dtype))
            start += size
        return tree_unflatten(treedef, leaves)


def _size(shape):
    size = 1
    for extent in shape:
        size *= extent
    return size
