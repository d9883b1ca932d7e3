# shardax/numpy/_reductions/nan_reductions.py - reductions that leave NaN out.
import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.array_functions import where as select
from shardax._base.arrays import asarray, check_arraylike, in_one_program, is_inexact, refuse_out
from shardax.numpy._reductions.cumulative import cumprod, cumsum
from shardax.numpy._reductions.extremes import argmax, argmin, max, min
from shardax.numpy._reductions.reductions import _check_options, all, prod, sum
from shardax.numpy._reductions.statistics import _spread_operand, _squared_size, mean

_functions = _core.functions


def _without_nan(name, a, fill, mask=None, initial=None):
    """The operand with `fill` in place of NaN."""
    check_arraylike(name, a)
    _check_options(name, mask, initial)
    a = asarray(a)
    if not is_inexact(a.dtype):
        return a
    return where(_functions.isnan(a), a.dtype.type(fill), a)


@in_one_program("axis", "dtype", "out", "keepdims")
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """The sum of elements over `axis`, NaN counted as 0. Arguments and errors are those of
    `jnp.sum`.

    Example:
      >>> jnp.nansum(jnp.array([[1.0, jnp.nan], [2.0, 3.0]]), axis=1)
      Array([1., 5.], dtype=float32)
    """
    refuse_out("nansum", out)
    a = _without_nan("nansum", a, 0, where, initial)
    return sum(a, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@in_one_program("axis", "dtype", "out", "keepdims")
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """The product of elements over `axis`, NaN counted as 1. Arguments and errors are those of
    `jnp.prod`.

    Example:
      >>> jnp.nanprod(jnp.array([[1.0, jnp.nan], [2.0, 3.0]]), axis=1)
      Array([1., 6.], dtype=float32)
    """
    refuse_out("nanprod", out)
    a = _without_nan("nanprod", a, 1, where, initial)
    return prod(a, axis, dtype, keepdims=keepdims, initial=initial, where=where)


@in_one_program("axis", "dtype", "out")
def nancumsum(a, axis=None, dtype=None, out=None):
    """Running sums along `axis`, NaN counted as 0. Arguments are those of `jnp.cumsum`.

    Example:
      >>> jnp.nancumsum(jnp.array([1.0, jnp.nan, 2.0]))
      Array([1., 1., 3.], dtype=float32)
    """
    refuse_out("nancumsum", out)
    return cumsum(_without_nan("nancumsum", a, 0), axis, dtype)


@in_one_program("axis", "dtype", "out")
def nancumprod(a, axis=None, dtype=None, out=None):
    """Running products along `axis`, NaN counted as 1. Arguments are those of `jnp.cumprod`.

    Example:
      >>> jnp.nancumprod(jnp.array([2.0, jnp.nan, 3.0]))
      Array([2., 2., 6.], dtype=float32)
    """
    refuse_out("nancumprod", out)
    return cumprod(_without_nan("nancumprod", a, 1), axis, dtype)


@in_one_program("axis", "out", "keepdims")
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The maximum of elements over `axis` other than NaN; NaN where all are NaN.

    Arguments and errors are those of `jnp.max`.

    Example:
      >>> jnp.nanmax(jnp.array([[1.0, jnp.nan], [2.0, 3.0]]), axis=1)
      Array([1., 3.], dtype=float32)
    """
    refuse_out("nanmax", out)
    return _nan_extremum("nanmax", max, -np.inf, a, axis, keepdims, initial, where)


@in_one_program("axis", "out", "keepdims")
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The minimum of elements over `axis` other than NaN; NaN where all are NaN.

    Arguments and errors are those of `jnp.min`.

    Example:
      >>> jnp.nanmin(jnp.array([[1.0, jnp.nan], [2.0, 3.0]]), axis=1)
      Array([1., 2.], dtype=float32)
    """
    refuse_out("nanmin", out)
    return _nan_extremum("nanmin", min, np.inf, a, axis, keepdims, initial, where)


def _nan_extremum(name, extremum, fill, a, axis, keepdims, initial, where):
    check_arraylike(name, a)
    _check_options(name, where, initial)
    a = asarray(a)
    if not is_inexact(a.dtype):
        return extremum(a, axis, None, keepdims, initial, where)
    out = extremum(_without_nan(name, a, fill), axis, None, keepdims, initial, where)
    if initial is not None:
        return out
    return select(all(_functions.isnan(a), axis, keepdims=keepdims), out.dtype.type(np.nan), out)


@in_one_program("axis", "out", "keepdims")
def nanargmax(a, axis=None, out=None, keepdims=None):
    """The index of the first maximum along `axis`, NaN left out; -1 where all are NaN.

    Arguments are those of `jnp.argmax`.

    Example:
      >>> jnp.nanargmax(jnp.array([[1.0, jnp.nan], [2.0, 3.0]]), axis=1)
      Array([0, 1], dtype=int32)
    """
    refuse_out("nanargmax", out)
    return _nan_arg("nanargmax", argmax, -np.inf, a, axis, bool(keepdims))


@in_one_program("axis", "out", "keepdims")
def nanargmin(a, axis=None, out=None, keepdims=None):
    """The index of the first minimum along `axis`, NaN left out; -1 where all are NaN.

    Arguments are those of `jnp.argmin`.

    Example:
      >>> jnp.nanargmin(jnp.array([[jnp.nan, 1.0], [jnp.nan, jnp.nan]]), axis=1)
      Array([ 1, -1], dtype=int32)
    """
    refuse_out("nanargmin", out)
    return _nan_arg("nanargmin", argmin, np.inf, a, axis, bool(keepdims))


def _nan_arg(name, arg, fill, a, axis, keepdims):
    check_arraylike(name, a)
    a = asarray(a)
    if not is_inexact(a.dtype):
        return arg(a, axis, keepdims=keepdims)
    out = arg(_without_nan(name, a, fill), axis, keepdims=keepdims)
    return where(all(_functions.isnan(a), axis, keepdims=keepdims), -1, out)


def _present(a, axis, keepdims, where):
    """The number of elements along `axis` that are neither NaN nor masked out, int32."""
    found = _functions.logical_not(_functions.isnan(a))
    return sum(found, axis, dtype=np.int32, keepdims=keepdims, where=where)


@in_one_program("axis", "dtype", "out", "keepdims")
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    """The mean of elements over `axis` other than NaN; NaN where all are NaN.

    Arguments and errors are those of `jnp.mean`.

    Example:
      >>> jnp.nanmean(jnp.array([[1.0, jnp.nan], [2.0, 4.0]]), axis=1)
      Array([1., 3.], dtype=float32)
    """
    refuse_out("nanmean", out)
    check_arraylike("nanmean", a)
    _check_options("nanmean", where, None)
    a = asarray(a)
    if not is_inexact(a.dtype):
        return mean(a, axis, dtype, keepdims=keepdims, where=where)
    total = nansum(a, axis, dtype, keepdims=keepdims, where=where)
    return _functions.divide(total, _core.convert(_present(a, axis, keepdims, where), total.dtype))


def _nan_var(name, a, axis, dtype, ddof, keepdims, where, middle, correction):
    _check_options(name, where, None)
    real = dtype is None
    a, dtype, ddof = _spread_operand(name, a, dtype, ddof, correction)
    isnan = _functions.isnan(a)
    if middle is None:
        middle = nanmean(a, axis, keepdims=True, where=where)
    centered = select(isnan, a.dtype.type(0), _functions.subtract(a, middle))
    total = sum(_squared_size(centered), axis, keepdims=keepdims, where=where)
    divisor = _functions.subtract(_present(a, axis, keepdims, where), ddof)
    out = _functions.divide(total, _core.convert(divisor, total.dtype))
    out = select(_functions.less_equal(divisor, 0), out.dtype.type(np.nan), out)
    return out if real and dtype.kind == "c" else _core.convert(out, dtype)


@in_one_program("axis", "dtype", "out", "ddof", "keepdims")
def nanvar(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    where=None,
    mean=None,
    correction=None,
):
    """The variance of elements over `axis` other than NaN; NaN where no more than `ddof` are left.

    Arguments and errors are those of `jnp.var`.

    Example:
      >>> jnp.nanvar(jnp.array([[1.0, jnp.nan], [2.0, 4.0]]), axis=1)
      Array([0., 1.], dtype=float32)
    """
    refuse_out("nanvar", out)
    return _nan_var("nanvar", a, axis, dtype, ddof, keepdims, where, mean, correction)


@in_one_program("axis", "dtype", "out", "ddof", "keepdims")
def nanstd(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    where=None,
    mean=None,
    correction=None,
):
    """The standard deviation of elements over `axis` other than NaN: the square root of
    `jnp.nanvar`.

    Arguments and errors are those of `jnp.std`.

    Example:
      >>> jnp.nanstd(jnp.array([[1.0, jnp.nan], [2.0, 4.0]]), axis=1)
      Array([0., 1.], dtype=float32)
    """
    refuse_out("nanstd", out)
    return _functions.sqrt(
        _nan_var("nanstd", a, axis, dtype, ddof, keepdims, where, mean, correction)
    )
