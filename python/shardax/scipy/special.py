"""shardax.scipy.special - special functions."""

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._transform.custom_jvp import custom_jvp
from shardax.numpy._exponentials import logsumexp


def _inexact(*args):
    return _core.promote("inexact", *args)


def erf(x):
    """The error function."""
    return lax.erf(_inexact(x)[0])


def erfc(x):
    """1 - erf(x)."""
    return lax.erfc(_inexact(x)[0])


def erfinv(x):
    """The inverse of erf."""
    return lax.erf_inv(_inexact(x)[0])


def expit(x):
    """1 / (1 + exp(-x))."""
    return lax.logistic(_inexact(x)[0])


@custom_jvp
def _logit(x):
    return jnp.log(x / (1 - x))


# The rules of log and of division would give NaN at 0 and 1, where the slope is infinite.
_logit.defjvps(lambda t, out, x: t / (x * (1 - x)))


def logit(x):
    """log(x / (1 - x))."""
    return _logit(_inexact(x)[0])


def gammaln(x):
    """The logarithm of the gamma function."""
    return lax.lgamma(_inexact(x)[0])


def gammasgn(x):
    """The sign of the gamma function: NaN at negative integers, the sign of x at 0."""
    x = _inexact(x)[0]
    floor = jnp.floor(x)
    negative = jnp.where(floor % 2 != 0, -jnp.ones_like(x), jnp.ones_like(x))
    sign = jnp.where((x < 0) & (x == floor), jnp.nan, jnp.where(x < 0, negative, 1))
    return jnp.where(x == 0, jnp.where(jnp.signbit(x), -1, 1), sign).astype(x.dtype)


def gamma(x):
    """The gamma function.

    >>> gamma(5.0)
    Array(24., dtype=float32, weak_type=True)
    """
    x = _inexact(x)[0]
    return gammasgn(x) * jnp.exp(gammaln(x))


def loggamma(x):
    """The logarithm of the gamma function where its argument is positive, else NaN."""
    x = _inexact(x)[0]
    return jnp.where(x > 0, gammaln(jnp.where(x > 0, x, 1)), jnp.nan)


def factorial(n, exact=False):
    """n! as a float; 0 for negative n. `exact` (in whole numbers) is not available."""
    if exact:
        raise NotImplementedError("factorial with exact=True")
    n = _inexact(n)[0]
    return jnp.where(n < 0, 0, jnp.exp(gammaln(jnp.where(n < 0, 0, n) + 1)))


def comb(N, k, *, repetition=False):
    """In how many ways k of N things can be chosen: 0 where k is negative or more than N."""
    N, k = _inexact(N, k)
    if repetition:
        return comb(N + k - 1, k)
    possible = (k >= 0) & (N >= 0) & (k <= N)
    n, m = jnp.where(possible, N, 1), jnp.where(possible, k, 1)
    ways = jnp.exp(gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1))
    return jnp.where(possible, ways, 0)


def poch(z, m):
    """gamma(z + m) / gamma(z)."""
    z, m = _inexact(z, m)
    rising = gammasgn(z) * gammasgn(z + m) * jnp.exp(gammaln(z + m) - gammaln(z))
    return jnp.where(m == 0, 1, rising).astype(z.dtype)


def betaln(a, b):
    """The logarithm of the beta function, gamma(a) gamma(b) / gamma(a + b)."""
    a, b = _inexact(a, b)
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    # log gamma(large) - log gamma(small + large) without cancellation, by Stirling's series.
    big = large >= 8
    q = jnp.where(big, large, 8)
    ratio = small / q
    stirling = _stirling_rest(q) - _stirling_rest(small + q)
    apart = small - small * jnp.log(small + q) + (q - 0.5) * -jnp.log1p(ratio) + stirling
    near = gammaln(large) - gammaln(small + large)
    return gammaln(small) + jnp.where(big, apart, near)


def _stirling_rest(x):
    """log gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x of 8 or more."""
    inverse = 1 / x
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))


def beta(a, b):
    """The beta function, gamma(a) gamma(b) / gamma(a + b)."""
    a, b = _inexact(a, b)
    return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * jnp.exp(betaln(a, b))


def multigammaln(a, d):
    """The logarithm of the gamma function of d dimensions."""
    d = int(d)
    a = _inexact(a)[0]
    each = gammaln(a[..., None] - jnp.arange(d, dtype=a.dtype) / 2)
    return each.sum(-1) + np.asarray(d * (d - 1) / 4 * np.log(np.pi), a.dtype)


def polygamma(n, x):
    """The n-th derivative of digamma."""
    return lax.polygamma(*_inexact(n, x))


def zeta(x, q=None):
    """The sum of (q + k)^-x over k = 0, 1, ..."""
    return lax.zeta(*_inexact(x, 1 if q is None else q))


def i0e(x):
    """exp(-|x|) times the modified Bessel function of order 0."""
    return lax.bessel_i0e(_inexact(x)[0])


def i1e(x):
    """exp(-|x|) times the modified Bessel function of order 1."""
    return lax.bessel_i1e(_inexact(x)[0])


def i0(x):
    """The modified Bessel function of order 0."""
    x = _inexact(x)[0]
    return jnp.exp(jnp.abs(x)) * lax.bessel_i0e(x)


def i1(x):
    """The modified Bessel function of order 1."""
    x = _inexact(x)[0]
    return jnp.exp(jnp.abs(x)) * lax.bessel_i1e(x)


def digamma(x):
    """The derivative of gammaln."""
    return lax.digamma(_inexact(x)[0])


def gammainc(a, x):
    """The regularized lower incomplete gamma function."""
    return lax.igamma(*_inexact(a, x))


def gammaincc(a, x):
    """1 - gammainc(a, x)."""
    return lax.igammac(*_inexact(a, x))


def betainc(a, b, x):
    """The regularized incomplete beta function."""
    return lax.betainc(*_inexact(a, b, x))


def _log_product(x, log_y, y):
    """x * log_y, where log_y is a logarithm of y: 0 where x is 0, but for NaN."""
    return jnp.where((x == 0) & ~jnp.isnan(y), jnp.zeros_like(x), x * log_y)


@custom_jvp
def _xlogy(x, y):
    return _log_product(x, jnp.log(y), y)


@custom_jvp
def _xlog1py(x, y):
    return _log_product(x, jnp.log1p(y), y)


@custom_jvp
def _entr(x):
    return jnp.where(x < 0, -jnp.inf, -_xlogy(x, x))


# The slopes of the factors, also where the product is 0 by definition.
_xlogy.defjvps(lambda t, out, x, y: t * jnp.log(y), lambda t, out, x, y: t * (x / y))
_xlog1py.defjvps(lambda t, out, x, y: t * jnp.log1p(y), lambda t, out, x, y: t * (x / (1 + y)))
_entr.defjvps(lambda t, out, x: t * (-jnp.log(x) - 1))


def xlogy(x, y):
    """x * log(y), 0 where x is 0."""
    return _xlogy(*_inexact(x, y))


def xlog1py(x, y):
    """x * log1p(y), 0 where x is 0."""
    return _xlog1py(*_inexact(x, y))


def entr(x):
    """-x * log(x); 0 at 0, -inf below."""
    return _entr(_inexact(x)[0])


def rel_entr(p, q):
    """p * log(p / q); 0 where p is 0 and q is not negative, inf where they are out of range."""
    p, q = _inexact(p, q)
    both, none = (p > 0) & (q > 0), (p == 0) & (q >= 0)
    safe_p, safe_q = jnp.where(both, p, 1), jnp.where(both, q, 1)
    value = safe_p * (jnp.log(safe_p) - jnp.log(safe_q))
    return jnp.where(both, value, jnp.where(none, 0, jnp.inf)).astype(p.dtype)


def kl_div(p, q):
    """p * log(p / q) - p + q."""
    p, q = _inexact(p, q)
    return rel_entr(p, q) - p + q


def boxcox(x, lmbda):
    """(x^lmbda - 1) / lmbda; log(x) where lmbda is 0."""
    x, lmbda = _inexact(x, lmbda)
    zero = lmbda == 0
    safe = jnp.where(zero, 1, lmbda)
    return jnp.where(zero, jnp.log(x), jnp.expm1(safe * jnp.log(x)) / safe)


def boxcox1p(x, lmbda):
    """boxcox(1 + x, lmbda), exact for small x."""
    x, lmbda = _inexact(x, lmbda)
    zero = lmbda == 0
    safe = jnp.where(zero, 1, lmbda)
    return jnp.where(zero, jnp.log1p(x), jnp.expm1(safe * jnp.log1p(x)) / safe)


def log_ndtr(x, series_order=3):
    """The logarithm of ndtr; far below 0, by `series_order` terms of the series of erfc."""
    x = _inexact(x)[0]
    # ndtr(x) is exact in its logarithm between these.
    low, high = (-10.0, 5.0) if x.dtype == np.float32 else (-20.0, 8.0)
    far, middle, top = jnp.minimum(x, low), jnp.clip(x, low, high), jnp.maximum(x, high)
    square = far * far
    series, term = jnp.ones_like(far), jnp.ones_like(far)
    for k in range(1, series_order + 1):
        term = -term * (2 * k - 1) / square
        series = series + term
    tail = -0.5 * square - jnp.log(-far) - 0.5 * np.log(2 * np.pi) + jnp.log(series)
    inside = jnp.where(x > low, jnp.log(ndtr(middle)), tail)
    return jnp.where(x > high, -ndtr(-top), inside).astype(x.dtype)


def ndtr(x):
    """The cumulative distribution of the standard normal."""
    x = _inexact(x)[0]
    return 0.5 * lax.erfc(-x / np.asarray(np.sqrt(2), x.dtype))


def ndtri(p):
    """The inverse of ndtr."""
    p = _inexact(p)[0]
    return np.asarray(np.sqrt(2), p.dtype) * lax.erf_inv(2 * p - 1)


def log_softmax(x, axis=None):
    """x - logsumexp(x) along `axis`."""
    x = _inexact(x)[0]
    return x - logsumexp(x, axis, keepdims=True)


def softmax(x, axis=None):
    """exp(x) over its sum along `axis`."""
    return jnp.exp(log_softmax(x, axis))
