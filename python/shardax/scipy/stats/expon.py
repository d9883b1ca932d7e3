"""shardax.scipy.stats.expon - the exponential distribution."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import inexact, log1mexp, one_less_exp, reals, within


def _standard(x, loc, scale):
    """(x - loc) / scale, whether x is not below loc (as NaN is not), scale."""
    x, loc, scale = reals(x, loc, scale)
    return (x - loc) / scale, ~(x < loc), scale


def _held(inside, y):
    return jnp.where(inside, y, 0)


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    y, inside, scale = _standard(x, loc, scale)
    return within(inside, -y - jnp.log(scale))


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of values up to x."""
    y, inside, _ = _standard(x, loc, scale)
    return within(inside, one_less_exp(_held(inside, y)), 0)


def logcdf(x, loc=0, scale=1):
    """The logarithm of cdf."""
    y, inside, _ = _standard(x, loc, scale)
    return within(inside, log1mexp(_held(inside, y)))


def sf(x, loc=0, scale=1):
    """The probability of values above x."""
    return jnp.exp(logsf(x, loc, scale))


def logsf(x, loc=0, scale=1):
    """The logarithm of sf."""
    y, inside, _ = _standard(x, loc, scale)
    return within(inside, -y, 0)


def ppf(q, loc=0, scale=1):
    """The inverse of cdf; NaN where q is no probability."""
    q, loc, scale = inexact(q, loc, scale)
    inside = (q >= 0) & (q <= 1)
    return within(inside, loc - scale * jnp.log1p(-jnp.where(inside, q, 0)), jnp.nan)
