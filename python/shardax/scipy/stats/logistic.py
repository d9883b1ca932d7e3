"""shardax.scipy.stats.logistic - the logistic distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, on_the_right


def _standard(x, loc, scale):
    x, loc, scale = inexact(x, loc, scale)
    return (x - loc) / scale, scale


def logpdf(x, loc=0, scale=1):
    """The logarithm of the density."""
    z, scale = _standard(x, loc, scale)
    size = on_the_right(z)  # the density is even; there is no difference of infinities on this side
    return -size - 2 * jnp.log1p(jnp.exp(-size)) - jnp.log(scale)


def pdf(x, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, loc, scale))


def cdf(x, loc=0, scale=1):
    """The probability of values up to x."""
    return special.expit(_standard(x, loc, scale)[0])


def sf(x, loc=0, scale=1):
    """The probability of values above x."""
    return special.expit(-_standard(x, loc, scale)[0])


def ppf(x, loc=0, scale=1):
    """The inverse of cdf."""
    q, loc, scale = inexact(x, loc, scale)
    return special.logit(q) * scale + loc


def isf(x, loc=0, scale=1):
    """The inverse of sf."""
    q, loc, scale = inexact(x, loc, scale)
    return -special.logit(q) * scale + loc
