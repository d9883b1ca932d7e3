"""shardax.scipy.stats.vonmises - the von Mises distribution, of angles."""

import math

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact


def logpdf(x, kappa):
    """The logarithm of the density."""
    x, kappa = inexact(x, kappa)
    return kappa * (jnp.cos(x) - 1) - jnp.log(2 * math.pi * special.i0e(kappa))


def pdf(x, kappa):
    """The density."""
    return jnp.exp(logpdf(x, kappa))
