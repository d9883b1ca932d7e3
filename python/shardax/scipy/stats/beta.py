"""shardax.scipy.stats.beta - the beta distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import held, inexact, log_share, within


def logpdf(x, a, b, loc=0, scale=1):
    """The logarithm of the density."""
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    y = (x - loc) / scale
    outside = (y < 0) | (y > 1)
    y = jnp.where(outside, 0.5, y)
    shape = special.xlogy(a - 1, y) + special.xlog1py(b - 1, -y)
    value = within(~outside, shape - special.betaln(a, b) - jnp.log(scale))
    return jnp.where((a > 0) & (b > 0) & (scale > 0), value, jnp.nan)


def pdf(x, a, b, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, a, b, loc, scale))


def cdf(x, a, b, loc=0, scale=1):
    """The probability of values up to x."""
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    return special.betainc(a, b, held((x - loc) / scale, 0, 1))


def logcdf(x, a, b, loc=0, scale=1):
    """The logarithm of cdf."""
    return log_share(cdf(x, a, b, loc, scale), sf(x, a, b, loc, scale))


def sf(x, a, b, loc=0, scale=1):
    """The probability of values above x."""
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    return special.betainc(b, a, 1 - held((x - loc) / scale, 0, 1))


def logsf(x, a, b, loc=0, scale=1):
    """The logarithm of sf."""
    return log_share(sf(x, a, b, loc, scale), cdf(x, a, b, loc, scale))
