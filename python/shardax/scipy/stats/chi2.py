"""shardax.scipy.stats.chi2 - the chi-squared distribution."""

import math

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import held, inexact, log_share, within


def logpdf(x, df, loc=0, scale=1):
    """The logarithm of the density."""
    x, df, loc, scale = inexact(x, df, loc, scale)
    y = (x - loc) / scale
    inside = ~(y < 0) | (scale < 0)  # which makes NaN
    y = jnp.where(inside, y, 1)
    half = df / 2
    value = special.xlogy(half - 1, y) - y / 2 - half * math.log(2) - special.gammaln(half)
    return within(inside, value - jnp.log(scale))


def pdf(x, df, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, df, loc, scale))


def cdf(x, df, loc=0, scale=1):
    """The probability of values up to x."""
    x, df, loc, scale = inexact(x, df, loc, scale)
    return special.gammainc(df / 2, held((x - loc) / scale, 0) / 2)


def sf(x, df, loc=0, scale=1):
    """The probability of values above x."""
    x, df, loc, scale = inexact(x, df, loc, scale)
    return special.gammaincc(df / 2, held((x - loc) / scale, 0) / 2)


def logcdf(x, df, loc=0, scale=1):
    """The logarithm of cdf."""
    return log_share(cdf(x, df, loc, scale), sf(x, df, loc, scale))


def logsf(x, df, loc=0, scale=1):
    """The logarithm of sf."""
    return log_share(sf(x, df, loc, scale), cdf(x, df, loc, scale))
