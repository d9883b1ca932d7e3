"""shardax.scipy.stats.bernoulli - the Bernoulli distribution: 1 with probability p, else 0."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import reals, within


def logpmf(k, p, loc=0):
    """The logarithm of the probability of k."""
    k, p, loc = reals(k, p, loc)
    x = k - loc
    value = special.xlogy(x, p) + special.xlog1py(1 - x, -p)
    return within(~((x < 0) | (x > 1)), value)


def pmf(k, p, loc=0):
    """The probability of k."""
    return jnp.exp(logpmf(k, p, loc))


def cdf(k, p):
    """The probability of values up to k; NaN where p is no probability."""
    k, p = reals(k, p)
    value = jnp.where(k < 0, 0, jnp.where(k < 1, 1 - p, 1))
    return within((p >= 0) & (p <= 1) & ~jnp.isnan(k), value, jnp.nan)


def ppf(q, p):
    """The inverse of cdf; NaN where q or p is no probability."""
    q, p = reals(q, p)
    value = jnp.where(q <= 1 - p, 0, jnp.ones_like(q))
    return within((q >= 0) & (q <= 1) & (p >= 0) & (p <= 1), value, jnp.nan)
