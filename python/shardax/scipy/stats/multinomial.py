"""shardax.scipy.stats.multinomial - the multinomial distribution."""

from shardax import numpy as jnp
from shardax._base.arrays import asarray
from shardax.scipy import special
from shardax.scipy.stats._common import floats, within


def logpmf(x, n, p):
    """The logarithms of probabilities of the multinomial distribution.

    The probability is that of counts of outcomes in `n` trials.

    Args:
      x: counts, along the last dimension.
      n: the number of trials.
      p: the probabilities, along the last dimension.

    Example:
      >>> x = jnp.array([1, 2])
      >>> shardax.scipy.stats.multinomial.logpmf(x, 3, jnp.array([0.5, 0.5])).round(3)
      Array(-0.981, dtype=float32)
    """
    p = floats(p)[0]
    x, n = (asarray(v).astype(p.dtype) for v in (x, n))
    ways = special.gammaln(n + 1) - special.gammaln(x + 1).sum(axis=-1)
    possible = (x.sum(axis=-1) == n) & jnp.all(x >= 0, axis=-1)
    return within(possible, ways + special.xlogy(x, p).sum(axis=-1))


def pmf(x, n, p):
    """The probabilities of the multinomial distribution.

    The probability is that of counts of outcomes in `n` trials.

    Args:
      x: counts, along the last dimension.
      n: the number of trials.
      p: the probabilities, along the last dimension.

    Example:
      >>> x = jnp.array([1, 2])
      >>> shardax.scipy.stats.multinomial.pmf(x, 3, jnp.array([0.5, 0.5])).round(3)
      Array(0.375, dtype=float32)
    """
    return jnp.exp(logpmf(x, n, p))
