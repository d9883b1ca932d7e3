"""shardax.random - random numbers from explicit keys.

A key is split, never used twice. The generator is threefry-2x32 (Salmon et al., "Parallel random
numbers: as easy as 1, 2, 3", SC 2011), with the streams of JAX 0.10: the same key draws the same
bits. `config.update("jax_threefry_partitionable", False)` selects the older stream.
"""

import math
import operator

import numpy as np

from shardax import _core, lax
from shardax import numpy as jnp
from shardax._api import jit, vmap
from shardax.numpy._common import asarray, bind, canonical_axis, result_type, static_jit

_functions = _core.functions
_KEY = "key<fry>"


def _partitionable():
    return _core.config_read("jax_threefry_partitionable")


def _is_typed(key):
    return str(key.dtype) == _KEY


def _check_key(name, key, single=True):
    """The key as an array; TypeError and ValueError in JAX's words where it is none, or a batch."""
    if not isinstance(key, (_core.Array, np.ndarray)):
        raise TypeError(f"unexpected PRNG key type {type(key)}")
    key = asarray(key)
    if _is_typed(key):
        batch = key.shape
    else:
        if key.dtype != np.uint32:
            raise TypeError(
                f"JAX encountered invalid PRNG key data: expected key_data.dtype = uint32; got dtype={key.dtype}"
            )
        if key.ndim < 1 or key.shape[-1] != 2:
            raise TypeError(
                f"JAX encountered invalid PRNG key data: expected key_data.shape to end with (2,); got shape={key.shape}"
            )
        batch = key.shape[:-1]
    if single and batch:
        raise ValueError(
            f"{name} accepts a single key, but was given a key array of shape {key.shape} != (). "
            "Use jax.vmap for batching."
        )
    return key


def _shape(shape):
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    shape = tuple(operator.index(d) for d in shape)
    if any(d < 0 for d in shape):
        raise ValueError(f"random: shape {shape} has a negative size; sizes must be 0 or more.")
    return shape


def _float_dtype(dtype, name):
    dtype = _core.canonical_dtype(float) if dtype is None else _core.requested_dtype(dtype, name)
    if not jnp.issubdtype(dtype, np.floating):
        raise ValueError(f"dtype argument to `{name}` must be a float dtype, got {dtype}")
    return np.dtype(dtype)


# ---- keys --------------------------------------------------------------------------------------


def _seed(seed):
    if isinstance(seed, (float, complex, str)) or (
        hasattr(seed, "dtype") and np.dtype(seed.dtype).kind not in "iub"
    ):
        raise TypeError(f"PRNG key seed must be an integer; got {seed!r}")
    if isinstance(seed, (int, np.integer)):
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise OverflowError(f"Python int {seed} too large to convert to int64")
        high = (seed >> 32) & 0xFFFFFFFF if _core.config_read("jax_enable_x64") else 0
        return asarray(np.array([high, seed & 0xFFFFFFFF], np.uint32))
    seed = asarray(seed)
    if seed.ndim:
        raise TypeError(
            f"PRNGKey accepts a scalar seed, but was given an array of shape {seed.shape} != (). Use jax.vmap for batching"
        )
    return bind("random_unwrap", (bind("random_seed", (seed,)),))


def _check_impl(impl):
    if impl not in (None, "threefry2x32", "fry") and str(impl) != "fry":
        raise ValueError(
            f'unrecognized PRNG implementation "{impl}". Did you mean one of: ["threefry2x32"]'
        )


def PRNGKey(seed, *, impl=None):
    """A key out of an integer seed, as uint32[2].

    >>> PRNGKey(0)
    Array([0, 0], dtype=uint32)
    """
    _check_impl(impl)
    return _seed(seed)


def key(seed, *, impl=None):
    """A key out of an integer seed, as a scalar of dtype key<fry>."""
    _check_impl(impl)
    return bind("random_wrap", (_seed(seed),))


def wrap_key_data(key_bits_array, *, impl=None):
    """uint32[..., 2] as keys."""
    _check_impl(impl)
    return bind("random_wrap", (_check_key("wrap_key_data", key_bits_array, single=False),))


def key_data(keys):
    """The words of keys, uint32[..., 2]."""
    keys = _check_key("key_data", keys, single=False)
    return bind("random_unwrap", (keys,)) if _is_typed(keys) else keys


def key_impl(keys):
    """The name of the generator of keys."""
    _check_key("key_impl", keys, single=False)
    return "fry" if not _is_typed(keys) else "threefry2x32"


def clone(key):
    """The same key, which may then be used again."""
    return asarray(key)


def split(key, num=2):
    """`num` new keys (or keys in a shape) out of one.

    >>> split(PRNGKey(0)).shape
    (2, 2)
    """
    key = _check_key("split", key)
    return bind("random_split", (key,), shape=_shape(num), partitionable=_partitionable())


def fold_in(key, data):
    """A new key out of a key and an integer."""
    key = _check_key("fold_in", key)
    if isinstance(data, int):
        if not 0 <= data < 2**32:
            raise OverflowError(f"Python integer {data} out of bounds for uint32")
        data = np.uint32(data)
    data = asarray(data)
    if data.ndim:
        raise TypeError(
            f"fold_in accepts a scalar, but was given an array of shape {data.shape} != (). Use jax.vmap for batching."
        )
    return bind("random_fold_in", (key, data.astype(np.uint32)))


# ---- bits and uniform numbers ------------------------------------------------------------------


def _bits(key, width, shape):
    return bind("random_bits", (key,), bit_width=width, shape=shape, partitionable=_partitionable())


def bits(key, shape=(), dtype=None, *, out_sharding=None):
    """Uniformly random unsigned integers."""
    key = _check_key("bits", key)
    dtype = (
        _core.canonical_dtype(np.uint32) if dtype is None else _core.requested_dtype(dtype, "bits")
    )
    dtype = np.dtype(dtype)
    if dtype.kind != "u":
        raise ValueError(f"dtype argument to `bits` must be an unsigned int dtype, got {dtype}")
    return _bits(key, dtype.itemsize * 8, _shape(shape))


_MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


def _unit(key, shape, dtype):
    """Uniform in [0, 1): random bits as the mantissa of numbers in [1, 2), less 1."""
    width = dtype.itemsize * 8
    mantissa = _MANTISSA[dtype.name]
    drawn = 8 if mantissa < 8 else width
    word = np.dtype(f"uint{width}")
    raw = _bits(key, drawn, shape)
    if drawn != width:
        raw = _core.convert(raw, word)
    one = np.ones((), dtype).view(word)
    raw = _core.lax.shift_right_logical(raw, np.asarray(drawn - mantissa, word))
    floats = bind("bitcast_convert_type", (_core.lax.bitwise_or(raw, one),), new_dtype=dtype)
    return _core.lax.sub(floats, np.ones((), dtype))


@static_jit("shape", "dtype", "stream")
def _uniform(key, minval, maxval, shape, dtype, stream):
    minval, maxval = (_core.convert(asarray(v), dtype) for v in (minval, maxval))
    shape = _drawn_shape("uniform", shape, minval.shape, maxval.shape)
    low, high = (_core.broadcast_to(v, shape) if v.ndim else v for v in (minval, maxval))
    floats = _unit(key, shape, dtype)
    scaled = _core.lax.add(_core.lax.mul(floats, _core.lax.sub(high, low)), low)
    return _core.lax.max(low, scaled)


def _drawn_shape(name, shape, *others):
    joined = _core.broadcast_shapes(shape, *others)
    if joined != tuple(shape):
        raise ValueError(
            f"{name} parameter shapes must be broadcast-compatible with shape argument, and the result of broadcasting the shapes must equal the shape argument, but got result {joined} for shape argument {shape}."
        )
    return joined


def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0, *, out_sharding=None):
    """Uniform in [minval, maxval).

    >>> uniform(PRNGKey(0), (2,)).shape
    (2,)
    """
    key = _check_key("uniform", key)
    return _uniform(
        key,
        minval,
        maxval,
        shape=_shape(shape),
        dtype=_float_dtype(dtype, "uniform"),
        stream=_partitionable(),
    )


@static_jit("shape", "dtype", "stream")
def _normal(key, shape, dtype, stream):
    low = np.nextafter(np.asarray(-1, dtype), np.asarray(0, dtype), dtype=dtype)
    u = _uniform(key, low, np.asarray(1, dtype), shape=shape, dtype=dtype, stream=stream)
    return _core.lax.mul(np.asarray(np.sqrt(2), dtype), _core.lax.erf_inv(u))


def normal(key, shape=(), dtype=None, *, out_sharding=None):
    """Normal with mean 0 and standard deviation 1; complex numbers have variance 1 in all."""
    key = _check_key("normal", key)
    shape = _shape(shape)
    if dtype is not None:
        wanted = np.dtype(_core.requested_dtype(dtype, "normal"))
        if wanted.kind == "c":
            real = np.dtype("float32" if wanted.itemsize == 8 else "float64")
            first, second = split(key)
            parts = (
                _normal(k, shape=shape, dtype=real, stream=_partitionable())
                for k in (first, second)
            )
            return _core.lax.complex(*parts) / np.asarray(np.sqrt(2), real)
        if not jnp.issubdtype(wanted, np.inexact):
            raise ValueError(
                f"dtype argument to `normal` must be a float or complex dtype, got {wanted}"
            )
    return _normal(key, shape=shape, dtype=_float_dtype(dtype, "normal"), stream=_partitionable())


@static_jit("shape", "dtype", "stream")
def _randint(key, minval, maxval, shape, dtype, stream):
    info = np.iinfo(dtype)
    word = np.dtype(f"uint{info.bits}")
    minval, maxval = asarray(minval), asarray(maxval)
    shape = _drawn_shape("randint", shape, minval.shape, maxval.shape)
    beyond = _functions.greater(maxval, _bound(info.max, maxval))
    limit = lambda v: _core.convert(
        _functions.minimum(_functions.maximum(v, _bound(info.min, v)), _bound(info.max, v)), dtype
    )  # noqa: E731
    low, high = limit(minval), limit(maxval)
    low, high, beyond = (_core.broadcast_to(v, shape) for v in (low, high, beyond))
    keys = bind("random_split", (key,), shape=(2,), partitionable=stream)
    first, second = keys[0], keys[1]
    upper, lower = _bits(first, info.bits, shape), _bits(second, info.bits, shape)
    span = _core.convert(_core.lax.sub(high, low), word)
    span = jnp.where(high <= low, np.asarray(1, word), span)
    span = jnp.where(
        _functions.logical_and(beyond, high > low), _core.lax.add(span, np.asarray(1, word)), span
    )
    multiplier = _core.lax.rem(
        _core.broadcast_to(asarray(np.asarray(2 ** (info.bits // 2), word)), shape), span
    )
    multiplier = _core.lax.rem(_core.lax.mul(multiplier, multiplier), span)
    offset = _core.lax.add(
        _core.lax.mul(_core.lax.rem(upper, span), multiplier), _core.lax.rem(lower, span)
    )
    return _core.lax.add(low, _core.convert(_core.lax.rem(offset, span), dtype))


def _bound(limit, like):
    info = np.iinfo(like.dtype)
    return np.asarray(min(max(limit, info.min), info.max), like.dtype)


def randint(key, shape, minval, maxval, dtype=None, *, out_sharding=None):
    """Uniform integers in [minval, maxval); int32 unless `dtype` says otherwise."""
    key = _check_key("randint", key)
    dtype = _core.canonical_dtype(int) if dtype is None else _core.requested_dtype(dtype, "randint")
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        raise TypeError(f"randint only accepts integer dtypes, got {dtype}")
    low, high = _int_bound(minval, dtype), _int_bound(maxval, dtype)
    if dtype.itemsize >= 4:
        return _randint(key, low, high, shape=_shape(shape), dtype=dtype, stream=_partitionable())
    # Small integers are drawn as int32, which biases the remainder less.
    info, wide = np.iinfo(dtype), np.dtype("int32")
    low = jnp.clip(asarray(low).astype(wide), int(info.min), int(info.max))
    high = jnp.clip(asarray(high).astype(wide), int(info.min), int(info.max) + 1)
    return _core.convert(
        _randint(key, low, high, shape=_shape(shape), dtype=wide, stream=_partitionable()), dtype
    )


def _int_bound(v, dtype):
    if isinstance(v, (int, float)) and not isinstance(v, bool):
        v = int(v)
        wide = _core.canonical_dtype(np.int64)
        info = np.iinfo(wide)
        if dtype.kind == "u" and v > info.max:
            return np.asarray(
                min(v, np.iinfo(_core.canonical_dtype(np.uint64)).max),
                _core.canonical_dtype(np.uint64),
            )
        return np.asarray(min(max(v, info.min), info.max), wide)
    v = asarray(v)
    return v if v.dtype.kind in "iu" else v.astype(np.int32)


@static_jit("shape", "stream")
def _bernoulli(key, p, shape, stream):
    p = _core.promote("inexact", p)[0]
    return (
        _uniform(
            key,
            0.0,
            1.0,
            shape=p.shape if shape is None else shape,
            dtype=np.dtype(p.dtype),
            stream=stream,
        )
        < p
    )


def bernoulli(key, p=0.5, shape=None, mode="low", *, out_sharding=None):
    """True with probability p, in the shape of p or `shape`."""
    key = _check_key("bernoulli", key)
    if not jnp.issubdtype(result_type(p), np.floating):
        raise TypeError(
            f"bernoulli probability `p` must have a floating dtype, got {result_type(p)}."
        )
    shape = None if shape is None else _shape(shape)
    if shape is not None:
        _drawn_shape("bernoulli", shape, np.shape(p))
    return _bernoulli(key, p, shape=shape, stream=_partitionable())


# ---- permutations and choices ------------------------------------------------------------------


@static_jit("axis", "stream")
def _shuffle(key, x, axis, stream):
    # Sorting by 32 random bits leaves ties; enough rounds make them unlikely.
    rounds = int(np.ceil(3 * np.log(max(1, x.size)) / np.log(np.iinfo(np.uint32).max)))
    for _ in range(rounds):
        keys = bind("random_split", (key,), shape=(2,), partitionable=stream)
        key, sub = keys[0], keys[1]
        order = bind("random_bits", (sub,), bit_width=32, shape=x.shape, partitionable=stream)
        x = lax.sort_key_val(order, x, axis)[1]
    return x


def permutation(key, x, axis=0, independent=False, *, out_sharding=None):
    """`x` (or 0, ..., x - 1 for an int) in random order along `axis`; slices stay whole unless `independent`."""
    key = _check_key("permutation", key)
    if np.ndim(x) == 0:
        if not jnp.issubdtype(result_type(x), np.integer):
            raise TypeError("x must be an integer or at least 1-dimensional")
        return _shuffle(key, jnp.arange(int(x)), axis=0, stream=_partitionable())
    x = asarray(x)
    axis = canonical_axis(axis, x.ndim)
    if independent or x.ndim == 1:
        return _shuffle(key, x, axis=axis, stream=_partitionable())
    return jnp.take(
        x, _shuffle(key, jnp.arange(x.shape[axis]), axis=0, stream=_partitionable()), axis=axis
    )


def choice(key, a, shape=(), replace=True, p=None, axis=0, mode=None):
    """Elements of `a` (or of 0, ..., a - 1) drawn with probabilities p, with or without replacement."""
    key = _check_key("choice", key)
    shape = _shape(shape)
    arange = np.ndim(a) == 0
    n = int(a) if arange else asarray(a).shape[canonical_axis(axis, np.ndim(a))]
    draws = math.prod(shape)
    if draws == 0:
        return jnp.zeros(shape, np.int32 if arange else asarray(a).dtype)
    if n <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if not replace and draws > n:
        raise ValueError(
            f"Cannot take a larger sample (size {draws}) than population (size {n}) when 'replace=False'"
        )
    if p is None:
        if replace:
            index = randint(key, shape, 0, n)
        else:
            x = permutation(key, n if arange else a, axis)
            low = [slice(None)] * max(np.ndim(x), 1)
            low[0 if arange else canonical_axis(axis, x.ndim)] = slice(0, draws)
            x = x[tuple(low)]
            if arange or x.ndim == 1:
                return x.reshape(shape)
            d = canonical_axis(axis, x.ndim)
            return x.reshape(x.shape[:d] + shape + x.shape[d + 1 :])
    else:
        p = _core.promote("inexact", p)[0]
        if p.shape != (n,):
            raise ValueError(
                f"p must be None or a 1D vector with the same size as a.shape[axis]. p has shape {p.shape} and a.shape[axis] is {n}."
            )
        if replace:
            total = jnp.cumsum(p)
            r = total[-1] * (1 - uniform(key, shape, dtype=total.dtype))
            index = jnp.searchsorted(total, r).astype(np.int32)
        else:
            g = gumbel(key, (n,), dtype=p.dtype) + jnp.log(p)
            index = lax.top_k(g, draws)[1].reshape(shape)
    return index if arange else jnp.take(asarray(a), index, axis=axis)


def categorical(key, logits, axis=-1, shape=None, replace=True, mode=None):
    """Indices along `axis`, drawn with probabilities proportional to exp(logits)."""
    key = _check_key("categorical", key)
    logits = asarray(logits)
    axis = canonical_axis(axis, logits.ndim)
    batch = tuple(n for d, n in enumerate(logits.shape) if d != axis)
    shape = batch if shape is None else _shape(shape)
    prefix = shape[: len(shape) - len(batch)]
    if shape[len(shape) - len(batch) :] != batch and _core.broadcast_shapes(shape, batch) != shape:
        raise ValueError(
            f"categorical parameter shapes must be broadcast-compatible with shape argument: {shape} and {batch}."
        )
    drawn = list(shape[len(prefix) :])
    drawn.insert(axis, logits.shape[axis])
    noise = gumbel(key, prefix + tuple(drawn), logits.dtype)
    return jnp.argmax(
        noise + jnp.expand_dims(logits, tuple(range(len(prefix)))), axis=axis + len(prefix)
    )


# ---- other distributions -----------------------------------------------------------------------


@static_jit("shape", "dtype", "stream")
def _gumbel(key, shape, dtype, stream):
    tiny = jnp.finfo(dtype).tiny
    u = _uniform(
        key, np.asarray(tiny, dtype), np.asarray(1, dtype), shape=shape, dtype=dtype, stream=stream
    )
    return -jnp.log(-jnp.log(u))


def gumbel(key, shape=(), dtype=None, mode=None):
    """The standard Gumbel distribution."""
    return _gumbel(
        _check_key("gumbel", key),
        shape=_shape(shape),
        dtype=_float_dtype(dtype, "gumbel"),
        stream=_partitionable(),
    )


@static_jit("shape", "dtype", "stream")
def _truncated_normal(key, lower, upper, shape, dtype, stream):
    lower, upper = (_core.convert(asarray(v), dtype) for v in (lower, upper))
    sqrt2 = np.asarray(np.sqrt(2), dtype)
    a, b = lax.erf(lower / sqrt2), lax.erf(upper / sqrt2)
    u = _uniform(key, a, b, shape=shape, dtype=dtype, stream=stream)
    out = sqrt2 * lax.erf_inv(u)
    low = lax.nextafter(lax.stop_gradient(lower), np.asarray(np.inf, dtype))
    high = lax.nextafter(lax.stop_gradient(upper), np.asarray(-np.inf, dtype))
    return jnp.clip(out, low, high)


def truncated_normal(key, lower, upper, shape=None, dtype=None, *, out_sharding=None):
    """Normal, limited to (lower, upper)."""
    key = _check_key("truncated_normal", key)
    shape = (
        _core.broadcast_shapes(np.shape(lower), np.shape(upper)) if shape is None else _shape(shape)
    )
    return _truncated_normal(
        key,
        lower,
        upper,
        shape=shape,
        dtype=_float_dtype(dtype, "truncated_normal"),
        stream=_partitionable(),
    )


@static_jit("shape", "dtype", "stream")
def _exponential(key, shape, dtype, stream):
    return -jnp.log1p(-_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype, stream=stream))


def exponential(key, shape=(), dtype=None):
    """The exponential distribution with mean 1."""
    return _exponential(
        _check_key("exponential", key),
        shape=_shape(shape),
        dtype=_float_dtype(dtype, "exponential"),
        stream=_partitionable(),
    )


@jit
def _laplace(u):
    return jnp.sign(u) * jnp.log1p(-jnp.abs(u))


def laplace(key, shape=(), dtype=None):
    """The Laplace distribution with scale 1."""
    dtype = _float_dtype(dtype, "laplace")
    low = np.asarray(-1 + jnp.finfo(dtype).eps, dtype)
    return _laplace(uniform(key, shape, dtype, minval=low, maxval=1.0))


def logistic(key, shape=(), dtype=None):
    """The logistic distribution."""
    dtype = _float_dtype(dtype, "logistic")
    x = uniform(key, shape, dtype, minval=jnp.finfo(dtype).eps, maxval=1.0)
    return jnp.log(x / (1 - x))


def cauchy(key, shape=(), dtype=None):
    """The Cauchy distribution."""
    dtype = _float_dtype(dtype, "cauchy")
    u = uniform(key, shape, dtype, minval=jnp.finfo(dtype).eps, maxval=1.0)
    return jnp.tan(np.asarray(np.pi, dtype) * (u - np.asarray(0.5, dtype)))


def rademacher(key, shape=(), dtype=None):
    """-1 or 1, int32 unless `dtype` says otherwise."""
    dtype = _core.canonical_dtype(int) if dtype is None else _core.dtype_of(dtype)
    return (2 * bernoulli(key, 0.5, _shape(shape)).astype(np.int32) - 1).astype(dtype)


# ---- gamma and what is made of it --------------------------------------------------------------


def _halves(key, stream, num=2):
    keys = bind("random_split", (key,), shape=(num,), partitionable=stream)
    return [keys[i] for i in range(num)]


def _gamma_element(key, alpha, log_space, stream):
    """One gamma variate, by the rejection method of Marsaglia and Tsang (2000), "A simple method for generating gamma
    variables": d v with d = alpha - 1/3 and v = (1 + x / sqrt(9 d))^3 of a normal x. A variate for alpha < 1 is
    one for alpha + 1 times u^(1 / alpha)."""
    dtype = alpha.dtype
    number = lambda v: np.asarray(v, dtype)  # noqa: E731
    large = _functions.greater_equal(alpha, number(1))
    raised = jnp.where(large, alpha, alpha + number(1))
    d = raised - number(1 / 3)
    c = number(1 / 3) / _functions.sqrt(d)

    def rejected(state):
        _, square, v, u = state
        outside = u >= number(1) - number(0.0331) * (square * square)
        bound = square * number(0.5) + d * (number(1) - v + _functions.log(v))
        return _functions.logical_and(outside, _functions.log(u) >= bound)

    def candidate(state):
        key, x, _ = state
        key, sub = _halves(key, stream)
        x = _normal(sub, shape=(), dtype=dtype, stream=stream)
        return key, x, number(1) + x * c

    def attempt(state):
        key, x_key, u_key = _halves(state[0], stream, 3)
        start = (x_key, jnp.zeros_like(alpha), jnp.full_like(alpha, -1))
        _, x, v = lax.while_loop(lambda s: s[2] <= number(0), candidate, start)
        u = _uniform(u_key, 0.0, 1.0, shape=(), dtype=dtype, stream=stream)
        return key, x * x, v * v * v, u

    key, sub = _halves(key, stream)
    start = (key, jnp.zeros_like(alpha), jnp.ones_like(alpha), jnp.full_like(alpha, 2))
    v = lax.while_loop(rejected, attempt, start)[2]
    if log_space:
        small = -_exponential(sub, shape=(), dtype=dtype, stream=stream)
        boost = jnp.where(
            _functions.logical_or(large, small == 0), number(0), small * (number(1) / alpha)
        )
        return _functions.log(d) + _functions.log(v) + boost
    u = number(1) - _uniform(sub, 0.0, 1.0, shape=(), dtype=dtype, stream=stream)
    return d * v * jnp.where(large, number(1), _functions.power(u, number(1) / alpha))


@static_jit("shape", "dtype", "log_space", "stream")
def _gamma(key, alpha, shape, dtype, log_space, stream):
    alpha = lax.stop_gradient(_core.broadcast_to(_core.convert(asarray(alpha), dtype), shape))
    if not alpha.size:
        return alpha
    keys = bind("random_split", (key,), shape=(alpha.size,), partitionable=stream)
    draw = vmap(lambda k, a: _gamma_element(k, a, log_space, stream))
    return draw(keys, alpha.reshape((-1,))).reshape(shape)


def _parameter_shape(name, shape, *parameters):
    shapes = [np.shape(p) for p in parameters]
    return (
        _core.broadcast_shapes(*shapes)
        if shape is None
        else _drawn_shape(name, _shape(shape), *shapes)
    )


def gamma(key, a, shape=None, dtype=None, *, out_sharding=None):
    """The gamma distribution with shape parameter `a` and scale 1; not differentiable by `a`."""
    key, dtype = _check_key("gamma", key), _float_dtype(dtype, "gamma")
    shape = _parameter_shape("gamma", shape, a)
    return _gamma(key, a, shape=shape, dtype=dtype, log_space=False, stream=_partitionable())


def loggamma(key, a, shape=None, dtype=None, *, out_sharding=None):
    """The logarithm of gamma variates, exact also where those would be too small."""
    key, dtype = _check_key("loggamma", key), _float_dtype(dtype, "gamma")
    shape = _parameter_shape("loggamma", shape, a)
    return _gamma(key, a, shape=shape, dtype=dtype, log_space=True, stream=_partitionable())


def beta(key, a, b, shape=None, dtype=None, *, out_sharding=None):
    """The beta distribution: the share of one of two gamma variates in their sum."""
    key, dtype = _check_key("beta", key), _float_dtype(dtype, "beta")
    shape = _parameter_shape("beta", shape, a, b)
    first, second = _halves(key, _partitionable())
    x, y = loggamma(first, a, shape, dtype), loggamma(second, b, shape, dtype)
    top = jnp.maximum(x, y)
    x, y = jnp.exp(x - top), jnp.exp(y - top)
    return x / (x + y)


def dirichlet(key, alpha, shape=None, dtype=None, *, out_sharding=None):
    """The Dirichlet distribution with parameters along the last dimension of `alpha`."""
    from shardax.nn import softmax

    key, dtype = _check_key("dirichlet", key), _float_dtype(dtype, "dirichlet")
    alpha = asarray(alpha)
    if alpha.ndim < 1:
        raise ValueError(f"dirichlet requires alpha.ndim >= 1, got alpha.ndim == {alpha.ndim}")
    shape = (
        alpha.shape[:-1]
        if shape is None
        else _drawn_shape("dirichlet", _shape(shape), alpha.shape[:-1])
    )
    return softmax(loggamma(key, alpha, shape + alpha.shape[-1:], dtype), -1)


def chisquare(key, df, shape=None, dtype=None, *, out_sharding=None):
    """The chi-square distribution with `df` degrees of freedom."""
    dtype = _float_dtype(dtype, "chisquare")
    half = _core.convert(asarray(df), dtype) / 2
    return 2 * jnp.exp(loggamma(_check_key("chisquare", key), half, shape, dtype))


def t(key, df, shape=(), dtype=None, *, out_sharding=None):
    """Student's t distribution with `df` degrees of freedom."""
    key, dtype = _check_key("t", key), _float_dtype(dtype, "t")
    shape = _parameter_shape("t", shape, df)
    first, second = _halves(key, _partitionable())
    half = _core.convert(asarray(df), dtype) / 2
    return normal(first, shape, dtype) * jnp.sqrt(half / gamma(second, half, shape, dtype))


def generalized_normal(key, p, shape=(), dtype=None, *, out_sharding=None):
    """The distribution with density proportional to exp(-|x|^p)."""
    key, dtype, shape = (
        _check_key("generalized_normal", key),
        _float_dtype(dtype, "generalized_normal"),
        _shape(shape),
    )
    first, second = _halves(key, _partitionable())
    size = gamma(first, 1 / p, shape, dtype)
    return rademacher(second, shape, dtype) * size ** (1 / p)


def ball(key, d, p=2, shape=(), dtype=None, *, out_sharding=None):
    """Uniform in the unit ball of the p-norm in d dimensions."""
    key, dtype, shape = _check_key("ball", key), _float_dtype(dtype, "ball"), _shape(shape)
    first, second = _halves(key, _partitionable())
    g = generalized_normal(first, p, (*shape, operator.index(d)), dtype)
    e = exponential(second, shape, dtype)
    return g / ((jnp.sum(jnp.abs(g) ** p, -1) + e) ** (1 / p))[..., None]


# ---- Poisson -----------------------------------------------------------------------------------


def _poisson_small(key, rate, dtype, stream):
    """Knuth's method: how many uniform numbers can be multiplied until the product is below exp(-rate)."""

    def draw(state):
        count, key, logs = state
        key, sub = _halves(key, stream)
        count = jnp.where(logs > -rate, count + 1, count)
        return (
            count,
            key,
            logs
            + jnp.log(_uniform(sub, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream)),
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
        key, first, second = _halves(key, stream, 3)
        u = _uniform(first, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream) - 0.5
        v = _uniform(second, 0.0, 1.0, shape=rate.shape, dtype=rate.dtype, stream=stream)
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
    key = _check_key("poisson", key)
    dtype = np.dtype(
        _core.canonical_dtype(int) if dtype is None else _core.requested_dtype(dtype, "poisson")
    )
    shape = np.shape(lam) if shape is None else _shape(shape)
    return _poisson(key, lam, shape=shape, dtype=dtype, stream=_partitionable())


# ---- matrices ----------------------------------------------------------------------------------


def multivariate_normal(
    key, mean, cov, shape=None, dtype=None, method="cholesky", *, out_sharding=None
):
    """Normal vectors with that mean (..., n) and covariance (..., n, n)."""
    key = _check_key("multivariate_normal", key)
    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError("method must be one of {'svd', 'eigh', 'cholesky'}")
    mean, cov = asarray(mean), asarray(cov)
    common = result_type(mean, cov)
    dtype = _float_dtype(
        dtype if dtype is not None or common.kind in "biu" else common, "multivariate_normal"
    )
    mean, cov = _core.convert(mean, dtype), _core.convert(cov, dtype)
    if mean.ndim < 1:
        raise ValueError(
            f"multivariate_normal requires mean.ndim >= 1, got mean.ndim == {mean.ndim}"
        )
    n = mean.shape[-1]
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise ValueError(
            f"multivariate_normal requires cov.shape == (..., n, n) for n={n}, but got cov.shape == {cov.shape}."
        )
    batches = mean.shape[:-1], cov.shape[:-2]
    shape = (
        _core.broadcast_shapes(*batches)
        if shape is None
        else _drawn_shape("normal", _shape(shape), *batches)
    )
    if method == "cholesky":
        factor = jnp.linalg.cholesky(cov)
    else:
        vectors, sizes = jnp.linalg.svd(cov)[:2] if method == "svd" else jnp.linalg.eigh(cov)[::-1]
        factor = vectors * jnp.sqrt(sizes[..., None, :])
    return mean + jnp.einsum("...ij,...j->...i", factor, normal(key, shape + (n,), dtype))


def orthogonal(key, n, shape=(), dtype=None, m=None, *, out_sharding=None):
    """Uniformly distributed orthogonal matrices (..., n, n); with `m`, (..., n, m) of orthogonal rows or columns."""
    key, dtype = _check_key("orthogonal", key), _float_dtype(dtype, "orthogonal")
    n = operator.index(n)
    m = n if m is None else operator.index(m)
    q, r = jnp.linalg.qr(normal(key, (*_shape(shape), max(n, m), min(n, m)), dtype))
    q = q * jnp.expand_dims(jnp.sign(jnp.linalg.diagonal(r)), -2)
    return q.mT if n < m else q
