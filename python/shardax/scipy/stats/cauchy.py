"""shardax.scipy.stats.cauchy - the Cauchy distribution."""

import math

from shardax import numpy as jnp
from shardax.scipy.stats._common import inexact, log_share, on_the_right


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    x, loc, scale = inexact(x, loc, scale)
    z = on_the_right((x - loc) / scale)
    far = jnp.abs(z) > 1e6  # where 1 is nothing to the square, which may overflow
    near = jnp.where(far, 1, z)
    tail = jnp.where(far, 2 * jnp.log(jnp.where(far, z, 1)), jnp.log1p(near * near))
    return -(jnp.log(math.pi * scale) + tail)


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def _share(z):
    """What lies below z, with all digits in the lower tail."""
    return jnp.arctan2(jnp.ones_like(z), -z) / math.pi


def _quantile(q):
    """Where the share below is q, with all digits of far ones."""
    middle = ~(jnp.abs(q - 0.5) >= 0.25)
    low, high = q <= 0.25, q >= 0.75
    q = jnp.where(q == 0, 0, q)  # not -0
    end = jnp.where(low, q, jnp.where(high, 1 - q, 0.25))
    far = 1 / jnp.tan(math.pi * end)
    near = jnp.tan(math.pi * jnp.where(middle, q - 0.5, 0))
    return jnp.where(middle, near, jnp.where(low, -far, far))


def cdf(x, loc=0, scale=1):
    """The probability of values up to x."""
    x, loc, scale = inexact(x, loc, scale)
    return _share((x - loc) / scale)


def logcdf(x, loc=0, scale=1):
    """The logarithm of cdf."""
    return log_share(cdf(x, loc, scale), sf(x, loc, scale))


def sf(x, loc=0, scale=1):
    """The probability of values above x."""
    x, loc, scale = inexact(x, loc, scale)
    return _share((loc - x) / scale)


def logsf(x, loc=0, scale=1):
    """The logarithm of sf."""
    return log_share(sf(x, loc, scale), cdf(x, loc, scale))


def ppf(q, loc=0, scale=1):
    """The inverse of cdf."""
    q, loc, scale = inexact(q, loc, scale)
    return _quantile(q) * scale + loc


def isf(q, loc=0, scale=1):
    """The inverse of sf."""
    q, loc, scale = inexact(q, loc, scale)
    return -_quantile(q) * scale + loc
