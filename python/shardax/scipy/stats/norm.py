"""shardax.scipy.stats.norm - the normal distribution."""

import math

import shardax._core as _core
from shardax import numpy as jnp
from shardax.scipy import special


def _standard(x, loc, scale):
    x, loc, scale = _core.promote("inexact", x, loc, scale)
    return (x - loc) / scale, scale


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    z, scale = _standard(x, loc, scale)
    # Neither square may overflow before the result does; a negative scale is as good as its size.
    return -0.5 * z * z - (jnp.log(abs(scale)) + 0.5 * math.log(2 * math.pi))


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of values up to x."""
    return special.ndtr(_standard(x, loc, scale)[0])


def sf(x, loc=0, scale=1):
    """The probability of values above x."""
    return special.ndtr(-_standard(x, loc, scale)[0])


def logcdf(x, loc=0, scale=1):
    """The logarithm of cdf, exact far below the mean, too."""
    return special.log_ndtr(_standard(x, loc, scale)[0])


def logsf(x, loc=0, scale=1):
    """The logarithm of sf."""
    return logcdf(-_standard(x, loc, scale)[0])


def ppf(q, loc=0, scale=1):
    """The inverse of cdf, of the default dtype of floats."""
    return jnp.asarray(special.ndtri(q) * scale + loc, float)


def isf(q, loc=0, scale=1):
    """The inverse of sf, of the default dtype of floats."""
    return jnp.asarray(-special.ndtri(q) * scale + loc, float)
