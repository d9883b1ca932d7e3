"""shardax.scipy.stats.poisson - the Poisson distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def logpmf(k, mu, loc=0):
    """The logarithm of the probability of k."""
    k, mu, loc = inexact(k, mu, loc)
    x = k - loc
    inside = (x >= 0) & (x == jnp.round(x))
    y = jnp.where(inside, x, 0)
    return within(inside, special.xlogy(y, mu) - special.gammaln(y + 1) - mu)


def pmf(k, mu, loc=0):
    """The probability of k."""
    return jnp.exp(logpmf(k, mu, loc))


def cdf(k, mu, loc=0):
    """The probability of values up to k."""
    k, mu, loc = inexact(k, mu, loc)
    x = jnp.floor(k - loc)
    return within(x >= 0, special.gammaincc(jnp.maximum(x, 0) + 1, mu), 0)
