"""tests/transforms/test_custom_vmap.py - batching rules of the user's own."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.custom_batching import custom_vmap, sequential_vmap

X = jnp.arange(3.0)


def sine_that_is_cosine_in_batches(seen):
    f = custom_vmap(jnp.sin)

    @f.def_vmap
    def rule(axis_size, in_batched, x):
        seen.append((axis_size, in_batched))
        return jnp.cos(x), in_batched[0]

    return f


def test_the_rule_replaces_batching_only():
    seen = []
    f = sine_that_is_cosine_in_batches(seen)
    assert f(0.0) == 0 and seen == []
    np.testing.assert_array_equal(jax.vmap(f)(X), jnp.cos(X))
    np.testing.assert_array_equal(jax.jit(jax.vmap(f))(X), jnp.cos(X))
    assert seen == [(3, [True])] * 2
    devices = jax.pmap(f)(X)
    np.testing.assert_array_equal(devices, jnp.sin(X))


def test_derivatives():
    f = sine_that_is_cosine_in_batches([])
    assert jax.grad(f)(0.0) == 1
    np.testing.assert_array_equal(jax.grad(lambda x: jax.vmap(f)(x).sum())(X), -jnp.sin(X))
    directional = lambda x, t: jax.jvp(f, (x,), (t,))
    for axes, t in ((0, X), ((0, None), 2.0)):
        out, moved = jax.vmap(directional, axes)(X, t)
        np.testing.assert_array_equal(out, jnp.cos(X))
        np.testing.assert_allclose(moved, -jnp.sin(X) * t, rtol=1e-6)


def test_trees_and_unbatched_arguments():
    f = custom_vmap(lambda pair, y=1: {"sum": pair[0] + pair[1], "y": y})

    @f.def_vmap
    def rule(axis_size, in_batched, pair, y):
        assert in_batched == [(True, False), False]
        return {"sum": pair[0] - pair[1], "y": y}, {"sum": True, "y": False}

    out = jax.vmap(f, ((0, None),))((X, 2.0))
    np.testing.assert_array_equal(out["sum"], X - 2)
    np.testing.assert_array_equal(out["y"], [1, 1, 1])


def test_sequential_vmap():
    np.testing.assert_array_equal(
        jax.vmap(sequential_vmap(lambda x, y: x + y), (0, None))(X, 2.0), X + 2
    )


@pytest.mark.parametrize(
    "rule, error, text",
    [
        (lambda n, b, x: x, TypeError, "must return a pair"),
        (lambda n, b, x: (x, [True]), ValueError, "batching specification .* do not match"),
        (lambda n, b, x: ((x, x), (True, True)), ValueError, "original custom-vmapped function"),
        (lambda n, b, x: (x[0], True), ValueError, r"result 0 .* float32\[\]; a first dim"),
        (lambda n, b, x: (x, x), TypeError, "in Python bools"),
    ],
)
def test_wrong_rules(rule, error, text):
    f = custom_vmap(lambda x: x)
    f.def_vmap(rule)
    with pytest.raises(error, match=text):
        jax.vmap(f)(X)


def test_calls_that_cannot_work():
    with pytest.raises(AttributeError, match="No batching rule defined"):
        custom_vmap(lambda x: x)(1.0)
    f = custom_vmap(lambda x: x)
    with pytest.raises(TypeError, match="could not be resolved to positional-only"):
        f(1.0, 2.0)

    def outer(y):
        inner = custom_vmap(lambda x: x + y)
        inner.def_vmap(lambda n, b, x: (x, b[0]))
        return inner(1.0)

    with pytest.raises(ValueError, match="closes over a value that carries the mapped axis"):
        jax.vmap(outer)(X)


def test_rules_of_the_inner_function_are_set_from_outside():
    @jax.custom_vjp
    @jax.custom_batching.custom_vmap
    def f(x, y):
        return jnp.sin(x) * y

    @f.def_vmap
    def rule(axis_size, in_batched, xs, ys):
        return jnp.cos(xs) * ys, True

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda r, g: (2.0 * g * r[1], 3.0 * g * r[0]))
    assert jax.vmap(f)(jnp.zeros(3), jnp.ones(3)).tolist() == [1.0, 1.0, 1.0]
    assert jax.grad(f, (0, 1))(5.0, 7.0) == (14.0, 15.0)
    with pytest.raises(AttributeError, match="'custom_vjp' object has no attribute 'other'"):
        _ = f.other


def test_derivatives_are_batched_where_tangents_alone_are():
    seen = []
    f = custom_vmap(jnp.sin)

    @f.def_vmap
    def rule(axis_size, in_batched, x):
        seen.append(tuple(in_batched))
        return jnp.sin(x), in_batched[0]

    x = jnp.arange(3.0)
    np.testing.assert_allclose(jax.jacfwd(f)(x), np.diag(np.cos(x)), rtol=1e-6)
    assert seen.pop() == (False,)  # for one slice
    out, slope = jax.vmap(lambda x, t: jax.jvp(f, (x,), (t,)))(x, x)
    np.testing.assert_allclose(slope, x * np.cos(x), rtol=1e-6)
    assert seen.pop() == (True,)  # for calls in which both have the axis
    out, slope = jax.vmap(lambda x, t: jax.jvp(f, (x,), (t,)), (0, None))(x, 2.0)
    np.testing.assert_allclose(out, np.sin(x), rtol=1e-6)
    np.testing.assert_allclose(slope, 2 * np.cos(x), rtol=1e-6)


def test_rules_may_give_other_shapes():
    f = custom_vmap(lambda x: X + x)
    f.def_vmap(lambda size, batched, x: (X + x, batched[0]))
    np.testing.assert_array_equal(jax.vmap(f)(X), 2 * X)
    np.testing.assert_array_equal(jax.jit(jax.vmap(f))(X), 2 * X)
