"""tests/lax/test_stacks.py - arrays along a new dimension, and its slices, as programs show it."""

import functools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

X = jnp.arange(3.0)
M = jnp.arange(6.0).reshape(3, 2)


def program(f, *args):
    return str(shardax.make_jaxpr(f)(*args))


def test_programs_name_them():
    text = program(lambda a, b: jnp.stack([a, b], axis=1), X, 2 * X)
    assert text == "{ lambda ; a:f32[3] b:f32[3]. let c:f32[3,2] = stack[axis=1] a b in (c,) }"
    for unstack in (jnp.unstack, lax.unstack):
        assert "b:f32[3] c:f32[3] = unstack[axis=1] a" in program(
            functools.partial(unstack, axis=1), M
        )
    assert "convert_element_type" in program(lambda a: jnp.stack([a, a * 2], dtype=int), X)


def test_gradients_of_the_one_are_the_other():
    def f(a, b):
        return jnp.sum(jnp.stack([a, b], axis=1) * M)

    by_a, by_b = shardax.grad(f, (0, 1))(X, X)
    np.testing.assert_array_equal(by_a, M[:, 0])
    np.testing.assert_array_equal(by_b, M[:, 1])
    assert "unstack[axis=1]" in program(shardax.grad(f, (0, 1)), X, X)

    def second(m):
        return jnp.sum(jnp.unstack(m, axis=1)[1] ** 2)

    np.testing.assert_array_equal(shardax.grad(second)(M), np.array(M) * [0, 2])
    assert "stack[axis=1]" in program(shardax.grad(second), M)


def test_mapped():
    f = shardax.vmap(lambda a, b: jnp.stack([a, b], axis=0), in_axes=(0, None))
    np.testing.assert_array_equal(f(M, M[0]), np.stack([M, np.tile(M[0], (3, 1))], 1))
    first, second = shardax.jit(shardax.vmap(jnp.unstack, in_axes=1))(M)[:2]
    np.testing.assert_array_equal(first, M[0])
    np.testing.assert_array_equal(second, M[1])
    pmapped = shardax.pmap(lambda m: jnp.stack(jnp.unstack(m)[::-1]))(M[:, :, None])
    np.testing.assert_array_equal(pmapped[:, :, 0], M[:, ::-1])


def test_in_loops_and_conditions():
    def step(c, row):
        a, b = jnp.unstack(row)
        return jnp.stack([c[1] + a, c[0] * b]), jnp.stack([a, b, a])

    def expected():
        c, rows = np.zeros(2, np.float32), []
        for a, b in np.asarray(M):
            c = np.array([c[1] + a, c[0] * b], np.float32)
            rows.append([a, b, a])
        return c, np.array(rows)

    for f in (lax.scan, shardax.jit(lax.scan, static_argnums=0)):
        c, rows = f(step, jnp.zeros(2), M)
        np.testing.assert_array_equal(c, expected()[0])
        np.testing.assert_array_equal(rows, expected()[1])


def test_refuses_other_shapes_and_axes():
    with pytest.raises(ValueError, match="All input arrays must have the same shape"):
        jnp.stack([X, M])
    with pytest.raises(TypeError, match="must have the same shape"):
        lax.stack([X, M])
    with pytest.raises(ValueError, match="out of bounds"):
        shardax.jit(lambda a: jnp.stack([a, a + 1], axis=3))(X)
    bind = shardax._core.api.bind
    with pytest.raises(TypeError, match="stack: operands must have one shape and dtype"):
        bind("stack", {"axis": 0}, [X, M])
    with pytest.raises(ValueError, match="stack: axis 2 is out of bounds for arrays of rank 1"):
        bind("stack", {"axis": 2}, [X, X])
    with pytest.raises(ValueError, match="stack: no operands"):
        bind("stack", {"axis": 0}, [])
    with pytest.raises(ValueError, match="unstack: axis 1 is out of bounds for an array of rank 1"):
        bind("unstack", {"axis": 1}, [X])


def test_keys_are_no_numbers():
    keys = shardax.random.split(shardax.random.key(0), 3)
    assert jnp.nan_to_num(keys) is keys or (jnp.nan_to_num(keys) == keys).all()
    assert shardax.jit(lambda k: jnp.stack([k, k[::-1]]))(keys).shape == (2, 3)
    bfloat16 = jnp.array([jnp.nan, 1], "bfloat16")
    assert jnp.nan_to_num(bfloat16).tolist() == [0, 1]


@pytest.mark.parametrize("axis", [0, 1])
def test_one_slice_is_one_slice(axis):
    """A sequence of one step: not its elements."""
    x = jnp.arange(3.0).reshape((1, 3) if axis == 0 else (3, 1))
    for f in (jnp.unstack, lax.unstack):
        unstack = lambda x, f=f: f(x, axis=axis)  # noqa: E731
        for made in (unstack(x), shardax.jit(unstack)(x)):
            assert isinstance(made, tuple) and [y.tolist() for y in made] == [[0.0, 1.0, 2.0]]
        mapped = shardax.vmap(unstack)(jnp.stack([x, 2 * x]))
        assert [y.shape for y in mapped] == [(2, 3)]
        pulled = shardax.grad(lambda x, unstack=unstack: (unstack(x)[0] ** 2).sum())(x)
        np.testing.assert_array_equal(pulled, 2 * x)
