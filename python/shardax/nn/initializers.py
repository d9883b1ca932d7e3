"""shardax.nn.initializers - functions that draw initial parameters.

Each gives a function (key, shape, dtype) -> array.
"""

import math
from typing import Protocol, runtime_checkable

import shardax._core as _core
from shardax import numpy as jnp
from shardax import random
from shardax._devices.out_sharding import takes_out_sharding as _takes_out_sharding


@runtime_checkable
class Initializer(Protocol):
    """The type of functions that make parameters, for annotations: f(key, shape, dtype,
    out_sharding).

    Example:
      >>> init: nn.initializers.Initializer = nn.initializers.zeros
      >>> init(shardax.random.key(0), (2,))
      Array([0., 0.], dtype=float32)
    """

    def __call__(self, key, shape, dtype=None, out_sharding=None): ...


def _initializer(draw, default):
    """`draw`, a function (key, shape, dtype), with a default dtype and `out_sharding`: how the
    result is split over the mesh."""

    def init(key, shape, dtype=default, out_sharding=None):
        dtype = _core.canonical_dtype(float) if dtype is None else dtype
        if out_sharding is None:
            return draw(key, shape, dtype)
        return _takes_out_sharding(draw)(key, shape, dtype, out_sharding=out_sharding)

    return init


def zeros(key, shape, dtype=None, out_sharding=None):
    """An array of zeros; `key` has no effect, it belongs to the protocol of initializers.

    Args:
      key: a key, or anything.
      shape: the shape of the result.
      dtype: of the result; None: float32.
      out_sharding: a sharding of the result.

    Example:
      >>> nn.initializers.zeros(random.key(0), (2,))
      Array([0., 0.], dtype=float32)
    """
    return jnp.zeros(shape, dtype, out_sharding=out_sharding)


def ones(key, shape, dtype=None, out_sharding=None):
    """An array of ones; `key` has no effect, it belongs to the protocol of initializers.

    Args:
      key: a key, or anything.
      shape: the shape of the result.
      dtype: of the result; None: float32.
      out_sharding: a sharding of the result.

    Example:
      >>> nn.initializers.ones(random.key(0), (2,))
      Array([1., 1.], dtype=float32)
    """
    return jnp.ones(shape, dtype, out_sharding=out_sharding)


def constant(value, dtype=None):
    """An initializer that makes arrays of a constant: f(key, shape, dtype).

    Args:
      value: a number, or an array that broadcasts to the shape.
      dtype: of the result, where f is not given another one; None: float32.

    Example:
      >>> nn.initializers.constant(7)(random.key(0), (2,))
      Array([7., 7.], dtype=float32)
    """
    return _initializer(lambda key, shape, dtype: jnp.full(shape, value, dtype=dtype), dtype)


def uniform(scale=1e-2, dtype=None):
    """An initializer that draws uniformly distributed numbers in [0, scale).

    Args:
      scale: the upper bound.
      dtype: of the result, where f is not given another one; None: float32.

    Returns:
      A function f(key, shape, dtype).

    Example:
      >>> nn.initializers.uniform(0.1)(random.key(0), (2, 3)).shape
      (2, 3)
    """

    def draw(key, shape, dtype):
        return random.uniform(key, shape, dtype) * jnp.array(scale, dtype)

    return _initializer(draw, dtype)


def normal(stddev=1e-2, dtype=None):
    """An initializer that draws normally distributed numbers with mean 0.

    Args:
      stddev: the standard deviation.
      dtype: of the result, where f is not given another one; None: float32.

    Returns:
      A function f(key, shape, dtype).

    Example:
      >>> nn.initializers.normal(0.1)(random.key(0), (2, 3)).shape
      (2, 3)
    """

    def draw(key, shape, dtype):
        return random.normal(key, shape, dtype) * jnp.array(stddev, dtype)

    return _initializer(draw, dtype)


def truncated_normal(stddev=1e-2, dtype=None, lower=-2.0, upper=2.0):
    """An initializer that draws normal numbers limited to some standard deviations.

    Args:
      stddev: the standard deviation, before numbers are cut off.
      dtype: of the result, where f is not given another one; None: float32.
      lower, upper: the bounds, in standard deviations.

    Returns:
      A function f(key, shape, dtype).

    Example:
      >>> init = nn.initializers.truncated_normal(0.1)
      >>> jnp.abs(init(random.key(0), (100,))).max() <= 0.2
      Array(True, dtype=bool)
    """

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
    """An initializer whose variance is scale / n, where n counts the inputs or outputs of a unit.

    Args:
      scale: a number > 0.
      mode: n is "fan_in" (the size of `in_axis`), "fan_out" (that of `out_axis`), "fan_avg" (their
        mean) or "fan_geo_avg" (their geometric mean). Each is multiplied by the sizes of other
        dimensions.
      distribution: "truncated_normal", "normal" or "uniform".
      in_axis, out_axis: the dimension(s) of inputs and outputs.
      batch_axis: dimensions that count for neither.
      dtype: of the result, where f is not given another one; None: float32.

    Returns:
      A function f(key, shape, dtype).

    Raises:
      ValueError: of f, for another mode or distribution.

    Source: Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural
      networks", 2010; He et al., "Delving deep into rectifiers", 2015.

    Example:
      >>> init = nn.initializers.variance_scaling(2.0, "fan_in", "normal")
      >>> init(random.key(0), (100, 50)).std().round(2)
      Array(0.14, dtype=float32)
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


_SCALING_DOC = """An initializer: `variance_scaling({scale}, "{mode}", "{distribution}")`.

Args:
  in_axis, out_axis: the dimension(s) of inputs and outputs.
  batch_axis: dimensions that count for neither.
  dtype: of the result, where f is not given another one; None: float32.

Returns:
  A function f(key, shape, dtype).

Source: {source}.

Example:
  >>> init = nn.initializers.{name}()
  >>> init(random.key(0), (3, 4)).shape
  (3, 4)
"""
_GLOROT = """Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural
  networks", 2010"""
_LECUN = 'LeCun et al., "Efficient backprop", 1998'
_HE = 'He et al., "Delving deep into rectifiers", 2015'


def _scaling(name, scale, mode, distribution, source):
    def make(in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = _SCALING_DOC.format(
        name=name, scale=scale, mode=mode, distribution=distribution, source=source
    )
    return make


glorot_uniform = xavier_uniform = _scaling("glorot_uniform", 1.0, "fan_avg", "uniform", _GLOROT)
glorot_normal = xavier_normal = _scaling(
    "glorot_normal", 1.0, "fan_avg", "truncated_normal", _GLOROT
)
lecun_uniform = _scaling("lecun_uniform", 1.0, "fan_in", "uniform", _LECUN)
lecun_normal = _scaling("lecun_normal", 1.0, "fan_in", "truncated_normal", _LECUN)
he_uniform = kaiming_uniform = _scaling("he_uniform", 2.0, "fan_in", "uniform", _HE)
he_normal = kaiming_normal = _scaling("he_normal", 2.0, "fan_in", "truncated_normal", _HE)


def orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """An initializer that draws uniformly distributed orthogonal matrices.

    Args:
      scale: a factor.
      column_axis: the dimension of columns; all others together are the rows.
      dtype: of the result, where f is not given another one; None: float32.

    Returns:
      A function f(key, shape, dtype).

    Raises:
      ValueError: of f, for a shape of fewer than two dimensions.

    Source: Saxe, McClelland, Ganguli, "Exact solutions to the nonlinear dynamics of learning in
      deep linear neural networks", 2013.

    Example:
      >>> q = nn.initializers.orthogonal()(random.key(0), (3, 3))
      >>> jnp.allclose(q.T @ q, jnp.eye(3), atol=1e-5)
      Array(True, dtype=bool)
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
    """An initializer of convolutions' kernels: an orthogonal matrix at their centre and 0
    elsewhere.

    Args:
      scale: a factor.
      column_axis: the dimension of columns of the matrix.
      dtype: of the result, where f is not given another one; None: float32.

    Returns:
      A function f(key, shape, dtype) of shapes (..., in, out) with one to three spatial dimensions.

    Raises:
      ValueError: of f, for another number of dimensions, or more inputs than outputs.

    Source: Xiao et al., "Dynamical isometry and a mean field theory of CNNs", 2018.

    Example:
      >>> nn.initializers.delta_orthogonal()(random.key(0), (3, 3, 8, 16)).shape
      (3, 3, 8, 16)
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
