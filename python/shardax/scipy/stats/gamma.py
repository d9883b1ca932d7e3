"""shardax.scipy.stats.gamma - the gamma distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import held, inexact, log_share, within


def logpdf(x, a, loc=0, scale=1):
    """The logarithm of the density."""
    x, a, loc, scale = inexact(x, a, loc, scale)
    y = (x - loc) / scale
    inside = (y >= 0) | (scale < 0)  # which makes NaN
    y = jnp.where(inside, y, 1)
    value = special.xlogy(a - 1, y) - y - special.gammaln(a) - jnp.log(scale)
    return within(inside, value)


def pdf(x, a, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, a, loc, scale))


def cdf(x, a, loc=0, scale=1):
    """The probability of values up to x."""
    x, a, loc, scale = inexact(x, a, loc, scale)
    return special.gammainc(a, held((x - loc) / scale, 0))


def sf(x, a, loc=0, scale=1):
    """The probability of values above x."""
    x, a, loc, scale = inexact(x, a, loc, scale)
    return special.gammaincc(a, held((x - loc) / scale, 0))


def logcdf(x, a, loc=0, scale=1):
    """The logarithm of cdf."""
    return log_share(cdf(x, a, loc, scale), sf(x, a, loc, scale))


def logsf(x, a, loc=0, scale=1):
    """The logarithm of sf."""
    return log_share(sf(x, a, loc, scale), cdf(x, a, loc, scale))
