"""shardax.scipy.stats.wrapcauchy - the Cauchy distribution wrapped around the circle."""

import math

from shardax import numpy as jnp
from shardax.scipy.stats._common import reals, within


def logpdf(x, c):
    """The logarithm of the density of the wrapped Cauchy distribution, elementwise.

    The density is that of Cauchy's numbers as angles, on [0, 2 pi].

    Args:
      x: numbers.
      c: the concentration, between 0 and 1.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.wrapcauchy.logpdf(jnp.array([1.0, 2.0]), 0.5).round(3)
      Array([-1.783, -2.636], dtype=float32)
    """
    x, c = reals(x, c)
    value = jnp.log1p(-c * c) - math.log(2 * math.pi) - jnp.log1p(c * c - 2 * c * jnp.cos(x))
    value = within((x >= 0) & (x <= 2 * math.pi), value)
    return jnp.where((c > 0) & (c < 1), value, jnp.nan)


def pdf(x, c):
    """The density of the wrapped Cauchy distribution, elementwise.

    The density is that of Cauchy's numbers as angles, on [0, 2 pi].

    Args:
      x: numbers.
      c: the concentration, between 0 and 1.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.wrapcauchy.pdf(jnp.array([1.0, 2.0]), 0.5).round(3)
      Array([0.168, 0.072], dtype=float32)
    """
    return jnp.exp(logpdf(x, c))
