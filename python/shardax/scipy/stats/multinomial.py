"""shardax.scipy.stats.multinomial - the multinomial distribution."""

from shardax import numpy as jnp
from shardax._base.arrays import asarray
from shardax.scipy import special
from shardax.scipy.stats._common import floats, within


def logpmf(x, n, p):
    """The logarithm of the probability of the counts `x`, along the last axis, in n trials."""
    p = floats(p)[0]
    x, n = (asarray(v).astype(p.dtype) for v in (x, n))
    ways = special.gammaln(n + 1) - special.gammaln(x + 1).sum(axis=-1)
    possible = (x.sum(axis=-1) == n) & jnp.all(x >= 0, axis=-1)
    return within(possible, ways + special.xlogy(x, p).sum(axis=-1))


def pmf(x, n, p):
    """The probability of the counts `x`."""
    return jnp.exp(logpmf(x, n, p))
