"""shardax.scipy.stats.truncnorm - the normal distribution cut off at a and b."""

import math

from shardax import numpy as jnp
from shardax._base.arrays import in_one_program
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def _log_mass(a, b):
    """The logarithm of the normal distribution's share between a and b, by the nearer tail."""
    low, high = jnp.where(a > 0, -b, a), jnp.where(a > 0, -a, b)
    log_high, log_low = special.log_ndtr(high), special.log_ndtr(low)
    return log_high + jnp.log1p(-jnp.exp(log_low - log_high))


def _standard(x, a, b, loc, scale):
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    return (x - loc) / scale, a, b, scale


@in_one_program()
def logpdf(x, a, b, loc=0, scale=1):
    """The logarithm of the density; a and b are in units of `scale` from `loc`."""
    z, a, b, scale = _standard(x, a, b, loc, scale)
    value = -0.5 * (z * z + math.log(2 * math.pi)) - jnp.log(scale) - _log_mass(a, b)
    value = within(~((z < a) | (z > b)), value)
    return within(a < b, value, jnp.nan)


@in_one_program()
def pdf(x, a, b, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, a, b, loc, scale))


@in_one_program()
def logcdf(x, a, b, loc=0, scale=1):
    """The logarithm of cdf."""
    z, a, b, _ = _standard(x, a, b, loc, scale)
    inside = jnp.where((z <= a) | (z >= b), (a + b) / 2, z)
    value = _log_mass(a, inside) - _log_mass(a, b)
    return within(a < b, jnp.where(z <= a, -jnp.inf, jnp.where(z >= b, 0, value)), jnp.nan)


@in_one_program()
def cdf(x, a, b, loc=0, scale=1):
    """The probability of values up to x."""
    return jnp.exp(logcdf(x, a, b, loc, scale))


@in_one_program()
def logsf(x, a, b, loc=0, scale=1):
    """The logarithm of sf."""
    x, a, b, loc, scale = inexact(x, a, b, loc, scale)
    return logcdf(-x, -b, -a, -loc, scale)


@in_one_program()
def sf(x, a, b, loc=0, scale=1):
    """The probability of values above x."""
    return jnp.exp(logsf(x, a, b, loc, scale))
