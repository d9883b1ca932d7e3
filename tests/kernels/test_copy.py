"""tests/kernels/test_copy.py - large strided copies, which threads share, against NumPy."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

SHAPES = [(700_001,), (3, 300_007), (2, 3, 60_000), (1000, 513), (17, 129, 130), (40_000, 2, 3)]


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.complex64, np.complex128])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threads", [1, 3])
def test_copies_are_whole(shape, dtype, threads):
    x = (np.arange(np.prod(shape)) % 113).reshape(shape).astype(dtype)
    with jax.threads(threads), jax.enable_x64(True):
        v = jnp.asarray(x)
        back = tuple(range(x.ndim))[::-1]
        np.testing.assert_array_equal(jnp.transpose(v, back), x.transpose(back))
        np.testing.assert_array_equal(jnp.concatenate([v, v], -1), np.concatenate([x, x], -1))
        low = [(1, 2, 0)] * x.ndim
        padded = np.pad(x, [(1, 2)] * x.ndim, constant_values=7)
        np.testing.assert_array_equal(lax.pad(v, jnp.asarray(7, dtype), low), padded)
        new = lax.dynamic_update_slice(v, v[..., 1:], (0,) * x.ndim)
        expected = x.copy()
        expected[..., :-1] = x[..., 1:]
        np.testing.assert_array_equal(new, expected)


def test_products_over_dimensions_in_another_order():
    x = np.arange(64 * 48 * 40, dtype=np.float32).reshape(64, 48, 40) % 7
    y = np.arange(48 * 64 * 24, dtype=np.float32).reshape(48, 64, 24) % 5
    expected = np.einsum("abi,baj->ij", x, y)
    np.testing.assert_array_equal(jnp.einsum("abi,baj->ij", x, y), expected)


@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.float64])
@pytest.mark.parametrize("step", [-1, 2, -2, 3])
def test_steps_through_memory(step, dtype):
    """Of every length around that of vectors, up to the last element of an array."""
    with jax.enable_x64(True):
        for n in [*range(1, 70), 4097, 300_001]:
            x = (np.arange(n) % 119).astype(dtype)
            v = jnp.asarray(x)
            np.testing.assert_array_equal(v[::step] + 0, x[::step])
            rows = jnp.stack([v, v])[:, ::step]
            np.testing.assert_array_equal(jnp.concatenate([rows, rows]), np.stack([x[::step]] * 4))
            got = jax.jit(lambda v: (v[::step] * 3, v[::step].sum()))(v)  # noqa: B023
            np.testing.assert_array_equal(got[0], x[::step] * dtype(3))
            assert n > 100 or got[1] == x[::step].sum()


def test_runs_of_every_length_and_place():
    """Copies in vectors, and what is left behind them."""
    x = np.arange(5000, dtype=np.int8)
    for n in (*range(0, 300, 7), 1023, 1024, 1025, 4999):
        for low in (0, 1, 3, 12, 64):
            y = np.asarray(lax.pad(jnp.asarray(x)[:n], jnp.int8(0), [(low, 2, 0)]))
            np.testing.assert_array_equal(y, np.pad(x[:n], (low, 2)))
