"""shardax.scipy.stats.cauchy - the Cauchy distribution."""

import math

from shardax import numpy as jnp
from shardax.scipy.stats._common import inexact


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    x, loc, scale = inexact(x, loc, scale)
    z = (x - loc) / scale
    return -(jnp.log(math.pi * scale) + jnp.log1p(z * z))


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of values up to x."""
    x, loc, scale = inexact(x, loc, scale)
    return 0.5 + jnp.arctan((x - loc) / scale) / math.pi


def logcdf(x, loc=0, scale=1):
    """The logarithm of cdf."""
    return jnp.log(cdf(x, loc, scale))


def sf(x, loc=0, scale=1):
    """The probability of values above x."""
    x, loc, scale = inexact(x, loc, scale)
    return cdf(-x, -loc, scale)


def logsf(x, loc=0, scale=1):
    """The logarithm of sf."""
    return jnp.log(sf(x, loc, scale))


def ppf(q, loc=0, scale=1):
    """The inverse of cdf."""
    q, loc, scale = inexact(q, loc, scale)
    return jnp.tan(math.pi * (q - 0.5)) * scale + loc


def isf(q, loc=0, scale=1):
    """The inverse of sf."""
    q, loc, scale = inexact(q, loc, scale)
    return jnp.tan(math.pi * (0.5 - q)) * scale + loc
