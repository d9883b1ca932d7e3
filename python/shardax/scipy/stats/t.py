"""shardax.scipy.stats.t - Student's t distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact


def logpdf(x, df, loc=0, scale=1):
    """The logarithm of the density of the Student's t distribution, elementwise.

    The density is proportional to (1 + x^2 / df)^(-(df+1)/2), of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      df: the degrees of freedom.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.t.logpdf(jnp.array([0.0, 1.0]), 3.0).round(3)
      Array([-1.001, -1.576], dtype=float32)
    """
    x, df, loc, scale = inexact(x, df, loc, scale)
    z = (x - loc) / scale
    half = (df + 1) / 2
    size = -special.betaln(df / 2, jnp.full_like(df, 0.5)) - 0.5 * jnp.log(df)
    return size - jnp.log(scale) - half * jnp.log1p(z * z / df)


def pdf(x, df, loc=0, scale=1):
    """The density of the Student's t distribution, elementwise.

    The density is proportional to (1 + x^2 / df)^(-(df+1)/2), of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      df: the degrees of freedom.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.t.pdf(jnp.array([0.0, 1.0]), 3.0).round(3)
      Array([0.368, 0.207], dtype=float32)
    """
    return jnp.exp(logpdf(x, df, loc, scale))
