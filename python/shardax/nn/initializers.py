"""shardax.nn.initializers - functions that draw initial parameters.

Each gives a function (key, shape, dtype) -> array.
"""

import math
from typing import Protocol, runtime_checkable

import shardax._core as _core
from shardax import numpy as jnp
from shardax import random
from shardax._devices.out_sharding import takes_out_sharding


@runtime_checkable
class Initializer(Protocol):
    """What the functions of this module give, for annotations."""

    def __call__(self, key, shape, dtype=None, out_sharding=None): ...


def _initializer(draw, default):
    """`draw`, a function (key, shape, dtype), with a default dtype and `out_sharding`: how the
    result is split over the mesh."""

    def init(key, shape, dtype=default, out_sharding=None):
        dtype = _core.canonical_dtype(float) if dtype is None else dtype
        if out_sharding is None:
            return draw(key, shape, dtype)
        return takes_out_sharding(draw)(key, shape, dtype, out_sharding=out_sharding)

    return init


def zeros(key, shape, dtype=None, out_sharding=None):
    """Zeros.

    `key` has no effect: the result does not depend on it; the signature is that of a protocol.
    """
    return jnp.zeros(shape, dtype, out_sharding=out_sharding)


def ones(key, shape, dtype=None, out_sharding=None):
    """Ones.

    `key` has no effect: the result does not depend on it; the signature is that of a protocol.
    """
    return jnp.ones(shape, dtype, out_sharding=out_sharding)


def constant(value, dtype=None):
    """A constant."""
    return _initializer(lambda key, shape, dtype: jnp.full(shape, value, dtype=dtype), dtype)


def uniform(scale=1e-2, dtype=None):
    """Uniform in [0, scale)."""

    def draw(key, shape, dtype):
        return random.uniform(key, shape, dtype) * jnp.array(scale, dtype)

    return _initializer(draw, dtype)


def normal(stddev=1e-2, dtype=None):
    """Normal with that standard deviation."""

    def draw(key, shape, dtype):
        return random.normal(key, shape, dtype) * jnp.array(stddev, dtype)

    return _initializer(draw, dtype)


def truncated_normal(stddev=1e-2, dtype=None, lower=-2.0, upper=2.0):
    """Normal between lower and upper standard deviations."""

    def draw(key, shape, dtype):
        return random.truncated_normal(key, lower, upper, shape, dtype) * jnp.array(stddev, dtype)

    return _initializer(draw, dtype)


def _fans(shape, in_axis, out_axis, batch_axis):
    def axes(x):
        return [a % len(shape) for a in (x if isinstance(x, (tuple, list)) else (x,))]

    ins, outs, batches = axes(in_axis), axes(out_axis), axes(batch_axis)
    size = math.prod(shape)
    fan_in = math.prod(shape[a] for a in ins)
    fan_out = math.prod(shape[a] for a in outs)
    batch = math.prod(shape[a] for a in batches)
    field = size / (fan_in * fan_out * batch)
    return fan_in * field, fan_out * field


_CUT = math.exp(-4) - 1  # less the share of a complex standard normal of modulus up to 2


def _in_disk(key, shape, dtype, modulus):
    """Complex numbers of uniform angles, and of the modulus that a uniform number stands for."""
    first, second = random.split(key)
    real = jnp.zeros((), dtype).real.dtype
    size = modulus(random.uniform(first, shape, real))
    angle = 2 * math.pi * random.uniform(second, shape, real)
    return size * jnp.exp(1j * angle)


def variance_scaling(scale, mode, distribution, in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
    """Variance scale / n, with n the fan in, fan out, their mean or geometric mean.

    distribution: "truncated_normal", "normal" or "uniform".
    """

    def draw(key, shape, dtype):
        if len(shape) < 2 and in_axis == -2:
            raise ValueError(
                f"Can't compute input and output sizes of a {len(shape)}-dimensional weights "
                "tensor with default in_axis. Must be at least 2D or specify in_axis explicitly."
            )
        fan_in, fan_out = _fans(shape, in_axis, out_axis, batch_axis)
        sizes = {
            "fan_in": fan_in,
            "fan_out": fan_out,
            "fan_avg": (fan_in + fan_out) / 2,
            "fan_geo_avg": math.sqrt(fan_in * fan_out),
        }
        if mode not in sizes:
            raise ValueError(f"invalid mode for variance scaling initializer: {mode}")
        variance = jnp.array(scale / sizes[mode], dtype=dtype)
        is_complex = jnp.issubdtype(dtype, jnp.complexfloating)
        if distribution == "truncated_normal" and is_complex:
            # The standard deviation of a complex standard normal cut off at modulus 2.
            stddev = jnp.sqrt(variance) / jnp.array(0.95311164380491208, dtype)
            return _in_disk(key, shape, dtype, lambda u: jnp.sqrt(-jnp.log1p(_CUT * u))) * stddev
        if distribution == "uniform" and is_complex:
            return _in_disk(key, shape, dtype, lambda u: jnp.sqrt(2 * u)) * jnp.sqrt(variance)
        if distribution == "truncated_normal":
            # The standard deviation of a standard normal cut off at +-2.
            stddev = jnp.sqrt(variance) / jnp.array(0.87962566103423978, dtype)
            return random.truncated_normal(key, -2, 2, shape, dtype) * stddev
        if distribution == "normal":
            return random.normal(key, shape, dtype) * jnp.sqrt(variance)
        if distribution == "uniform":
            return random.uniform(key, shape, dtype, -1) * jnp.sqrt(3 * variance)
        raise ValueError(f"invalid distribution for variance scaling initializer: {distribution}")

    return _initializer(draw, dtype)


def _scaling(name, scale, mode, distribution):
    def make(in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = name
    make.__doc__ = f"variance_scaling({scale}, {mode!r}, {distribution!r})."
    return make


glorot_uniform = xavier_uniform = _scaling("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaling("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaling("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _scaling("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaling("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaling("he_normal", 2.0, "fan_in", "truncated_normal")


def orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """Uniformly distributed orthogonal matrices, of the sizes of `column_axis` and of all other
    dimensions together.
    """

    def draw(key, shape, dtype):
        if len(shape) < 2:
            raise ValueError("orthogonal initializer requires at least a 2D shape")
        columns = shape[column_axis]
        rest = tuple(n for d, n in enumerate(shape) if d != column_axis % len(shape))
        q = random.orthogonal(key, math.prod(rest), (), dtype, columns)
        return jnp.array(scale, dtype) * jnp.moveaxis(q.reshape((*rest, columns)), -1, column_axis)

    return _initializer(draw, dtype)


def delta_orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """Kernels of convolutions, (..., in, out) with one to three spatial dimensions, that are an
    orthogonal matrix at their centre and 0 elsewhere.
    """
    matrix = orthogonal(scale, column_axis, dtype)

    def draw(key, shape, dtype):
        if len(shape) not in (3, 4, 5):
            raise ValueError(
                f"Delta orthogonal initializer requires a 3D, 4D or 5D shape, got {tuple(shape)}."
            )
        if shape[-1] < shape[-2]:
            raise ValueError(
                "`fan_in` must be less or equal than `fan_out`, got the shape "
                f"{tuple(shape)}, whose last two sizes they are."
            )
        centre = tuple((n - 1) // 2 for n in shape[:-2])
        return jnp.zeros(shape, dtype).at[centre].set(matrix(key, shape[-2:], dtype))

    return _initializer(draw, dtype)
