"""tests/transforms/test_solves.py - linear_call, custom_linear_solve and custom_root."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.custom_derivatives import linear_call

A = jnp.array([[2.0, 1.0], [0.0, 3.0]])
B = jnp.array([1.0, 2.0])


def transpose(f, example):
    return lambda ct: jax.linear_transpose(f, example)(ct)[0]


def dense(matvec, b):
    return jnp.linalg.solve(jax.jacobian(matvec)(b), b)


def implicit(a, b):
    return lax.custom_linear_solve(lambda x: a @ x, b, dense, dense)


def newton(f, x):
    return lax.while_loop(lambda x: abs(f(x)) > 1e-4, lambda x: x - f(x) / jax.grad(f)(x), x)


def square_root(a):
    return lax.custom_root(lambda x: x**2 - a, 1.0, newton, lambda g, y: y / g(1.0))


def test_transposes_of_linear_call_alternate():
    f = lambda x: linear_call(lambda r, x: 2 * x, lambda r, ct: 7 * ct, (), x)
    values = [f(1.0)]
    for _ in range(3):
        f = transpose(f, 1.0)
        values.append(f(1.0))
    assert values == [2, 7, 2, 7]


def test_linear_call_of_trees_closures_and_batches():
    def f(x, scale):
        call = lambda r, v: {"y": v[0] * r + v[1] * scale}
        back = lambda r, ct: (ct["y"] * r, ct["y"] * scale)
        return linear_call(call, back, jnp.float32(3), (x, 2 * x))["y"]

    assert jax.grad(f)(1.0, 4.0) == 11
    np.testing.assert_array_equal(
        jax.vmap(jax.grad(f), (0, None))(jnp.arange(2.0), jnp.float32(4)), [11, 11]
    )
    assert jax.jvp(lambda x: f(x, 4.0), (1.0,), (2.0,)) == (11, 22)


def test_errors_of_linear_call():
    with pytest.raises(TypeError, match="structure must match that of linear inputs"):
        linear_call(lambda r, x: x, lambda r, ct: (ct, ct), (), 1.0)
    with pytest.raises(TypeError, match="derivative by residual_args does not exist"):
        jax.grad(lambda r: linear_call(lambda r, x: r * x, lambda r, ct: r * ct, r, 1.0))(2.0)


@pytest.mark.parametrize(
    "derivative, a",
    [
        (lambda f: jax.grad(f, (0, 1)), A),
        (lambda f: jax.jit(jax.jacfwd(f, (0, 1))), A),
        (jax.hessian, A),
        (lambda f: jax.vmap(jax.grad(f), (0, None)), jnp.stack([A, 2 * A])),
    ],
)
def test_derivatives_of_a_linear_solve_are_those_of_the_solution(derivative, a):
    square = lambda solve: lambda a, b: (solve(a, b) ** 2).sum()
    wanted, found = (derivative(square(solve))(a, B) for solve in (jnp.linalg.solve, implicit))
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-7), wanted, found)


def test_a_solve_with_auxiliary_results_and_without_a_transpose():
    solve = lambda f, b: (b / f(1.0), 7)
    f = lambda a, b: lax.custom_linear_solve(lambda x: a * x, b, solve, has_aux=True)
    assert f(2.0, 6.0) == (3, 7)
    assert jax.jvp(lambda b: f(2.0, b)[0], (6.0,), (1.0,)) == (3, 0.5)
    with pytest.raises(TypeError, match="transpose_solve required for backwards mode"):
        jax.grad(lambda b: f(2.0, b)[0])(6.0)


def test_derivatives_of_a_root():
    assert square_root(4.0) == pytest.approx(2, abs=1e-3)
    assert jax.jit(jax.grad(square_root))(4.0) == pytest.approx(0.25, abs=1e-3)
    assert jax.grad(jax.grad(square_root))(4.0) == pytest.approx(-1 / 32, abs=1e-3)
    np.testing.assert_allclose(
        jax.vmap(jax.grad(square_root))(jnp.array([4.0, 9.0])), [1 / 4, 1 / 6], atol=1e-3
    )


def test_wrong_structures():
    with pytest.raises(TypeError, match=r"matvec\(\) output pytree structure must match b"):
        lax.custom_linear_solve(lambda x: (x, x), 1.0, lambda f, b: b)
    with pytest.raises(ValueError, match=r"solve\(\) output shapes must match b"):
        lax.custom_linear_solve(lambda x: x, 1.0, lambda f, b: jnp.ones(2))
    with pytest.raises(ValueError, match="has_aux was set to True"):
        lax.custom_linear_solve(lambda x: x, 1.0, lambda f, b: b, has_aux=True)
    with pytest.raises(TypeError, match=r"tangent_solve\(\) output pytree structure must match x"):
        lax.custom_root(lambda x: x, 1.0, lambda f, x: x, lambda g, y: (y, y))


def test_a_checkpoint_policy_keeps_the_rule_of_a_solve():
    """The solver is not differentiated: it need not be a function that could be."""
    a = jnp.array([[2.0, 1.0], [1.0, 3.0]])

    def solve(b):
        by_steps = lambda matvec, b: lax.stop_gradient(jnp.linalg.solve(a, b))
        return lax.custom_linear_solve(lambda x: a @ x, b, by_steps, symmetric=True).sum()

    want = [0.4, 0.2]
    for policy in (lambda *_, **__: True, lambda *_, **__: False, None):
        got = jax.grad(jax.checkpoint(solve, policy=policy))(jnp.ones(2))
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_checkpoint_policy_keeps_the_transpose_of_a_linear_call():
    double = lambda x: linear_call(lambda r, x: 2 * x, lambda r, ct: 3 * ct, (), x)
    assert jax.grad(jax.checkpoint(double, policy=lambda *_, **__: True))(1.0) == 3
