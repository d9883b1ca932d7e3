# shardax/numpy/_equality.py - equality, nearly or exactly, and the kinds of numbers.
import numpy as np

import shardax._core as _core
from shardax._base.arrays import (
    asarray,
    check_arraylike,
    in_one_program,
    is_inexact,
    refuse_out,
    static_jit,
)
from shardax._base.dtypes import KeyTy
from shardax.numpy import (
    _reductions,
)

_functions = _core.functions


@static_jit("equal_nan")
def _isclose(a, b, rtol, atol, equal_nan):
    a, b = _core.promote("any", a, b)
    if a.dtype.kind == "b" or isinstance(a.dtype, KeyTy):
        return _functions.equal(a, b)
    if a.dtype.kind in "iu":
        a, b = _core.promote("inexact", a, b)
    gap, size = _core.promote("inexact", _functions.abs(a - b), _functions.abs(b))
    rtol, atol = (_core.convert(asarray(bound), gap.dtype) for bound in (rtol, atol))
    near = _functions.less_equal(gap, _functions.add(atol, _functions.multiply(rtol, size)))
    if a.dtype.kind in "iu":
        return near
    finite = _functions.logical_and(_functions.isfinite(a), _functions.isfinite(b))
    out = _functions.logical_or(_functions.equal(a, b), _functions.logical_and(finite, near))
    if equal_nan:
        out = _functions.logical_or(
            out, _functions.logical_and(_functions.isnan(a), _functions.isnan(b))
        )
    return out


@in_one_program("rtol", "atol", "equal_nan", at_once=True)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Elementwise |a - b| <= atol + rtol |b|; the bounds may be arrays."""
    check_arraylike("isclose", a, b)
    return _core.convert(
        _isclose(asarray(a), asarray(b), rtol=rtol, atol=atol, equal_nan=equal_nan), np.dtype(bool)
    )


@in_one_program("rtol", "atol", "equal_nan", at_once=True)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose holds everywhere."""
    return _reductions.all(isclose(a, b, rtol, atol, equal_nan))


@in_one_program("equal_nan", at_once=True)
def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal."""
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return asarray(False)
    same = _functions.equal(a1, a2)
    if equal_nan:
        same = _functions.logical_or(
            same, _functions.logical_and(_functions.isnan(a1), _functions.isnan(a2))
        )
    return _reductions.all(same)


def array_equiv(a1, a2):
    """Whether elements are equal once broadcast."""
    a1, a2 = asarray(a1), asarray(a2)
    try:
        _core.broadcast_shapes(a1.shape, a2.shape)
    except (TypeError, ValueError):
        return asarray(False)
    return _all_equal(a1, a2)


@in_one_program()
def _all_equal(a1, a2):
    return _reductions.all(_functions.equal(a1, a2))


def isreal(x):
    """Elementwise: is the imaginary part 0?"""
    check_arraylike("isreal", x)
    return _compared_with_0(_functions.equal, _functions.imag(x))


def iscomplex(x):
    """Elementwise: is the imaginary part not 0?"""
    check_arraylike("iscomplex", x)
    return _compared_with_0(_functions.not_equal, _functions.imag(x))


def _compared_with_0(comparison, x):
    return comparison(x, _core.convert(asarray(0), x.dtype, x.weak_type))


def isposinf(x, /, out=None):
    """Elementwise: is it +inf?"""
    refuse_out("isposinf", out)
    return _is_infinity("isposinf", x, np.inf)


def isneginf(x, /, out=None):
    """Elementwise: is it -inf?"""
    refuse_out("isneginf", out)
    return _is_infinity("isneginf", x, -np.inf)


def _is_infinity(name, x, infinity):
    check_arraylike(name, x)
    x = asarray(x)
    if x.dtype.kind == "c":
        raise ValueError("isposinf/isneginf are not well defined for complex types")
    if is_inexact(x.dtype):
        return _functions.equal(x, x.dtype.type(infinity))
    return _core.full(x.shape, False, np.dtype(bool))
