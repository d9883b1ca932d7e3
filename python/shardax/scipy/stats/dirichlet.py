"""shardax.scipy.stats.dirichlet - the Dirichlet distribution."""

from shardax import numpy as jnp
from shardax.scipy import special
from shardax.scipy.stats._common import floats, within


def _on_simplex(x):
    return jnp.all(x > 0, axis=0) & (jnp.abs(x.sum(axis=0) - 1) < 1e-6)


def logpdf(x, alpha):
    """The logarithm of the density.

    Components lie along the first axis of `x`; the last may be left out, and is then what the
    others lack.
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
    """The density."""
    return jnp.exp(logpdf(x, alpha))
