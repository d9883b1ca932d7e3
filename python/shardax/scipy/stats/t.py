"""shardax.scipy.stats.t - Student's t distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact


def logpdf(x, df, loc=0, scale=1):
    """The logarithm of the density."""
    x, df, loc, scale = inexact(x, df, loc, scale)
    z = (x - loc) / scale
    half = (df + 1) / 2
    size = -special.betaln(df / 2, jnp.full_like(df, 0.5)) - 0.5 * jnp.log(df)
    return size - jnp.log(scale) - half * jnp.log1p(z * z / df)


def pdf(x, df, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, df, loc, scale))
