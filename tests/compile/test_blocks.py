"""tests/compile/test_blocks.py - loops over transposed operands run block by block."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

RNG = np.random.default_rng(0)


def numbers(shape, dtype):
    return np.asarray(RNG.integers(-100, 100, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "int8", "int16", "int32", "bfloat16", "complex64"])
@pytest.mark.parametrize("shape", [(130, 67), (16, 1000), (1000, 17), (333, 333), (2048, 16)])
def test_transposed_operands(shape, dtype):
    x, y = (jnp.asarray(numbers(s, "int32")).astype(dtype) for s in (shape, shape[::-1]))
    row, column = y[:1], y[:, :1]
    f = jax.jit(lambda x, y, row, column: (x.T + y * row, x.T - column, -x.T))
    wide = [np.asarray(a.astype("complex64")) for a in (x, y, row, column)]
    expected = wide[0].T + wide[1] * wide[2], wide[0].T - wide[3], -wide[0].T
    for found, wanted in zip(f(x, y, row, column), expected):
        if dtype in ("int8", "int16"):
            wanted = wanted.real.astype("int64").astype(dtype)
        if dtype == "bfloat16":
            np.testing.assert_allclose(np.asarray(found, "float32"), wanted.real, rtol=0.02, atol=1)
        else:
            exact = wanted if dtype == "complex64" else wanted.real
            np.testing.assert_array_equal(np.asarray(found), exact.astype(found.dtype))


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 1, 0), (1, 0, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("shape", [(9, 40, 50), (33, 17, 70), (100, 3, 64), (20, 30, 1)])
def test_batches(shape, order):
    x = numbers(shape, "float32")
    wanted = x.transpose(order)
    y = numbers(wanted.shape, "float32")
    part = numbers(wanted.shape[:1] + (1, 1), "float32")  # varies from block to block only
    f = jax.jit(lambda x, y, part: jnp.tanh(jnp.transpose(x, order)) * y + part)
    found = f(x, y, part)
    np.testing.assert_allclose(found, np.tanh(wanted) * y + part, rtol=1e-5, atol=1e-4)
    same = jnp.tanh(jnp.asarray(np.ascontiguousarray(wanted))) * y + part
    assert np.asarray(found).tobytes() == np.asarray(same).tobytes()
    np.testing.assert_array_equal(jax.jit(lambda x: jnp.transpose(x, order) + 0)(x), wanted)


def test_copies_of_transposed_arrays():
    for shape in ((130, 67), (5, 33, 47), (7, 64, 48), (1000, 3)):
        for dtype in ("float32", "int8", "int16", "complex64", "bool"):
            x = numbers(shape, dtype)
            y = jnp.swapaxes(jnp.asarray(x), -1, -2)
            np.testing.assert_array_equal(np.asarray(jnp.array(y)), np.swapaxes(x, -1, -2))
            np.testing.assert_array_equal(y.reshape(-1), np.swapaxes(x, -1, -2).reshape(-1))


def test_two_operands_that_are_crossed_differently():
    x = numbers((40, 30, 50), "float32")
    f = jax.jit(
        lambda x: jnp.transpose(x, (2, 1, 0)) * 2 + jnp.transpose(x[:, :, :40], (0, 1, 2)).sum()
    )
    np.testing.assert_array_equal(f(x), x.transpose(2, 1, 0) * 2 + x[:, :, :40].sum())
    cube = numbers((40, 40, 40), "float32")
    g = jax.jit(lambda x: jnp.transpose(x, (2, 1, 0)) + jnp.transpose(x, (1, 2, 0)) * x)
    wanted = cube.transpose(2, 1, 0) + cube.transpose(1, 2, 0) * cube
    np.testing.assert_array_equal(g(cube), wanted)


def test_an_array_added_to_its_own_transpose_in_place():
    x = numbers((200, 200), "float32")
    step = jax.jit(lambda x: x + x.T, donate_argnums=0)
    np.testing.assert_array_equal(step(jnp.asarray(x)), x + x.T)
