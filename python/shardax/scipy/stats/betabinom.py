"""shardax.scipy.stats.betabinom - the beta-binomial distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def logpmf(k, n, a, b, loc=0):
    """The logarithms of probabilities of the beta-binomial distribution, elementwise.

    The probability is that of `n` trials whose probability is beta distributed.

    Args:
      k: whole numbers.
      n: the number of trials.
      a, b: the parameters > 0 of the beta distribution.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.betabinom.logpmf(jnp.array([0.0, 2.0]), 4, 2.0, 3.0).round(3)
      Array([-1.54 , -1.358], dtype=float32)
    """
    k, n, a, b, loc = inexact(k, n, a, b, loc)
    x = jnp.floor(k - loc)
    inside = (x >= 0) & (x <= n)
    possible = (n >= 0) & (a > 0) & (b > 0)
    y = jnp.where(inside, x, 0)
    ways = -jnp.log1p(n) - special.betaln(n - y + 1, y + 1)
    value = ways + special.betaln(y + a, n - y + b) - special.betaln(a, b)
    return within(possible, within(inside, value), jnp.nan)


def pmf(k, n, a, b, loc=0):
    """The probabilities of the beta-binomial distribution, elementwise.

    The probability is that of `n` trials whose probability is beta distributed.

    Args:
      k: whole numbers.
      n: the number of trials.
      a, b: the parameters > 0 of the beta distribution.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.betabinom.pmf(jnp.array([0.0, 2.0]), 4, 2.0, 3.0).round(3)
      Array([0.214, 0.257], dtype=float32)
    """
    return jnp.exp(logpmf(k, n, a, b, loc))
