"""shardax.scipy.stats.nbinom - the negative binomial distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def logpmf(k, n, p, loc=0):
    """The logarithms of probabilities of the negative binomial distribution, elementwise.

    The probability is that of failures before `n` successes.

    Args:
      k: whole numbers.
      n: the number of successes.
      p: the probability of success.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.nbinom.logpmf(jnp.array([0.0, 1.0]), 2, 0.5).round(3)
      Array([-1.386, -1.386], dtype=float32)
    """
    k, n, p, loc = inexact(k, n, p, loc)
    x = k - loc
    y = jnp.maximum(x, 0)
    ways = special.gammaln(y + n) - special.gammaln(n) - special.gammaln(y + 1)
    return within(~(x < 0), ways + special.xlogy(n, p) + special.xlog1py(y, -p))


def pmf(k, n, p, loc=0):
    """The probabilities of the negative binomial distribution, elementwise.

    The probability is that of failures before `n` successes.

    Args:
      k: whole numbers.
      n: the number of successes.
      p: the probability of success.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.nbinom.pmf(jnp.array([0.0, 1.0]), 2, 0.5).round(3)
      Array([0.25, 0.25], dtype=float32)
    """
    return jnp.exp(logpmf(k, n, p, loc))
