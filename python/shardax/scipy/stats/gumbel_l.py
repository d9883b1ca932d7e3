"""shardax.scipy.stats.gumbel_l - the Gumbel distribution of smallest values."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import log_one_less_exp, one_less_exp, reals


def _standard(x, loc, scale):
    x, loc, scale = reals(x, loc, scale)
    return jnp.where(scale > 0, (x - loc) / scale, jnp.nan), scale


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    z, scale = _standard(x, loc, scale)
    return z - jnp.exp(z) - jnp.log(scale)


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def logsf(x, loc=0, scale=1):
    """The logarithm of sf."""
    return -jnp.exp(_standard(x, loc, scale)[0])


def sf(x, loc=0, scale=1):
    """The probability of values above x."""
    return jnp.exp(logsf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of values up to x."""
    return one_less_exp(-logsf(x, loc, scale))


def logcdf(x, loc=0, scale=1):
    """The logarithm of cdf."""
    return log_one_less_exp(_standard(x, loc, scale)[0])


def ppf(p, loc=0, scale=1):
    """The inverse of cdf."""
    p, loc, scale = reals(p, loc, scale)
    return loc + scale * jnp.log(-jnp.log1p(-p))
