"""shardax.scipy.stats.poisson - the Poisson distribution."""

import numpy as np

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import inexact, within


def logpmf(k, mu, loc=0):
    """The logarithms of probabilities of the Poisson distribution, elementwise.

    The probability is mu^k e^-mu / k!.

    Args:
      k: whole numbers; others have probability 0.
      mu: the mean.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.poisson.logpmf(jnp.array([0.0, 2.0]), 2.0).round(3)
      Array([-2.   , -1.307], dtype=float32)
    """
    k, mu, loc = inexact(k, mu, loc)
    x = k - loc
    inside = (x >= 0) & (x == jnp.round(x))
    y = jnp.where(inside, x, 0)
    return within(inside, special.xlogy(y, mu) - special.gammaln(y + 1) - mu)


def pmf(k, mu, loc=0):
    """The probabilities of the Poisson distribution, elementwise.

    The probability is mu^k e^-mu / k!.

    Args:
      k: whole numbers; others have probability 0.
      mu: the mean.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.poisson.pmf(jnp.array([0.0, 2.0]), 2.0).round(3)
      Array([0.135, 0.271], dtype=float32)
    """
    return jnp.exp(logpmf(k, mu, loc))


def cdf(k, mu, loc=0):
    """The cumulative distribution function of the Poisson distribution: the probability of values
    up to k, elementwise.

    Args:
      k: whole numbers; others have probability 0.
      mu: the mean.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.poisson.cdf(jnp.array([0.0, 2.0]), 2.0).round(3)
      Array([0.135, 0.677], dtype=float32)
    """
    k, mu, loc = inexact(k, mu, loc)
    x = jnp.floor(k - loc)
    return within(~(x < 0), special.gammaincc(jnp.maximum(x, 0) + 1, mu), 0)


def entropy(mu, loc=0):
    """The entropy of the Poisson distribution, elementwise.

    Args:
      mu: the mean.
      loc: the distribution is moved by it.

    Returns:
      Floats in the broadcast shape.

    Example:
      >>> shardax.scipy.stats.poisson.entropy(2.0).round(3)
      Array(1.705, dtype=float32)
    """
    mu, loc = (jnp.asarray(v) for v in inexact(mu, loc))
    shape = jnp.broadcast_shapes(mu.shape, loc.shape)
    low = jnp.where((mu > 0) & (mu < 100), mu, 1)
    k = jnp.arange(250, dtype=mu.dtype).reshape(-1, *[1] * mu.ndim)
    # Not entr of probabilities, whose slope is infinite where they underflow.
    log = logpmf(k, low)
    direct = -(jnp.exp(log) * log).sum(0)
    high = jnp.maximum(mu, 100)
    asymptotic = (
        0.5 * jnp.log(2 * np.pi * np.e * high)
        - 1 / (12 * high)
        - 1 / (24 * high**2)
        - 19 / (360 * high**3)
    )
    value = jnp.where(mu < 100, direct, asymptotic)
    value = jnp.where(mu == 0, 0, jnp.where(mu < 0, jnp.nan, value))
    return jnp.broadcast_to(value, shape)
