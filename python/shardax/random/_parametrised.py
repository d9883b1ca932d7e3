# shardax/random/_parametrised.py - continuous distributions with parameters beside the shape.

import numpy as np

import shardax._core as _core
from shardax import numpy as jnp
from shardax._base.arrays import asarray, static_jit
from shardax._devices.out_sharding import takes_out_sharding
from shardax.random._continuous import draw_exponential
from shardax.random._keys import check_key, partitionable, subkeys
from shardax.random._parameters import check_parameters, float_dtype, parameter_shape, to_shape
from shardax.random._uniform import draw_normal, draw_uniform, normal


@static_jit("shape", "dtype", "stream")
def _weibull_min(key, scale, concentration, shape, dtype, stream):
    u = draw_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype, stream=stream)
    return jnp.power(-jnp.log1p(-u), 1.0 / concentration) * scale


def weibull_min(key, scale, concentration, shape=(), dtype=None):
    """Draws from the Weibull distribution with density proportional to x^(c-1) exp(-(x / scale)^c).

    Args:
      key: a typed or raw key.
      scale: the scale, a float or an array.
      concentration: the exponent c, a float or an array.
      shape: a tuple of ints, which broadcasts with the parameters.
      dtype: a floating type; None: float32.

    Example:
      >>> random.weibull_min(random.key(0), 2.0, 1.5, (3,)).round(2)
      Array([4.11, 4.91, 1.09], dtype=float32)
    """
    key, dtype = check_key("weibull_min", key), float_dtype(dtype, "weibull_min")
    shape = to_shape(shape)
    return _weibull_min(key, scale, concentration, shape=shape, dtype=dtype, stream=partitionable())


def _parametrised(rule):
    """`draw(name, key, parameters, shape, dtype)` out of a rule.

    The rule takes (key, *parameters, shape, dtype, stream), and gets its parameters in the dtype
    and the shape of the draw.
    """

    @static_jit("shape", "dtype", "stream")
    def compiled(key, parameters, shape, dtype, stream):
        full = (_core.broadcast_to(_core.convert(asarray(p), dtype), shape) for p in parameters)
        return rule(key, *full, shape=shape, dtype=dtype, stream=stream)

    def draw(name, key, parameters, shape, dtype):
        key, dtype = check_key(name, key), float_dtype(dtype, name)
        check_parameters(name, dtype, *parameters)
        shape = parameter_shape(name, shape, *parameters)
        return compiled(key, parameters, shape=shape, dtype=dtype, stream=partitionable())

    return draw


@_parametrised
def _rayleigh(key, scale, shape, dtype, stream):
    u = draw_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype, stream=stream)
    return scale * jnp.sqrt(jnp.log(u) * -2)


@takes_out_sharding
def rayleigh(key, scale, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the Rayleigh distribution, density x / scale^2 exp(-x^2 / (2 scale^2)).

    Args:
      key: a typed or raw key.
      scale: the scale, a float or an array.
      shape: the shape of the result, to which that of `scale` broadcasts; None: that of `scale`.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.rayleigh(random.key(0), 2.0, (3,)).round(2)
      Array([0.66, 0.42, 2.97], dtype=float32)
    """
    return _rayleigh("rayleigh", key, (scale,), shape, dtype)


@_parametrised
def _wald(key, mean, shape, dtype, stream):
    first, second = subkeys(key, stream)
    y = draw_normal(first, shape=shape, dtype=dtype, stream=stream) ** 2
    u = draw_uniform(second, 0.0, 1.0, shape=shape, dtype=dtype, stream=stream)
    # The smaller of the two points that belong to y, or the larger one: their product is mean^2.
    square = mean**2
    x = mean + square * y / 2 - mean / 2 * jnp.sqrt(4 * mean * y + square * y**2)
    return jnp.where(u <= mean / (mean + x), x, square / x)


@takes_out_sharding
def wald(key, mean, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the Wald (inverse Gaussian) distribution with a mean and scale 1.

    Args:
      key: a typed or raw key.
      mean: the mean, a float or an array.
      shape: the shape of the result, to which that of `mean` broadcasts; None: that of `mean`.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Source: Michael, Schucany, Haas, "Generating random variates using transformations with multiple
      roots", 1976.

    Example:
      >>> random.wald(random.key(0), 2.0, (3,)).round(2)
      Array([0.53, 0.6 , 0.73], dtype=float32)
    """
    return _wald("wald", key, (mean,), shape, dtype)


@_parametrised
def _triangular(key, left, mode, right, shape, dtype, stream):
    u = draw_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype, stream=stream)
    width = right - left
    rising = left + jnp.sqrt(u * width * (mode - left))
    falling = right - jnp.sqrt((1 - u) * width * (right - mode))
    return jnp.where(u < (mode - left) / width, rising, falling)


@takes_out_sharding
def triangular(key, left, mode, right, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the triangular distribution on [left, right] with its peak at `mode`.

    Args:
      key: a typed or raw key.
      left, mode, right: floats or arrays that broadcast, in ascending order.
      shape: the shape of the result, to which the parameters broadcast; None: theirs.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.triangular(random.key(0), 0.0, 1.0, 4.0, (3,)).round(2)
      Array([3.21, 3.49, 1.17], dtype=float32)
    """
    return _triangular("triangular", key, (left, mode, right), shape, dtype)


@_parametrised
def _pareto(key, b, shape, dtype, stream):
    return jnp.exp(draw_exponential(key, shape=shape, dtype=dtype, stream=stream) / b)


@takes_out_sharding
def pareto(key, b, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the Pareto distribution, density b / x^(b+1) for x >= 1.

    Args:
      key: a typed or raw key.
      b: the exponent, a float or an array.
      shape: the shape of the result, to which that of `b` broadcasts; None: that of `b`.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.pareto(random.key(0), 2.0, (3,)).round(2)
      Array([4.37, 6.83, 1.22], dtype=float32)
    """
    return _pareto("pareto", key, (b,), shape, dtype)


@_parametrised
def _lognormal(key, sigma, shape, dtype, stream):
    return jnp.exp(draw_normal(key, shape=shape, dtype=dtype, stream=stream) * sigma)


@takes_out_sharding
def lognormal(key, sigma=1.0, shape=None, dtype=None, *, out_sharding=None):
    """Draws whose logarithms are normal, with mean 0 and standard deviation `sigma`.

    Args:
      key: a typed or raw key.
      sigma: a float or an array.
      shape: the shape of the result, to which that of `sigma` broadcasts; None: that of `sigma`.
      dtype: a floating or complex type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.lognormal(random.key(0), 0.5, (3,)).round(2)
      Array([2.25, 2.75, 0.81], dtype=float32)
    """
    if dtype is not None and jnp.issubdtype(dtype, np.complexfloating):
        shape = parameter_shape("lognormal", shape, sigma)
        return jnp.exp(normal(key, shape, dtype) * asarray(sigma, dtype))
    return _lognormal("lognormal", key, (sigma,), shape, dtype)
