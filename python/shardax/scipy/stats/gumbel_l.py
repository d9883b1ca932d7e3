"""shardax.scipy.stats.gumbel_l - the Gumbel distribution of smallest values."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import log_one_less_exp, one_less_exp, reals


def _standard(x, loc, scale):
    x, loc, scale = reals(x, loc, scale)
    return jnp.where(scale > 0, (x - loc) / scale, jnp.nan), scale


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density of the left-skewed Gumbel distribution, elementwise.

    The density is exp(x - e^x), of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gumbel_l.logpdf(jnp.array([0.0, 1.0])).round(3)
      Array([-1.   , -1.718], dtype=float32)
    """
    z, scale = _standard(x, loc, scale)
    return z - jnp.exp(z) - jnp.log(scale)


def pdf(x, loc=0, scale=1):
    """The density of the left-skewed Gumbel distribution, elementwise.

    The density is exp(x - e^x), of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gumbel_l.pdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.368, 0.179], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def logsf(x, loc=0, scale=1):
    """The logarithm of the survival function of the left-skewed Gumbel distribution, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gumbel_l.logsf(jnp.array([0.0, 1.0])).round(3)
      Array([-1.   , -2.718], dtype=float32)
    """
    return -jnp.exp(_standard(x, loc, scale)[0])


def sf(x, loc=0, scale=1):
    """The survival function of the left-skewed Gumbel distribution: the probability of values above
    x, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gumbel_l.sf(jnp.array([0.0, 1.0])).round(3)
      Array([0.368, 0.066], dtype=float32)
    """
    return jnp.exp(logsf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The cumulative distribution function of the left-skewed Gumbel distribution: the probability
    of values up to x, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gumbel_l.cdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.632, 0.934], dtype=float32)
    """
    return one_less_exp(-logsf(x, loc, scale))


def logcdf(x, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the left-skewed Gumbel distribution,
    elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gumbel_l.logcdf(jnp.array([0.0, 1.0])).round(3)
      Array([-0.459, -0.068], dtype=float32)
    """
    return log_one_less_exp(_standard(x, loc, scale)[0])


def ppf(p, loc=0, scale=1):
    """The quantiles of the left-skewed Gumbel distribution: the inverse of `cdf`, elementwise.

    Args:
      p: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.gumbel_l.ppf(jnp.array([0.25, 0.5])).round(3)
      Array([-1.246, -0.367], dtype=float32)
    """
    p, loc, scale = reals(p, loc, scale)
    return loc + scale * jnp.log(-jnp.log1p(-p))
