"""tests/compile/test_fold_index_wrap.py - negative indices fold into gathers and scatters."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

RNG = np.random.default_rng(0)


def places(shape, *sizes, dtype="int32"):
    found = [RNG.integers(-n, n, shape).astype(dtype) for n in sizes]
    return found if len(found) > 1 else found[0]


def same(f, g, *arrays):
    np.testing.assert_array_equal(jax.jit(f)(*map(jnp.asarray, arrays)), g(*arrays))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8"])
@pytest.mark.parametrize("n", [1, 7, 100])
def test_elements_of_a_vector(n, dtype):
    v = RNG.random(n).astype("float32")
    p = places(1000, n).astype(dtype)
    p = np.where(p < n, p, 0).astype(dtype)
    same(lambda v, p: v[p], lambda v, p: v[p], v, p)


def test_elements_along_axes():
    m = RNG.random((30, 40)).astype("float32")
    for axis, p in ((0, places((9, 40), 30)), (1, places((30, 9), 40))):
        same(
            lambda m, p: jnp.take_along_axis(m, p, axis),  # noqa: B023
            lambda m, p: np.take_along_axis(m, p.astype(np.int64), axis),  # noqa: B023
            m,
            p,
        )


@pytest.mark.parametrize("rows, columns", [(30, 40), (700, 3), (3, 700), (1, 5)])
def test_rows_and_columns(rows, columns):
    m = RNG.random((rows, columns)).astype("float32")
    p, q = places(600, rows, columns)
    same(lambda m, p: m[p], lambda m, p: m[p], m, p)
    same(lambda m, q: m[:, q], lambda m, q: m[:, q], m, q)
    same(lambda m, q: m.T[q], lambda m, q: m.T[q], m, q)
    same(lambda m, p, q: m[p, q], lambda m, p, q: m[p, q], m, p, q)
    same(lambda m, p: m[p, 0], lambda m, p: m[p, 0], m, p)
    same(lambda m, q: m[::-1, q], lambda m, q: m[::-1, q], m, q)


def test_batches_of_places():
    m = RNG.random((12, 30)).astype("float32")
    p = places((12, 50), 30)
    expected = np.stack([v[i] for v, i in zip(m, p)])
    np.testing.assert_array_equal(jax.jit(jax.vmap(lambda v, i: v[i]))(m, p), expected)
    np.testing.assert_array_equal(jax.jit(jax.vmap(lambda i: jnp.asarray(m)[3][i]))(p), m[3][p])
    inner = RNG.random((4, 30, 5)).astype("float32")
    same(lambda x, i: x[:, i], lambda x, i: x[:, i], inner, p[0])
    same(lambda x, i: x[:, i, 2:4], lambda x, i: x[:, i, 2:4], inner, p[0])


def test_updates():
    x = RNG.random((50, 8)).astype("float32")
    p = places(200, 50)
    u = RNG.random((200, 8)).astype("float32")

    def added(x, p, u):
        out = x.copy()
        for i, row in zip(p, u):
            out[i] += row
        return out

    same(lambda x, p, u: x.at[p].add(u), added, x, p, u)
    same(
        lambda x, p: x.at[p].set(2),
        lambda x, p: np.where(np.isin(np.arange(50), p % 50)[:, None], np.float32(2), x),
        x,
        p,
    )
    gradient = jax.jit(jax.grad(lambda x: (x[p] * u).sum()))(jnp.asarray(x))
    np.testing.assert_allclose(gradient, added(np.zeros_like(x), p, u), rtol=1e-5)


@pytest.mark.parametrize("mode", ["fill", "clip"])
def test_places_outside_are_as_in_eager_calls(mode):
    v = jnp.arange(10.0)
    p = jnp.asarray(RNG.integers(-35, 35, 1000).astype("int32"))
    staged = jax.jit(lambda v, p: v.at[p].get(mode=mode))(v, p)
    wrapped = np.asarray(p) + 10 * (np.asarray(p) < 0)
    expected = {
        "fill": np.where((wrapped >= 0) & (wrapped < 10), wrapped % 10, np.nan),
        "clip": np.clip(wrapped, 0, 9),
    }[mode]
    np.testing.assert_array_equal(staged, expected)


def test_other_additions_stay():
    v = jnp.arange(10.0)
    p = jnp.array([-1, -3, 2])
    near = jax.jit(lambda v, p: v.at[jnp.where(p < 0, p + 9, p)].get(mode="clip"))(v, p)
    assert near.tolist() == [8, 6, 2]
    other = jax.jit(lambda v, p: v.at[jnp.where(p < 1, p + 10, p)].get(mode="clip"))(v, p)
    assert other.tolist() == [9, 7, 2]


def test_wide_places():
    with jax.enable_x64(True):
        v = jnp.arange(10.0)
        p = jnp.array([-1, 3, -10, -(2**40), 2**40], jnp.int64)
        assert jax.jit(lambda v, p: v[p])(v, p)[:3].tolist() == [9, 3, 0]
        filled = jax.jit(lambda v, p: v.at[p].get(mode="fill", fill_value=-1))(v, p)
        assert filled.tolist() == [9, 3, 0, -1, -1]


def test_no_pass_is_made_for_them(dump_of):
    dump = dump_of(
        "import shardax as jax, shardax.numpy as jnp\n"
        "p = jnp.arange(-500, 500)\n"
        "v = jnp.arange(500.0)\n"
        "jax.jit(lambda v, p: v.at[p].add(1.0)[p])(v, p)\n"
        "jax.jit(lambda m, p: m[p, p])(jnp.ones((500, 500)), p)"
    )
    assert dump.count("gather") == 2
    assert "scatter-add" in dump
    assert "select_n" not in dump


def test_narrow_and_wide_arrays_in_loops():
    v = jnp.arange(300.0)
    p = jnp.asarray(places((20, 400), 300))
    _, found = jax.jit(lambda v, p: lax.scan(lambda c, i: (c, v[i].sum()), 0, p))(v, p)
    np.testing.assert_allclose(found, np.arange(300.0)[np.asarray(p)].sum(1), rtol=1e-6)
