"""tests/compile/test_fold_one_hot.py - one-hot rows become comparisons with iota."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

SCATTER = {
    0: lax.ScatterDimensionNumbers((), (0,), (0,), (1,), (0,)),
    1: lax.ScatterDimensionNumbers((), (1,), (1,), (0,), (0,)),
}


def add_to_rows(dim, shape, index, updates, mode=None):
    zeros = jnp.zeros(shape, updates.dtype)
    return lax.scatter_add(zeros, index[:, None], updates, SCATTER[dim], mode=mode)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_bits_are_those_of_the_scatter(dim, dtype):
    rows, n = 37, 11
    rng = np.random.default_rng(0)
    shape = (n, rows) if dim == 0 else (rows, n)
    index = jnp.asarray(rng.integers(-3, n + 3, rows).astype(np.int32))
    values = rng.standard_normal(rows)
    values[:4] = -0.0, np.nan, np.inf, -np.inf
    updates = jnp.asarray(values).astype(dtype)
    other = jnp.asarray(rng.standard_normal(shape)).astype(dtype)

    def f(index, updates, other):
        placed = add_to_rows(dim, shape, index, updates)
        return placed, placed * other, placed.sum(dim), placed.sum(1 - dim), placed.max()

    for mode in (None, "clip", "promise_in_bounds"):
        placed = np.zeros(shape, np.float32)
        for row, (i, v) in enumerate(zip(np.asarray(index), np.asarray(updates, np.float32))):
            i = min(max(i, 0), n - 1) if mode == "clip" else i
            if 0 <= i < n:
                placed[(i, row) if dim == 0 else (row, i)] += v
        found = jax.jit(lambda i, u: add_to_rows(dim, shape, i, u, mode))(index, updates)  # noqa: B023
        np.testing.assert_array_equal(np.asarray(found, np.float32), placed)
        assert not np.signbit(np.asarray(found, np.float32)[placed == 0]).any()
    staged = jax.jit(f)(index, updates, other)
    eager = f(index, updates, other)
    for a, b in zip(staged[:2] + staged[4:], eager[:2] + eager[4:]):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    for a, b in zip(staged[2:4], eager[2:4]):
        np.testing.assert_array_equal(np.asarray(a, np.float32), np.asarray(b, np.float32))


def test_several_numbers_for_a_row_are_added_up():
    numbers = lax.ScatterDimensionNumbers((), (1,), (1,), (0,), (0,))
    index = jnp.array([[[1], [1]], [[0], [2]]])
    f = jax.jit(lambda u: lax.scatter_add(jnp.zeros((2, 3)), index, u, numbers))
    assert f(jnp.ones((2, 2))).tolist() == [[0, 2, 0], [1, 0, 1]]


def test_zeros_of_the_gradient_of_cross_entropy_are_not_kept():
    rows, n = 40_000, 100

    def loss(x, labels):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1)
        return -chosen.mean()

    x = np.random.default_rng(0).standard_normal((rows, n)).astype(np.float32)
    labels = jnp.arange(rows) % (n + 1) - 1  # one counts from the end
    step = jax.jit(jax.grad(loss))
    lowered = step.lower(jnp.asarray(x), labels).compile()
    assert lowered.memory_analysis().temp_size_in_bytes < rows * n * 2  # half of them
    wide = x.astype(np.float64)
    shares = np.exp(wide) / np.exp(wide).sum(1, keepdims=True)
    shares[np.arange(rows), np.asarray(labels)] -= 1
    np.testing.assert_allclose(step(x, labels), shares / rows, atol=1e-10)


def test_positions_are_kept_as_a_vector():
    f = jax.jit(
        lambda i: jnp.where(lax.broadcasted_iota("int32", (9, 4), 1) == i[:, None], 1.0, 0.0)
    )
    np.testing.assert_array_equal(f(jnp.arange(9)), np.eye(9, 4))
    np.testing.assert_array_equal(
        jax.jit(lambda: lax.broadcasted_iota("int32", (2, 3, 4), 1))(),
        np.broadcast_to(np.arange(3)[:, None], (2, 3, 4)),
    )
