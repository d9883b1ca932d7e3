"""shardax.scipy.stats.norm - the normal distribution."""

import math

import shardax._core as _core
from shardax import numpy as jnp
from shardax.scipy import special


def _standard(x, loc, scale):
    x, loc, scale = _core.promote("inexact", x, loc, scale)
    return (x - loc) / scale, scale


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density of the normal distribution, elementwise.

    The density is e^(-x^2/2) / sqrt(2 pi), of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.norm.logpdf(jnp.array([0.0, 1.0])).round(3)
      Array([-0.919, -1.419], dtype=float32)
    """
    z, scale = _standard(x, loc, scale)
    # Neither square may overflow before the result does; a negative scale is as good as its size.
    return -0.5 * z * z - (jnp.log(abs(scale)) + 0.5 * math.log(2 * math.pi))


def pdf(x, loc=0, scale=1):
    """The density of the normal distribution, elementwise.

    The density is e^(-x^2/2) / sqrt(2 pi), of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.norm.pdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.399, 0.242], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The cumulative distribution function of the normal distribution: the probability of values up
    to x, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.norm.cdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.5  , 0.841], dtype=float32)
    """
    return special.ndtr(_standard(x, loc, scale)[0])


def sf(x, loc=0, scale=1):
    """The survival function of the normal distribution: the probability of values above x,
    elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.norm.sf(jnp.array([0.0, 1.0])).round(3)
      Array([0.5  , 0.159], dtype=float32)
    """
    return special.ndtr(-_standard(x, loc, scale)[0])


def logcdf(x, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the normal distribution,
    elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.norm.logcdf(jnp.array([0.0, 1.0])).round(3)
      Array([-0.693, -0.173], dtype=float32)
    """
    return special.log_ndtr(_standard(x, loc, scale)[0])


def logsf(x, loc=0, scale=1):
    """The logarithm of the survival function of the normal distribution, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.norm.logsf(jnp.array([0.0, 1.0])).round(3)
      Array([-0.693, -1.841], dtype=float32)
    """
    return logcdf(-_standard(x, loc, scale)[0])


def ppf(q, loc=0, scale=1):
    """The quantiles of the normal distribution: the inverse of `cdf`, elementwise.

    Args:
      q: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.norm.ppf(jnp.array([0.25, 0.5])).round(3)
      Array([-0.674,  0.   ], dtype=float32)
    """
    return jnp.asarray(special.ndtri(q) * scale + loc, float)


def isf(q, loc=0, scale=1):
    """The inverse survival function of the normal distribution: the inverse of `sf`, elementwise.

    Args:
      q: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.norm.isf(jnp.array([0.25, 0.5])).round(3)
      Array([0.674, 0.   ], dtype=float32)
    """
    return jnp.asarray(-special.ndtri(q) * scale + loc, float)
