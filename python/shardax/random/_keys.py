# shardax/random/_keys.py - keys: from seeds, split, folded; the checks that all draws make.
import operator
import warnings

import numpy as np

from shardax import _core
from shardax import numpy as jnp
from shardax.numpy._common import asarray, bind

_KEY = "key<fry>"


def partitionable():
    return _core.config_read("jax_threefry_partitionable")


def is_typed(key):
    return str(getattr(key, "dtype", None)) == _KEY


def check_key(name, key, single=True):
    """The key as an array; TypeError and ValueError in JAX's words where it is none, or a batch."""
    if not isinstance(key, (_core.Array, np.ndarray)):
        raise TypeError(f"unexpected PRNG key type {type(key)}")
    key = asarray(key)
    if is_typed(key):
        batch = key.shape
    else:
        if key.dtype != np.uint32:
            raise TypeError(
                "JAX encountered invalid PRNG key data: expected key_data.dtype = uint32; got "
                f"dtype={key.dtype}"
            )
        if key.ndim < 1 or key.shape[-1] != 2:
            raise TypeError(
                "JAX encountered invalid PRNG key data: expected key_data.shape to end with (2,); "
                f"got shape={key.shape}"
            )
        batch = key.shape[:-1]
        if name not in ("key_data", "key_impl", "wrap_key_data"):
            _report_legacy_key(name)
    if single and batch:
        raise ValueError(
            f"{name} accepts a single key, but was given a key array of shape {key.shape} != (). "
            "Use jax.vmap for batching."
        )
    return key


def _report_legacy_key(name):
    """What the flag jax_legacy_prng_key says of raw uint32 keys: nothing, a warning, an error."""
    verdict = _core.config_read("jax_legacy_prng_key")
    text = (
        f"Legacy uint32 key array passed as key to jax.random function. {name} was given one; make "
        "keys with jax.random.key(), or jax.random.wrap_key_data(), or set "
        'jax_legacy_prng_key="allow".'
    )
    if verdict == "error":
        raise ValueError(text)
    if verdict == "warn":
        warnings.warn(text, UserWarning, stacklevel=5)


def to_shape(shape):
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    shape = tuple(operator.index(d) for d in shape)
    if any(d < 0 for d in shape):
        raise ValueError(f"random: shape {shape} has a negative size; sizes must be 0 or more.")
    return shape


def float_dtype(dtype, name):
    dtype = _core.canonical_dtype(float) if dtype is None else _core.requested_dtype(dtype, name)
    if not jnp.issubdtype(dtype, np.floating):
        raise ValueError(f"dtype argument to `{name}` must be a float dtype, got {dtype}")
    return np.dtype(dtype)


def drawn_shape(name, shape, *others):
    """`shape`, to which the parameters' shapes must broadcast; ValueError where they do not."""
    joined = _core.broadcast_shapes(shape, *others)
    if joined != tuple(shape):
        raise ValueError(
            f"{name} parameter shapes must be broadcast-compatible with shape argument, and the "
            "result of broadcasting the shapes must equal the shape argument, but got result "
            f"{joined} for shape argument {shape}."
        )
    return joined


def parameter_shape(name, shape, *parameters):
    shapes = [np.shape(p) for p in parameters]
    return (
        _core.broadcast_shapes(*shapes)
        if shape is None
        else drawn_shape(name, to_shape(shape), *shapes)
    )


def _seed(seed, name):
    if is_typed(seed):
        raise TypeError(f"{name} accepts a scalar seed, but was given a PRNG key.")
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
            f"{name} accepts a scalar seed, but was given an array of shape {seed.shape} != (). "
            "Use jax.vmap for batching"
        )
    return bind("random_unwrap", (bind("random_seed", (seed,)),))


def _check_impl(impl, dtype=None, name="key"):
    """ValueError unless `impl` or `dtype`, at most one of which is given, is threefry's."""
    if impl is not None and dtype is not None:
        raise ValueError(
            f"Cannot specify both `impl` and `dtype` arguments to jax.random.{name}, got "
            f"{impl!r} and {dtype!r}."
        )
    impl = dtype if impl is None else impl
    if impl is None or impl == _core.dtype_of(_KEY):
        return
    if not isinstance(impl, (str, np.dtype)):
        raise TypeError(f"unrecognized type {type(impl)} for specifying PRNG implementation.")
    if impl not in ("threefry2x32", "fry"):
        raise ValueError(
            f'unrecognized PRNG implementation "{impl}". Did you mean one of: ["threefry2x32"]'
        )


def PRNGKey(seed, *, impl=None):
    """A key out of an integer seed, as uint32[2]; of dtype key<fry> under jax_enable_custom_prng.

    >>> PRNGKey(0)
    Array([0, 0], dtype=uint32)
    """
    _check_impl(impl)
    words = _seed(seed, "PRNGKey")
    typed = _core.config_read("jax_enable_custom_prng")
    return bind("random_wrap", (words,)) if typed else words


def key(seed, *, impl=None, dtype=None):
    """A key out of an integer seed, as a scalar of dtype key<fry>.

    Args:
      seed: an integer.
      impl: the name of the generator, "threefry2x32".
      dtype: the dtype of another key, or the name of the generator, instead of `impl`.

    Raises:
      TypeError: where the seed is no integer scalar.
      ValueError: for other generators, and where both `impl` and `dtype` are given.
    """
    _check_impl(impl, dtype)
    return bind("random_wrap", (_seed(seed, "key"),))


def wrap_key_data(key_bits_array, *, impl=None, dtype=None):
    """uint32[..., 2] as keys; `impl` and `dtype` as in `key`."""
    _check_impl(impl, dtype, "wrap_key_data")
    return bind("random_wrap", (check_key("wrap_key_data", key_bits_array, single=False),))


def key_data(keys):
    """The words of keys, uint32[..., 2]."""
    keys = check_key("key_data", keys, single=False)
    return bind("random_unwrap", (keys,)) if is_typed(keys) else keys


def key_impl(keys):
    """The name of the generator of keys."""
    check_key("key_impl", keys, single=False)
    return "threefry2x32"


def clone(key):
    """The same key, which may then be used again."""
    return asarray(key)


def split(key, num=2):
    """`num` new keys (or keys in a shape) out of one.

    >>> split(PRNGKey(0)).shape
    (2, 2)
    """
    key = check_key("split", key)
    return bind("random_split", (key,), shape=to_shape(num), partitionable=partitionable())


def fold_in(key, data):
    """A new key out of a key and an integer."""
    key = check_key("fold_in", key)
    if isinstance(data, int):
        if not 0 <= data < 2**32:
            raise OverflowError(f"Python integer {data} out of bounds for uint32")
        data = np.uint32(data)
    data = asarray(data)
    if data.ndim:
        raise TypeError(
            f"fold_in accepts a scalar, but was given an array of shape {data.shape} != (). "
            "Use jax.vmap for batching."
        )
    return bind("random_fold_in", (key, data.astype(np.uint32)))


def subkeys(key, stream, num=2):
    keys = bind("random_split", (key,), shape=(num,), partitionable=stream)
    return [keys[i] for i in range(num)]


def key_dtype(impl=None):
    """The dtype of typed keys."""
    _check_impl(impl)
    return _core.dtype_of(_KEY)
