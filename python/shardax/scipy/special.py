"""shardax.scipy.special - special functions."""

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import bind, in_one_program
from shardax._transform.custom.jvp import custom_jvp
from shardax.numpy._bessel import modified_bessel
from shardax.numpy._exponentials import logsumexp
from shardax.scipy._entropy import (
    boxcox,
    boxcox1p,
    entr,
    kl_div,
    rel_entr,
    xlog1py,
    xlogy,
)
from shardax.scipy._harmonics import bernoulli, bessel_jn, lpmn, lpmn_values, sph_harm_y
from shardax.scipy._integrals import (
    dawsn,
    erfcx,
    exp1,
    expi,
    expn,
    fresnel,
    hyp1f1,
    hyp2f1,
    owens_t,
    sici,
    spence,
    wofz,
)
from shardax.scipy._normal import log_ndtr, ndtr, ndtri
from shardax.scipy._promote import real

__all__ = [
    "bernoulli",
    "bessel_jn",
    "beta",
    "betainc",
    "betaln",
    "boxcox",
    "boxcox1p",
    "comb",
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "expn",
    "factorial",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "lpmn",
    "lpmn_values",
    "multigammaln",
    "ndtr",
    "ndtri",
    "owens_t",
    "poch",
    "polygamma",
    "rel_entr",
    "sici",
    "softmax",
    "spence",
    "sph_harm_y",
    "wofz",
    "xlog1py",
    "xlogy",
    "zeta",
]


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


@in_one_program()
def logit(x):
    """log(x / (1 - x))."""
    return _logit(_inexact(x)[0])


def gammaln(x):
    """The logarithm of the gamma function."""
    return lax.lgamma(_inexact(x)[0])


@in_one_program()
def gammasgn(x):
    """The sign of the gamma function: NaN at negative integers and of NaN, the sign of x at 0."""
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
    """The gamma function, of real or complex numbers.

    >>> gamma(5.0)
    Array(24., dtype=float32, weak_type=True)
    """
    x = _inexact(x)[0]
    if x.dtype.kind == "c":
        return jnp.exp(loggamma(x))
    return gammasgn(x) * jnp.exp(gammaln(x))


def loggamma(x):
    """The logarithm of the gamma function where its argument is positive, else NaN; of complex
    numbers with its cut on the negative axis.
    """
    x = _inexact(x)[0]
    if x.dtype.kind == "c":
        return _not_at_poles(lambda z: bind("complex_log_gamma", (z,), order=0), x)
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
    """gamma(z + m) / gamma(z)."""
    return _poch(*real("jnp.poch", z, m))


@in_one_program()
def betaln(a, b):
    """The logarithm of the beta function, gamma(a) gamma(b) / gamma(a + b)."""
    a, b = _inexact(a, b)
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
    """The n-th derivative of digamma, for an integer n."""
    if not jnp.issubdtype(lax.dtype(n), np.integer):
        raise ValueError(
            f"Argument `n` to polygamma must be of integer type. Got dtype {lax.dtype(n)}."
        )
    return lax.polygamma(*real("polygamma", n, x))


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
    return modified_bessel(0, _inexact(x)[0])


def i1(x):
    """The modified Bessel function of order 1."""
    return modified_bessel(1, _inexact(x)[0])


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
    return lax.betainc(*real("betainc", a, b, x))


@in_one_program("axis")
def log_softmax(x, /, *, axis=None):
    """x - logsumexp(x) along `axis`."""
    x = _inexact(x)[0]
    return x - logsumexp(x, axis, keepdims=True)


@in_one_program("axis")
def softmax(x, /, *, axis=None):
    """exp(x) over its sum along `axis`."""
    return jnp.exp(log_softmax(x, axis=axis))
