"""tests/transforms/test_linear_functions.py - results of vjp, linearize and linear_transpose, as
trees."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax, tree_util

x = jnp.arange(3.0)


def pullback(x):
    return jax.vjp(lambda v: jnp.sin(v) * v, x)[1]


def pushforward(x):
    return jax.linearize(lambda v: jnp.sin(v) * v, x)[1]


def transposed(x):
    return jax.linear_transpose(lambda v: x * v, x)


MAKERS = {"vjp": pullback, "linearize": pushforward, "linear_transpose": transposed}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@makers
def test_leaves_are_the_residuals(make):
    f = make(x)
    assert type(f).__name__ in ("VJP", "Partial")
    leaves, tree = tree_util.tree_flatten(f)
    assert leaves and all(leaf.shape == (3,) for leaf in leaves)
    again = tree_util.tree_unflatten(tree, leaves)
    np.testing.assert_array_equal(jnp.array(again(x)), jnp.array(f(x)))


@makers
def test_results_of_jit(make):
    f = jax.jit(make)
    for value in (x, x + 1):  # the second call runs no Python
        np.testing.assert_allclose(jnp.array(f(value)(x)), jnp.array(make(value)(x)), rtol=1e-6)
    apply = jax.jit(lambda linear, v: linear(v))
    np.testing.assert_allclose(jnp.array(apply(f(x), x)), jnp.array(make(x)(x)), rtol=1e-6)


@makers
def test_results_of_vmap_and_scan(make):
    expected = jnp.stack([jnp.array(make(v)(1.0)).reshape(()) for v in x])
    mapped = jax.vmap(make)(x)
    called = jax.vmap(lambda f, v: f(v))(mapped, jnp.ones(3))
    np.testing.assert_allclose(jnp.array(called).reshape(3), expected, rtol=1e-6)
    with pytest.raises(TypeError, match=r"residuals of the types .*called inside vmap"):
        mapped(1.0)
    scanned = lax.scan(lambda c, v: (c, make(v)), 0.0, x)[1]
    called = jax.vmap(lambda f: f(1.0))(scanned)
    np.testing.assert_allclose(jnp.array(called).reshape(3), expected, rtol=1e-6)


def test_residual_of_a_custom_rule():
    @jax.custom_vjp
    def f(x):
        return jnp.sin(x)

    f.defvjp(lambda x: jax.vjp(jnp.sin, x), lambda pull, ct: pull(2 * ct))
    assert jax.grad(f)(0.0) == 2
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(f)))(x), 2 * jnp.cos(x), rtol=1e-6)


def test_tangents_of_integers():
    _, f = jax.linearize(lambda n, x: n * x, 3, 2.0)
    assert f(np.zeros((), jax.dtypes.float0), 1.0) == 3
    with pytest.raises(ValueError, match=r"Got tangent aval .*int32.* but expected ~?float0"):
        f(1, 1.0)


def test_residuals_that_are_deleted():
    f = pullback(x)
    for leaf in tree_util.tree_leaves(f):
        leaf.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        f(x)


def test_arguments_that_a_vjp_keeps():
    def f(w, d):
        return jnp.tanh(d["x"] @ w) + d["b"]

    w, d = jnp.ones((3, 2)), {"x": jnp.ones((4, 3)), "b": jnp.ones(2)}
    y, pull = jax.vjp(f, w, d)
    assert pull.args_res[0].shape == (3, 2)
    assert pull.args_res[1]["x"].shape == (4, 3) and repr(pull.args_res[1]["b"]) == "NotNeeded()"
    assert [r.shape for r in pull.opaque_residuals] == [(4, 2)]
    assert len(jax.tree.leaves(pull)) == 3
    want = pull(y)
    pull.args_res[0] = None
    assert len(jax.tree.leaves(pull)) == 2
    with pytest.raises(ValueError, match="put the arguments .* args_res back"):
        pull(y)
    pull.args_res[0] = w
    for a, b in zip(jax.tree.leaves(pull(y)), jax.tree.leaves(want)):
        np.testing.assert_array_equal(a, b)


def test_vjps_with_other_arguments_go_through_jit():
    forward = jax.jit(lambda w, x: jax.vjp(lambda w, x: jnp.sin(x @ w), w, x))

    @jax.jit
    def backward(pull, w, ct):
        pull.args_res[0] = w
        return pull(ct)

    w, x = jnp.eye(3) * 2, jnp.ones((2, 3))
    y, pull = forward(w, x)
    pull.args_res[0] = None
    for a, b in zip(backward(pull, w, y), jax.vjp(lambda w, x: jnp.sin(x @ w), w, x)[1](y)):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_transposing_a_derivative():
    # Within the call that relu is, the value and its derivative come out of one equation.
    x = jnp.array([1.0, -2.0, 3.0])
    f = lambda x: jax.nn.relu(x) * x  # noqa: E731
    derivative = lambda t: jax.jvp(f, (x,), (t,))[1]  # noqa: E731
    for run in (lambda g: g, jax.jit):
        (transposed,) = run(lambda ct: jax.linear_transpose(derivative, x)(ct))(x)
        assert transposed.tolist() == [2.0, 0.0, 18.0]
