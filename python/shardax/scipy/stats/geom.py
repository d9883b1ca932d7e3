"""shardax.scipy.stats.geom - the geometric distribution: trials up to the first success."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import reals, within


def logpmf(k, p, loc=0):
    """The logarithms of probabilities of the geometric distribution, elementwise.

    The probability is p (1-p)^(k-1) for k = 1, 2 ....

    Args:
      k: whole numbers.
      p: the probability of success.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.geom.logpmf(jnp.array([1.0, 2.0]), 0.25).round(3)
      Array([-1.386, -1.674], dtype=float32)
    """
    k, p, loc = reals(k, p, loc)
    x = k - loc
    return within(~(x <= 0), special.xlog1py(x - 1, -p) + jnp.log(p))


def pmf(k, p, loc=0):
    """The probabilities of the geometric distribution, elementwise.

    The probability is p (1-p)^(k-1) for k = 1, 2 ....

    Args:
      k: whole numbers.
      p: the probability of success.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.geom.pmf(jnp.array([1.0, 2.0]), 0.25).round(3)
      Array([0.25 , 0.188], dtype=float32)
    """
    return jnp.exp(logpmf(k, p, loc))
