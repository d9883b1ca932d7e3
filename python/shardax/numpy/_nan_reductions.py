# shardax/numpy/_nan_reductions.py - reductions that leave NaN out.
import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    check_arraylike,
)
from shardax.numpy._cumulative import cumprod, cumsum
from shardax.numpy._reductions import _inexact, all, argmax, argmin, max, min, prod, sum
from shardax.numpy._statistics import _squared_size, mean

_functions = _core.functions


def _without_nan(name, a, fill):
    """The operand with `fill` in place of NaN."""
    from shardax.numpy._where import where

    check_arraylike(name, a)
    a = asarray(a)
    if a.dtype.kind not in "fcV":
        return a
    return where(_functions.isnan(a), a.dtype.type(fill), a)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """sum, without NaN."""
    return sum(
        _without_nan("nansum", a, 0), axis, dtype, keepdims=keepdims, initial=initial, where=where
    )


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """prod, without NaN."""
    return prod(
        _without_nan("nanprod", a, 1), axis, dtype, keepdims=keepdims, initial=initial, where=where
    )


def nancumsum(a, axis=None, dtype=None, out=None):
    """cumsum, with NaN counted as 0."""
    return cumsum(_without_nan("nancumsum", a, 0), axis, dtype)


def nancumprod(a, axis=None, dtype=None, out=None):
    """cumprod, with NaN counted as 1."""
    return cumprod(_without_nan("nancumprod", a, 1), axis, dtype)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """max, without NaN; NaN where there is nothing else."""
    return _nan_extremum("nanmax", max, -np.inf, a, axis, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """min, without NaN; NaN where there is nothing else."""
    return _nan_extremum("nanmin", min, np.inf, a, axis, keepdims, initial, where)


def _nan_extremum(name, extremum, fill, a, axis, keepdims, initial, where):
    from shardax.numpy._where import where as select

    check_arraylike(name, a)
    a = asarray(a)
    if a.dtype.kind not in "fcV":
        return extremum(a, axis, None, keepdims, initial, where)
    out = extremum(_without_nan(name, a, fill), axis, None, keepdims, initial, where)
    if initial is not None:
        return out
    return select(all(_functions.isnan(a), axis, keepdims=keepdims), out.dtype.type(np.nan), out)


def nanargmax(a, axis=None, out=None, keepdims=None):
    """argmax, without NaN; -1 where there is nothing else."""
    return _nan_arg("nanargmax", argmax, -np.inf, a, axis, bool(keepdims))


def nanargmin(a, axis=None, out=None, keepdims=None):
    """argmin, without NaN; -1 where there is nothing else."""
    return _nan_arg("nanargmin", argmin, np.inf, a, axis, bool(keepdims))


def _nan_arg(name, arg, fill, a, axis, keepdims):
    from shardax.numpy._where import where

    check_arraylike(name, a)
    a = asarray(a)
    if a.dtype.kind not in "fcV":
        return arg(a, axis, keepdims=keepdims)
    out = arg(_without_nan(name, a, fill), axis, keepdims=keepdims)
    return where(all(_functions.isnan(a), axis, keepdims=keepdims), -1, out)


def _present(a, axis, keepdims, where):
    """How many elements along `axis` are neither NaN nor masked out, int32."""
    found = _functions.logical_not(_functions.isnan(a))
    return sum(found, axis, dtype=np.int32, keepdims=keepdims, where=where)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    """mean, without NaN."""
    check_arraylike("nanmean", a)
    a = asarray(a)
    if a.dtype.kind not in "fcV":
        return mean(a, axis, dtype, keepdims=keepdims, where=where)
    total = nansum(a, axis, dtype, keepdims=keepdims, where=where)
    return _functions.divide(total, _core.convert(_present(a, axis, keepdims, where), total.dtype))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None):
    """var, without NaN; NaN where no more than `ddof` elements are left."""
    from shardax.numpy._where import where as select

    check_arraylike("nanvar", a)
    a, dtype = _inexact(asarray(a), dtype)
    wide = _core.convert(a, np.dtype("float32")) if dtype.itemsize == 2 else a
    isnan = _functions.isnan(wide)
    middle = nanmean(wide, axis, keepdims=True, where=where)
    centered = select(isnan, wide.dtype.type(0), _functions.subtract(wide, middle))
    square = _squared_size(centered)
    total = sum(square, axis, keepdims=keepdims, where=where)
    divisor = _functions.subtract(_present(wide, axis, keepdims, where), ddof)
    out = _functions.divide(total, _core.convert(divisor, total.dtype))
    out = select(_functions.less_equal(divisor, 0), out.dtype.type(np.nan), out)
    return _core.convert(out, dtype) if dtype.itemsize == 2 else out


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None):
    """std, without NaN."""
    check_arraylike("nanstd", a)
    return _functions.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where))
