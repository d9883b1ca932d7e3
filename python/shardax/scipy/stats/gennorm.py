"""shardax.scipy.stats.gennorm - the generalised normal distribution."""

from shardax import lax
from shardax import numpy as jnp
from shardax._transform.custom.jvp import custom_jvp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact


def logpdf(x, beta):
    """The logarithm of the density of the generalized normal distribution, elementwise.

    The density is proportional to exp(-|x|^beta).

    Args:
      x: numbers.
      beta: the exponent > 0.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gennorm.logpdf(jnp.array([0.0, 1.0]), 3.0).round(3)
      Array([-0.58, -1.58], dtype=float32)
    """
    x, beta = inexact(x, beta)
    return jnp.log(0.5 * beta) - special.gammaln(1 / beta) - jnp.abs(x) ** beta


def pdf(x, beta):
    """The density of the generalized normal distribution, elementwise.

    The density is proportional to exp(-|x|^beta).

    Args:
      x: numbers.
      beta: the exponent > 0.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gennorm.pdf(jnp.array([0.0, 1.0]), 3.0).round(3)
      Array([0.56 , 0.206], dtype=float32)
    """
    return jnp.exp(logpdf(x, beta))


@custom_jvp
def _cdf(x, beta):
    return 0.5 * (1 + jnp.sign(x) * special.gammainc(1 / beta, jnp.abs(x) ** beta))


def _cdf_by_beta(t, out, x, beta):
    a, size = 1 / beta, jnp.abs(x)
    z = size**beta
    # The part by z: its density, without the powers of |x| that may under- or overflow.
    moved = special.xlogy(size, size) * jnp.exp(-z - special.gammaln(a))
    moved = jnp.where(jnp.isinf(z), 0, moved)
    return t * 0.5 * jnp.sign(x) * (moved - a * a * lax.igamma_grad_a(a, z))


# By x the density, also at 0 and infinity.
_cdf.defjvps(lambda t, out, x, beta: t * pdf(x, beta), _cdf_by_beta)


def cdf(x, beta):
    """The cumulative distribution function of the generalized normal distribution: the probability
    of values up to x, elementwise.

    Args:
      x: numbers.
      beta: the exponent > 0.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gennorm.cdf(jnp.array([0.0, 1.0]), 3.0).round(3)
      Array([0.5  , 0.952], dtype=float32)
    """
    return _cdf(*inexact(x, beta))
