# shardax/random/_continuous.py - distributions that are functions of uniform or normal numbers.

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import asarray, in_one_program, static_jit
from shardax._devices.out_sharding import takes_out_sharding
from shardax.random._keys import check_key, partitionable, subkeys
from shardax.random._parameters import check_numbers, float_dtype, to_shape
from shardax.random._uniform import bernoulli, draw_bits, draw_normal, draw_uniform


@static_jit("shape", "dtype", "mode", "stream")
def draw_gumbel(key, shape, dtype, mode, stream):
    if mode == "low":
        low, high = np.asarray(jnp.finfo(dtype).tiny, dtype), np.asarray(1, dtype)
        u = draw_uniform(key, low, high, shape=shape, dtype=dtype, stream=stream)
        return -jnp.log(-jnp.log(u))
    if mode == "highest" and dtype == np.float32:
        return _finest_gumbel(key, shape)
    # The small half of the uniform numbers gets as many bits again, below its mantissa.
    u = draw_uniform(key, 0.0, 1.0, shape=(2, *shape), dtype=dtype, stream=stream)
    info = jnp.finfo(dtype)
    fine = u[0] + np.asarray(2.0**-info.nmant, dtype) * u[1] + np.asarray(info.tiny, dtype)
    return -jnp.log(-jnp.log1p(-jnp.where(u[0] >= 0.5, u[0], fine)))


def _finest_gumbel(key, shape):
    """64 random bits each, as the float32 nearest below them, from both ends of (0, 1)."""
    high, low = draw_bits(key, 32, (2, *shape))
    lower_half = high < np.uint32(2**31)
    # 1 - x of the upper half, in fixed point.
    carry = (low == 0).astype(np.uint32)
    high, low = jnp.where(lower_half, high, ~high + carry), jnp.where(lower_half, low, -low)
    zeros = jnp.where(high == 0, 32 + lax.clz(low), lax.clz(high))
    top = jnp.where(
        high == 0,
        lax.shift_left(low, zeros - 32),
        lax.shift_left(high, zeros) | lax.shift_right_logical(low, 32 - zeros),
    )
    x = lax.shift_right_logical(top, np.uint32(8)).astype(np.float32)
    x = x * jnp.exp2(-24.0 - zeros.astype(np.float32))
    return -jnp.log(-jnp.where(lower_half, jnp.log1p(-x), jnp.log(x)))


@in_one_program("shape", "dtype", "mode", at_once=True)
@takes_out_sharding
def gumbel(key, shape=(), dtype=None, mode=None, *, out_sharding=None):
    """Draws from the standard Gumbel distribution, with the cumulative distribution exp(-exp(-x)).

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: a floating type; None: float32.
      mode: the reach of the tail on the right. "low" (the default): as far as a uniform number of
        this dtype gives; "high": as far as one with twice the bits.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      An array of shape `shape`.

    Raises:
      ValueError: `dtype` is no floating type, or for another mode.

    Example:
      >>> random.gumbel(random.key(0), (3,)).round(2)
      Array([ 2.92,  3.83, -0.1 ], dtype=float32)
    """
    key, dtype = check_key("gumbel", key), float_dtype(dtype, "gumbel")
    mode = "low" if mode is None else mode
    if mode not in ("highest", "high", "low"):
        raise ValueError(f"Must provide valid mode for gumbel got: {mode}")
    return draw_gumbel(key, shape=to_shape(shape), dtype=dtype, mode=mode, stream=partitionable())


@static_jit("shape", "dtype", "stream")
def _truncated_normal(key, lower, upper, shape, dtype, stream):
    lower, upper = (_core.convert(asarray(v), dtype) for v in (lower, upper))
    sqrt2 = np.asarray(np.sqrt(2), dtype)
    a, b = lax.erf(lower / sqrt2), lax.erf(upper / sqrt2)
    u = draw_uniform(key, a, b, shape=shape, dtype=dtype, stream=stream)
    out = sqrt2 * lax.erf_inv(u)
    low = _neighbour(lax.stop_gradient(lower), np.asarray(np.inf, dtype))
    high = _neighbour(lax.stop_gradient(upper), np.asarray(-np.inf, dtype))
    return jnp.clip(out, low, high)


def _neighbour(x, towards):
    """lax.nextafter, of floats of 8 bits too: of an infinity, or of NaN where they have none."""
    if towards.dtype.itemsize > 1:
        return lax.nextafter(x, towards)
    bits = lax.bitcast_convert_type(x, np.uint8)
    grows = (x > 0) == (towards > 0)
    step = jnp.where(grows, bits + np.uint8(1), bits - np.uint8(1))
    least = np.uint8(0x01 if towards > 0 else 0x81)
    out = lax.bitcast_convert_type(jnp.where(x == 0, least, step), towards.dtype)
    return jnp.where(jnp.isnan(x) | (x == towards) | np.isnan(towards), x + towards, out)


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def truncated_normal(key, lower, upper, shape=None, dtype=None, *, out_sharding=None):
    """Draws from the standard normal distribution limited to (lower, upper).

    Args:
      key: a typed or raw key.
      lower, upper: the bounds, floats or arrays that broadcast.
      shape: the shape of the result, to which the bounds broadcast; None: that of the bounds.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Raises:
      ValueError: `dtype` is no floating type, or bounds do not broadcast to `shape`.

    Example:
      >>> random.truncated_normal(random.key(0), -1.0, 1.0, (3,)).round(2)
      Array([ 0.86,  0.94, -0.29], dtype=float32)
    """
    key = check_key("truncated_normal", key)
    check_numbers("truncated_normal", lower, upper)
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


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def exponential(key, shape=(), dtype=None, *, out_sharding=None):
    """Draws from the exponential distribution with mean 1, density e^-x.

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.exponential(random.key(0), (3,)).round(2)
      Array([2.95, 3.84, 0.4 ], dtype=float32)
    """
    return draw_exponential(
        check_key("exponential", key),
        shape=to_shape(shape),
        dtype=float_dtype(dtype, "exponential"),
        stream=partitionable(),
    )


@static_jit("shape", "dtype", "stream")
def _laplace(key, shape, dtype, stream):
    low = np.asarray(-1 + jnp.finfo(dtype).epsneg, dtype)
    u = draw_uniform(key, low, 1.0, shape=shape, dtype=dtype, stream=stream)
    return jnp.sign(u) * jnp.log1p(-jnp.abs(u))


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def laplace(key, shape=(), dtype=None, *, out_sharding=None):
    """Draws from the Laplace distribution with scale 1, density e^-|x| / 2.

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.laplace(random.key(0), (3,)).round(2)
      Array([-2.26, -3.15,  0.41], dtype=float32)
    """
    key, dtype = check_key("laplace", key), float_dtype(dtype, "laplace")
    return _laplace(key, shape=to_shape(shape), dtype=dtype, stream=partitionable())


@static_jit("shape", "dtype", "stream")
def _logistic(key, shape, dtype, stream):
    low = np.asarray(jnp.finfo(dtype).tiny, dtype)
    u = draw_uniform(key, low, 1.0, shape=shape, dtype=dtype, stream=stream)
    return jnp.log(u) - jnp.log1p(-u)


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def logistic(key, shape=(), dtype=None, *, out_sharding=None):
    """Draws from the standard logistic distribution, with the cumulative distribution 1 / (1 +
    e^-x).

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.logistic(random.key(0), (3,)).round(2)
      Array([ 2.9 ,  3.82, -0.7 ], dtype=float32)
    """
    key, dtype = check_key("logistic", key), float_dtype(dtype, "logistic")
    return _logistic(key, shape=to_shape(shape), dtype=dtype, stream=partitionable())


@static_jit("shape", "dtype", "stream")
def _cauchy(key, shape, dtype, stream):
    low = np.asarray(jnp.finfo(dtype).eps, dtype)
    u = draw_uniform(key, low, 1.0, shape=shape, dtype=dtype, stream=stream)
    return jnp.tan(np.asarray(np.pi, dtype) * (u - np.asarray(0.5, dtype)))


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def cauchy(key, shape=(), dtype=None, *, out_sharding=None):
    """Draws from the standard Cauchy distribution, density 1 / (pi (1 + x^2)).

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.cauchy(random.key(0), (3,)).round(2)
      Array([ 6.03, 14.84, -0.58], dtype=float32)
    """
    key, dtype = check_key("cauchy", key), float_dtype(dtype, "cauchy")
    return _cauchy(key, shape=to_shape(shape), dtype=dtype, stream=partitionable())


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def rademacher(key, shape=(), dtype=None, *, out_sharding=None):
    """Draws of -1 or 1, with equal probabilities.

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: a type of numbers; None: int32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.rademacher(random.key(0), (5,))
      Array([-1, -1,  1,  1, -1], dtype=int32)
    """
    dtype = _core.canonical_dtype(int) if dtype is None else _core.dtype_of(dtype)
    return (2 * bernoulli(key, 0.5, to_shape(shape)).astype(np.int32) - 1).astype(dtype)


@static_jit("shape", "dtype", "stream")
def _maxwell(key, shape, dtype, stream):
    return jnp.linalg.norm(draw_normal(key, shape=(*shape, 3), dtype=dtype, stream=stream), axis=-1)


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def maxwell(key, shape=(), dtype=None, *, out_sharding=None):
    """Draws from the Maxwell distribution with scale 1: lengths of normal vectors in three
    dimensions.

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: a floating type; None: float32.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Example:
      >>> random.maxwell(random.key(0), (3,)).round(2)
      Array([2.63, 0.99, 0.96], dtype=float32)
    """
    key, dtype = check_key("maxwell", key), float_dtype(dtype, "maxwell")
    return _maxwell(key, shape=to_shape(shape), dtype=dtype, stream=partitionable())


def double_sided_maxwell(key, loc, scale, shape=(), dtype=None):
    """Draws from the Maxwell distribution with random signs, times `scale` and moved by `loc`.

    Args:
      key: a typed or raw key.
      loc, scale: floats or arrays that broadcast.
      shape: leading dimensions of the result; those of the parameters follow.
      dtype: a floating type; None: float32.

    Example:
      >>> random.double_sided_maxwell(random.key(0), 0.0, jnp.ones(2), (3,)).shape
      (3, 2)
    """
    key = check_key("double_sided_maxwell", key)
    dtype = float_dtype(dtype, "double_sided_maxwell")
    check_numbers("double_sided_maxwell", loc, scale)
    each = _core.broadcast_shapes(np.shape(loc), np.shape(scale))
    shape = (to_shape(shape) or each) + each
    first, second = subkeys(key, partitionable())
    return rademacher(second, shape, dtype) * maxwell(first, shape, dtype) * scale + loc


# ---- with parameters that broadcast to the shape -------------------------------------------------
