"""shardax.scipy.special - special functions."""

from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import in_one_program
from shardax._transform.custom.jvp import custom_jvp
from shardax.numpy._elementwise.bessel import modified_bessel
from shardax.numpy._elementwise.exponentials import logsumexp
from shardax.scipy._entropy import (
    boxcox,
    boxcox1p,
    entr,
    kl_div,
    rel_entr,
    xlog1py,
    xlogy,
)
from shardax.scipy._gamma import (
    beta,
    betaln,
    comb,
    digamma,
    factorial,
    gamma,
    gammaln,
    gammasgn,
    loggamma,
    multigammaln,
    poch,
    polygamma,
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
from shardax.scipy._promote import promoted as _promoted
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


def erf(x):
    """The error function, 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x, elementwise.

    Args:
      x: real numbers; integers become float32.

    Example:
      >>> shardax.scipy.special.erf(jnp.array([0.0, 1.0])).round(3)
      Array([0.   , 0.843], dtype=float32)
    """
    return lax.erf(_promoted(x)[0])


def erfc(x):
    """The complementary error function 1 - erf(x), elementwise, exact for large x.

    Args:
      x: real numbers; integers become float32.

    Example:
      >>> shardax.scipy.special.erfc(jnp.array([0.0, 1.0])).round(3)
      Array([1.   , 0.157], dtype=float32)
    """
    return lax.erfc(_promoted(x)[0])


def erfinv(x):
    """The inverse of the error function, elementwise; infinite at -1 and 1, NaN beyond.

    Args:
      x: real numbers; integers become float32.

    Example:
      >>> shardax.scipy.special.erfinv(jnp.array([0.0, 0.5])).round(3)
      Array([0.   , 0.477], dtype=float32)
    """
    return lax.erf_inv(_promoted(x)[0])


def expit(x):
    """The logistic function 1 / (1 + exp(-x)), elementwise.

    Args:
      x: numbers; integers become float32.

    Example:
      >>> shardax.scipy.special.expit(jnp.array([0.0, 2.0])).round(3)
      Array([0.5  , 0.881], dtype=float32)
    """
    return lax.logistic(_promoted(x)[0])


@custom_jvp
def _logit(x):
    return jnp.log(x / (1 - x))


# The rules of log and of division would give NaN at 0 and 1, where the slope is infinite.
_logit.defjvps(lambda t, out, x: t / (x * (1 - x)))


@in_one_program()
def logit(x):
    """The inverse of the logistic function, log(x / (1 - x)), elementwise.

    Args:
      x: numbers; integers become float32.

    Example:
      >>> shardax.scipy.special.logit(jnp.array([0.5, 0.9])).round(3)
      Array([0.   , 2.197], dtype=float32)
    """
    return _logit(_promoted(x)[0])


def zeta(x, q=None):
    """The Hurwitz zeta function, elementwise: the sum of (q + k)^-x over k = 0, 1, ...

    Args:
      x: real numbers > 1.
      q: real numbers; None: 1, for Riemann's.

    Example:
      >>> shardax.scipy.special.zeta(2.0).round(3)
      Array(1.645, dtype=float32, weak_type=True)
    """
    return lax.zeta(*_promoted(x, 1 if q is None else q))


def i0e(x):
    """The modified Bessel function of the first kind of order 0 times exp(-|x|), elementwise.

    Example:
      >>> shardax.scipy.special.i0e(jnp.array([0.0, 1.0])).round(3)
      Array([1.   , 0.466], dtype=float32)
    """
    return lax.bessel_i0e(_promoted(x)[0])


def i1e(x):
    """The modified Bessel function of the first kind of order 1 times exp(-|x|), elementwise.

    Example:
      >>> shardax.scipy.special.i1e(jnp.array([0.0, 1.0])).round(3)
      Array([0.   , 0.208], dtype=float32)
    """
    return lax.bessel_i1e(_promoted(x)[0])


def i0(x):
    """The modified Bessel function of the first kind of order 0, elementwise.

    Example:
      >>> shardax.scipy.special.i0(jnp.array([0.0, 1.0])).round(3)
      Array([1.   , 1.266], dtype=float32)
    """
    return modified_bessel(0, _promoted(x)[0])


def i1(x):
    """The modified Bessel function of the first kind of order 1, elementwise.

    Example:
      >>> shardax.scipy.special.i1(jnp.array([0.0, 1.0])).round(3)
      Array([0.   , 0.565], dtype=float32)
    """
    return modified_bessel(1, _promoted(x)[0])


def gammainc(a, x):
    """The regularized lower incomplete gamma function, elementwise.

    It is the share of the gamma distribution with parameter `a` below `x`.

    Args:
      a, x: real numbers >= 0 that broadcast.

    Example:
      >>> shardax.scipy.special.gammainc(2.0, 1.0).round(4)
      Array(0.2642, dtype=float32, weak_type=True)
    """
    return lax.igamma(*_promoted(a, x))


def gammaincc(a, x):
    """The regularized upper incomplete gamma function, 1 - gammainc(a, x), elementwise, without the
    loss of digits.

    Args:
      a, x: real numbers >= 0 that broadcast.

    Example:
      >>> shardax.scipy.special.gammaincc(2.0, 1.0).round(4)
      Array(0.7358, dtype=float32, weak_type=True)
    """
    return lax.igammac(*_promoted(a, x))


def betainc(a, b, x):
    """The regularized incomplete beta function, elementwise.

    It is the share of the beta distribution with parameters `a` and `b` below `x`.

    Args:
      a, b: positive numbers.
      x: numbers in [0, 1]; the three broadcast.

    Example:
      >>> shardax.scipy.special.betainc(2.0, 3.0, 0.5).round(4)
      Array(0.6875, dtype=float32, weak_type=True)
    """
    return lax.betainc(*real("betainc", a, b, x))


@in_one_program("axis")
def log_softmax(x, /, *, axis=None):
    """The logarithm of the softmax: x - logsumexp(x) along `axis` (None: all).

    Example:
      >>> shardax.scipy.special.log_softmax(jnp.zeros(2)).round(3)
      Array([-0.693, -0.693], dtype=float32)
    """
    x = _promoted(x)[0]
    return x - logsumexp(x, axis, keepdims=True)


@in_one_program("axis")
def softmax(x, /, *, axis=None):
    """The softmax: exp(x) over its sum along `axis` (None: all).

    Example:
      >>> shardax.scipy.special.softmax(jnp.zeros(2))
      Array([0.5, 0.5], dtype=float32)
    """
    return jnp.exp(log_softmax(x, axis=axis))
