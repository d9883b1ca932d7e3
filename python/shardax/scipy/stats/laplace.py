"""shardax.scipy.stats.laplace - the Laplace distribution."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import reals


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    x, loc, scale = reals(x, loc, scale)
    return -jnp.abs(x - loc) / scale - jnp.log(2 * scale)


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of values up to x."""
    x, loc, scale = reals(x, loc, scale)
    z = (x - loc) / scale
    below = z <= 0
    # Not of |z|, whose slope at 0 is that of the other side.
    tail = 0.5 * jnp.exp(jnp.where(below, z, -z))
    return jnp.where(below, tail, 1 - tail)
