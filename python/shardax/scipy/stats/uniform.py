"""shardax.scipy.stats.uniform - the uniform distribution from loc to loc + scale."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import inexact, reals, within


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    x, loc, scale = reals(x, loc, scale)
    return within(~((x < loc) | (x > loc + scale)), -jnp.log(scale))


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of values up to x."""
    x, loc, scale = reals(x, loc, scale)
    high = x > loc + scale
    share = jnp.where(high, 1, (x - loc) / jnp.where(high, 1, scale))
    return within(~(x < loc), share, 0).astype(x.dtype)


def ppf(q, loc=0, scale=1):
    """The inverse of cdf; NaN where q is no probability."""
    q, loc, scale = inexact(q, loc, scale)
    return within((q >= 0) & (q <= 1), q * scale + loc, jnp.nan)
