"""tests/compile/test_fold_constants.py - equations of constants are evaluated at compile time."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

EDGES = [-(2**31), -(2**31) + 1, -8, -7, -1, 0, 1, 6, 7, 8, 2**31 - 2, 2**31 - 1]
DIVISORS = [1, -1, 2, 7, -7, 10, 641, -1000, 2**31 - 1, -(2**31)]


def integers(dtype):
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 2**32, 5000, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([np.array(EDGES).astype(np.uint32), drawn]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize("divisor", DIVISORS)
def test_quotients_by_a_constant(dtype, divisor):
    x = integers(dtype)
    d = dtype(divisor & 0xFFFFFFFF if dtype == np.uint32 else divisor)
    if dtype == np.int32 and divisor == -1:
        x = x[x != -(2**31)]
    wide, by = x.astype(np.int64), int(d)
    np.testing.assert_array_equal(jax.jit(lambda x: x // d)(x), wide // by)
    np.testing.assert_array_equal(jax.jit(lambda x: x % d)(x), wide % by)
    towards_zero = np.sign(wide) * np.sign(by) * (abs(wide) // abs(by))
    np.testing.assert_array_equal(jax.jit(lambda x: lax.div(x, d))(x), towards_zero)


def test_numbers_of_constant_arrays_are_their_own():
    table = np.array([3, 5, 7], np.int32)
    x = integers(np.int32)

    def f(x):
        return [x // jnp.asarray(table)[i] for i in range(3)]

    for i, found in enumerate(jax.jit(f)(x)):
        np.testing.assert_array_equal(found, x // table[i])


def test_loops_have_nothing_to_read_but_their_operand(dump_of):
    for operator in ("//", "%"):
        plan = dump_of(f"""
import numpy as np, shardax as jax
jax.jit(lambda x: x {operator} 7)(np.arange(100000, dtype=np.int32))
""")
        assert plan.count(" loop ") == 1 and "loop ()" not in plan


def test_values():
    def f(x):
        scale = jnp.sqrt(jnp.float32(2.0)) * jnp.exp(jnp.float32(0.5))
        chosen = jnp.where(jnp.int32(3) > 2, scale, jnp.float32(np.nan))
        return x * chosen, jnp.bool_(True) & (jnp.int8(-3) < 0), jnp.uint8(250) + jnp.uint8(10)

    x = jnp.arange(5.0)
    for compiled, eager in zip(jax.jit(f)(x), f(x)):
        assert compiled.dtype == eager.dtype
        np.testing.assert_array_equal(compiled, eager)
    assert np.isnan(jax.jit(lambda: jnp.log(jnp.float32(-1.0)))())
    half = jax.jit(lambda x: x + jnp.bfloat16(1) / jnp.bfloat16(3))(jnp.bfloat16(0))
    assert half == jnp.bfloat16(1) / jnp.bfloat16(3)
