# shardax/random/_uniform.py - bits and the uniform and normal numbers made of them.

import numpy as np

import shardax._core as _core
from shardax import numpy as jnp
from shardax._base.arrays import (
    asarray,
    bind,
    check_arraylike,
    in_one_program,
    result_type,
    static_jit,
)
from shardax._devices.out_sharding import takes_out_sharding
from shardax.random._keys import check_key, draw_words, partitionable, split, subkeys
from shardax.random._parameters import (
    check_numbers,
    drawn_shape,
    float_dtype,
    parameter_shape,
    to_shape,
)


def draw_bits(key, width, shape):
    return draw_words(key, width, shape, partitionable())


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def bits(key, shape=(), dtype=None, *, out_sharding=None):
    """Uniformly distributed random bits, as unsigned integers.

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: an unsigned integer type; None: uint32 (uint64 under x64). Narrower types than uint8
        get uint8.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      An array of shape `shape`.

    Raises:
      TypeError: `key` is no key.
      ValueError: `dtype` is no unsigned integer type.

    Example:
      >>> random.bits(random.key(0), (3,), "uint8")
      Array([167, 146,  40], dtype=uint8)
    """
    key = check_key("bits", key)
    dtype = (
        _core.canonical_dtype(np.uint64) if dtype is None else _core.requested_dtype(dtype, "bits")
    )
    dtype = np.dtype(dtype)
    if not jnp.issubdtype(dtype, np.unsignedinteger):
        raise ValueError(f"dtype argument to `bits` must be an unsigned int dtype, got {dtype}")
    return draw_bits(key, dtype.itemsize * 8, to_shape(shape))


_MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


def _unit(key, shape, dtype):
    """Uniform in [0, 1): random bits as the mantissa of numbers in [1, 2), less 1."""
    width = dtype.itemsize * 8
    mantissa = _MANTISSA.get(dtype.name) or jnp.finfo(dtype).nmant
    drawn = 8 if mantissa < 8 else width
    word = np.dtype(f"uint{width}")
    raw = draw_bits(key, drawn, shape)
    if drawn != width:
        raw = _core.convert(raw, word)
    one = np.ones((), dtype).view(word)
    raw = _core.lax.shift_right_logical(raw, np.asarray(drawn - mantissa, word))
    floats = bind("bitcast_convert_type", (_core.lax.bitwise_or(raw, one),), new_dtype=dtype)
    return _core.lax.sub(floats, np.ones((), dtype))


@static_jit("shape", "dtype", "stream")
def draw_uniform(key, minval, maxval, shape, dtype, stream):
    minval, maxval = (_core.convert(asarray(v), dtype) for v in (minval, maxval))
    shape = drawn_shape("uniform", shape, minval.shape, maxval.shape)
    low, high = (_core.broadcast_to(v, shape) if v.ndim else v for v in (minval, maxval))
    floats = _unit(key, shape, dtype)
    scaled = _core.lax.add(_core.lax.mul(floats, _core.lax.sub(high, low)), low)
    return _core.lax.max(low, scaled)


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0, *, out_sharding=None):
    """Uniformly distributed floats in [minval, maxval).

    Args:
      key: a typed or raw key.
      shape: a tuple of ints; with `minval` and `maxval` that broadcast to it.
      dtype: a floating type; None: float32 (float64 under x64).
      minval, maxval: the bounds, numbers or arrays.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      An array of shape `shape`. The same key and shape give the same numbers, as in JAX.

    Raises:
      TypeError: `key` is no key.
      ValueError: `dtype` is no floating type.

    Example:
      >>> random.uniform(random.key(0), (3,)).round(2)
      Array([0.95, 0.98, 0.33], dtype=float32)
      >>> random.uniform(random.key(0), (2,), minval=-1.0, maxval=jnp.array([1.0, 10.0])).shape
      (2,)
    """
    key = check_key("uniform", key)
    check_numbers("uniform", minval, maxval)
    return draw_uniform(
        key,
        minval,
        maxval,
        shape=to_shape(shape),
        dtype=float_dtype(dtype, "uniform"),
        stream=partitionable(),
    )


@static_jit("shape", "dtype", "stream")
def draw_normal(key, shape, dtype, stream):
    low = np.nextafter(np.asarray(-1, dtype), np.asarray(0, dtype), dtype=dtype)
    u = draw_uniform(key, low, np.asarray(1, dtype), shape=shape, dtype=dtype, stream=stream)
    return _core.lax.mul(np.asarray(np.sqrt(2), dtype), _core.lax.erf_inv(u))


@in_one_program("shape", "dtype", at_once=True)
@takes_out_sharding
def normal(key, shape=(), dtype=None, *, out_sharding=None):
    """Normally distributed numbers with mean 0 and standard deviation 1.

    Args:
      key: a typed or raw key.
      shape: a tuple of ints.
      dtype: a floating or complex type; None: float32 (float64 under x64). Complex numbers have
        variance 1 in all, 1/2 in each part.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      An array of shape `shape`: the inverse error function of uniform numbers in (-1, 1), times
      sqrt(2).

    Raises:
      TypeError: `key` is no key.
      ValueError: `dtype` is no floating or complex type.

    Example:
      >>> random.normal(random.key(0), (3,)).round(2)
      Array([ 1.62,  2.03, -0.43], dtype=float32)
      >>> x = 5.0 + 2.0 * random.normal(random.key(1), (1000,))  # mean 5, standard deviation 2
      >>> x.mean().round(), x.std().round()
      (Array(5., dtype=float32), Array(2., dtype=float32))
    """
    key = check_key("normal", key)
    shape = to_shape(shape)
    if dtype is not None:
        wanted = np.dtype(_core.requested_dtype(dtype, "normal"))
        if wanted.kind == "c":
            real = np.dtype("float32" if wanted.itemsize == 8 else "float64")
            first, second = split(key)
            parts = (
                draw_normal(k, shape=shape, dtype=real, stream=partitionable())
                for k in (first, second)
            )
            return _core.lax.complex(*parts) / np.asarray(np.sqrt(2), wanted)
        if not jnp.issubdtype(wanted, np.inexact):
            raise ValueError(
                f"dtype argument to `normal` must be a float or complex dtype, got {wanted}"
            )
    return draw_normal(key, shape=shape, dtype=float_dtype(dtype, "normal"), stream=partitionable())


@static_jit("shape", "dtype", "stream")
def _randint(key, minval, maxval, shape, dtype, stream):
    info = np.iinfo(dtype)
    word = np.dtype(f"uint{info.bits}")
    minval, maxval = asarray(minval), asarray(maxval)
    shape = drawn_shape("randint", shape, minval.shape, maxval.shape)
    beyond = _core.functions.greater(maxval, _bound(info.max, maxval))
    low, high = _limited(minval, dtype), _limited(maxval, dtype)
    low, high, beyond = (_core.broadcast_to(v, shape) for v in (low, high, beyond))
    first, second = subkeys(key, stream)
    upper, lower = draw_bits(first, info.bits, shape), draw_bits(second, info.bits, shape)
    span = _core.convert(_core.lax.sub(high, low), word)
    span = jnp.where(high <= low, np.asarray(1, word), span)
    span = jnp.where(
        _core.functions.logical_and(beyond, high > low),
        _core.lax.add(span, np.asarray(1, word)),
        span,
    )
    multiplier = _core.lax.rem(
        _core.broadcast_to(asarray(np.asarray(2 ** (info.bits // 2), word)), shape), span
    )
    multiplier = _core.lax.rem(_core.lax.mul(multiplier, multiplier), span)
    offset = _core.lax.add(
        _core.lax.mul(_core.lax.rem(upper, span), multiplier), _core.lax.rem(lower, span)
    )
    return _core.lax.add(low, _core.convert(_core.lax.rem(offset, span), dtype))


def _limited(v, dtype):
    """Integers as `dtype`, those beyond its range at its ends."""
    info = np.iinfo(dtype)
    raised = _core.functions.maximum(v, _bound(info.min, v))
    return _core.convert(_core.functions.minimum(raised, _bound(info.max, v)), dtype)


def _bound(limit, like):
    info = np.iinfo(like.dtype)
    return np.asarray(min(max(limit, info.min), info.max), like.dtype)


@in_one_program("shape", "minval", "maxval", "dtype", at_once=True)
@takes_out_sharding
def randint(key, shape, minval, maxval, dtype=None, *, out_sharding=None):
    """Uniformly distributed integers in [minval, maxval).

    Args:
      key: a typed or raw key.
      shape: a tuple of ints, to which the bounds broadcast.
      minval, maxval: the bounds, integers or arrays of them; where maxval <= minval, all are
        minval.
      dtype: an integer type; None: int32 (int64 under x64).
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      An array of shape `shape`.

    Raises:
      TypeError: `key` is no key, or `dtype` no integer type.

    Example:
      >>> random.randint(random.key(0), (5,), 0, 10)
      Array([9, 0, 2, 3, 1], dtype=int32)
    """
    key = check_key("randint", key)
    dtype = _core.canonical_dtype(int) if dtype is None else _core.requested_dtype(dtype, "randint")
    dtype = np.dtype(dtype)
    if not jnp.issubdtype(dtype, np.integer):
        raise TypeError(f"randint only accepts integer dtypes, got {dtype}")
    check_arraylike("randint", minval, maxval)
    low, high = _int_bound(minval, dtype), _int_bound(maxval, dtype)
    if dtype.itemsize >= 4:
        return _randint(key, low, high, shape=to_shape(shape), dtype=dtype, stream=partitionable())
    # Small integers are drawn as int32, which biases the remainder less.
    info, wide = jnp.iinfo(dtype), np.dtype("int32")
    low = jnp.clip(asarray(low).astype(wide), int(info.min), int(info.max))
    high = jnp.clip(asarray(high).astype(wide), int(info.min), int(info.max) + 1)
    return _core.convert(
        _randint(key, low, high, shape=to_shape(shape), dtype=wide, stream=partitionable()), dtype
    )


def _int_bound(v, dtype):
    if isinstance(v, (int, float)) and not isinstance(v, bool):
        v = int(v)
        signed, unsigned = (_core.canonical_dtype(d) for d in (np.int64, np.uint64))
        if not np.iinfo(signed).min <= v <= np.iinfo(unsigned).max + 1:
            raise OverflowError(f"Python int {v} too large to convert to {signed}")
        if v <= np.iinfo(signed).max:
            return np.asarray(v, signed)
        return np.asarray(min(v, np.iinfo(unsigned).max), unsigned)
    v = asarray(v)
    return v if v.dtype.kind in "iu" else v.astype(np.int32)


@static_jit("shape", "mode", "stream")
def _bernoulli(key, p, shape, mode, stream):
    dtype = np.dtype(p.dtype)
    if mode == "low":
        return draw_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype, stream=stream) < p
    # A second number gives the bits below the first one's mantissa.
    u = draw_uniform(key, 0.0, 1.0, shape=(2, *shape), dtype=dtype, stream=stream)
    return u[1] * np.asarray(2.0 ** -jnp.finfo(dtype).nmant, dtype) < p - u[0]


@in_one_program("shape", "mode", at_once=True)
@takes_out_sharding
def bernoulli(key, p=0.5, shape=None, mode="low", *, out_sharding=None):
    """Booleans that are True with probability `p`.

    Args:
      key: a typed or raw key.
      p: probabilities, floats of any shape.
      shape: the shape of the result, to which that of `p` broadcasts; None: that of `p`.
      mode: "low", or "high", which draws twice the bits, for probabilities near 0.
      out_sharding: a sharding of the result, in the explicit mode of meshes.

    Returns:
      Booleans.

    Raises:
      TypeError: `key` is no key, or `p` holds no floats.

    Example:
      >>> random.bernoulli(random.key(0), 0.8, (5,))
      Array([False, False,  True,  True,  True], dtype=bool)
    """
    if mode not in ("high", "low"):
        raise ValueError(f"got {mode=}, expected 'high' or 'low'")
    key = check_key("bernoulli", key)
    if not jnp.issubdtype(result_type(p), np.floating):
        raise TypeError(
            f"bernoulli probability `p` must have a floating dtype, got {result_type(p)}."
        )
    shape = parameter_shape("bernoulli", shape, p)
    p = _core.convert(asarray(p), result_type(p))
    return _bernoulli(key, p, shape=shape, mode=mode, stream=partitionable())
