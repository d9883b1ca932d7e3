# shardax/random/_keys.py - keys: from seeds, split, folded, checked.
import warnings

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind, in_one_program
from shardax._base.dtypes import KEYS, KeyTy
from shardax._devices.shardings import completed
from shardax.random._parameters import to_shape

# The dtypes of keys by the names of their generators in `impl` and in dtypes.
_GENERATORS = {text: key for key in KEYS.values() for text in (key.implementation, key.tag)}


def partitionable():
    return _core.config_read("jax_threefry_partitionable")


def is_typed(key):
    return isinstance(getattr(key, "dtype", None), KeyTy)


def _default_generator():
    return _GENERATORS[_core.config_read("jax_default_prng_impl")]


def is_drawn_together(key):
    """True if keys of a batch draw from one stream, that of the first, as those of rbg do."""
    return is_typed(key) and key.dtype.tag in ("rbg", "urbg")


def is_threefry(key):
    """True if a key, typed or raw, is one of the default generator."""
    return not is_typed(key) or key.dtype.tag == "fry"


def check_key(name, key, single=True):
    """The key as an array: typed, or raw words for threefry.

    TypeError and ValueError in JAX's words where it is none, or a batch.
    """
    if not isinstance(key, (_core.Array, np.ndarray)):
        raise TypeError(
            f"unexpected PRNG key type {type(key)}; expected a key: an integer seed makes one, as "
            f"in random.{name}(random.key(0), ...)."
        )
    key = asarray(key)
    if is_typed(key):
        batch = key.shape
    else:
        if key.dtype != np.uint32:
            raise TypeError(
                "JAX encountered invalid PRNG key data: expected key_data.dtype = uint32; got "
                f"dtype={key.dtype}"
            )
        generator = _default_generator()
        if key.ndim < 1 or key.shape[-1] != generator.words:
            raise TypeError(
                "JAX encountered invalid PRNG key data: expected key_data.shape to end with "
                f"({generator.words},); got shape={key.shape} for impl={generator.tag}"
            )
        batch = key.shape[:-1]
        if name not in ("key_data", "key_impl"):
            _report_legacy_key(name)
        if generator.words != 2:
            key = _wrapped(key, generator)
    if single and batch:
        raise ValueError(
            f"{name} accepts a single key, but was given a key array of shape {key.shape} != (). "
            "Use jax.vmap for batching."
        )
    return key


def _report_legacy_key(name):
    """Follows the flag jax_legacy_prng_key on raw uint32 keys: nothing, a warning, an error."""
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


def _wrapped(words, generator):
    if generator.definition:
        return generator.wrapped(words)
    return bind("random_wrap", (words,), impl=generator)


def unwrapped(keys):
    """The words of typed keys."""
    return keys.dtype.unwrapped(keys) if keys.dtype.definition else bind("random_unwrap", (keys,))


def like_key(made, key):
    """Keys made out of `key`: raw words where that is one."""
    return made if is_typed(key) or not is_typed(made) else unwrapped(made)


# ---- what a generator does: an op, or the user's functions where those define it -----------------


def _definition(key):
    return key.dtype.definition if is_typed(key) else None


def split_key(key, shape, stream):
    """Keys of `shape` out of one."""
    if definition := _definition(key):
        return key.dtype.wrapped(asarray(definition.split(unwrapped(key), shape)))
    return bind("random_split", (key,), shape=shape, partitionable=stream)


def fold_key(key, data):
    """A key out of one and a uint32."""
    if definition := _definition(key):
        return key.dtype.wrapped(asarray(definition.fold_in(unwrapped(key), data)))
    return bind("random_fold_in", (key, data))


def draw_words(key, width, shape, stream):
    """Unsigned integers of `width` random bits."""
    if definition := _definition(key):
        return asarray(definition.random_bits(unwrapped(key), width, shape))
    return bind("random_bits", (key,), bit_width=width, shape=shape, partitionable=stream)


def seeded_key(seed, generator):
    """The typed key of an integer array."""
    offset = _core.config_read("jax_random_seed_offset")
    if offset:
        seed = _core.lax.add(seed, np.asarray(offset).astype(seed.dtype))
    if generator.definition:
        return generator.wrapped(asarray(generator.definition.seed(seed)))
    return bind("random_seed", (seed,), impl=generator)


def _seed(seed, name, generator):
    """The words of the key of a seed."""
    if is_typed(seed):
        raise TypeError(f"{name} accepts a scalar seed, but was given a PRNG key.")
    if isinstance(seed, (float, complex, str)) or (
        hasattr(seed, "dtype") and np.dtype(seed.dtype).kind not in "iub"
    ):
        raise TypeError(f"PRNG key seed must be an integer; got {seed!r}")
    if isinstance(seed, (int, np.integer)):
        # Numbers of fewer bits have no upper word, of whatever sign.
        wide = _core.config_read("jax_enable_x64") and getattr(seed, "itemsize", 8) == 8
        most = 2**64 if isinstance(seed, np.uint64) else 2**63
        seed = int(seed)
        if not -(2**63) <= seed < most:
            raise OverflowError(f"Python int {seed} too large to convert to int64")
        if generator.implementation in ("threefry2x32", "rbg", "unsafe_rbg"):
            seed += _core.config_read("jax_random_seed_offset")
            half = [(seed >> 32) & 0xFFFFFFFF if wide else 0, seed & 0xFFFFFFFF]
            return asarray(np.array(half * (generator.words // 2), np.uint32))
        seed = np.array(seed & (2**64 - 1), np.uint64).astype(np.int64 if wide else np.int32)
    seed = asarray(seed)
    if seed.ndim:
        raise TypeError(
            f"{name} accepts a scalar seed, but was given an array of shape {seed.shape} != (). "
            "Use jax.vmap for batching"
        )
    return unwrapped(seeded_key(seed, generator))


def _generator(impl, dtype=None, name="key"):
    """The dtype of the keys of the generator that `impl` or `dtype`, at most one of which is given,
    names; the configured one where neither is.
    """
    if impl is not None and dtype is not None:
        raise ValueError(
            f"Cannot specify both `impl` and `dtype` arguments to jax.random.{name}, got "
            f"{impl!r} and {dtype!r}."
        )
    wanted = dtype if impl is None else impl
    if wanted is None:
        return _default_generator()
    if isinstance(wanted, KeyTy):
        return wanted
    if not isinstance(wanted, (str, np.dtype)):
        raise TypeError(f"unrecognized type {type(wanted)} for specifying PRNG implementation.")
    if wanted not in _GENERATORS:
        known = ", ".join(f'"{key.implementation}"' for key in KEYS.values())
        raise ValueError(
            f'unrecognized PRNG implementation "{wanted}". Did you mean one of: {known}?'
        )
    return _GENERATORS[wanted]


def PRNGKey(seed, *, impl=None):
    """A raw key out of an integer seed: its words, without the dtype of keys. `random.key` makes
    typed ones.

    Args:
      seed: an integer.
      impl: the name of the generator, as in `random.key`.

    Returns:
      uint32 of shape (2,) (as many words as the generator's keys have); of dtype key<fry> under
      jax_enable_custom_prng.

    Raises:
      TypeError: the seed is no integer scalar.

    Example:
      >>> random.PRNGKey(0)
      Array([0, 0], dtype=uint32)
    """
    generator = _generator(impl)
    words = _seed(seed, "PRNGKey", generator)
    return _wrapped(words, generator) if _core.config_read("jax_enable_custom_prng") else words


def key(seed, *, impl=None, dtype=None):
    """A key out of an integer seed, as a scalar array of dtype key<fry>.

    A key is used once: `random.split` and `random.fold_in` make others out of it.

    Args:
      seed: an integer.
      impl: the name of the generator: "threefry2x32", "threefry4x32", "philox2x32", "philox4x32",
        "rbg", "unsafe_rbg" or one of `extend.random.define_prng_impl`. The two rbg draw bits by
        XLA's Philox generator and, under vmap, those of a batch from the batch's first key.
      dtype: the dtype of another key, or the name of the generator, instead of `impl`.

    Raises:
      TypeError: the seed is no integer scalar.
      ValueError: for other generators, and where both `impl` and `dtype` are given.

    Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

    Example:
      >>> key = random.key(0)
      >>> random.normal(key, (2, 3)).shape
      (2, 3)
      >>> random.key(0, impl="rbg").dtype
      key<rbg>
    """
    generator = _generator(impl, dtype)
    return _wrapped(_seed(seed, "key", generator), generator)


def wrap_key_data(key_bits_array, *, impl=None, dtype=None):
    """The keys that consist of these words.

    Args:
      key_bits_array: uint32 of shape (..., 2), or with as many words as the generator's keys have.
      impl, dtype: the generator, as in `random.key`.

    Returns:
      Typed keys of the leading shape.

    Raises:
      TypeError: the words are not uint32.

    Example:
      >>> random.wrap_key_data(random.PRNGKey(0)) == random.key(0)
      Array(True, dtype=bool)
    """
    generator = _generator(impl, dtype, "wrap_key_data")
    if is_typed(key_bits_array) or not isinstance(key_bits_array, (_core.Array, np.ndarray)):
        raise TypeError(
            "JAX encountered invalid PRNG key data: expected an array of uint32 words, got "
            f"{getattr(key_bits_array, 'dtype', type(key_bits_array))}"
        )
    return _wrapped(asarray(key_bits_array), generator)


def key_data(keys):
    """The words that keys consist of.

    Args:
      keys: typed or raw keys.

    Returns:
      uint32 of shape keys.shape + (2,), or with as many words as the generator's keys have.

    Example:
      >>> random.key_data(random.key(7))
      Array([0, 7], dtype=uint32)
    """
    checked = check_key("key_data", keys, single=False)
    if not is_typed(checked):
        return checked
    words = unwrapped(checked)
    where = None if isinstance(words, _core.Tracer) else _core.get_sharding(words)
    if where is None or not where[0] or len(where[3]) == words.ndim:
        return words
    # The words of a key lie together, which specs say.
    return _core.with_sharding(words, completed(where, len(where[3]) + 1))


def key_impl(keys):
    """The generator of keys, as a name that `random.key` takes.

    Example:
      >>> random.key_impl(random.key(0))
      'threefry2x32'
    """
    keys = check_key("key_impl", keys, single=False)
    return keys.dtype.implementation if is_typed(keys) else "threefry2x32"


def clone(key):
    """The same key, which may then be used once more under jax_debug_key_reuse.

    Example:
      >>> with shardax.debug_key_reuse(True):
      ...     k = random.key(0)
      ...     draws = [random.split(random.clone(k)), random.split(k)]
    """
    checked = check_key("clone", key, single=False)
    return bind("random_clone", (checked,)) if is_typed(key) else checked


@in_one_program("num", at_once=True)
def split(key, num=2):
    """New keys out of one, whose draws are independent.

    Args:
      key: a typed or raw key.
      num: how many, an int or a shape.

    Returns:
      Keys of shape (num,) or `num`: typed, or raw words along a last dimension.

    Raises:
      TypeError: `key` is no key.
      ValueError: for a batch of keys; use vmap.

    Example:
      >>> key, subkey = random.split(random.key(0))
      >>> random.split(key, 5).shape
      (5,)
    """
    checked = check_key("split", key)
    return like_key(split_key(checked, to_shape(num), partitionable()), key)


def fold_in(key, data):
    """A new key out of a key and an integer: of a step, or of a device.

    Args:
      key: a typed or raw key.
      data: an integer, taken as a uint32.

    Returns:
      A key of the same kind.

    Raises:
      TypeError: `key` is no key.
      ValueError: for a batch of keys; use vmap.

    Example:
      >>> key = random.key(0)
      >>> draw = lambda i: random.randint(random.fold_in(key, i), (2,), 0, 100)
      >>> draw(0), draw(1)
      (Array([91, 61], dtype=int32), Array([22, 22], dtype=int32))
    """
    checked = check_key("fold_in", key)
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
    return like_key(fold_key(checked, data.astype(np.uint32)), key)


def subkeys(key, stream, num=2):
    keys = split_key(key, (num,), stream)
    return [keys[i] for i in range(num)]


def key_dtype(impl_spec=None):
    """The dtype of typed keys of a generator, as `random.key` names it; the default one's unless
    given.

    Example:
      >>> random.key_dtype()
      key<fry>
    """
    return _generator(impl_spec)
