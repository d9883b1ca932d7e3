"""tests/codegen/test_bfloat16_rounding.py - bfloat16 in machine code, by all of their bits.

Machine code leaves out the selection of NaNs where arithmetic makes them, and all of the rounding
where a number fits. Results have the bits of SHARDAX_CODEGEN=0, the payloads of NaNs too. Of two
NaNs that meet, either may come out.
"""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.test_native import every_way

EVERY = np.arange(1 << 16, dtype=np.uint16)

FUNCTIONS = {
    "sum": lambda x: x + jnp.bfloat16(1.5),
    "square": lambda x: x * x,
    "quotient": lambda x: x / jnp.bfloat16(3),
    "root": lax.sqrt,
    "negative": lambda x: -x,
    "absolute": abs,
    "larger": lambda x: jnp.maximum(x, 0),
    "smaller": lambda x: jnp.minimum(x, jnp.bfloat16(2.5)),
    "clip": lambda x: jnp.clip(x, -1, 1) * jnp.bfloat16(1.1),
    "choice": lambda x: jnp.where(x > 0, x, -x),
    "choice of sums": lambda x: jnp.where(x > 0, x + 1, x * jnp.bfloat16(0.3)) * 2,
    "sign": lambda x: jnp.copysign(x * x, x) + jnp.bfloat16(0.1),
    "chain": lambda x: (x * 2 + jnp.bfloat16(0.7)) * x - x / jnp.bfloat16(1.7),
    "function": lambda x: jnp.tanh(x) * 2 + jnp.exp(x),
    "integers": lambda x: lax.iota(jnp.int32, x.size).astype(x.dtype) * jnp.bfloat16(0.3) + x,
    "there and back": lambda x: x.astype(jnp.float32).astype(x.dtype),
    "float32 between": lambda x: (x.astype(jnp.float32) * 1.1 + 0.3).astype(x.dtype),
    "numbers by bits": lambda x: lax.bitcast_convert_type(
        lax.bitcast_convert_type(x, jnp.uint16) ^ jnp.uint16(0x8000), jnp.bfloat16) * 3,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_number(name):
    x = jnp.asarray(EVERY).view(jnp.bfloat16)
    *natives, tiles = (np.asarray(y).view(np.uint16) for y in every_way(FUNCTIONS[name], x))
    for native in natives:
        np.testing.assert_array_equal(native, tiles)


FROM_FLOATS = {
    "rounded": lambda x: x.astype(jnp.bfloat16),
    "sum": lambda x: (x + jnp.float32(0.5)).astype(jnp.bfloat16),
    "larger": lambda x: jnp.maximum(x, 0).astype(jnp.bfloat16),
    "choice": lambda x: jnp.where(x > 1, x * 3, -x).astype(jnp.bfloat16) * 2,
    "high bits": lambda x: lax.bitcast_convert_type(
        lax.bitcast_convert_type(x, jnp.uint32) & jnp.uint32(0xFFFF0000), jnp.float32
    ).astype(jnp.bfloat16),
    "low bits": lambda x: lax.bitcast_convert_type(
        lax.bitcast_convert_type(x, jnp.uint32) | jnp.uint32(0x7F800000), jnp.float32
    ).astype(jnp.bfloat16),
}


@pytest.mark.parametrize("name", FROM_FLOATS)
def test_float32_whose_nans_have_low_bits(name):
    """NaNs of which rounding would make an infinity, or a zero."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 1 << 32, 5000, dtype=np.uint32)
    edges = [0x7F800001, 0x7F80FFFF, 0x7FFFFFFF, 0x7FFF8000, 0xFF800001, 0xFFFFFFFF, 0x7FC00001,
             0x7F7FFFFF, 0x7F7F8000, 0x00007FFF, 0x00008000, 0x00018000, 0x3F808000, 0x3F818000]
    x = jnp.asarray(np.concatenate([words, np.array(edges * 3, np.uint32)]).view(np.float32))
    *natives, tiles = (np.asarray(y).view(np.uint16) for y in every_way(FROM_FLOATS[name], x))
    for native in natives:
        np.testing.assert_array_equal(native, tiles)
    nan = np.isnan(np.asarray(jax.jit(FROM_FLOATS[name])(x)).astype(np.float32))
    if name in ("rounded", "sum"):
        np.testing.assert_array_equal(nan, np.isnan(x))
