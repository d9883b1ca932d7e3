"""shardax.scipy.stats.nbinom - the negative binomial distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def logpmf(k, n, p, loc=0):
    """The logarithm of the probability of k failures before n successes."""
    k, n, p, loc = inexact(k, n, p, loc)
    x = k - loc
    y = jnp.maximum(x, 0)
    ways = special.gammaln(y + n) - special.gammaln(n) - special.gammaln(y + 1)
    return within(~(x < 0), ways + special.xlogy(n, p) + special.xlog1py(y, -p))


def pmf(k, n, p, loc=0):
    """The probability of k."""
    return jnp.exp(logpmf(k, n, p, loc))
