"""shardax.scipy.stats.geom - the geometric distribution: trials up to the first success."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import reals, within


def logpmf(k, p, loc=0):
    """The logarithm of the probability of k."""
    k, p, loc = reals(k, p, loc)
    x = k - loc
    return within(~(x <= 0), special.xlog1py(x - 1, -p) + jnp.log(p))


def pmf(k, p, loc=0):
    """The probability of k."""
    return jnp.exp(logpmf(k, p, loc))
