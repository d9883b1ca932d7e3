"""shardax.scipy.stats.expon - the exponential distribution."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import inexact, log1mexp, one_less_exp, reals, within


def _standard(x, loc, scale):
    """(x - loc) / scale, whether x is not below loc (as NaN is not), scale."""
    x, loc, scale = reals(x, loc, scale)
    return (x - loc) / scale, ~(x < loc), scale


def _held(inside, y):
    return jnp.where(inside, y, 0)


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density of the exponential distribution, elementwise.

    The density is e^-x for x >= 0, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.expon.logpdf(jnp.array([0.0, 1.0])).round(3)
      Array([-0., -1.], dtype=float32)
    """
    y, inside, scale = _standard(x, loc, scale)
    return within(inside, -y - jnp.log(scale))


def pdf(x, loc=0, scale=1):
    """The density of the exponential distribution, elementwise.

    The density is e^-x for x >= 0, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.expon.pdf(jnp.array([0.0, 1.0])).round(3)
      Array([1.   , 0.368], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The cumulative distribution function of the exponential distribution: the probability of
    values up to x, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.expon.cdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.   , 0.632], dtype=float32)
    """
    y, inside, _ = _standard(x, loc, scale)
    return within(inside, one_less_exp(_held(inside, y)), 0)


def logcdf(x, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the exponential distribution,
    elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.expon.logcdf(jnp.array([0.0, 1.0])).round(3)
      Array([  -inf, -0.459], dtype=float32)
    """
    y, inside, _ = _standard(x, loc, scale)
    return within(inside, log1mexp(_held(inside, y)))


def sf(x, loc=0, scale=1):
    """The survival function of the exponential distribution: the probability of values above x,
    elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.expon.sf(jnp.array([0.0, 1.0])).round(3)
      Array([1.   , 0.368], dtype=float32)
    """
    return jnp.exp(logsf(x, loc, scale))


def logsf(x, loc=0, scale=1):
    """The logarithm of the survival function of the exponential distribution, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.expon.logsf(jnp.array([0.0, 1.0])).round(3)
      Array([-0., -1.], dtype=float32)
    """
    y, inside, _ = _standard(x, loc, scale)
    return within(inside, -y, 0)


def ppf(q, loc=0, scale=1):
    """The quantiles of the exponential distribution: the inverse of `cdf`, elementwise.

    Args:
      q: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.expon.ppf(jnp.array([0.25, 0.5])).round(3)
      Array([0.288, 0.693], dtype=float32)
    """
    q, loc, scale = inexact(q, loc, scale)
    inside = (q >= 0) & (q <= 1)
    return within(inside, loc - scale * jnp.log1p(-jnp.where(inside, q, 0)), jnp.nan)
