"""tests/compile/test_split_accumulators.py - accumulated slices have carries of their own."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

STEPS, BATCH, WIDTH = 5, 4, 32
rng = np.random.default_rng(0)


def array(*shape):
    return jnp.asarray(0.3 * rng.standard_normal(shape), jnp.float32)


weights, xs = array(3, WIDTH, WIDTH), array(STEPS, BATCH, WIDTH)


def looped(layers):
    def loss(ws, xs):
        def step(total, x):
            return total + (layers(ws, x) ** 2).sum(), None

        return lax.scan(step, 0.0, xs)[0]

    return loss


def every(ws, x):
    for w in ws:
        x = jnp.tanh(x @ w)
    return x


def some(ws, x):
    return jnp.tanh(x @ ws[2]) @ ws[0]


def columns(ws, x):
    return jnp.tanh(x @ ws[0][:, :8]) @ ws[0][:8, 8:]


def twice(ws, x):
    return every(ws[:2], every(ws[1:], x))


@pytest.mark.parametrize("layers", [every, some, columns, twice])
@pytest.mark.parametrize("order", [1, 2])
def test_gradients(layers, order):
    def derivative(loss):
        g = jax.grad(loss)
        return g if order == 1 else jax.grad(lambda ws: (g(ws, xs) ** 2).sum())

    def unrolled(ws, xs):
        return sum((layers(ws, x) ** 2).sum() for x in xs)

    given = (weights, xs) if order == 1 else (weights,)
    expected = derivative(unrolled)(*given)
    for f in (derivative(looped(layers)), jax.jit(derivative(looped(layers)))):
        np.testing.assert_allclose(f(*given), expected, rtol=2e-4, atol=2e-4)


def test_sums_start_where_carries_do():
    def f(start, xs):
        def step(total, x):
            a, b = x[:, :8].T @ x, x[:, 8:16].T @ x
            return total + jnp.pad(a, ((0, 24), (0, 0))) + jnp.pad(b, ((16, 8), (0, 0))), None

        return lax.scan(step, start, xs)[0]

    start = array(WIDTH, WIDTH)
    expected = np.array(start)
    for x in np.asarray(xs):
        expected[:8] += x[:, :8].T @ x
        expected[16:24] += x[:, 8:16].T @ x
    np.testing.assert_allclose(jax.jit(f)(start, xs), expected, rtol=1e-4, atol=1e-4)


def test_pieces_that_overlap_are_added():
    def f(xs):
        def step(total, x):
            a = x[:, :8].T @ x
            return total + (jnp.pad(a, ((0, 4), (0, 0))) + jnp.pad(a, ((4, 0), (0, 0)))), None

        return lax.scan(step, jnp.zeros((12, WIDTH)), xs)[0]

    whole = sum(np.asarray(x[:, :8].T @ x) for x in xs)
    expected = np.zeros((12, WIDTH), np.float32)
    expected[:8] += whole
    expected[4:] += whole
    np.testing.assert_allclose(jax.jit(f)(xs), expected, rtol=1e-4, atol=1e-4)


PROGRAM = """
import numpy as np, shardax as jax, shardax.numpy as jnp
from shardax import lax

def loss(ws, xs):
    def step(total, x):
        for w in ws:
            x = jnp.tanh(x @ w)
        return total + (x ** 2).sum(), None
    return lax.scan(step, 0.0, xs)[0]

ws = jnp.asarray(np.random.default_rng(0).normal(size=(3, 64, 64)).astype("float32"))
xs = jnp.asarray(np.linspace(0, 1, 8 * 4 * 64, dtype="float32").reshape(8, 4, 64))
jax.jit(jax.grad(loss))(ws, xs)
"""


def test_the_loop_holds_neither_weights_nor_their_gradients(dump_of):
    lines = dump_of(PROGRAM).splitlines()
    first = next(i for i, line in enumerate(lines) if "scan of" in line)
    bodies, rest = "\n".join(lines[:first]), "\n".join(lines[first:])
    assert "f32[64,64]" not in bodies and "f32[3,64,64]" not in bodies
    assert rest.count("dot_general -> f32[64,64]") == 3


def test_constants_of_the_loop_are_residuals_as_they_are():
    def loss(w, xs):
        def step(total, x):
            return total + jnp.sin(x @ jnp.exp(w[0])).sum(), None

        return lax.scan(step, 0.0, xs)[0]

    forward, backward = [
        e for e in jax.make_jaxpr(jax.grad(loss))(weights, xs).eqns if e.primitive.name == "scan"
    ]
    stacked = [v.aval.shape for v in forward.outvars[1:]]
    assert (STEPS, WIDTH, WIDTH) not in stacked
    assert (WIDTH, WIDTH) in [v.aval.shape for v in backward.invars]


def test_operands_of_branches_are_residuals_as_they_are():
    def loss(w, xs):
        def step(total, x):
            y = lax.cond(x.sum() > 0, lambda x: jnp.tanh(x @ w), lambda x: 2 * x, x)
            return total + y.sum(), None

        return lax.scan(step, 0.0, xs)[0]

    (forward, _) = [
        e for e in jax.make_jaxpr(jax.grad(loss))(weights[0], xs).eqns if e.primitive.name == "scan"
    ]
    assert all(v.aval.shape[1:] != (WIDTH, WIDTH) for v in forward.outvars[1:])

    def unrolled(w, xs):
        return sum((jnp.tanh(x @ w) if x.sum() > 0 else 2 * x).sum() for x in xs)

    for f in (jax.grad(loss), jax.jit(jax.grad(loss))):
        expected = jax.grad(unrolled)(weights[0], xs)
        np.testing.assert_allclose(f(weights[0], xs), expected, rtol=1e-4, atol=1e-4)
