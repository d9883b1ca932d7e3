"""shardax/numpy/_elementwise/elementwise.py - functions of elements that are compositions of
ops."""

import functools
import math

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import (
    asarray,
    bind,
    check_arraylike,
    in_one_program,
    is_inexact,
    refuse_out,
    static_jit,
)
from shardax.dtypes import finfo

_functions = _core.functions


def _log_of_sum(a, b):
    """log(exp(a) + exp(b)) of operands of one inexact dtype and shape."""
    top = _functions.maximum(a, b)
    if a.dtype.kind == "c":
        out = top + _functions.log1p(_functions.exp(a + b - 2 * top))
        angle = _functions.imag(out)
        pi = angle.dtype.type(np.pi)
        turned = _functions.remainder(angle + pi, 2 * pi) - pi
        return _core.lax.complex(_functions.real(out), turned)
    gap = a - b
    out = top + _functions.log1p(_functions.exp(-_functions.abs(gap)))
    return where(_functions.isnan(gap), a + b, out)


def _log2_of_sum(a, b):
    """log2(2**a + 2**b) of operands of one inexact dtype and shape."""
    if a.dtype.kind == "c":
        ln2 = math.log(2.0)
        return _log_of_sum(a * ln2, b * ln2) / ln2
    gap = a - b
    rest = _functions.log1p(_functions.exp2(-_functions.abs(gap))) / math.log(2.0)
    return where(_functions.isnan(gap), a + b, _functions.maximum(a, b) + rest)


@functools.cache
def _with_shares(log_of_sum, exponential):
    """The same with a derivative rule: operands count by their shares of the sum. Infinite ones
    stand for 0 there, so that the largest has the share 1."""

    def finite(x):
        return where(_functions.equal(x, np.inf), 0, x)

    def rule(primals, tangents):
        (a, b), (at, bt) = primals, tangents
        out = fun(a, b)
        a_share, b_share = (exponential(finite(x) - finite(out)) for x in (a, b))
        return out, at * a_share + bt * b_share

    from shardax._transform.custom.jvp import custom_jvp  # at first use: quick import

    fun = custom_jvp(log_of_sum)
    fun.defjvp(rule)
    return static_jit()(lambda a, b: fun(*_core.promote("inexact", a, b)))


def logaddexp(x1, x2, /):
    """The logarithm of a sum of exponentials, log(exp(x1) + exp(x2)), without overflow.

    Args:
      x1, x2: numbers that broadcast; integers become float32.

    Returns:
      Floats or complex numbers in the broadcast shape.

    Example:
      >>> jnp.logaddexp(1000.0, 1000.0) - 1000
      Array(0.69317627, dtype=float32, weak_type=True)
    """
    check_arraylike("logaddexp", x1, x2)
    return _with_shares(_log_of_sum, _functions.exp)(x1, x2)


def logaddexp2(x1, x2, /):
    """The logarithm to base 2 of a sum of powers, log2(2**x1 + 2**x2), without overflow.

    Args:
      x1, x2: numbers that broadcast; integers become float32.

    Returns:
      Floats or complex numbers in the broadcast shape.

    Example:
      >>> jnp.logaddexp2(1000.0, 1000.0)
      Array(1001., dtype=float32, weak_type=True)
    """
    check_arraylike("logaddexp2", x1, x2)
    return _with_shares(_log2_of_sum, _functions.exp2)(x1, x2)


def angle(z, deg=False):
    """The argument of complex numbers, elementwise: the angle of the point in the plane.

    Args:
      z: numbers of any shape; real ones have the angle 0 or pi.
      deg: whether to return degrees in place of radians.

    Returns:
      Floats in (-pi, pi] in the shape of `z`.

    Example:
      >>> jnp.angle(jnp.array([1.0, 1j, -1.0]), deg=True)
      Array([  0.,  90., 180.], dtype=float32)
    """
    check_arraylike("angle", z)
    z = asarray(z)
    parts = _functions.imag(z), _functions.real(z)
    if not is_inexact(z.dtype) or (z.dtype.kind != "c" and z.ndim == 0):
        parts = (_core.convert(p, _core.canonical_dtype(float)) for p in parts)
    out = _functions.arctan2(*parts)
    return _functions.degrees(out) if deg else out


@in_one_program()
def sinc(x, /):
    """The function sin(pi x) / (pi x), elementwise, 1 at 0.

    Args:
      x: numbers of any shape; integers become float32.

    Returns:
      Floats or complex numbers in the shape of `x`.

    Example:
      >>> jnp.sinc(jnp.array([0.0, 0.5, 1.0])).round(3)
      Array([ 1.   ,  0.637, -0.   ], dtype=float32)
    """
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        near = _functions.less(_functions.abs(x), 0.5)
        far = where(near, 1.0, x) * np.pi
        return where(near, _sinc_near_0(where(near, x, 0.0)), _functions.sin(far) / far)
    # x is reduced before pi, which no float is, multiplies it.
    whole = bind("round", (x,), rounding_method=1)
    near, rest = _functions.equal(whole, 0), x - whole
    odd = whole - 2 * bind("round", (0.5 * whole,), rounding_method=1)  # -1, 0 or 1
    series = _sinc_near_0(rest)
    return where(near, series, series * (rest * (1 - 2 * odd * odd)) / where(near, 1.0, x))


def _sinc_near_0(x):
    """sinc of |x| <= 1/2: Taylor's series has derivatives where the quotient's would cancel."""
    square = _functions.square(x)
    terms = 11 if finfo(x.dtype).bits == 64 else 7
    series = 0.0
    for n in reversed(range(terms)):
        series = (-1) ** n * math.pi ** (2 * n) / math.factorial(2 * n + 1) + square * series
    return series


@in_one_program()
def fmax(x1, x2):
    """The larger one of each pair; the other one where one is NaN.

    Args:
      x1, x2: arrays or numbers that broadcast.

    Returns:
      An array of the broadcast shape and the dtype to which both promote.

    Example:
      >>> jnp.fmax(jnp.array([1.0, jnp.nan]), jnp.array([2.0, 3.0]))
      Array([2., 3.], dtype=float32)
    """
    check_arraylike("fmax", x1, x2)
    return where(_functions.logical_or(_functions.greater(x1, x2), _functions.isnan(x2)), x1, x2)


@in_one_program()
def fmin(x1, x2):
    """The smaller one of each pair; the other one where one is NaN.

    Args:
      x1, x2: arrays or numbers that broadcast.

    Returns:
      An array of the broadcast shape and the dtype to which both promote.

    Example:
      >>> jnp.fmin(jnp.array([1.0, jnp.nan]), jnp.array([2.0, 3.0]))
      Array([1., 3.], dtype=float32)
    """
    check_arraylike("fmin", x1, x2)
    return where(_functions.logical_or(_functions.less(x1, x2), _functions.isnan(x2)), x1, x2)


@in_one_program()
def spacing(x, /):
    """The distance to the next number away from 0, elementwise, with the sign of the number.

    Args:
      x: real numbers of any shape; integers become float32.

    Returns:
      Floats in the shape of `x`.

    Raises:
      ValueError: for complex numbers.

    Example:
      >>> jnp.spacing(jnp.array([1.0, -4.0])) == jnp.array([2.0**-23, -(2.0**-21)])
      Array([ True,  True], dtype=bool)
    """
    check_arraylike("spacing", x)
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise ValueError("jnp.spacing is not defined for complex inputs.")
    if x.dtype == np.float16:
        return _functions.nextafter(x, np.inf) - x
    out = _functions.nextafter(x, _functions.copysign(np.inf, x)) - x
    smallest = x.dtype.type(finfo(x.dtype).smallest_subnormal)
    return where(_functions.equal(out, 0), _functions.copysign(smallest, x), out)


@static_jit()
def _frexp(x):
    info = finfo(x.dtype)
    word = np.dtype(f"int{info.bits}")
    small = _functions.less(_functions.abs(x), info.smallest_normal)
    bits = bind("bitcast_convert_type", (where(small, x * 2.0**info.nmant, x),), new_dtype=word)
    mask, bias = (1 << info.nexp) - 1, 1 - int(info.minexp)
    exponent = ((bits >> info.nmant) & mask) - (bias - 1) - where(small, info.nmant, 0)
    same = _functions.logical_or(
        _functions.logical_not(_functions.isfinite(x)), _functions.equal(x, 0)
    )
    exponent = where(same, 0, exponent)
    # Powers of two by their bits, in two steps: one may be too small where x is large.
    half = exponent >> 1
    powers = ((bias - e) << info.nmant for e in (half, exponent - half))
    powers = (bind("bitcast_convert_type", (p,), new_dtype=x.dtype) for p in powers)
    mantissa = x * next(powers) * next(powers)
    return where(same, x, mantissa), _core.convert(exponent, np.dtype("int32"))


def _scaled(x, exponent):
    """x * 2**exponent, in two steps: the power may be infinite where the result is not."""
    most = 4 * -finfo(x.dtype).minexp  # from here on the result is 0 or infinite
    exponent = _core.convert(exponent, np.dtype("int32"))
    exponent = _functions.maximum(_functions.minimum(exponent, most), -most)
    half = exponent >> 1
    power = lambda e: _functions.exp2(_core.convert(e, x.dtype))  # noqa: E731
    scaled = x * power(half) * power(exponent - half)
    changes = _functions.logical_and(_functions.isfinite(x), _functions.not_equal(x, 0))
    return where(changes, scaled, x)


def frexp(x, /):
    """Numbers as mantissas and powers of two: x = mantissa * 2**exponent.

    Args:
      x: real numbers of any shape; integers become float32.

    Returns:
      (mantissas, exponents): floats of a size in [0.5, 1) and int32, in the shape of `x`; 0, inf
      and NaN stay as they are, with exponent 0.

    Raises:
      TypeError: for complex numbers.

    Example:
      >>> jnp.frexp(jnp.array([1.0, 3.0, -0.75]))
      (Array([ 0.5 ,  0.75, -0.75], dtype=float32), Array([1, 2, 0], dtype=int32))
    """
    check_arraylike("frexp", x)
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise TypeError("frexp does not support complex-valued inputs")
    return _frexp(x)


def modf(x, /, out=None):
    """The fractional and the whole part of numbers, both with the sign of the number.

    Args:
      x: real numbers of any shape; integers become float32.
      out: must be None.

    Returns:
      (fractional parts, whole parts), floats in the shape of `x`.

    Example:
      >>> jnp.modf(jnp.array([1.5, -2.25]))
      (Array([ 0.5 , -0.25], dtype=float32), Array([ 1., -2.], dtype=float32))
    """
    refuse_out("modf", out)
    x = _core.promote("inexact", x)[0]
    whole = _functions.trunc(x)
    return x - whole, whole


def divmod(x1, x2, /):
    """The quotients and remainders of a division: (x1 // x2, x1 % x2).

    Args:
      x1, x2: real numbers that broadcast.

    Returns:
      A pair of arrays; remainders have the sign of the divisor.

    Example:
      >>> jnp.divmod(jnp.array([7, -7]), 3)
      (Array([ 2, -3], dtype=int32), Array([1, 2], dtype=int32))
    """
    return _functions.floor_divide(x1, x2), _functions.remainder(x1, x2)


def ldexp(x1, x2, /):
    """Numbers times powers of two: x1 * 2**x2.

    Args:
      x1: real numbers.
      x2: integers; the two broadcast.

    Returns:
      Floats in the broadcast shape.

    Raises:
      ValueError: `x1` is complex, or `x2` holds other numbers than integers.

    Example:
      >>> jnp.ldexp(jnp.array([1.0, 3.0]), jnp.array([3, -1]))
      Array([8. , 1.5], dtype=float32)
    """
    check_arraylike("ldexp", x1, x2)
    x1, x2 = asarray(x1), asarray(x2)
    if x1.dtype.kind == "c" or x2.dtype.kind not in "biu":
        raise ValueError(f"ldexp not supported for input types {(x1.dtype, x2.dtype)}")
    mantissa, exponent = frexp(x1)
    most = 1 << 20  # far beyond any exponent, and the sum cannot overflow
    if x2.dtype.itemsize >= 4:
        x2 = _functions.minimum(x2, np.asarray(most, x2.dtype))
        if x2.dtype.kind == "i":
            x2 = _functions.maximum(x2, np.asarray(-most, x2.dtype))
    return _scaled(mantissa, exponent + x2.astype(np.int32))


printoptions, set_printoptions, get_printoptions = (
    np.printoptions,
    np.set_printoptions,
    np.get_printoptions,
)
