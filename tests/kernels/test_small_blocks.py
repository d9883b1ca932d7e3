"""tests/kernels/test_small_blocks.py - small blocks one after the other, in another order."""

import itertools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

SHAPES = [(1, 2, 2), (501, 2, 2), (257, 3, 3), (100, 4, 4), (77, 2, 5), (50, 1, 3), (33, 2, 2, 2),
          (12, 7, 2, 3), (300, 2, 8), (20, 5, 5)]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transposes_of_the_last_dimensions(shape, dtype):
    with jax.enable_x64(True):
        x = (np.arange(np.prod(shape)) % 127).reshape(shape).astype(dtype)
        for order in itertools.permutations(range(1, len(shape))):
            axes = (0, *order)
            f = jax.jit(lambda x: jnp.transpose(x, axes) * 2)  # noqa: B023
            expected = np.transpose(x, axes) * x.dtype.type(2)
            np.testing.assert_array_equal(f(x), expected)
            np.testing.assert_array_equal(f(x[shape[0] // 3 :]), expected[shape[0] // 3 :])


def test_beside_other_operands():
    x = np.arange(999 * 9, dtype="float32").reshape(999, 3, 3)
    y = x[::-1] + 1
    f = jax.jit(lambda x, y: (jnp.swapaxes(x, 1, 2) + y, (jnp.swapaxes(x, 1, 2) * y).sum(2)))
    moved = np.swapaxes(x, 1, 2)
    added, summed = f(x, y)
    np.testing.assert_array_equal(added, moved + y)
    np.testing.assert_allclose(summed, (moved * y).sum(2), rtol=1e-6)
    parts = jax.pmap(lambda x: jnp.swapaxes(x, 1, 2) - x)(x[:992].reshape(8, 124, 3, 3))
    np.testing.assert_array_equal(np.asarray(parts).reshape(-1, 3, 3), (moved - x)[:992])
