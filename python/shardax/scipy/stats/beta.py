"""shardax.scipy.stats.beta - the beta distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import held, inexact, log_share, within


def logpdf(x, a, b, loc=0, scale=1):
    """The logarithm of the density of the beta distribution, elementwise.

    The density is proportional to x^(a-1) (1-x)^(b-1) on [0, 1], of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      a, b: the parameters > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.beta.logpdf(jnp.array([0.2, 0.4]), 2.0, 3.0).round(3)
      Array([0.429, 0.547], dtype=float32)
    """
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    y = (x - loc) / scale
    outside = (y < 0) | (y > 1)
    y = jnp.where(outside, 0.5, y)
    shape = special.xlogy(a - 1, y) + special.xlog1py(b - 1, -y)
    value = within(~outside, shape - special.betaln(a, b) - jnp.log(scale))
    return jnp.where((a > 0) & (b > 0) & (scale > 0), value, jnp.nan)


def pdf(x, a, b, loc=0, scale=1):
    """The density of the beta distribution, elementwise.

    The density is proportional to x^(a-1) (1-x)^(b-1) on [0, 1], of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      a, b: the parameters > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.beta.pdf(jnp.array([0.2, 0.4]), 2.0, 3.0).round(3)
      Array([1.536, 1.728], dtype=float32)
    """
    return jnp.exp(logpdf(x, a, b, loc, scale))


def cdf(x, a, b, loc=0, scale=1):
    """The cumulative distribution function of the beta distribution: the probability of values up
    to x, elementwise.

    Args:
      x: numbers.
      a, b: the parameters > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.beta.cdf(jnp.array([0.2, 0.4]), 2.0, 3.0).round(3)
      Array([0.181, 0.525], dtype=float32)
    """
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    return special.betainc(a, b, held((x - loc) / scale, 0, 1))


def logcdf(x, a, b, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the beta distribution, elementwise.

    Args:
      x: numbers.
      a, b: the parameters > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.beta.logcdf(jnp.array([0.2, 0.4]), 2.0, 3.0).round(3)
      Array([-1.71 , -0.645], dtype=float32)
    """
    return log_share(cdf(x, a, b, loc, scale), sf(x, a, b, loc, scale))


def sf(x, a, b, loc=0, scale=1):
    """The survival function of the beta distribution: the probability of values above x,
    elementwise.

    Args:
      x: numbers.
      a, b: the parameters > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.beta.sf(jnp.array([0.2, 0.4]), 2.0, 3.0).round(3)
      Array([0.819, 0.475], dtype=float32)
    """
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    return special.betainc(b, a, 1 - held((x - loc) / scale, 0, 1))


def logsf(x, a, b, loc=0, scale=1):
    """The logarithm of the survival function of the beta distribution, elementwise.

    Args:
      x: numbers.
      a, b: the parameters > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.beta.logsf(jnp.array([0.2, 0.4]), 2.0, 3.0).round(3)
      Array([-0.199, -0.744], dtype=float32)
    """
    return log_share(sf(x, a, b, loc, scale), cdf(x, a, b, loc, scale))
