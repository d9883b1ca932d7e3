# shardax/random/_counts.py - distributions of counts.

import numpy as np

from shardax import _core, lax
from shardax import numpy as jnp
from shardax.numpy._common import asarray, static_jit
from shardax.random._keys import check_key, partitionable, subkeys, to_shape
from shardax.random._uniform import draw_uniform


def _poisson_small(key, rate, dtype, stream):
    """Knuth's method: how many uniform numbers can be multiplied until the product is below exp(-rate)."""

    def draw(state):
        count, key, logs = state
        key, sub = subkeys(key, stream)
        count = jnp.where(logs > -rate, count + 1, count)
        return (
            count,
            key,
            logs
            + jnp.log(
                draw_uniform(sub, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream)
            ),
        )

    start = (jnp.zeros(rate.shape, dtype), key, jnp.zeros_like(rate))
    return lax.while_loop(lambda s: jnp.any(s[2] > -rate), draw, start)[0] - 1


def _poisson_large(key, rate, dtype, stream):
    """Hörmann's transformed rejection (1993), "The transformed rejection method for generating Poisson variables"."""
    b = 0.931 + 2.53 * jnp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    inside = 0.9277 - 3.6224 / (b - 2)

    def draw(state):
        out, done, key = state
        key, first, second = subkeys(key, stream, 3)
        u = draw_uniform(first, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream) - 0.5
        v = draw_uniform(second, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream)
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + rate + 0.43)
        density = -rate + k * jnp.log(rate) - lax.lgamma(k + 1)
        likely = jnp.log(v * scale / (a / (edge * edge) + b)) <= density
        impossible = (k < 0) | ((edge < 0.013) & (v > edge))
        accept = ((edge >= 0.07) & (v <= inside)) | (~impossible & likely)
        return jnp.where(accept, k, out), done | accept, key

    start = (jnp.full_like(rate, -1), jnp.zeros(rate.shape, bool), key)
    return lax.while_loop(lambda s: ~jnp.all(s[1]), draw, start)[0].astype(dtype)


@static_jit("shape", "dtype", "stream")
def _poisson(key, rate, shape, dtype, stream):
    rate = _core.broadcast_to(_core.convert(asarray(rate), np.dtype("float32")), shape)
    small = jnp.isnan(rate) | (rate < 10)
    few = _poisson_small(key, jnp.where(small, rate, 0), dtype, stream)
    many = _poisson_large(key, jnp.where(small, 1e5, rate), dtype, stream)
    return jnp.where(rate == 0, 0, jnp.where(small, few, many)).astype(dtype)


def poisson(key, lam, shape=None, dtype=None, *, out_sharding=None):
    """The Poisson distribution with mean `lam`; int32 unless `dtype` says otherwise."""
    key = check_key("poisson", key)
    dtype = np.dtype(
        _core.canonical_dtype(int) if dtype is None else _core.requested_dtype(dtype, "poisson")
    )
    shape = np.shape(lam) if shape is None else to_shape(shape)
    return _poisson(key, lam, shape=shape, dtype=dtype, stream=partitionable())
