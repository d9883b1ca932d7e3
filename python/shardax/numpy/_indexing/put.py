# shardax/numpy/_indexing/put.py - arrays with elements replaced.
import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import asarray, bind, canonical_axis, check_arraylike
from shardax.numpy._elementwise.rounding import clip
from shardax.numpy._indexing.select import take

_functions = _core.functions


_IMMUTABLE = (
    "jax.numpy.{} cannot modify arrays in-place, because JAX arrays are immutable. "
    "Pass inplace=False to instead return an updated array."
)


def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    """An array with elements along `axis` replaced: arr[..., indices[..., i, ...], ...] = values.

    Args:
      arr: an array.
      indices: integers, in a shape that broadcasts with that of `arr` but for `axis`.
      values: an array that broadcasts to the shape of `indices`.
      axis: the dimension; None: all are flattened first.
      inplace: must be False, as arrays are immutable.
      mode: what becomes of indices out of bounds, as in `at[].set`.

    Returns:
      An array of the shape and dtype of `arr`.

    Raises:
      ValueError: unless `inplace` is False.

    Example:
      >>> x = jnp.array([[10, 20], [30, 40]])
      >>> jnp.put_along_axis(x, jnp.array([[1], [0]]), 0, axis=1, inplace=False)
      Array([[10,  0],
             [ 0, 40]], dtype=int32)
    """
    if inplace:
        raise ValueError(_IMMUTABLE.format("put_along_axis"))
    arr, indices = asarray(arr), asarray(indices)
    if axis is None:
        flat = put_along_axis(arr.ravel(), indices, values, 0, inplace=False, mode=mode)
        return flat.reshape(arr.shape)
    axis = canonical_axis(axis, arr.ndim)
    index = [
        np.arange(n).reshape([-1 if e == d else 1 for e in range(arr.ndim)])
        for d, n in enumerate(arr.shape)
    ]
    index[axis] = indices
    return arr.at[tuple(index)].set(values, mode=mode)


def place(arr, mask, vals, *, inplace=True):
    """An array with elements where a mask holds replaced by values in turn.

    Args:
      arr: an array.
      mask: booleans, as many as `arr` has elements.
      vals: the values, repeated as often as needed.
      inplace: must be False, as arrays are immutable.

    Returns:
      An array of the shape and dtype of `arr`.

    Raises:
      ValueError: unless `inplace` is False, or sizes differ.

    Example:
      >>> x = jnp.arange(4)
      >>> jnp.place(x, x > 1, jnp.array([10, 20]), inplace=False)
      Array([ 0,  1, 10, 20], dtype=int32)
    """
    if inplace:
        raise ValueError(_IMMUTABLE.format("place"))
    check_arraylike("place", arr, mask, vals)
    arr, mask, vals = asarray(arr), asarray(mask), asarray(vals).ravel()
    if mask.size != arr.size:
        raise ValueError("place: arr and mask must be the same size")
    if vals.size == 0:
        raise ValueError("place: Cannot place values from an empty array")
    rank = bind(
        "cumsum", (mask.reshape((-1,)).astype(bool).astype(np.int32),), axis=0, reverse=False
    )
    turn = _functions.remainder(_functions.subtract(rank, np.int32(1)), np.int32(vals.size))
    chosen = _core.convert(take(vals, turn).reshape(arr.shape), arr.dtype)
    return where(mask.reshape(arr.shape), chosen, arr)


def put(a, ind, v, mode=None, *, inplace=True):
    """An array with elements at flat indices replaced by values in turn.

    Args:
      a: an array.
      ind: integers, indices into the flattened array.
      v: the values, repeated as often as needed.
      mode: what becomes of indices out of bounds: "clip" or None: they are clipped; "wrap": counted
        on from the start.
      inplace: must be False, as arrays are immutable.

    Returns:
      An array of the shape and dtype of `a`.

    Raises:
      ValueError: unless `inplace` is False, or for another mode.

    Example:
      >>> jnp.put(jnp.zeros(4), jnp.array([0, 3]), jnp.array([1.0, 2.0]), inplace=False)
      Array([1., 0., 0., 2.], dtype=float32)
    """
    if inplace:
        raise ValueError(_IMMUTABLE.format("put"))
    check_arraylike("put", a, ind, v)
    a, ind, v = asarray(a), asarray(ind).ravel(), asarray(v).ravel()
    if not ind.size or not v.size or not a.size:
        return a
    v = take(v, np.arange(ind.size) % v.size)
    if mode == "wrap":
        ind = _functions.remainder(ind, a.size)
    elif mode in ("clip", None):
        ind = clip(ind, 0, a.size - 1)
    else:
        raise ValueError(f"mode should be one of 'wrap' or 'clip'; got mode={mode!r}")
    return a.reshape((-1,)).at[ind].set(v).reshape(a.shape)


def fill_diagonal(a, val, wrap=False, *, inplace=True):
    """An array with values on its main diagonal.

    Args:
      a: an array of two dimensions, or of more of one size.
      val: a number, or values along the diagonal, repeated as often as needed.
      wrap: whether the diagonal starts again after each square of a tall matrix.
      inplace: must be False, as arrays are immutable.

    Returns:
      An array of the shape and dtype of `a`.

    Raises:
      ValueError: unless `inplace` is False, or `a` has one dimension.

    Example:
      >>> jnp.fill_diagonal(jnp.zeros((2, 2)), 5, inplace=False)
      Array([[5., 0.],
             [0., 5.]], dtype=float32)
    """
    if inplace:
        raise ValueError(_IMMUTABLE.format("fill_diagonal"))
    if wrap:
        raise NotImplementedError("wrap=True is not implemented, must pass wrap=False")
    check_arraylike("fill_diagonal", a, val)
    a, val = asarray(a), asarray(val)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    n = min(a.shape)
    if val.ndim:
        val = take(val.ravel(), np.arange(n) % val.size)
    return a.at[(np.arange(n),) * a.ndim].set(_core.convert(val, a.dtype))
