"""shardax.scipy.stats.dirichlet - the Dirichlet distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import floats, within


def _on_simplex(x):
    return jnp.all(x > 0, axis=0) & (jnp.abs(x.sum(axis=0) - 1) < 1e-6)


def logpdf(x, alpha):
    """The logarithm of the density of the Dirichlet distribution.

    The density is proportional to the product of x_i^(alpha_i - 1) over the simplex.

    Args:
      x: a vector of N positive numbers whose sum is 1, or the first N - 1 of them.
      alpha: a vector of N parameters > 0.

    Example:
      >>> x = jnp.array([0.2, 0.3, 0.5])
      >>> shardax.scipy.stats.dirichlet.logpdf(x, jnp.ones(3)).round(3)
      Array(0.693, dtype=float32)
    """
    x, alpha = floats(x, alpha)
    if alpha.ndim != 1:
        raise ValueError(f"`alpha` must be one-dimensional; got alpha.shape={alpha.shape}")
    if x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(
            "`x` must have either the same number of entries as `alpha` or one entry fewer; got "
            f"x.shape={x.shape}, alpha.shape={alpha.shape}"
        )
    if x.shape[0] != alpha.shape[0]:
        x = jnp.concatenate([x, 1 - x.sum(axis=0, keepdims=True)])
    total = special.gammaln(alpha.sum()) - special.gammaln(alpha).sum()
    weights = (alpha - 1).reshape((-1,) + (1,) * (x.ndim - 1))
    return within(_on_simplex(x), special.xlogy(weights, x).sum(axis=0) + total)


def pdf(x, alpha):
    """The density of the Dirichlet distribution.

    The density is proportional to the product of x_i^(alpha_i - 1) over the simplex.

    Args:
      x: a vector of N positive numbers whose sum is 1, or the first N - 1 of them.
      alpha: a vector of N parameters > 0.

    Example:
      >>> shardax.scipy.stats.dirichlet.pdf(jnp.array([0.2, 0.3, 0.5]), jnp.ones(3)).round(3)
      Array(2., dtype=float32)
    """
    return jnp.exp(logpdf(x, alpha))
