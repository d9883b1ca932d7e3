"""shardax.scipy.stats.cauchy - the Cauchy distribution."""

import math

from shardax import numpy as jnp
from shardax.scipy.stats._common import inexact, log_share, on_the_right


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density of the Cauchy distribution, elementwise.

    The density is 1 / (pi (1 + x^2)), of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.cauchy.logpdf(jnp.array([0.0, 1.0])).round(3)
      Array([-1.145, -1.838], dtype=float32)
    """
    x, loc, scale = inexact(x, loc, scale)
    z = on_the_right((x - loc) / scale)
    far = jnp.abs(z) > 1e6  # 1 is nothing to the square, which may overflow
    near = jnp.where(far, 1, z)
    tail = jnp.where(far, 2 * jnp.log(jnp.where(far, z, 1)), jnp.log1p(near * near))
    return -(jnp.log(math.pi * scale) + tail)


def pdf(x, loc=0, scale=1):
    """The density of the Cauchy distribution, elementwise.

    The density is 1 / (pi (1 + x^2)), of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.cauchy.pdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.318, 0.159], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def _share(z):
    """The share below z, with all digits in the lower tail."""
    return jnp.arctan2(jnp.ones_like(z), -z) / math.pi


def _quantile(q):
    """The place with the share q below, with all digits of far ones."""
    middle = ~(jnp.abs(q - 0.5) >= 0.25)
    low, high = q <= 0.25, q >= 0.75
    q = jnp.where(q == 0, 0, q)  # not -0
    end = jnp.where(low, q, jnp.where(high, 1 - q, 0.25))
    far = 1 / jnp.tan(math.pi * end)
    near = jnp.tan(math.pi * jnp.where(middle, q - 0.5, 0))
    return jnp.where(middle, near, jnp.where(low, -far, far))


def cdf(x, loc=0, scale=1):
    """The cumulative distribution function of the Cauchy distribution: the probability of values up
    to x, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.cauchy.cdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.5 , 0.75], dtype=float32)
    """
    x, loc, scale = inexact(x, loc, scale)
    return _share((x - loc) / scale)


def logcdf(x, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the Cauchy distribution,
    elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.cauchy.logcdf(jnp.array([0.0, 1.0])).round(3)
      Array([-0.693, -0.288], dtype=float32)
    """
    return log_share(cdf(x, loc, scale), sf(x, loc, scale))


def sf(x, loc=0, scale=1):
    """The survival function of the Cauchy distribution: the probability of values above x,
    elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.cauchy.sf(jnp.array([0.0, 1.0])).round(3)
      Array([0.5 , 0.25], dtype=float32)
    """
    x, loc, scale = inexact(x, loc, scale)
    return _share((loc - x) / scale)


def logsf(x, loc=0, scale=1):
    """The logarithm of the survival function of the Cauchy distribution, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.cauchy.logsf(jnp.array([0.0, 1.0])).round(3)
      Array([-0.693, -1.386], dtype=float32)
    """
    return log_share(sf(x, loc, scale), cdf(x, loc, scale))


def ppf(q, loc=0, scale=1):
    """The quantiles of the Cauchy distribution: the inverse of `cdf`, elementwise.

    Args:
      q: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.cauchy.ppf(jnp.array([0.25, 0.5])).round(3)
      Array([-1.,  0.], dtype=float32)
    """
    q, loc, scale = inexact(q, loc, scale)
    return _quantile(q) * scale + loc


def isf(q, loc=0, scale=1):
    """The inverse survival function of the Cauchy distribution: the inverse of `sf`, elementwise.

    Args:
      q: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.cauchy.isf(jnp.array([0.25, 0.5])).round(3)
      Array([1., 0.], dtype=float32)
    """
    q, loc, scale = inexact(q, loc, scale)
    return -_quantile(q) * scale + loc
