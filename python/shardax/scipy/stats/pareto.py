"""shardax.scipy.stats.pareto - the Pareto distribution."""

from shardax import numpy as jnp
from shardax.scipy.stats._common import held, inexact, log1mexp, one_less_exp, reals, within


def _standard(x, b, loc, scale):
    x, b, loc, scale = reals(x, b, loc, scale)
    y = jnp.where(scale < 0, jnp.nan, (x - loc) / scale)
    return y, jnp.log(held(y, 1)), b, scale


def _power(b, log_y):
    """b log y; 0 where y is 1, whatever b."""
    return jnp.where(jnp.isinf(b) & (log_y == 0), 0, b * log_y)


def logpdf(x, b, loc=0, scale=1):
    """The logarithm of the density of the Pareto distribution, elementwise.

    The density is b / x^(b+1) for x >= 1, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      b: the exponent > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.pareto.logpdf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([ 0.693, -1.386], dtype=float32)
    """
    y, log_y, b, scale = _standard(x, b, loc, scale)
    return within(~(y < 1), jnp.log(b / scale) - (b + 1) * log_y)


def pdf(x, b, loc=0, scale=1):
    """The density of the Pareto distribution, elementwise.

    The density is b / x^(b+1) for x >= 1, of (x - loc) / scale, over scale.

    Args:
      x: numbers.
      b: the exponent > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.pareto.pdf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([2.  , 0.25], dtype=float32)
    """
    return jnp.exp(logpdf(x, b, loc, scale))


def cdf(x, b, loc=0, scale=1):
    """The cumulative distribution function of the Pareto distribution: the probability of values up
    to x, elementwise.

    Args:
      x: numbers.
      b: the exponent > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.pareto.cdf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([0.  , 0.75], dtype=float32)
    """
    y, log_y, b, _ = _standard(x, b, loc, scale)
    return within(~(y < 1), one_less_exp(_power(b, log_y)), 0)


def logcdf(x, b, loc=0, scale=1):
    """The logarithm of the cumulative distribution function of the Pareto distribution,
    elementwise.

    Args:
      x: numbers.
      b: the exponent > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.pareto.logcdf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([  -inf, -0.288], dtype=float32)
    """
    y, log_y, b, _ = _standard(x, b, loc, scale)
    inside = ~(y < 1)
    return within(inside, log1mexp(jnp.where(inside, _power(b, log_y), 1)))


def sf(x, b, loc=0, scale=1):
    """The survival function of the Pareto distribution: the probability of values above x,
    elementwise.

    Args:
      x: numbers.
      b: the exponent > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.pareto.sf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([1.  , 0.25], dtype=float32)
    """
    return jnp.exp(logsf(x, b, loc, scale))


def logsf(x, b, loc=0, scale=1):
    """The logarithm of the survival function of the Pareto distribution, elementwise.

    Args:
      x: numbers.
      b: the exponent > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.pareto.logsf(jnp.array([1.0, 2.0]), 2.0).round(3)
      Array([-0.   , -1.386], dtype=float32)
    """
    _, log_y, b, _ = _standard(x, b, loc, scale)
    return -_power(b, log_y)


def ppf(q, b, loc=0, scale=1):
    """The quantiles of the Pareto distribution: the inverse of `cdf`, elementwise.

    Args:
      q: probabilities in [0, 1].
      b: the exponent > 0.
      loc, scale: the distribution is moved by `loc` and stretched by `scale`.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.pareto.ppf(jnp.array([0.25, 0.5]), 2.0).round(3)
      Array([1.155, 1.414], dtype=float32)
    """
    q, b, loc, scale = inexact(q, b, loc, scale)
    return within((q >= 0) & (q <= 1), (1 - q) ** (-1 / b) * scale + loc, jnp.nan)
