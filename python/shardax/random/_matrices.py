# shardax/random/_matrices.py - random vectors and matrices.
import operator

import numpy as np

import shardax._core as _core
from shardax import numpy as jnp
from shardax._base.arrays import asarray, result_type
from shardax._devices.out_sharding import takes_out_sharding
from shardax.random._keys import check_key
from shardax.random._parameters import check_numbers, drawn_shape, float_dtype, to_shape
from shardax.random._uniform import normal


@takes_out_sharding
def multivariate_normal(
    key, mean, cov, shape=None, dtype=None, method="cholesky", *, out_sharding=None
):
    """Normally distributed vectors with a mean and a covariance.

    Args:
      key: a typed or raw key.
      mean: the mean, of shape (..., n).
      cov: the covariance, positive semidefinite, of shape (..., n, n).
      shape: the shape of the result without the last dimension; None: that of the parameters.
      dtype: a floating type; None: float32.
      method: the factor of the covariance: "cholesky", "eigh" or "svd".
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      Floats of shape (*shape, n).

    Raises:
      ValueError: for another method, or shapes that do not fit.

    Example:
      >>> random.multivariate_normal(random.key(0), jnp.zeros(2), jnp.eye(2), (3,)).shape
      (3, 2)
    """
    key = check_key("multivariate_normal", key)
    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError("method must be one of {'svd', 'eigh', 'cholesky'}")
    check_numbers("multivariate_normal", mean, cov)
    common = result_type(mean, cov)
    if common.kind in "biu":
        common = _core.canonical_dtype(float)
    mean, cov = _core.convert(asarray(mean), common), _core.convert(asarray(cov), common)
    dtype = float_dtype(common if dtype is None else dtype, "multivariate_normal")
    if mean.ndim < 1:
        raise ValueError(
            f"multivariate_normal requires mean.ndim >= 1, got mean.ndim == {mean.ndim}"
        )
    n = mean.shape[-1]
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise ValueError(
            f"multivariate_normal requires cov.shape == (..., n, n) for n={n}, but got "
            f"cov.shape == {cov.shape}."
        )
    batches = mean.shape[:-1], cov.shape[:-2]
    shape = (
        _core.broadcast_shapes(*batches)
        if shape is None
        else drawn_shape("normal", to_shape(shape), *batches)
    )
    if method == "cholesky":
        factor = jnp.linalg.cholesky(cov)
    else:
        vectors, sizes = jnp.linalg.svd(cov)[:2] if method == "svd" else jnp.linalg.eigh(cov)[::-1]
        factor = vectors * jnp.sqrt(sizes[..., None, :])
    return mean + jnp.einsum("...ij,...j->...i", factor, normal(key, shape + (n,), dtype))


@takes_out_sharding
def orthogonal(key, n, shape=(), dtype=None, m=None, *, out_sharding=None):
    """Uniformly distributed orthogonal matrices, unitary ones for complex dtypes.

    Args:
      key: a typed or raw key.
      n: the number of rows.
      shape: a tuple of ints.
      dtype: a floating or complex type; None: float32.
      m: the number of columns; None: n. With another one, rows or columns are orthogonal.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      An array of shape (*shape, n, m).

    Source: Mezzadri, "How to generate random matrices from the classical compact groups", 2007.

    Example:
      >>> q = random.orthogonal(random.key(0), 3)
      >>> jnp.allclose(q @ q.T, jnp.eye(3), atol=1e-5)
      Array(True, dtype=bool)
    """
    key = check_key("orthogonal", key)
    dtype = _core.canonical_dtype(float) if dtype is None else dtype
    dtype = np.dtype(_core.requested_dtype(dtype, "orthogonal"))
    if not jnp.issubdtype(dtype, np.inexact):
        raise ValueError(
            f"dtype argument to `orthogonal` must be a float or complex dtype, got {dtype}"
        )
    n = operator.index(n)
    m = n if m is None else operator.index(m)
    q, r = jnp.linalg.qr(normal(key, (*to_shape(shape), max(n, m), min(n, m)), dtype))
    q = q * jnp.expand_dims(jnp.sign(jnp.linalg.diagonal(r)), -2)  # of complex x: x / |x|
    return q.mT if n < m else q
