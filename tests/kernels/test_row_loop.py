"""tests/kernels/test_row_loop.py - loops over rows give each row the bits that it has alone."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

# Functions of x [m, n], a row [n] and a column [m, 1].
FUNCTIONS = {
    "column": lambda x, row, column: (x - column) * column,
    "row": lambda x, row, column: jnp.where(x > row, x * row, -row),
    "sum": lambda x, row, column: x.sum(1),
    "sums": lambda x, row, column: ((x * column).sum(1), (x * x - row).sum(1), x.max(1)),
    "kept": lambda x, row, column: (d := x - column, (d * d).sum(1)),
    "softmax": lambda x, row, column: jax.nn.softmax(x, 1),
    "norm": lambda x, row, column: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True) * row,
    "narrow": lambda x, row, column: (x > column, (x * 8).astype("int8"), x.astype("bfloat16")),
    "cut": lambda x, row, column: (x[:, 1:] * 2 + column, (x[:, :-1] * row[1:]).sum(1)),
}
LENGTHS = (48, 50, 97, 112, 255, 256, 300, 515, 1000, 2051)


def bits(tree):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_have_the_bits_that_they_have_alone(name, dtype):
    f = jax.jit(FUNCTIONS[name])
    with jax.enable_x64(True):
        for n in LENGTHS:
            rng = np.random.default_rng(n)
            x = (rng.normal(size=(70, n)) * 9).astype(dtype)
            row = (rng.normal(size=n) * 9).astype(dtype)
            column = (rng.normal(size=(70, 1)) * 9).astype(dtype)
            whole = f(x, row, column)
            for i in (0, 7, 69):
                alone = f(x[i : i + 1], row, column[i : i + 1])
                assert bits(alone) == bits(jax.tree.map(lambda a: a[i : i + 1], whole)), n  # noqa: B023


@pytest.mark.parametrize("n", LENGTHS)
def test_results_over_operands(n):
    """The last vector of a row lies over the one before it, which may have been written."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=(70, n)).astype("float32")
    column = rng.normal(size=(70, 1)).astype("float32")

    def step(x, column):
        return jnp.tanh(x - column) * 3 + x, ((x * column) ** 2).sum(1)

    want = bits(jax.jit(step)(x, column))
    donated = jax.jit(step, donate_argnums=0)
    assert bits(donated(jnp.array(x), column)) == want
    turned = jax.jit(
        lambda x, c: jax.lax.fori_loop(0, 3, lambda _, x: step(x, c)[0], x), donate_argnums=0
    )(jnp.array(x), column)
    for _ in range(3):
        x = jax.jit(step)(x, column)[0]
    assert bits(turned) == bits(x)


def test_nothing_beyond_the_rows_is_written():
    """Rows of a slice that a loop updates in place."""
    x = np.random.default_rng(0).normal(size=(40, 131)).astype("float32")
    column = x[:, :1]
    updated = jax.jit(lambda x, c: x.at[3:33, 5:105].multiply(c[3:33] + 1), donate_argnums=0)
    want = x.copy()
    want[3:33, 5:105] *= column[3:33] + 1
    np.testing.assert_array_equal(updated(jnp.array(x), column), want)


def test_rows_of_nothing():
    for shape in ((70, 0), (0, 300)):
        x = jnp.zeros(shape)
        np.testing.assert_array_equal(jax.jit(lambda x: x.sum(1))(x), np.zeros(shape[0]))
        assert jax.jit(lambda x: (x - x[:, :1]).sum(1))(jnp.zeros((0, 300))).shape == (0,)
