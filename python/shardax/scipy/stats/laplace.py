"""shardax.scipy.stats.laplace - the Laplace distribution."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import reals


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density of the Laplace distribution, elementwise.

    The density is e^-|x| / 2, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.laplace.logpdf(jnp.array([0.0, 1.0])).round(3)
      Array([-0.693, -1.693], dtype=float32)
    """
    x, loc, scale = reals(x, loc, scale)
    return -jnp.abs(x - loc) / scale - jnp.log(2 * scale)


def pdf(x, loc=0, scale=1):
    """The density of the Laplace distribution, elementwise.

    The density is e^-|x| / 2, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.laplace.pdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.5  , 0.184], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The cumulative distribution function of the Laplace distribution: the probability of values
    up to x, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.laplace.cdf(jnp.array([0.0, 1.0])).round(3)
      Array([0.5  , 0.816], dtype=float32)
    """
    x, loc, scale = reals(x, loc, scale)
    z = (x - loc) / scale
    below = z <= 0
    # Not of |z|, whose slope at 0 is that of the other side.
    tail = 0.5 * jnp.exp(jnp.where(below, z, -z))
    return jnp.where(below, tail, 1 - tail)
