"""shardax.scipy.stats.binom - the binomial distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def logpmf(k, n, p, loc=0):
    """The logarithms of probabilities of the binomial distribution, elementwise.

    The probability is proportional to (n choose k) p^k (1-p)^(n-k).

    Args:
      k: whole numbers.
      n: the number of trials.
      p: the probability of success.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.binom.logpmf(jnp.array([0.0, 2.0]), 4, 0.5).round(3)
      Array([-2.773, -0.981], dtype=float32)
    """
    k, n, p, loc = inexact(k, n, p, loc)
    x = k - loc
    inside = (x >= 0) & (x <= n)
    y = jnp.where(inside, x, 0)
    ways = special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)
    # A power of 0 is 1 for every p.
    successes = special.xlogy(y, jnp.where(y == 0, 1, p))
    return within(inside, ways + successes + special.xlog1py(n - y, jnp.where(n == y, 0, -p)))


def pmf(k, n, p, loc=0):
    """The probabilities of the binomial distribution, elementwise.

    The probability is proportional to (n choose k) p^k (1-p)^(n-k).

    Args:
      k: whole numbers.
      n: the number of trials.
      p: the probability of success.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.binom.pmf(jnp.array([0.0, 2.0]), 4, 0.5).round(3)
      Array([0.062, 0.375], dtype=float32)
    """
    return jnp.exp(logpmf(k, n, p, loc))
