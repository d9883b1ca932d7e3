"""shardax.scipy.stats.bernoulli - the Bernoulli distribution: 1 with probability p, else 0."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import reals, within


def logpmf(k, p, loc=0):
    """The logarithms of probabilities of the Bernoulli distribution, elementwise.

    The probability is the probability `p` at k = 1, 1 - p at k = 0.

    Args:
      k: whole numbers.
      p: the probability of 1.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.bernoulli.logpmf(jnp.array([0.0, 1.0]), 0.25).round(3)
      Array([-0.288, -1.386], dtype=float32)
    """
    k, p, loc = reals(k, p, loc)
    x = k - loc
    value = special.xlogy(x, p) + special.xlog1py(1 - x, -p)
    return within(~((x < 0) | (x > 1)), value)


def pmf(k, p, loc=0):
    """The probabilities of the Bernoulli distribution, elementwise.

    The probability is the probability `p` at k = 1, 1 - p at k = 0.

    Args:
      k: whole numbers.
      p: the probability of 1.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.bernoulli.pmf(jnp.array([0.0, 1.0]), 0.25).round(3)
      Array([0.75, 0.25], dtype=float32)
    """
    return jnp.exp(logpmf(k, p, loc))


def cdf(k, p):
    """The cumulative distribution function of the Bernoulli distribution: the probability of values
    up to k, elementwise.

    Args:
      k: whole numbers.
      p: the probability of 1.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.bernoulli.cdf(jnp.array([0.0, 1.0]), 0.25).round(3)
      Array([0.75, 1.  ], dtype=float32)
    """
    k, p = reals(k, p)
    value = jnp.where(k < 0, 0, jnp.where(k < 1, 1 - p, 1))
    return within((p >= 0) & (p <= 1) & ~jnp.isnan(k), value, jnp.nan)


def ppf(q, p):
    """The quantiles of the Bernoulli distribution: the inverse of `cdf`, elementwise.

    Args:
      q: probabilities in [0, 1].
      p: the probability of 1.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.bernoulli.ppf(jnp.array([0.25, 0.5]), 0.25).round(3)
      Array([0., 0.], dtype=float32)
    """
    q, p = reals(q, p)
    value = jnp.where(q <= 1 - p, 0, jnp.ones_like(q))
    return within((q >= 0) & (q <= 1) & (p >= 0) & (p <= 1), value, jnp.nan)
