"""shardax.scipy.stats.wrapcauchy - the Cauchy distribution wrapped around the circle."""

import math

from shardax import numpy as jnp
from shardax.scipy.stats._common import reals, within


def logpdf(x, c):
    """The logarithm of the density; NaN unless 0 < c < 1."""
    x, c = reals(x, c)
    value = jnp.log1p(-c * c) - math.log(2 * math.pi) - jnp.log1p(c * c - 2 * c * jnp.cos(x))
    value = within((x >= 0) & (x <= 2 * math.pi), value)
    return jnp.where((c > 0) & (c < 1), value, jnp.nan)


def pdf(x, c):
    """The density."""
    return jnp.exp(logpdf(x, c))
