"""shardax.scipy.stats.betabinom - the beta-binomial distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def logpmf(k, n, a, b, loc=0):
    """The logarithm of the probability of k; NaN unless n >= 0, a > 0 and b > 0."""
    k, n, a, b, loc = inexact(k, n, a, b, loc)
    x = jnp.floor(k - loc)
    inside = (x >= 0) & (x <= n)
    possible = (n >= 0) & (a > 0) & (b > 0)
    y = jnp.where(inside, x, 0)
    ways = -jnp.log1p(n) - special.betaln(n - y + 1, y + 1)
    value = ways + special.betaln(y + a, n - y + b) - special.betaln(a, b)
    return within(possible, within(inside, value), jnp.nan)


def pmf(k, n, a, b, loc=0):
    """The probability of k."""
    return jnp.exp(logpmf(k, n, a, b, loc))
