# shardax/lax/_random_bits.py - random bits out of a state that is given on.
import enum
import itertools

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind
from shardax._devices.constraints import constrained
from shardax._transform.callbacks import io_callback


class RandomAlgorithm(enum.IntEnum):
    """The algorithms of `lax.rng_bit_generator`: RNG_PHILOX, which RNG_DEFAULT is, and
    RNG_THREE_FRY.

    Example:
      >>> state = jnp.array([1, 2, 3, 4], dtype=jnp.uint32)
      >>> lax.rng_bit_generator(state, (2,), algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)[1].shape
      (2,)
    """

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self):
        return self.name


def rng_bit_generator(
    key, shape, dtype=np.uint32, algorithm=RandomAlgorithm.RNG_DEFAULT, *, out_sharding=None
):
    """The state after a draw and random bits, as XLA's RngBitGenerator has them.

    Under vmap, the bits of a whole batch are drawn from its first state, as in JAX.

    Args:
      key: the state, uint32[4] or uint64[2].
      shape: that of the bits.
      dtype: uint8, uint16, uint32 or uint64; other integers are made of uint32.
      algorithm: RandomAlgorithm.RNG_PHILOX, which is the default, or RNG_THREE_FRY.
      out_sharding: how the bits are split over the mesh.

    Returns:
      (state, bits).

    Raises:
      TypeError: `key` is no such state.

    Example:
      >>> lax.rng_bit_generator(jnp.array([1, 2, 3, 4], dtype=jnp.uint32), (2,))[1]
      Array([ 512747620, 1298009047], dtype=uint32)
    """
    dtype = np.dtype(_core.requested_dtype(dtype, "rng_bit_generator"))
    drawn = dtype if dtype.kind == "u" else np.dtype("uint32")
    state, bits = bind(
        "rng_bit_generator",
        (asarray(key),),
        shape=tuple(int(n) for n in shape),
        dtype=drawn,
        algorithm=int(RandomAlgorithm(algorithm)),
        separate=1,
    )
    return state, constrained(_core.convert(bits, dtype), out_sharding)


_states = itertools.count()


def _next_state():
    return np.array([0, 0, 0, next(_states)], np.uint32)


def rng_uniform(a, b, shape):
    """Uniform draws in [a, b), other ones each time that it runs.

    Programs draw from `shardax.random`; this is for those that keep no key.

    Args:
      a, b: scalars of one dtype, float or integer.
      shape: that of the draws.

    Raises:
      TypeError: dtypes that differ, or none that numbers are drawn from.

    Example:
      >>> lax.rng_uniform(0.0, 1.0, (3,)).shape
      (3,)
    """
    a, b = asarray(a), asarray(b)
    if a.dtype != b.dtype or np.dtype(a.dtype).kind not in "iuf":
        raise TypeError(f"rng_uniform: bounds of one dtype are needed; got {a.dtype}, {b.dtype}.")
    state = io_callback(_next_state, np.empty(4, np.uint32))
    bits = _core.convert(rng_bit_generator(state, shape)[1] >> np.uint32(8), np.dtype("float32"))
    share = bits * np.float32(2.0**-24)
    low, high = (_core.convert(x, np.dtype("float32")) for x in (a, b))
    drawn = _core.convert(share * (high - low) + low, a.dtype)
    return bind("min", (drawn, _core.broadcast_to(b, drawn.shape)))
