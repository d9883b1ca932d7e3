# shardax/numpy/_elementwise/bessel.py - modified Bessel functions of the first kind.

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import bind, check_arraylike, in_one_program
from shardax._transform.custom.jvp import custom_jvp

_functions = _core.functions


def _grown(scaled, x):
    """scaled * exp(|x|), in two steps: the exponential overflows before the product does."""
    half = _functions.exp(0.5 * _functions.abs(x))
    return half * (half * scaled)


@custom_jvp
def _i0(x):
    return _grown(bind("bessel_i0e", (x,)), x)


@custom_jvp
def _i1(x):
    return _grown(bind("bessel_i1e", (x,)), x)


def _i1_slope(x):
    """i0(x) - i1(x) / x: no difference of infinities where both overflow."""
    near = _functions.abs(x) < 0.1
    far = where(near, 1, x)
    slope = _grown(bind("bessel_i0e", (far,)) - bind("bessel_i1e", (far,)) / far, far)
    square = where(near, x, 0) ** 2
    series = 0.5 + square * (3 / 16 + square * (5 / 384 + square * (7 / 18432 + square / 163840)))
    return where(near, series, slope)


_i0.defjvps(lambda t, out, x: t * _i1(x))
_i1.defjvps(lambda t, out, x: t * _i1_slope(x))


@in_one_program("order")
def modified_bessel(order, x):
    """The function of order 0 or 1 of a floating array."""
    return (_i0, _i1)[order](x)


def i0(x):
    """The modified Bessel function of the first kind of order 0, elementwise.

    Args:
      x: real numbers of any shape; integers become float32.

    Returns:
      Floats in the shape of `x`; inf for large |x|, where `scipy.special.i0e` is finite.

    Raises:
      ValueError: for complex numbers.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, section 9.6.

    Example:
      >>> jnp.i0(jnp.array([0.0, 1.0])).round(2)
      Array([1.  , 1.27], dtype=float32)
    """
    check_arraylike("i0", x)
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise ValueError(f"Unsupported input type to jax.numpy.i0: {x.dtype}")
    return modified_bessel(0, x)
