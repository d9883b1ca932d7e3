"""tests/ops/test_sort.py - sorting, by the bits of what comes out, at lengths around vectors."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

# Around a vector, a block of vectors, one more partition, another choice of pivots, all threads.
LENGTHS = (1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 66, 127, 129, 200, 513, 2047, 2049, 70_001)
DTYPES = (np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64, np.int16, np.uint8)


def bits(x):
    x = np.asarray(x)
    return x.view(f"u{x.dtype.itemsize}")


def stable(x):
    """NaN last and -0 equal to 0, as lax.sort has them."""
    return x[np.argsort(np.where(x == 0, 0, x), kind="stable")]


def whole_range(rng, dtype, n):
    """Of integers any, of floats any bits: infinities, NaN of all kinds, subnormals."""
    return rng.integers(0, 256, n * np.dtype(dtype).itemsize, np.uint8).view(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_bits(dtype):
    rng = np.random.default_rng(0)
    with shardax.enable_x64(True), np.errstate(invalid="ignore"):
        for n in LENGTHS:
            x = whole_range(rng, dtype, n)
            if x.dtype.kind == "f":
                x[rng.integers(0, n, n // 5)] = -0.0
                x[rng.integers(0, n, n // 5)] = 0.0
                x[rng.integers(0, n, n // 7)] = np.nan
            np.testing.assert_array_equal(bits(lax.sort(x)), bits(stable(x)), err_msg=str(n))


@pytest.mark.parametrize("dtype", (np.int32, np.float32, np.int64, np.float64))
@pytest.mark.parametrize("kinds", (1, 2, 3, 50))
def test_few_values(dtype, kinds):
    rng = np.random.default_rng(kinds)
    with shardax.enable_x64(True):
        for n in LENGTHS:
            x = (rng.integers(0, kinds, n) - kinds // 2).astype(dtype)
            np.testing.assert_array_equal(bits(lax.sort(x)), bits(stable(x)), err_msg=str(n))


@pytest.mark.parametrize("dtype", (np.uint32, np.float64))
def test_orders_that_pivots_could_fall_for(dtype):
    n = 100_000
    up = np.arange(n).astype(dtype)
    pipe = np.concatenate([up[::2], up[1::2][::-1]])
    edge = np.full(n, np.iinfo(np.uint32).max).astype(dtype)
    edge[::1000] = 0
    with shardax.enable_x64(True):
        for x in (
            up,
            up[::-1],
            pipe,
            pipe[::-1],
            np.roll(up, 1),
            np.tile(up[:100], n // 100),
            edge,
        ):
            np.testing.assert_array_equal(lax.sort(x), np.sort(x))


def test_rows_and_strides():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((40, 300), np.float32)
    for axis in (0, 1):
        np.testing.assert_array_equal(jnp.sort(x, axis=axis), np.sort(x, axis))
    np.testing.assert_array_equal(jnp.sort(x.T[::-1], axis=0), np.sort(x.T[::-1], 0))


@pytest.mark.parametrize("dtype", (*DTYPES, np.float16))
def test_positions_and_several_keys(dtype):
    """Around each way to go by digits of the keys: ties keep their order."""
    rng = np.random.default_rng(2)
    with shardax.enable_x64(True):
        for n in (1, 399, 400, 4095, 4096, 4097, 32_767, 32_768, 32_769, 100_003):
            few, many = rng.integers(0, 5, n).astype(dtype), rng.integers(0, 9 * n, n)
            if np.dtype(dtype).itemsize >= 4:
                many = (many - 4 * n).astype(dtype)
            places = np.arange(n)
            order = np.argsort(many, kind="stable")
            got = lax.sort((many, places, few), num_keys=1)
            for result, x in zip(got, (many, places, few), strict=True):
                np.testing.assert_array_equal(result, x[order], err_msg=str(n))
            order = np.lexsort((many, few))
            for result, x in zip(
                lax.sort((few, many, places), num_keys=2), (few, many, places), strict=True
            ):
                np.testing.assert_array_equal(result, x[order], err_msg=str(n))
