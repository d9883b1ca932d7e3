"""tests/kernels/test_small_loop.py - loops over few elements compute what longer ones do."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

# Functions of x [m, n], a row [n] and a column [m].
FUNCTIONS = {
    "chain": lambda x, row, column: x * 2 + x * x - 1,
    "rows": lambda x, row, column: jnp.tanh(x - row) * row,
    "columns": lambda x, row, column: jnp.exp(x - column[:, None]) * column[:, None],
    "one": lambda x, row, column: (x + row[0]) * column[-1],
    "turned": lambda x, row, column: jnp.tanh(x).T * 2 + column,
    "reversed": lambda x, row, column: x[::-1, ::2] * 2 + column[:, None],
    "one op": lambda x, row, column: x.T + column,
    "sums": lambda x, row, column: (x.sum(1), (x * row).sum(1), (x + column[:, None]).max(0)),
    "all": lambda x, row, column: ((x * 2).sum(), x.min(), jnp.exp(x).max(0) + row),
    "softmax": lambda x, row, column: jax.nn.softmax(x * row, 1),
    "truth": lambda x, row, column: jnp.where((x > row) & (x < column[:, None]), x, row),
    "kinds": lambda x, row, column: (x > 0).astype("int32") + (row * 3).astype("int32"),
}
SHAPES = [(1, 1), (1, 7), (3, 5), (8, 8), (5, 48), (4, 64), (2, 256), (1, 500), (2, 301), (20, 50),
          (300, 2), (7, 290), (8, 128), (2, 513), (4, 512), (1, 2048), (1025, 2), (3, 600),
          (58, 35), (2048, 1), (33, 63)]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_as_in_a_stack(name, dtype):
    """A stack takes more elements than a small loop has, 2048."""
    f = FUNCTIONS[name]
    with jax.enable_x64(True):
        for shape in SHAPES:
            rng = np.random.default_rng(len(name))
            many = max(8, 2500 // (shape[0] * shape[1]))
            x = rng.normal(size=(many, *shape)).astype(dtype)
            row = rng.normal(size=(many, shape[1])).astype(dtype)
            column = rng.normal(size=(many, shape[0])).astype(dtype)
            stacked = jax.jit(jax.vmap(f))(x, row, column)
            for i in (0, many - 1):
                alone = jax.jit(f)(x[i], row[i], column[i])
                for part, whole in zip(jax.tree.leaves(alone), jax.tree.leaves(stacked)):
                    assert np.asarray(part).tobytes() == np.asarray(whole)[i].tobytes(), shape


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16", "bool"])
@pytest.mark.parametrize("stack", [2, 3, 4, 8])
def test_columns_in_a_small_stack(stack, dtype):
    """Reduced dimensions that stay between others."""

    def f(x, row, column):
        y = jnp.where(x > row, x, row)
        z = jnp.where(x == column[:, None], x, y)
        return y, y.max(0), (x != row).sum(0), x.min(0), z.max(0)

    for shape in [(16, 16), (5, 7), (200, 3), (3, 90), (1, 4), (130, 2), (9, 64)]:
        rng = np.random.default_rng(stack)
        draw = lambda *s: (rng.normal(size=s) * 3).astype(dtype)  # noqa: B023
        x, row, column = draw(stack, *shape), draw(stack, shape[1]), draw(stack, shape[0])
        stacked = jax.jit(jax.vmap(f))(x, row, column)
        for i in range(stack):
            alone = jax.jit(f)(x[i], row[i], column[i])
            for part, whole in zip(alone, stacked):
                assert np.asarray(part).tobytes() == np.asarray(whole)[i].tobytes(), shape
    sums = jax.jit(jax.vmap(lambda x: (x * 2).sum(0)))
    if dtype == "float32":
        for shape in [(16, 16), (130, 2), (256, 3), (300, 2)]:
            x = rng.normal(size=(stack, *shape)).astype(dtype)
            np.testing.assert_allclose(sums(x), (x * 2).sum(1), rtol=1e-5, atol=1e-4)


def test_nothing_beyond_the_results_is_written():
    """Loops in a scan write slices of its results, one after the other."""

    def turn(carry, x):
        y = jnp.tanh(x) * 2 + carry
        return carry + 1, (y, y.sum(0), y[:, ::-1] + 1)

    for shape in ((3, 7), (5, 5), (2, 13), (9, 3)):
        xs = np.random.default_rng(0).normal(size=(6, *shape)).astype("float32")
        carry, out = jax.jit(lambda xs: jax.lax.scan(turn, jnp.zeros(shape[1]), xs))(xs)  # noqa: B023
        for i in range(6):
            expected = turn(np.float32(i), xs[i])[1]
            for part, whole in zip(expected, out):
                np.testing.assert_allclose(whole[i], part, rtol=1e-5, atol=1e-5)
