"""shardax.scipy.stats.uniform - the uniform distribution from loc to loc + scale."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import inexact, reals, within


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density of the uniform distribution, elementwise.

    The density is 1 on [0, 1], of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.uniform.logpdf(jnp.array([0.25, 2.0])).round(3)
      Array([ -0., -inf], dtype=float32)
    """
    x, loc, scale = reals(x, loc, scale)
    return within(~((x < loc) | (x > loc + scale)), -jnp.log(scale))


def pdf(x, loc=0, scale=1):
    """The density of the uniform distribution, elementwise.

    The density is 1 on [0, 1], of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.uniform.pdf(jnp.array([0.25, 2.0])).round(3)
      Array([1., 0.], dtype=float32)
    """
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The cumulative distribution function of the uniform distribution: the probability of values
    up to x, elementwise.

    Args:
      x: numbers.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.uniform.cdf(jnp.array([0.25, 2.0])).round(3)
      Array([0.25, 1.  ], dtype=float32)
    """
    x, loc, scale = reals(x, loc, scale)
    high = x > loc + scale
    share = jnp.where(high, 1, (x - loc) / jnp.where(high, 1, scale))
    return within(~(x < loc), share, 0).astype(x.dtype)


def ppf(q, loc=0, scale=1):
    """The quantiles of the uniform distribution: the inverse of `cdf`, elementwise.

    Args:
      q: probabilities in [0, 1].
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.uniform.ppf(jnp.array([0.25, 0.5])).round(3)
      Array([0.25, 0.5 ], dtype=float32)
    """
    q, loc, scale = inexact(q, loc, scale)
    return within((q >= 0) & (q <= 1), q * scale + loc, jnp.nan)
