"""shardax.scipy.stats.multivariate_normal - the normal distribution in several dimensions."""

import math

from shardax import lax
from shardax import numpy as jnp
from shardax.scipy.stats._common import floats


def logpdf(x, mean, cov, allow_singular=None):
    """The logarithm of the density of the multivariate normal distribution.

    The density is that of vectors with a mean and a covariance.

    Args:
      x: vectors, of shape (..., n).
      mean: the mean, of shape (..., n).
      cov: the covariance, of shape (..., n, n).
      allow_singular: must be None.

    Returns:
      Floats of the broadcast shape (...).

    Example:
      >>> x = jnp.zeros(2)
      >>> shardax.scipy.stats.multivariate_normal.logpdf(x, jnp.zeros(2), jnp.eye(2)).round(3)
      Array(-1.838, dtype=float32)
    """
    if allow_singular is not None:
        raise NotImplementedError("allow_singular argument of multivariate_normal.logpdf")
    x, mean, cov = floats(x, mean, cov)
    if not mean.ndim:
        return -0.5 * (x - mean) ** 2 / cov - 0.5 * (math.log(2 * math.pi) + jnp.log(cov))
    n = mean.shape[-1]
    if not cov.ndim:
        y = x - mean
        return -0.5 * (y * y).sum(axis=-1) / cov - n / 2 * (math.log(2 * math.pi) + jnp.log(cov))
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise ValueError(
            f"multivariate_normal.logpdf got incompatible shapes: mean {mean.shape}, cov "
            f"{cov.shape}; (..., {n}, {n}) was expected."
        )
    factor = jnp.linalg.cholesky(cov)
    y = x - mean
    batch = jnp.broadcast_shapes(y.shape[:-1], cov.shape[:-2])
    z = lax.linalg.triangular_solve(
        jnp.broadcast_to(factor, (*batch, n, n)),
        jnp.broadcast_to(y, (*batch, n))[..., None],
        left_side=True,
        lower=True,
    )[..., 0]
    size = jnp.log(jnp.diagonal(factor, axis1=-1, axis2=-2)).sum(axis=-1)
    return -0.5 * (z * z).sum(axis=-1) - n / 2 * math.log(2 * math.pi) - size


def pdf(x, mean, cov):
    """The density of the multivariate normal distribution.

    The density is that of vectors with a mean and a covariance.

    Args:
      x: vectors, of shape (..., n).
      mean: the mean, of shape (..., n).
      cov: the covariance, of shape (..., n, n).

    Returns:
      Floats of the broadcast shape (...).

    Example:
      >>> x = jnp.zeros(2)
      >>> shardax.scipy.stats.multivariate_normal.pdf(x, jnp.zeros(2), jnp.eye(2)).round(3)
      Array(0.159, dtype=float32)
    """
    return jnp.exp(logpdf(x, mean, cov))
