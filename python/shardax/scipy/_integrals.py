"""shardax/scipy/_integrals.py - special functions that are integrals, and hypergeometric ones."""

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import bind
from shardax.scipy._promote import real


def _strong(*operands):
    """For Python's numbers these functions give numbers of the default dtype, as JAX's do."""
    return tuple(_core.convert(x, x.dtype) for x in operands)


def expi(x):
    """The exponential integral, elementwise: the principal value of that of e^t / t from -inf to x;
    -inf at 0.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 5.1.

    Example:
      >>> shardax.scipy.special.expi(1.0).round(3)
      Array(1.895, dtype=float32)
    """
    return bind("expi", _strong(*real("expi", x)))


def exp1(x):
    """The exponential integral E_1, elementwise: that of e^-t / t from x on; NaN for x < 0.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 5.1.

    Example:
      >>> shardax.scipy.special.exp1(1.0).round(3)
      Array(0.219, dtype=float32)
    """
    return expn(1, *real("exp1", x))


def expn(n, x):
    """The exponential integral of order n, elementwise: that of e^(-x t) / t^n over t from 1 on.

    It is NaN for negative n or x. There is no derivative by n.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 5.1.4.

    Example:
      >>> shardax.scipy.special.expn(2, 1.0).round(3)
      Array(0.148, dtype=float32)
    """
    n, x = real("expn", n, x)
    return bind("expn", _strong(lax.stop_gradient(n), x))


def sici(x):
    """The sine and the cosine integral, elementwise: (Si(x), Ci(|x|)).

    Si(x) is the integral of sin(t) / t from 0 to x, Ci(x) minus that of cos(t) / t from x on.

    Example:
      >>> si, ci = shardax.scipy.special.sici(jnp.array([1.0]))
      >>> si.round(3), ci.round(3)
      (Array([0.946], dtype=float32), Array([0.337], dtype=float32))
    """
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise ValueError(f"Argument `x` to sici must be real-valued. Got dtype {x.dtype}.")
    return bind("sine_integral", (x,)), bind("cosine_integral", (x,))


def fresnel(x):
    """Fresnel's integrals (S, C), elementwise: those of sin and cos of pi t^2 / 2 from 0 to x.

    Example:
      >>> s, c = shardax.scipy.special.fresnel(jnp.array([1.0]))
      >>> s.round(3), c.round(3)
      (Array([0.438], dtype=float32), Array([0.78], dtype=float32))
    """
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise NotImplementedError("Support for complex-valued inputs is not implemented yet.")
    return bind("fresnel_sine", (x,)), bind("fresnel_cosine", (x,))


def spence(x):
    """Spence's function, elementwise: the integral of log(t) / (1 - t) from 1 to x, the dilogarithm
    of 1 - x.

    It is NaN below 0.

    Raises:
      TypeError: `x` is neither float32 nor float64.

    Source: Lewin, "Polylogarithms and associated functions", 1981.

    Example:
      >>> shardax.scipy.special.spence(jnp.array([0.5, 1.0])).round(3)
      Array([ 0.582, -0.   ], dtype=float32)
    """
    x = jnp.asarray(x)
    if x.dtype not in (np.float32, np.float64):
        raise TypeError(f"x.dtype={x.dtype} is not supported, see docstring for supported types.")
    return bind("spence", _strong(x))


def owens_t(h, a):
    """Owen's T function, elementwise: the probability of X > h and 0 < Y < a X for standard normal
    X and Y.

    Source: Patefield, Tandy, "Fast and accurate calculation of Owen's T function", 2000.

    Example:
      >>> shardax.scipy.special.owens_t(jnp.array([0.0, 1.0]), 0.5).round(4)
      Array([0.0738, 0.0431], dtype=float32)
    """
    return bind("owens_t", real("owens_t", h, a))


def wofz(z):
    """Faddeeva's function, e^(-z^2) erfc(-i z), elementwise; complex.

    Source: Al Azah, Chandler-Wilde, "Computation of the complex error function using modified
      trapezoidal rules", 2021.

    Example:
      >>> shardax.scipy.special.wofz(jnp.array([0j, 1j])).round(3)
      Array([1.   +0.j, 0.428+0.j], dtype=complex64)
    """
    z = _core.promote("inexact", z)[0]
    return bind("faddeeva", (z if z.dtype.kind == "c" else jnp.asarray(z, _complex_of(z)),))


def _complex_of(x):
    return np.complex128 if x.dtype == np.float64 else np.complex64


def erfcx(x):
    """The function e^(x^2) erfc(x), elementwise, which does not overflow for large x; x may be
    complex.

    Example:
      >>> shardax.scipy.special.erfcx(jnp.array([0.0, 10.0])).round(4)
      Array([1.    , 0.0561], dtype=float32)
    """
    x = _core.promote("inexact", x)[0]
    return wofz(1j * x) if x.dtype.kind == "c" else bind("erfcx", _strong(x))


def dawsn(x):
    """Dawson's integral, elementwise: e^(-x^2) times the integral of e^(t^2) from 0 to x.

    Example:
      >>> shardax.scipy.special.dawsn(jnp.array([0.0, 1.0])).round(3)
      Array([0.   , 0.538], dtype=float32)
    """
    return bind("dawson", _strong(*real("dawsn", x)))


def hyp1f1(a, b, x):
    """The confluent hypergeometric function 1F1, elementwise: the sum of (a)_k / (b)_k x^k / k!.

    It has derivatives by all operands, those by a and b up to twice.

    Source: Pearson, Olver, Porter, "Numerical methods for the computation of the confluent and
      Gauss hypergeometric functions", 2017.

    Example:
      >>> shardax.scipy.special.hyp1f1(1.0, 2.0, jnp.array([0.0, 1.0])).round(3)
      Array([1.   , 1.718], dtype=float32)
    """
    return bind("hyp1f1", real("hyp1f1", a, b, x))


def hyp2f1(a, b, c, x):
    """Gauss's hypergeometric function 2F1, elementwise: the sum of (a)_k (b)_k / (c)_k x^k / k!.

    It is infinite beyond x = 1, unless the series ends. It has derivatives by all operands, those
    by a, b and c up to twice.

    Source: Pearson, Olver, Porter, "Numerical methods for the computation of the confluent and
      Gauss hypergeometric functions", 2017.

    Example:
      >>> shardax.scipy.special.hyp2f1(1.0, 1.0, 2.0, jnp.array([0.0, 0.5])).round(3)
      Array([1.   , 1.386], dtype=float32)
    """
    return bind("hyp2f1", real("hyp2f1", a, b, c, x))
