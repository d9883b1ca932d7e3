"""shardax.scipy.stats.gamma - the gamma distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import held, inexact, log_share, within


def logpdf(x, a, loc=0, scale=1):
    """The logarithm of the density of the gamma distribution, elementwise.

    The density is proportional to x^(a-1) e^-x for x >= 0, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      a: the shape parameter > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gamma.logpdf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([-1.   , -1.307], dtype=float32)
    """
    x, a, loc, scale = inexact(x, a, loc, scale)
    y = (x - loc) / scale
    inside = (y >= 0) | (scale < 0)  # a negative scale makes NaN
    y = jnp.where(inside, y, 1)
    value = special.xlogy(a - 1, y) - y - special.gammaln(a) - jnp.log(scale)
    return within(inside, value)


def pdf(x, a, loc=0, scale=1):
    """The density of the gamma distribution, elementwise.

    The density is proportional to x^(a-1) e^-x for x >= 0, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      a: the shape parameter > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gamma.pdf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([0.368, 0.271], dtype=float32)
    """
    return jnp.exp(logpdf(x, a, loc, scale))


def cdf(x, a, loc=0, scale=1):
    """The cumulative distribution function of the gamma distribution: the probability of values up
    to x, elementwise.

    Args:
      x: numbers.
      a: the shape parameter > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gamma.cdf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([0.264, 0.594], dtype=float32)
    """
    x, a, loc, scale = inexact(x, a, loc, scale)
    return special.gammainc(a, held((x - loc) / scale, 0))


def sf(x, a, loc=0, scale=1):
    """The survival function of the gamma distribution: the probability of values above x,
    elementwise.

    Args:
      x: numbers.
      a: the shape parameter > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gamma.sf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([0.736, 0.406], dtype=float32)
    """
    x, a, loc, scale = inexact(x, a, loc, scale)
    return special.gammaincc(a, held((x - loc) / scale, 0))


def logcdf(x, a, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the gamma distribution, elementwise.

    Args:
      x: numbers.
      a: the shape parameter > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gamma.logcdf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([-1.331, -0.521], dtype=float32)
    """
    return log_share(cdf(x, a, loc, scale), sf(x, a, loc, scale))


def logsf(x, a, loc=0, scale=1):
    """The logarithm of the survival function of the gamma distribution, elementwise.

    Args:
      x: numbers.
      a: the shape parameter > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gamma.logsf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([-0.307, -0.901], dtype=float32)
    """
    return log_share(sf(x, a, loc, scale), cdf(x, a, loc, scale))
