"""shardax/scipy/_integrals.py - special functions that are integrals, and hypergeometric ones."""

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import bind
from shardax.scipy._promote import real


def _strong(*operands):
    """Of Python's numbers these functions give numbers of the default dtype, as JAX's do."""
    return tuple(_core.convert(x, x.dtype) for x in operands)


def expi(x):
    """The exponential integral: the principal value of that of e^t / t from -inf to x.

    Abramowitz and Stegun, 5.1. -inf at 0.

    >>> expi(1.0)
    Array(1.8951178, dtype=float32)
    """
    return bind("expi", _strong(*real("expi", x)))


def exp1(x):
    """The exponential integral E_1: that of e^t / t from x on, for x >= 0, else NaN."""
    return expn(1, *real("exp1", x))


def expn(n, x):
    """The exponential integral of order n: of e^(-x t) / t^n over t from 1 on.

    Abramowitz and Stegun, 5.1.4. NaN for negative n or x. There is no derivative by n.

    >>> expn(2, 1.0)
    Array(0.14849551, dtype=float32)
    """
    n, x = real("expn", n, x)
    return bind("expn", _strong(lax.stop_gradient(n), x))


def sici(x):
    """The sine integral of x, and the cosine integral of |x|.

    Si(x) is the integral of sin(t) / t from 0 to x, Ci(x) minus that of cos(t) / t from x on.
    """
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise ValueError(f"Argument `x` to sici must be real-valued. Got dtype {x.dtype}.")
    return bind("sine_integral", (x,)), bind("cosine_integral", (x,))


def fresnel(x):
    """Fresnel's integrals (S, C): those of sin and cos of pi t^2 / 2 from 0 to x."""
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise NotImplementedError("Support for complex-valued inputs is not implemented yet.")
    return bind("fresnel_sine", (x,)), bind("fresnel_cosine", (x,))


def spence(x):
    """Spence's function, the integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x.

    Lewin, Polylogarithms and associated functions (1981). NaN below 0.

    Raises:
      TypeError: x is neither float32 nor float64.
    """
    x = jnp.asarray(x)
    if x.dtype not in (np.float32, np.float64):
        raise TypeError(f"x.dtype={x.dtype} is not supported, see docstring for supported types.")
    return bind("spence", _strong(x))


def owens_t(h, a):
    """Owen's T function: how probable X > h and 0 < Y < a X are for standard normal X and Y.

    Patefield and Tandy, Journal of Statistical Software 5 (2000).
    """
    return bind("owens_t", real("owens_t", h, a))


def wofz(z):
    """Faddeeva's function, e^(-z^2) erfc(-i z); complex.

    Al Azah and Chandler-Wilde (2021), modified trapezoidal rules.
    """
    z = _core.promote("inexact", z)[0]
    return bind("faddeeva", (z if z.dtype.kind == "c" else jnp.asarray(z, _complex_of(z)),))


def _complex_of(x):
    return np.complex128 if x.dtype == np.float64 else np.complex64


def erfcx(x):
    """e^(x^2) erfc(x), which does not overflow for large x; x may be complex."""
    x = _core.promote("inexact", x)[0]
    return wofz(1j * x) if x.dtype.kind == "c" else bind("erfcx", _strong(x))


def dawsn(x):
    """Dawson's integral: e^(-x^2) times the integral of e^(t^2) from 0 to x."""
    return bind("dawson", _strong(*real("dawsn", x)))


def hyp1f1(a, b, x):
    """The confluent hypergeometric function 1F1: the sum of (a)_k / (b)_k x^k / k!.

    Derivatives by all operands, those by a and b up to twice. Pearson, Olver and Porter (2017).

    >>> hyp1f1(1.0, 2.0, 1.0)
    Array(1.7182819, dtype=float32, weak_type=True)
    """
    return bind("hyp1f1", real("hyp1f1", a, b, x))


def hyp2f1(a, b, c, x):
    """Gauss's hypergeometric function 2F1: the sum of (a)_k (b)_k / (c)_k x^k / k!.

    Infinite beyond x = 1, unless the series ends. Derivatives by all operands, those by a, b and c
    up to twice. Pearson, Olver and Porter (2017).
    """
    return bind("hyp2f1", real("hyp2f1", a, b, c, x))
