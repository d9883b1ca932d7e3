"""shardax.scipy.stats.truncnorm - the normal distribution cut off at a and b."""

import math

from shardax import numpy as jnp
from shardax._base.arrays import in_one_program
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def _log_mass(a, b):
    """The logarithm of the normal distribution's share between a and b, by the nearer tail."""
    low, high = jnp.where(a > 0, -b, a), jnp.where(a > 0, -a, b)
    log_high, log_low = special.log_ndtr(high), special.log_ndtr(low)
    return log_high + jnp.log1p(-jnp.exp(log_low - log_high))


def _standard(x, a, b, loc, scale):
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    return (x - loc) / scale, a, b, scale


@in_one_program()
def logpdf(x, a, b, loc=0, scale=1):
    """The logarithm of the density of the truncated normal distribution, elementwise.

    The density is that of normal numbers limited to [a, b], of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      a, b: the bounds, in units of `scale` from `loc`.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.truncnorm.logpdf(jnp.array([0.0, 0.5]), -1.0, 1.0).round(3)
      Array([-0.537, -0.662], dtype=float32)
    """
    z, a, b, scale = _standard(x, a, b, loc, scale)
    value = -0.5 * (z * z + math.log(2 * math.pi)) - jnp.log(scale) - _log_mass(a, b)
    value = within(~((z < a) | (z > b)), value)
    return within(a < b, value, jnp.nan)


@in_one_program()
def pdf(x, a, b, loc=0, scale=1):
    """The density of the truncated normal distribution, elementwise.

    The density is that of normal numbers limited to [a, b], of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      a, b: the bounds, in units of `scale` from `loc`.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.truncnorm.pdf(jnp.array([0.0, 0.5]), -1.0, 1.0).round(3)
      Array([0.584, 0.516], dtype=float32)
    """
    return jnp.exp(logpdf(x, a, b, loc, scale))


@in_one_program()
def logcdf(x, a, b, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the truncated normal distribution,
    elementwise.

    Args:
      x: numbers.
      a, b: the bounds, in units of `scale` from `loc`.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.truncnorm.logcdf(jnp.array([0.0, 0.5]), -1.0, 1.0).round(3)
      Array([-0.693, -0.248], dtype=float32)
    """
    z, a, b, _ = _standard(x, a, b, loc, scale)
    inside = jnp.where((z <= a) | (z >= b), (a + b) / 2, z)
    value = _log_mass(a, inside) - _log_mass(a, b)
    return within(a < b, jnp.where(z <= a, -jnp.inf, jnp.where(z >= b, 0, value)), jnp.nan)


@in_one_program()
def cdf(x, a, b, loc=0, scale=1):
    """The cumulative distribution function of the truncated normal distribution: the probability of
    values up to x, elementwise.

    Args:
      x: numbers.
      a, b: the bounds, in units of `scale` from `loc`.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.truncnorm.cdf(jnp.array([0.0, 0.5]), -1.0, 1.0).round(3)
      Array([0.5 , 0.78], dtype=float32)
    """
    return jnp.exp(logcdf(x, a, b, loc, scale))


@in_one_program()
def logsf(x, a, b, loc=0, scale=1):
    """The logarithm of the survival function of the truncated normal distribution, elementwise.

    Args:
      x: numbers.
      a, b: the bounds, in units of `scale` from `loc`.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.truncnorm.logsf(jnp.array([0.0, 0.5]), -1.0, 1.0).round(3)
      Array([-0.693, -1.516], dtype=float32)
    """
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    return logcdf(-x, -b, -a, -loc, scale)


@in_one_program()
def sf(x, a, b, loc=0, scale=1):
    """The survival function of the truncated normal distribution: the probability of values above
    x, elementwise.

    Args:
      x: numbers.
      a, b: the bounds, in units of `scale` from `loc`.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.truncnorm.sf(jnp.array([0.0, 0.5]), -1.0, 1.0).round(3)
      Array([0.5 , 0.22], dtype=float32)
    """
    return jnp.exp(logsf(x, a, b, loc, scale))
