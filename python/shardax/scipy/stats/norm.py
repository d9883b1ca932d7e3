"""shardax.scipy.stats.norm - the normal distribution."""

import math

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax.scipy import special


def _standard(x, loc, scale):
    x, loc, scale = _core.promote("inexact", x, loc, scale)
    return (x - loc) / scale, scale


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    z, scale = _standard(x, loc, scale)
    return -0.5 * (z * z + jnp.log(2 * math.pi * (scale * scale)))


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
    """The logarithm of cdf; far below the mean, by the asymptotic series of erfc."""
    z = _standard(x, loc, scale)[0]
    low = z < -8
    far = jnp.where(low, z, -8)
    square = far * far
    series = 1 - 1 / square + 3 / square**2 - 15 / square**3 + 105 / square**4
    tail = -0.5 * square - jnp.log(-far) - 0.5 * math.log(2 * math.pi) + jnp.log(series)
    near = jnp.log(0.5 * lax.erfc(-jnp.where(low, 0, z) / math.sqrt(2)))
    return jnp.where(low, tail, near)


def logsf(x, loc=0, scale=1):
    """The logarithm of sf."""
    return logcdf(-_standard(x, loc, scale)[0])


def ppf(q, loc=0, scale=1):
    """The inverse of cdf."""
    return special.ndtri(q) * scale + loc


def isf(q, loc=0, scale=1):
    """The inverse of sf."""
    return -special.ndtri(q) * scale + loc
