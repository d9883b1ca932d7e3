"""shardax.scipy.stats.vonmises - the von Mises distribution, of angles."""

import math

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact


def logpdf(x, kappa):
    """The logarithm of the density of the von Mises distribution, elementwise.

    The density is proportional to exp(kappa cos(x)).

    Args:
      x: numbers.
      kappa: the concentration > 0.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.vonmises.logpdf(jnp.array([0.0, 1.0]), 2.0).round(3)
      Array([-0.662, -1.581], dtype=float32)
    """
    x, kappa = inexact(x, kappa)
    value = kappa * (jnp.cos(x) - 1) - jnp.log(2 * math.pi * special.i0e(kappa))
    return jnp.where(kappa >= 0, value, jnp.nan)


def pdf(x, kappa):
    """The density of the von Mises distribution, elementwise.

    The density is proportional to exp(kappa cos(x)).

    Args:
      x: numbers.
      kappa: the concentration > 0.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.vonmises.pdf(jnp.array([0.0, 1.0]), 2.0).round(3)
      Array([0.516, 0.206], dtype=float32)
    """
    return jnp.exp(logpdf(x, kappa))
