"""tests/codegen/test_division.py - vectors of integers are divided exactly."""

import os

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.machines import runs_loops

EDGES = [0, 1, 2, 3, 7, 10, 255, 65535, 65536, 1 << 30, (1 << 31) - 1]


def numbers(dtype):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    edges = EDGES + [info.min, info.min + 1, info.max, info.max - 1]
    edges += [-x for x in EDGES] if info.min < 0 else [1 << 31, (1 << 31) + 1]
    wide = rng.integers(info.min, info.max, 20_000, endpoint=True, dtype=dtype)
    near = wide // rng.integers(1, 1 << 16, 20_000, dtype=dtype)
    return np.concatenate([np.array(edges, dtype), wide, near])


def truncated(a, b):
    """The quotient and the remainder of division towards zero; -1 and a of that by 0."""
    x, y = a.astype(np.int64), b.astype(np.int64)
    safe = np.where(y == 0, 1, y)
    q = np.abs(x) // np.abs(safe) * np.sign(x) * np.sign(safe)
    return np.where(y == 0, -1, q).astype(a.dtype), np.where(y == 0, x, x - q * safe).astype(
        a.dtype
    )


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_by_other_numbers(dtype):
    a = numbers(dtype)
    for b in (np.roll(a, 1), np.roll(a, 20_003), np.sort(a), a):
        q, r = jax.jit(lambda a, b: (lax.div(a, b), lax.rem(a, b)))(a, b)
        expected = truncated(a, b)
        np.testing.assert_array_equal(q, expected[0])
        np.testing.assert_array_equal(r, expected[1])


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize(
    "divisor", [1, 2, 3, 7, 10, 16, 100, 641, 65537, (1 << 31) - 1, -1, -3, -16]
)
def test_by_constants(dtype, divisor):
    if divisor < 0 and dtype == "uint32":
        divisor = (1 << 32) + divisor
    d = np.array(divisor).astype(dtype)
    a = numbers(dtype)
    multiples = (a.astype(np.int64) // max(divisor, 1) * divisor).astype(dtype)
    a = np.concatenate([a, multiples, multiples - d.dtype.type(1), multiples + d.dtype.type(1)])
    q, r = jax.jit(lambda a: (lax.div(a, d), lax.rem(a, d)))(a)
    expected = truncated(a, np.full_like(a, d))
    np.testing.assert_array_equal(q, expected[0])
    np.testing.assert_array_equal(r, expected[1])
    floored = a.astype(np.int64) // int(d), a.astype(np.int64) % int(d)
    q, r = jax.jit(lambda a: (a // d, a % d))(a)
    np.testing.assert_array_equal(q, floored[0].astype(dtype))
    np.testing.assert_array_equal(r, floored[1].astype(dtype))


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("divisor", [3, 5, 7, 10, 11, 641, 1000003, (1 << 30) + 1, (1 << 31) - 1,
                                     -2, -3, -7, -(1 << 31)])  # fmt: skip
def test_of_single_numbers_by_constants(dtype, divisor):
    """In loops of scalars, whose quotients are multiplications."""
    d = np.array(divisor % (1 << 32)).astype(dtype)
    a = numbers(dtype)[:30_000]
    multiples = (a.astype(np.int64) // int(d) * int(d)).astype(dtype)
    one = d.dtype.type(1)
    a = np.concatenate([a, multiples, multiples - one, multiples + one])
    q, r = jax.jit(lambda a: lax.scan(lambda c, x: (c + x, (lax.div(x, d), lax.rem(x, d))),
                                      np.zeros((), dtype), a)[1])(a)  # fmt: skip
    expected = truncated(a, np.full_like(a, d))
    np.testing.assert_array_equal(q, expected[0])
    np.testing.assert_array_equal(r, expected[1])


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("count", [1, 8, 11, 20, 32, 61])
def test_of_few_elements_by_constants(dtype, count):
    """In loops over an array whose elements are lanes of registers."""
    a = numbers(dtype)[5 : 5 + count]

    def step(i, x):
        return lax.div(x, x.dtype.type(3)) + lax.rem(x, x.dtype.type(1000)) * x.dtype.type(77773)

    found = jax.jit(lambda a: lax.fori_loop(0, 40, step, a))(a)
    for _ in range(40):
        q, r = truncated(a, np.full_like(a, 3))[0], truncated(a, np.full_like(a, 1000))[1]
        a = q + r * a.dtype.type(77773)
    np.testing.assert_array_equal(found, a)


@runs_loops
@pytest.mark.skipif(os.environ.get("SHARDAX_CODEGEN") == "0", reason="loops run on tile kernels")
def test_divisions_are_machine_code(dump_of):
    dump = dump_of(
        "import shardax as jax, shardax.numpy as jnp\n"
        "a = jnp.arange(70_000)\n"
        "jax.jit(lambda a: a % 7 + a // 9)(a)"
    )
    assert "native loop" in dump


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders_of_floats_are_exact(dtype):
    rng = np.random.default_rng(0)
    edges = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, np.inf, -np.inf, np.nan, 1e-40, -1e-45, 3e38, 1e30]
    a = np.concatenate(
        [
            np.repeat(edges, len(edges)),
            rng.standard_normal(5000) * 10.0 ** rng.integers(-40, 38, 5000),
            rng.integers(-1000, 1000, 5000) * 0.1,
            rng.random(5000) * 1000,
        ]
    ).astype(dtype)
    b = np.concatenate(
        [
            np.tile(edges, len(edges)),
            rng.standard_normal(5000) * 10.0 ** rng.integers(-40, 38, 5000),
            np.full(5000, 0.1),
            rng.standard_normal(5000),
        ]
    ).astype(dtype)
    with jax.enable_x64(dtype == "float64"), np.errstate(all="ignore"):
        found = np.asarray(jax.jit(lax.rem)(jnp.asarray(a), jnp.asarray(b)))
        expected = np.fmod(a, b)
        same = (found == expected) & (np.signbit(found) == np.signbit(expected))
        assert (same | (np.isnan(found) & np.isnan(expected))).all()
        slices = [jax.jit(lax.rem)(jnp.asarray(a[i:]), jnp.asarray(b[i:])) for i in (1, 130)]
    np.testing.assert_array_equal(slices[0], found[1:])
    np.testing.assert_array_equal(slices[1], found[130:])
