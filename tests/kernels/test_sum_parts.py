"""tests/kernels/test_sum_parts.py - a sum has the same bits however many are computed beside it."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

ROWS = [1, 100, 255, 256, 300, 1000, 8193, 40000]
COLUMNS = [2, 3, 40, 600, 2500]
REDUCED = {
    "read in place": lambda x: x,
    "made on the way": lambda x: jnp.cos(x) * 3 + x,
}


def numbers(*shape):
    rng = np.random.default_rng(sum(shape))
    return rng.standard_normal(shape) * 10.0 ** rng.integers(-8, 8, shape)


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64():
        yield


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("rows", ROWS)
def test_sums_over_rows_do_not_depend_on_the_other_columns(rows, name):
    f = jax.jit(lambda x: REDUCED[name](x).sum(0))
    most = max(c for c in COLUMNS if c * rows <= 4_000_000)
    x = numbers(rows, most)
    whole = np.asarray(f(x))
    for columns in COLUMNS:
        if columns < most:
            part = np.ascontiguousarray(x[:, :columns])
            np.testing.assert_array_equal(f(part), whole[:columns])
    np.testing.assert_array_equal(jax.jit(jax.vmap(f))(np.stack([x, 2 * x, x]))[2], whole)
    scale = np.abs(np.asarray(REDUCED[name](x))).sum(0)
    expected = np.asarray(REDUCED[name](x)).astype(np.longdouble).sum(0)
    assert np.all(np.abs(whole - expected) <= 1e-14 * scale)


def test_wide_rows_are_cut_into_ranges():
    f = jax.jit(lambda x: x.sum(0))
    for rows, columns in [(300, 20_000), (40, 150_000), (300, 300_000)]:
        x = np.random.default_rng(1).standard_normal((rows, columns))
        whole = np.asarray(f(x))
        for first in (0, columns // 2, columns - 5):
            part = np.ascontiguousarray(x[:, first : first + 5])
            np.testing.assert_array_equal(f(part), whole[first : first + 5])
        np.testing.assert_allclose(whole, x.sum(0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("length", [500, 16_384, 16_385, 70_000, 300_001])
def test_sums_along_rows_do_not_depend_on_the_other_rows(length, name):
    f = jax.jit(lambda x: REDUCED[name](x).sum(-1))
    x = numbers(9, length)
    whole = np.asarray(f(x))
    for rows in (1, 4):
        np.testing.assert_array_equal(f(x[:rows]), whole[:rows])
    np.testing.assert_array_equal(f(x[0]), whole[0])
