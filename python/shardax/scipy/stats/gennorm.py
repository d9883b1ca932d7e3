"""shardax.scipy.stats.gennorm - the generalised normal distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact


def logpdf(x, beta):
    """The logarithm of the density."""
    x, beta = inexact(x, beta)
    return jnp.log(0.5 * beta) - special.gammaln(1 / beta) - jnp.abs(x) ** beta


def pdf(x, beta):
    """The density."""
    return jnp.exp(logpdf(x, beta))


def cdf(x, beta):
    """The probability of values up to x."""
    x, beta = inexact(x, beta)
    return 0.5 * (1 + jnp.sign(x) * special.gammainc(1 / beta, jnp.abs(x) ** beta))
