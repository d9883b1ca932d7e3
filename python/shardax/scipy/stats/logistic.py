"""shardax.scipy.stats.logistic - the logistic distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, on_the_right


def _standard(x, loc, scale):
    x, loc, scale = inexact(x, loc, scale)
    return (x - loc) / scale, scale


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density of the logistic distribution, elementwise.

    The density is e^-x / (1 + e^-x)^2, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.logistic.logpdf(jnp.array([0.0, 1.0])).round(3)
      Array([-1.386, -1.627], dtype=float32)
    """
    z, scale = _standard(x, loc, scale)
    size = on_the_right(z)  # the density is even; there is no difference of infinities on this side
    return -size - 2 * jnp.log1p(jnp.exp(-size)) - jnp.log(scale)


def pdf(x, loc=0, scale=1):
    """The density of the logistic distribution, elementwise.

    The density is e^-x / (1 + e^-x)^2, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.logistic.pdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.25 , 0.197], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The cumulative distribution function of the logistic distribution: the probability of values
    up to x, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.logistic.cdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.5  , 0.731], dtype=float32)
    """
    return special.expit(_standard(x, loc, scale)[0])


def sf(x, loc=0, scale=1):
    """The survival function of the logistic distribution: the probability of values above x,
    elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.logistic.sf(jnp.array([0.0, 1.0])).round(3)
      Array([0.5  , 0.269], dtype=float32)
    """
    return special.expit(-_standard(x, loc, scale)[0])


def ppf(x, loc=0, scale=1):
    """The quantiles of the logistic distribution: the inverse of `cdf`, elementwise.

    Args:
      x: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.logistic.ppf(jnp.array([0.25, 0.5])).round(3)
      Array([-1.099,  0.   ], dtype=float32)
    """
    q, loc, scale = inexact(x, loc, scale)
    return special.logit(q) * scale + loc


def isf(x, loc=0, scale=1):
    """The inverse survival function of the logistic distribution: the inverse of `sf`, elementwise.

    Args:
      x: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.logistic.isf(jnp.array([0.25, 0.5])).round(3)
      Array([1.099, 0.   ], dtype=float32)
    """
    q, loc, scale = inexact(x, loc, scale)
    return -special.logit(q) * scale + loc
