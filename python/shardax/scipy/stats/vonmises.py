"""shardax.scipy.stats.vonmises - the von Mises distribution, of angles."""

import math

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact


def logpdf(x, kappa):
    """The logarithm of the density; NaN of negative kappa."""
    x, kappa = inexact(x, kappa)
    value = kappa * (jnp.cos(x) - 1) - jnp.log(2 * math.pi * special.i0e(kappa))
    return jnp.where(kappa >= 0, value, jnp.nan)


def pdf(x, kappa):
    """The density."""
    return jnp.exp(logpdf(x, kappa))
