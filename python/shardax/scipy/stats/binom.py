"""shardax.scipy.stats.binom - the binomial distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def logpmf(k, n, p, loc=0):
    """The logarithm of the probability of k."""
    k, n, p, loc = inexact(k, n, p, loc)
    x = k - loc
    inside = (x >= 0) & (x <= n)
    y = jnp.where(inside, x, 0)
    ways = special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)
    # A power of 0 is 1 for every p.
    successes = special.xlogy(y, jnp.where(y == 0, 1, p))
    return within(inside, ways + successes + special.xlog1py(n - y, jnp.where(n == y, 0, -p)))


def pmf(k, n, p, loc=0):
    """The probability of k."""
    return jnp.exp(logpmf(k, n, p, loc))
