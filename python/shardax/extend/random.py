"""shardax.extend.random - the generators of random numbers by name, and threefry itself.

`key` and its kin take what is here as `impl`.
"""

import numpy as np

from shardax._base.arrays import asarray, bind
from shardax._transform.primitives import of_op
from shardax.random._keys import _generator as generator
from shardax.random._keys import key

__all__ = [
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


def seed_with_impl(impl, seed):
    """A typed key of that generator."""
    return key(seed, impl=impl)


def random_seed(seeds, impl):
    """Typed keys of that generator, one for each seed."""
    return bind("random_seed", (asarray(seeds),), impl=impl)


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
