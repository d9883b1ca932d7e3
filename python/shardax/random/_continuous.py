# shardax/random/_continuous.py - distributions that are functions of uniform or normal numbers.

import numpy as np

from shardax import _core, lax
from shardax import numpy as jnp
from shardax._api import jit
from shardax.numpy._common import asarray, static_jit
from shardax.random._keys import check_key, float_dtype, partitionable, to_shape
from shardax.random._uniform import bernoulli, draw_uniform, uniform


@static_jit("shape", "dtype", "stream")
def draw_gumbel(key, shape, dtype, stream):
    tiny = jnp.finfo(dtype).tiny
    u = draw_uniform(
        key, np.asarray(tiny, dtype), np.asarray(1, dtype), shape=shape, dtype=dtype, stream=stream
    )
    return -jnp.log(-jnp.log(u))


def gumbel(key, shape=(), dtype=None, mode=None):
    """The standard Gumbel distribution."""
    return draw_gumbel(
        check_key("gumbel", key),
        shape=to_shape(shape),
        dtype=float_dtype(dtype, "gumbel"),
        stream=partitionable(),
    )


@static_jit("shape", "dtype", "stream")
def _truncated_normal(key, lower, upper, shape, dtype, stream):
    lower, upper = (_core.convert(asarray(v), dtype) for v in (lower, upper))
    sqrt2 = np.asarray(np.sqrt(2), dtype)
    a, b = lax.erf(lower / sqrt2), lax.erf(upper / sqrt2)
    u = draw_uniform(key, a, b, shape=shape, dtype=dtype, stream=stream)
    out = sqrt2 * lax.erf_inv(u)
    low = lax.nextafter(lax.stop_gradient(lower), np.asarray(np.inf, dtype))
    high = lax.nextafter(lax.stop_gradient(upper), np.asarray(-np.inf, dtype))
    return jnp.clip(out, low, high)


def truncated_normal(key, lower, upper, shape=None, dtype=None, *, out_sharding=None):
    """Normal, limited to (lower, upper)."""
    key = check_key("truncated_normal", key)
    shape = (
        _core.broadcast_shapes(np.shape(lower), np.shape(upper))
        if shape is None
        else to_shape(shape)
    )
    return _truncated_normal(
        key,
        lower,
        upper,
        shape=shape,
        dtype=float_dtype(dtype, "truncated_normal"),
        stream=partitionable(),
    )


@static_jit("shape", "dtype", "stream")
def draw_exponential(key, shape, dtype, stream):
    return -jnp.log1p(-draw_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype, stream=stream))


def exponential(key, shape=(), dtype=None):
    """The exponential distribution with mean 1."""
    return draw_exponential(
        check_key("exponential", key),
        shape=to_shape(shape),
        dtype=float_dtype(dtype, "exponential"),
        stream=partitionable(),
    )


@jit
def _laplace(u):
    return jnp.sign(u) * jnp.log1p(-jnp.abs(u))


def laplace(key, shape=(), dtype=None):
    """The Laplace distribution with scale 1."""
    dtype = float_dtype(dtype, "laplace")
    low = np.asarray(-1 + jnp.finfo(dtype).eps, dtype)
    return _laplace(uniform(key, shape, dtype, minval=low, maxval=1.0))


def logistic(key, shape=(), dtype=None):
    """The logistic distribution."""
    dtype = float_dtype(dtype, "logistic")
    x = uniform(key, shape, dtype, minval=jnp.finfo(dtype).eps, maxval=1.0)
    return jnp.log(x / (1 - x))


def cauchy(key, shape=(), dtype=None):
    """The Cauchy distribution."""
    dtype = float_dtype(dtype, "cauchy")
    u = uniform(key, shape, dtype, minval=jnp.finfo(dtype).eps, maxval=1.0)
    return jnp.tan(np.asarray(np.pi, dtype) * (u - np.asarray(0.5, dtype)))


def rademacher(key, shape=(), dtype=None):
    """-1 or 1, int32 unless `dtype` says otherwise."""
    dtype = _core.canonical_dtype(int) if dtype is None else _core.dtype_of(dtype)
    return (2 * bernoulli(key, 0.5, to_shape(shape)).astype(np.int32) - 1).astype(dtype)
