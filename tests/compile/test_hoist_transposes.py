"""tests/compile/test_hoist_transposes.py - loop-invariant transposes move out of loops."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.test_util import check_grads

TURNS = 12
# The loop, and what one of its turns does.
STEPS = {
    "rows": lambda a, x: jnp.tanh(a @ x),
    "columns": lambda a, x: jnp.tanh(a.T @ x),
    "vector first": lambda a, x: jnp.tanh(x @ a),
    "both": lambda a, x: jnp.tanh(a @ (x @ a)),
    "elsewhere too": lambda a, x: jnp.tanh(a @ x) + a.sum(1) * a[3],
    "wide": lambda a, x: jnp.tanh((a[:20] @ x)[:1] + x),
    "matrix": lambda a, x: jnp.tanh(a @ jnp.stack([x, x + 1], 1))[:, 0],
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("n", [5, 16, 41])
@pytest.mark.parametrize("name", STEPS)
def test_same_bits_as_turns_alone(name, n, dtype):
    step = STEPS[name]
    with jax.enable_x64(True):
        rng = np.random.default_rng(n)
        a, x = (jnp.asarray((rng.normal(size=s) / 4).astype(dtype)) for s in ((n, n), n))
        alone, turn = x, jax.jit(step)
        for _ in range(TURNS):
            alone = turn(a, alone)
        fori = jax.jit(lambda a, x: lax.fori_loop(0, TURNS, lambda i, x: step(a, x), x))
        until = jax.jit(
            lambda a, x: lax.while_loop(
                lambda c: c[1] < TURNS, lambda c: (step(a, c[0]), c[1] + 1), (x, 0)
            )[0]
        )
        scan = jax.jit(
            lambda a, x: lax.scan(
                lambda x, _: (lax.fori_loop(0, 4, lambda i, x: step(a, x), x), None),
                x,
                None,
                TURNS // 4,
            )[0]
        )
        for loop in (fori, until, scan):
            assert np.asarray(loop(a, x)).tobytes() == np.asarray(alone).tobytes()


def test_conditions_and_stacks():
    rng = np.random.default_rng(0)
    a, x = jnp.asarray(rng.normal(size=(20, 20)) / 9, "float32"), jnp.ones(20)
    until = jax.jit(
        lambda a, x: lax.while_loop(lambda x: (a @ x).max() < 9, lambda x: x * 1.5 + a @ x, x)
    )
    state = x
    while np.asarray(a @ state).max() < 9:
        state = state * 1.5 + a @ state
    np.testing.assert_allclose(until(a, x), state, rtol=1e-5)
    matrices = jnp.stack([a, a + 1, a * 2] * 4)
    found = jax.jit(lambda m, x: lax.scan(lambda x, a: (jnp.tanh(a @ x), x), x, m))(matrices, x)[0]
    for m in matrices:
        x = jnp.tanh(m @ x)
    np.testing.assert_allclose(found, x, rtol=1e-5, atol=1e-6)


def test_derivatives_of_such_loops():
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=(20, 20)) / 9, np.ones(20)

    def f(a, x):
        return lax.fori_loop(0, 9, lambda i, x: jnp.tanh(a @ x) + x, x).sum()

    with jax.enable_x64(True):
        check_grads(jax.jit(f), (a, x), order=2, modes=["fwd", "rev"], rtol=1e-3)


def test_the_matrix_is_turned_once(dump_of):
    program = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "a = jnp.eye(30)\n"
        "f = lambda a, x: jax.lax.fori_loop(0, 9, lambda i, x: jnp.tanh(a @ x), x)\n"
        "jax.jit(f)(a, jnp.ones(30))\n"
    )
    plan = dump_of(program, SHARDAX_CODEGEN="1").split("-- plan")[-1]
    assert "copy f32[30,30]" in plan, plan
    assert "9 steps" in plan.split("copy f32[30,30]")[1], plan
