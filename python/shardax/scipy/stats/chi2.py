"""shardax.scipy.stats.chi2 - the chi-squared distribution."""

import math

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import held, inexact, log_share, within


def logpdf(x, df, loc=0, scale=1):
    """The logarithm of the density of the chi-square distribution, elementwise.

    The density is proportional to x^(df/2-1) e^(-x/2) for x >= 0, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      df: the degrees of freedom.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.chi2.logpdf(jnp.array([1.0, 3.0]), 3.0).round(3)
      Array([-1.419, -1.87 ], dtype=float32)
    """
    x, df, loc, scale = inexact(x, df, loc, scale)
    y = (x - loc) / scale
    inside = ~(y < 0) | (scale < 0)  # a negative scale makes NaN
    y = jnp.where(inside, y, 1)
    half = df / 2
    value = special.xlogy(half - 1, y) - y / 2 - half * math.log(2) - special.gammaln(half)
    return within(inside, value - jnp.log(scale))


def pdf(x, df, loc=0, scale=1):
    """The density of the chi-square distribution, elementwise.

    The density is proportional to x^(df/2-1) e^(-x/2) for x >= 0, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      df: the degrees of freedom.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.chi2.pdf(jnp.array([1.0, 3.0]), 3.0).round(3)
      Array([0.242, 0.154], dtype=float32)
    """
    return jnp.exp(logpdf(x, df, loc, scale))


def cdf(x, df, loc=0, scale=1):
    """The cumulative distribution function of the chi-square distribution: the probability of
    values up to x, elementwise.

    Args:
      x: numbers.
      df: the degrees of freedom.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.chi2.cdf(jnp.array([1.0, 3.0]), 3.0).round(3)
      Array([0.199, 0.608], dtype=float32)
    """
    x, df, loc, scale = inexact(x, df, loc, scale)
    return special.gammainc(df / 2, held((x - loc) / scale, 0) / 2)


def sf(x, df, loc=0, scale=1):
    """The survival function of the chi-square distribution: the probability of values above x,
    elementwise.

    Args:
      x: numbers.
      df: the degrees of freedom.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.chi2.sf(jnp.array([1.0, 3.0]), 3.0).round(3)
      Array([0.801, 0.392], dtype=float32)
    """
    x, df, loc, scale = inexact(x, df, loc, scale)
    return special.gammaincc(df / 2, held((x - loc) / scale, 0) / 2)


def logcdf(x, df, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the chi-square distribution,
    elementwise.

    Args:
      x: numbers.
      df: the degrees of freedom.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.chi2.logcdf(jnp.array([1.0, 3.0]), 3.0).round(3)
      Array([-1.616, -0.497], dtype=float32)
    """
    return log_share(cdf(x, df, loc, scale), sf(x, df, loc, scale))


def logsf(x, df, loc=0, scale=1):
    """The logarithm of the survival function of the chi-square distribution, elementwise.

    Args:
      x: numbers.
      df: the degrees of freedom.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.chi2.logsf(jnp.array([1.0, 3.0]), 3.0).round(3)
      Array([-0.222, -0.937], dtype=float32)
    """
    return log_share(sf(x, df, loc, scale), cdf(x, df, loc, scale))
