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
    """The logarithm of the density."""
    y, log_y, b, scale = _standard(x, b, loc, scale)
    return within(~(y < 1), jnp.log(b / scale) - (b + 1) * log_y)


def pdf(x, b, loc=0, scale=1):
    """The density."""
    return jnp.exp(logpdf(x, b, loc, scale))


def cdf(x, b, loc=0, scale=1):
    """The probability of values up to x."""
    y, log_y, b, _ = _standard(x, b, loc, scale)
    return within(~(y < 1), one_less_exp(_power(b, log_y)), 0)


def logcdf(x, b, loc=0, scale=1):
    """The logarithm of cdf."""
    y, log_y, b, _ = _standard(x, b, loc, scale)
    inside = ~(y < 1)
    return within(inside, log1mexp(jnp.where(inside, _power(b, log_y), 1)))


def sf(x, b, loc=0, scale=1):
    """The probability of values above x."""
    return jnp.exp(logsf(x, b, loc, scale))


def logsf(x, b, loc=0, scale=1):
    """The logarithm of sf."""
    _, log_y, b, _ = _standard(x, b, loc, scale)
    return -_power(b, log_y)


def ppf(q, b, loc=0, scale=1):
    """The inverse of cdf."""
    q, b, loc, scale = inexact(q, b, loc, scale)
    return within((q >= 0) & (q <= 1), (1 - q) ** (-1 / b) * scale + loc, jnp.nan)
