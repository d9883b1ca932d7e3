"""tests/compile/test_fold_masked_select.py - masked selects become slices and updates."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

N = 6


def values(*shape):
    out = np.random.default_rng(len(shape)).standard_normal(shape).astype("float32")
    out.flat[:4] = -0.0, np.nan, np.inf, -np.inf
    return out


def at(index, rank, dim, flipped=False):
    line = jnp.arange(N).reshape([N if d == dim else 1 for d in range(rank)])
    return index == line if flipped else line == index


def agree(f, *args):
    for a, b in zip(jax.tree.leaves(jax.jit(f)(*args)), jax.tree.leaves(f(*args))):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("index", [0, 2, N - 1, -1, N])
@pytest.mark.parametrize("dim", [0, 1])
def test_a_piece_of_a_concatenation(dim, index, flipped):
    x = values(N, N, 3)

    def f(x, y):
        pieces = [x[:1], x[2:4], x[3:4], x[:2]] if dim == 0 else [x[:, 4:5], x[:, 1:]]
        whole = jnp.concatenate(pieces, dim)
        chosen = at(index, 3, dim, flipped)
        return jnp.where(chosen, y, whole), jnp.where(chosen, whole, y)

    agree(f, x, x[::-1] + 1)
    agree(f, x, np.float32(2.0))
    agree(f, x, x[0])


@pytest.mark.parametrize("index", [0, 2, N - 1])
def test_slices(index):
    def f(x, y):
        chosen = jnp.where(at(index, 2, 0), x, y)
        return [chosen[a:b, 1:] for a in range(N) for b in range(a + 1, N + 1)], chosen[::2]

    x = values(N, 5)
    agree(f, x, x[::-1] * 2)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
@pytest.mark.parametrize("index", [0, 3, N - 1])
def test_sums(index, dtype):
    x = jnp.asarray(np.nan_to_num(values(N, 7, N), posinf=3, neginf=4)).astype(dtype)

    def f(x, y):
        first, last = at(index, 3, 0), at(index, 3, 2)
        loss = jnp.sum((x - y) ** 2, (1, 2)) / 3
        return (
            jnp.sum(jnp.where(first, x, 0), 0),
            jnp.sum(jnp.where(last, jnp.sin(x) + y, 0), 2),
            jnp.sum(jnp.where(at(index, 1, 0), loss, 0)),
            jnp.sum(jnp.where(at(index, 1, 0), loss, 1)),
            jnp.sum(jnp.where(first, x.swapaxes(0, 2), 0), (0,)),
            loss,
        )

    got, wanted = jax.jit(f)(x, x[:1]), f(x, x[:1])
    for a, b in zip(got, wanted):
        tight = {"bfloat16": 2e-2, "float32": 1e-6, "int32": 0}[dtype]
        np.testing.assert_allclose(np.asarray(a, "float32"), np.asarray(b, "float32"), rtol=tight)


def test_a_sum_has_no_negative_zero():
    f = jax.jit(lambda x: jnp.sum(jnp.where(at(1, 1, 0), x, 0.0)))
    assert not np.signbit(f(jnp.full(N, -0.0)))
    assert np.isnan(f(jnp.full(N, 1.0).at[1].set(jnp.nan)))
    assert f(jnp.full(N, jnp.nan).at[1].set(2.0)) == 2


def test_others_compute_nothing(dump_of):
    """Of a loss that only the last device counts, one row is computed."""
    plan = dump_of("""
import numpy as np, shardax as jax, shardax.numpy as jnp
from shardax import lax
def f(x, y):
    error = jnp.mean((x * 2 - y) ** 2)
    return lax.psum(jnp.where(lax.axis_index("i") == 3, error, 0.0), "i")
x = jnp.asarray(np.random.default_rng(0).standard_normal((4, 64, 256)), "float32")
jax.pmap(f, axis_name="i", in_axes=(0, None), out_axes=None)(x, x[1])
""")
    assert "(64, 256) sub" in plan or "(16384,) mul sub" in plan
    assert "loop (16384,) mul sub" in plan


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("index", [0, 3, N - 1])
def test_updates(index, dim):
    """Updates that change only one index of a dimension."""

    def f(x, y):
        chosen = at(index, 3, dim)
        first, last = x[:1], x[3:5, 1:]
        some = at(index, 2, dim - 1) if dim else chosen[:, :, 0]
        beside = jnp.where(some, y[0] if dim else y[:, 1], x[2] if dim else x[:, 1])
        return (
            jax.lax.dynamic_update_slice(x, jnp.where(chosen, y, x), (0, 0, 0)),
            x.at[2].set(beside) if dim else x.at[:, 1].set(beside),
            x.at[:1].set(jnp.where(at(index, 3, 2), y[:1], first)),
            x.at[2:4, 1:].set(jnp.where(at(index, 3, 2), y[3:5, 1:], last)),  # from elsewhere
            x.at[3:5, 1:].set(jnp.where(at(index, 3, 2), 5.0, last)),
        )

    x = jnp.asarray(values(N, N, N))
    agree(f, x, x[::-1] * 2)


def test_one_row_is_written(dump_of):
    plan = dump_of("""
import numpy as np, shardax as jax, shardax.numpy as jnp
def f(x, y):
    x = jnp.sort(x)
    return x.at[:, 1].set(jnp.where(jnp.arange(4)[:, None] == 2, jnp.sort(y), x[:, 1]))
x = jnp.asarray(np.random.default_rng(0).standard_normal((4, 64, 256)), "float32")
jax.jit(f)(x, x[:, 3] + 1)
""")
    assert "select_n" not in plan and "dynamic_update_slice" in plan
