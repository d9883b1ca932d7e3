# shardax/numpy/_quantiles.py - quantiles, percentiles and medians.
import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    canonical_axes,
    check_arraylike,
    result_type,
)
from shardax.numpy._reductions import _count, all, any, sum

_functions = _core.functions


_METHODS = {
    "linear": lambda low, high, part: low + (high - low) * part,
    "lower": lambda low, high, part: low,
    "higher": lambda low, high, part: high,
    "midpoint": lambda low, high, part: (low + high) * 0.5,
}


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """The q-th quantiles (0 <= q <= 1) along `axis`, between neighbours by `method`.

    NaN where there is one.
    """
    check_arraylike("quantile", a, q)
    return _quantile(a, q, axis, method, keepdims, skip_nan=False)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """quantile, without NaN; NaN where there is nothing else."""
    check_arraylike("nanquantile", a, q)
    return _quantile(a, q, axis, method, keepdims, skip_nan=True)


def _quantile(a, q, axis, method, keepdims, skip_nan):
    from shardax.numpy._select import take, take_along_axis
    from shardax.numpy._shape import moveaxis
    from shardax.numpy._sorting import sort
    from shardax.numpy._where import where

    if method not in _METHODS and method != "nearest":
        raise ValueError("method can only be 'linear', 'lower', 'higher', 'midpoint', or 'nearest'")
    a, q = asarray(a), asarray(q)
    if a.dtype.kind == "c":
        raise ValueError(
            "quantile does not support complex input, as the operation is poorly defined."
        )
    dtype = result_type(a, q)
    a = _core.convert(a, dtype if dtype.kind in "fV" else _core.canonical_dtype(float))
    shape = a.shape
    axes = canonical_axes(axis, a.ndim)
    a = moveaxis(a, axes, tuple(range(a.ndim - len(axes), a.ndim)))
    a = a.reshape((*a.shape[: a.ndim - len(axes)], _count(a, range(a.ndim - len(axes), a.ndim))))
    n = a.shape[-1]
    if n == 0 and 0 not in a.shape[:-1]:
        raise TypeError(
            f"quantile: shape {shape} has no elements along axis {axis}; at least one is needed."
        )
    ordered = sort(a, axis=-1)
    isnan = _functions.isnan(a)
    q = _core.convert(q, a.dtype)
    if skip_nan:
        # NaN are sorted last, so that each row counts its own number of elements.
        left = sum(_functions.logical_not(isnan), -1, keepdims=True, dtype=np.int32)
        last = _functions.maximum(_functions.subtract(left, np.int32(1)), np.int32(0))
        missing = all(isnan, axis=-1)
    else:
        last = np.int32(n - 1)
        missing = any(isnan, axis=-1)
    place = q.reshape((-1,)) * _core.convert(asarray(last), a.dtype)
    low = _functions.floor(place)
    part = place - low
    i, j = (
        _functions.minimum(_functions.maximum(_core.convert(x, np.int32), np.int32(0)), last)
        for x in (low, _functions.ceil(place))
    )
    pick = take_along_axis if skip_nan else take
    low_value, high_value = pick(ordered, i, axis=-1), pick(ordered, j, axis=-1)
    if method == "nearest":
        out = where(_functions.less_equal(part, 0.5), low_value, high_value)
    else:
        out = _METHODS[method](low_value, high_value, part)
    out = where(missing[..., None], out.dtype.type(np.nan), out)
    out = moveaxis(out, -1, 0)
    kept = tuple(1 if d in axes else m for d, m in enumerate(shape)) if keepdims else out.shape[1:]
    return out.reshape(q.shape + kept)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """quantile, with q in percent."""
    q = _core.promote("inexact", q)[0] if not isinstance(q, (int, float)) else q
    return quantile(a, _functions.divide(q, 100), axis, out, overwrite_input, method, keepdims)


def nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False
):
    """nanquantile, with q in percent."""
    q = _core.promote("inexact", q)[0] if not isinstance(q, (int, float)) else q
    return nanquantile(a, _functions.divide(q, 100), axis, out, overwrite_input, method, keepdims)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element along `axis`, or the mean of the middle two."""
    check_arraylike("median", a)
    return quantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """median, without NaN."""
    check_arraylike("nanmedian", a)
    return nanquantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)
