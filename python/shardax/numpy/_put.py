# shardax/numpy/_put.py - arrays with elements replaced.
import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import asarray, bind, canonical_axis, check_arraylike
from shardax.numpy._rounding import clip
from shardax.numpy._select import take

_functions = _core.functions


_IMMUTABLE = (
    "jax.numpy.{} cannot modify arrays in-place, because JAX arrays are immutable. "
    "Pass inplace=False to instead return an updated array."
)


def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    """`arr` with elements along `axis` replaced.

    A new array (inplace=False is needed, as arrays are immutable).
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
    """`arr` with elements where the mask holds replaced by those of `vals` in turn.

    Needs inplace=False.
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
    """`a` with elements at flat indices replaced by those of `v` in turn; needs inplace=False.

    Indices out of bounds are clipped (mode "clip" or None), or wrapped (mode "wrap").
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
    """`a` with `val` on its main diagonal; needs inplace=False."""
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
