"""shardax.extend.random - the generators of random numbers by name, and threefry itself.

`key` and its kin take these generators as `impl`.
"""

import numpy as np

from shardax._base.arrays import asarray, bind
from shardax._transform.pmap_vmap import vmap
from shardax._transform.primitives import of_op
from shardax.random._custom_prng import Definition, defined_generator
from shardax.random._keys import _generator as generator
from shardax.random._keys import key, seeded_key

__all__ = [
    "define_prng_impl",
    "random_seed",
    "rbg_prng_impl",
    "seed_with_impl",
    "threefry2x32_p",
    "threefry_2x32",
    "threefry_prng_impl",
    "unsafe_rbg_prng_impl",
]

threefry2x32_p = of_op("threefry2x32")
threefry_prng_impl = generator("threefry2x32")
rbg_prng_impl = generator("rbg")
unsafe_rbg_prng_impl = generator("unsafe_rbg")


def define_prng_impl(*, key_shape, seed, split, random_bits, fold_in, name="<unnamed>", tag="?"):
    """A generator of random numbers made of functions on words, for `random.key(seed, impl=...)`.

    Args:
      key_shape: the shape of the uint32 words of one key, of which there are one to four.
      seed: gives a key's words for an integer scalar.
      split: gives words of shape (*shape, *key_shape) for those of a key and a shape.
      random_bits: gives unsigned integers for a key's words, 8, 16, 32 or 64 bits, and a shape.
      fold_in: gives a key's words for those of a key and a uint32 scalar.
      name, tag: what the generator and the dtype of its keys, key<tag>, are called.

    Returns:
      The generator, hashable; equal ones for equal arguments.

    Raises:
      ValueError: for keys of more words, and for more than eight generators in a process.

    >>> import shardax.numpy as jnp
    >>> from shardax import random
    >>> counting = shardax.extend.random.define_prng_impl(
    ...     key_shape=(1,), tag="count", seed=lambda s: s.astype(jnp.uint32)[None],
    ...     split=lambda k, shape: k + jnp.arange(np.prod(shape)).astype("uint32").reshape(
    ...         *shape, 1),
    ...     random_bits=lambda k, bits, shape: jnp.full(shape, k[0]).astype(f"uint{bits}"),
    ...     fold_in=lambda k, data: k + data)
    >>> random.bits(random.key(7, impl=counting), (2,), "uint32")
    Array([7, 7], dtype=uint32)
    """
    shape = tuple(key_shape)
    return defined_generator(Definition(shape, seed, split, random_bits, fold_in, name, tag))


def seed_with_impl(impl, seed):
    """A typed key of that generator."""
    return key(seed, impl=impl)


def random_seed(seeds, impl):
    """Typed keys of that generator, one for each seed."""
    seeds = asarray(seeds)
    if impl.definition is None or not seeds.ndim:
        return seeded_key(seeds, impl)
    return vmap(lambda seed: random_seed(seed, impl))(seeds)


def threefry_2x32(keypair, count):
    """Threefry-2x32 of counters.

    Args:
      keypair: two uint32, or an array of both.
      count: a uint32 array; the first half of its elements is paired with the second one.

    Returns:
      Random words, of the shape of `count`.
    """
    first, second = asarray(keypair) if not isinstance(keypair, tuple) else keypair
    count = asarray(count)
    if count.dtype != np.uint32 or any(asarray(k).dtype != np.uint32 for k in (first, second)):
        raise TypeError(f"threefry_2x32 requires uint32 arguments, got {count.dtype}")
    words = count.ravel()
    odd = words.size % 2
    if odd:
        words = _concatenate([words, asarray(np.zeros(1, np.uint32))])
    half = words.size // 2
    out = _concatenate(bind("threefry2x32", (first, second, words[:half], words[half:])))
    return (out[:-1] if odd else out).reshape(count.shape)


def _concatenate(parts):
    return bind("concatenate", tuple(parts), dimension=0)
