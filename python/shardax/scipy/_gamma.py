"""shardax/scipy/_gamma.py - the gamma function, its logarithm and what is made of them."""

import numpy as np

from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import bind, in_one_program
from shardax._transform.custom.jvp import custom_jvp
from shardax.scipy._promote import promoted, real


def gammaln(x):
    """The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2 ...

    Args:
      x: real numbers; integers become float32.

    Example:
      >>> shardax.scipy.special.gammaln(jnp.array([1.0, 5.0])).round(3)
      Array([0.   , 3.178], dtype=float32)
    """
    return lax.lgamma(promoted(x)[0])


@in_one_program()
def gammasgn(x):
    """The sign of the gamma function, elementwise: NaN at negative integers and of NaN, the sign of
    x at 0.

    Example:
      >>> shardax.scipy.special.gammasgn(jnp.array([2.5, -0.5, -1.0]))
      Array([ 1., -1., nan], dtype=float32)
    """
    (x,) = real("gammasgn", x)
    floor = jnp.floor(x)
    half = floor / 2
    negative = jnp.where(half != jnp.floor(half), -jnp.ones_like(x), jnp.ones_like(x))
    sign = jnp.where(
        ((x < 0) & (x == floor)) | jnp.isnan(x), jnp.nan, jnp.where(x < 0, negative, 1)
    )
    return jnp.where(x == 0, jnp.where(jnp.signbit(x), -1, 1), sign).astype(x.dtype)


def _not_at_poles(function, z):
    """function(z) of complex z, NaN at 0, -1, -2, ... and of NaN, where it has no derivative."""
    pole = (z.imag == 0) & (z.real == jnp.floor(z.real)) & (z.real <= 0)
    bad = pole | jnp.isnan(z)
    return jnp.where(bad, complex(np.nan, np.nan), function(jnp.where(bad, 1, z)))


@in_one_program()
def gamma(x):
    """The gamma function, elementwise, of real or complex numbers.

    Source: Lanczos, "A precision approximation of the gamma function", 1964, for complex numbers.

    Example:
      >>> shardax.scipy.special.gamma(jnp.array([1.0, 5.0])).round(2)
      Array([ 1., 24.], dtype=float32)
    """
    x = promoted(x)[0]
    if x.dtype.kind == "c":
        return jnp.exp(loggamma(x))
    return gammasgn(x) * jnp.exp(gammaln(x))


def loggamma(x):
    """The logarithm of the gamma function, elementwise.

    It is NaN for real numbers below 0; of complex ones its cut is the negative axis.

    Example:
      >>> shardax.scipy.special.loggamma(jnp.array([1.0, 5.0])).round(3)
      Array([0.   , 3.178], dtype=float32)
    """
    x = promoted(x)[0]
    if x.dtype.kind == "c":
        return _not_at_poles(lambda z: bind("complex_log_gamma", (z,), order=0), x)
    return jnp.where(x > 0, gammaln(jnp.where(x > 0, x, 1)), jnp.nan)


def factorial(n, exact=False):
    """The factorial n!, elementwise, as a float; 0 for negative n.

    Args:
      n: real numbers.
      exact: must be False; whole numbers are not available.

    Raises:
      NotImplementedError: for `exact=True`.

    Example:
      >>> shardax.scipy.special.factorial(jnp.array([0, 3, 5])).round(2)
      Array([  1.,   6., 120.], dtype=float32)
    """
    if exact:
        raise NotImplementedError("factorial with exact=True")
    n = promoted(n)[0]
    return jnp.where(n < 0, 0, jnp.exp(gammaln(jnp.where(n < 0, 0, n) + 1)))


def comb(N, k, *, repetition=False):
    """The number of ways to choose k of N things, elementwise: 0 where k is negative or more than
    N.

    Args:
      N, k: real numbers that broadcast.
      repetition: whether a thing may be chosen more than once.

    Example:
      >>> shardax.scipy.special.comb(5, 2).round(2)
      Array(10., dtype=float32, weak_type=True)
    """
    N, k = promoted(N, k)
    if repetition:
        return jnp.where((k == 0) & (N >= 0), 1, comb(N + k - 1, k))
    possible = (k >= 0) & (N >= 0) & (k <= N)
    n, m = jnp.where(possible, N, 1), jnp.where(possible, k, 1)
    log = -betaln(n - m + 1, m + 1)
    large = log > np.log(jnp.finfo(log.dtype).max)
    ways = jnp.exp(jnp.where(large, 0, log)) / (n + 1)
    ways = jnp.where(large, jnp.exp(log - jnp.log1p(n)), ways)
    return jnp.where(possible, ways, 0)


@custom_jvp
def _poch(z, m):
    # log gamma(z + m) - log gamma(z), of large operands without cancellation, by Stirling's series.
    large = (z >= 8) & (z + m >= 8)
    x, step = jnp.where(large, z, 8), jnp.where(large, m, 0)
    apart = (x + step - 0.5) * jnp.log1p(step / x) - step - _stirling_difference(x, step)
    log = jnp.where(large, step * jnp.log(x) + apart, gammaln(z + m) - gammaln(z))
    rising = gammasgn(z) * gammasgn(z + m) * jnp.exp(log)
    return jnp.where(m == 0, 1, rising).astype(z.dtype)


_poch.defjvps(
    lambda t, out, z, m: t * (digamma(z + m) - digamma(z)) * out,
    lambda t, out, z, m: t * digamma(z + m) * out,
)


@in_one_program()
def poch(z, m):
    """The rising factorial (Pochhammer's symbol) gamma(z + m) / gamma(z), elementwise.

    Args:
      z, m: real numbers that broadcast.

    Example:
      >>> shardax.scipy.special.poch(3.0, 2.0).round(3)
      Array(12., dtype=float32)
    """
    return _poch(*real("jnp.poch", z, m))


@in_one_program()
def betaln(a, b):
    """The logarithm of the beta function, elementwise.

    Args:
      a, b: positive numbers that broadcast.

    Example:
      >>> shardax.scipy.special.betaln(2.0, 3.0).round(3)
      Array(-2.485, dtype=float32, weak_type=True)
    """
    a, b = promoted(a, b)
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    # log gamma(large) - log gamma(small + large) without cancellation, by Stirling's series.
    big = large >= 8
    q = jnp.where(big, large, 8)
    ratio = small / q
    stirling = _stirling_difference(q, small)
    apart = small - small * jnp.log(small + q) + (q - 0.5) * -jnp.log1p(ratio) + stirling
    near = gammaln(large) - gammaln(small + large)
    return gammaln(small) + jnp.where(big, apart, near)


# Stirling's series: log gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) by x^-1, x^-3, ...
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def _stirling_difference(x, step):
    """Stirling's series at x >= 8 minus that at x + step: small where the step is."""
    u, v = 1 / x, 1 / (x + step)
    total, quotient, power = 0, 0, jnp.ones_like(v)
    for n in range(1, 2 * len(_STIRLING)):
        quotient = u * quotient + power  # (u^n - v^n) / (u - v)
        power = power * v
        if n % 2:
            total = total + _STIRLING[n // 2] * quotient
    return total * step * u * v


@in_one_program()
def beta(a, b):
    """The beta function gamma(a) gamma(b) / gamma(a + b), elementwise.

    Args:
      a, b: real numbers that broadcast.

    Example:
      >>> shardax.scipy.special.beta(2.0, 3.0).round(4)
      Array(0.0833, dtype=float32)
    """
    a, b = promoted(a, b)
    return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * jnp.exp(betaln(a, b))


def multigammaln(a, d):
    """The logarithm of the gamma function of d dimensions, elementwise.

    Args:
      a: numbers > (d - 1) / 2.
      d: an int.

    Example:
      >>> shardax.scipy.special.multigammaln(3.0, 2).round(3)
      Array(1.55, dtype=float32)
    """
    d = int(d)
    a = promoted(a)[0]
    each = gammaln(a[..., None] - jnp.arange(d, dtype=a.dtype) / 2)
    return each.sum(-1) + np.asarray(d * (d - 1) / 4 * np.log(np.pi), a.dtype)


def polygamma(n, x):
    """The n-th derivative of the digamma function, elementwise.

    Args:
      n: integers from 0 on.
      x: real numbers; the two broadcast.

    Example:
      >>> shardax.scipy.special.polygamma(1, 1.0).round(3)
      Array(1.645, dtype=float32, weak_type=True)
    """
    if not jnp.issubdtype(lax.dtype(n), np.integer):
        raise ValueError(
            f"Argument `n` to polygamma must be of integer type. Got dtype {lax.dtype(n)}."
        )
    return lax.polygamma(*real("polygamma", n, x))


def digamma(x):
    """The derivative of `gammaln`, elementwise; NaN at 0, -1, -2 ...

    Example:
      >>> shardax.scipy.special.digamma(jnp.array([1.0, 2.0])).round(3)
      Array([-0.577,  0.423], dtype=float32)
    """
    return lax.digamma(promoted(x)[0])
