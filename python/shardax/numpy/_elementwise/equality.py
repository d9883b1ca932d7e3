# shardax/numpy/_elementwise/equality.py - equality, nearly or exactly, and the kinds of numbers.
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
from shardax.numpy._reductions import reductions as _reductions

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
    """True where numbers are nearly equal, elementwise: |a - b| <= atol + rtol |b|.

    Args:
      a, b: arrays or numbers that broadcast.
      rtol, atol: the relative and the absolute tolerance, numbers or arrays.
      equal_nan: whether NaN equals NaN.

    Returns:
      Booleans in the broadcast shape.

    Example:
      >>> jnp.isclose(jnp.array([1.0, 2.0]), jnp.array([1.000001, 2.1]))
      Array([ True, False], dtype=bool)
    """
    check_arraylike("isclose", a, b)
    return _core.convert(
        _isclose(asarray(a), asarray(b), rtol=rtol, atol=atol, equal_nan=equal_nan), np.dtype(bool)
    )


@in_one_program("rtol", "atol", "equal_nan", at_once=True)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """True if `jnp.isclose` holds for all elements; arguments are the same.

    Returns:
      A boolean array without dimensions.

    Example:
      >>> jnp.allclose(jnp.array([1.0, 2.0]), jnp.array([1.000001, 2.0]))
      Array(True, dtype=bool)
    """
    return _reductions.all(isclose(a, b, rtol, atol, equal_nan))


@in_one_program("equal_nan", at_once=True)
def array_equal(a1, a2, equal_nan=False):
    """True if two arrays have the same shape and the same elements.

    Args:
      a1, a2: arrays.
      equal_nan: whether NaN equals NaN.

    Returns:
      A boolean array without dimensions.

    Example:
      >>> jnp.array_equal(jnp.array([1, 2]), jnp.array([1.0, 2.0]))
      Array(True, dtype=bool)
    """
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
    """True if two arrays have the same elements once they are broadcast to one shape.

    Args:
      a1, a2: arrays.

    Returns:
      A boolean array without dimensions; False where shapes do not broadcast.

    Example:
      >>> jnp.array_equiv(jnp.array([1, 2]), jnp.array([[1, 2], [1, 2]]))
      Array(True, dtype=bool)
    """
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
    """True where the imaginary part is 0, elementwise.

    Example:
      >>> jnp.isreal(jnp.array([1 + 0j, 2j]))
      Array([ True, False], dtype=bool)
    """
    check_arraylike("isreal", x)
    return _compared_with_0(_functions.equal, _functions.imag(x))


def iscomplex(x):
    """True where the imaginary part is not 0, elementwise.

    Example:
      >>> jnp.iscomplex(jnp.array([1 + 0j, 2j]))
      Array([False,  True], dtype=bool)
    """
    check_arraylike("iscomplex", x)
    return _compared_with_0(_functions.not_equal, _functions.imag(x))


def _compared_with_0(comparison, x):
    return comparison(x, _core.convert(asarray(0), x.dtype, x.weak_type))


def isposinf(x, /, out=None):
    """True where a real number is +inf, elementwise.

    Args:
      x: real numbers of any shape.
      out: must be None.

    Returns:
      Booleans in the shape of `x`.

    Raises:
      ValueError: for complex numbers.

    Example:
      >>> jnp.isposinf(jnp.array([1.0, jnp.inf, -jnp.inf]))
      Array([False,  True, False], dtype=bool)
    """
    refuse_out("isposinf", out)
    return _is_infinity("isposinf", x, np.inf)


def isneginf(x, /, out=None):
    """True where a real number is -inf, elementwise.

    Args:
      x: real numbers of any shape.
      out: must be None.

    Returns:
      Booleans in the shape of `x`.

    Raises:
      ValueError: for complex numbers.

    Example:
      >>> jnp.isneginf(jnp.array([1.0, jnp.inf, -jnp.inf]))
      Array([False, False,  True], dtype=bool)
    """
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
