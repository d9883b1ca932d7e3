"""tests/compile/test_prepack_operands.py - loop-invariant operands of products are packed once."""

import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

PROGRAM = """
import shardax as jax, shardax.numpy as jnp
from shardax import lax

jax.jit(lambda w, h: lax.scan(lambda h, _: (h @ w, None), h, None, length={turns})[0])(
    jnp.arange(float({n} * {n})).reshape({n}, {n}), jnp.arange(float({m} * {n})).reshape({m}, {n}))
"""


@pytest.mark.parametrize(
    "m, n, turns, laid_out",
    [(64, 256, 9, True), (8, 256, 9, False), (64, 32, 9, False), (64, 256, 2, False)],
)
def test_a_matrix_is_laid_out_where_many_rows_meet_it_often(dump_of, m, n, turns, laid_out):
    plan = dump_of(PROGRAM.format(m=m, n=n, turns=turns))
    found = re.search(rf"copy f32\[(\d+),{n},(\d+)\]\n.*\bscan of {turns}", plan)
    assert bool(found) == laid_out, plan
    assert not found or int(found[1]) * int(found[2]) == n


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, k", [(13, 320), (64, 320), (300, 64), (520, 640)])
def test_the_loop_has_the_bits_of_products_alone(dtype, m, k):
    """With the matrix as it is, transposed within the loop and without, and used both ways."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        h = jnp.asarray(rng.normal(size=(m, k)), dtype)
        w = jnp.asarray(rng.normal(size=(k, k)) / np.sqrt(k), dtype)
        rows = (((1,), (1,)), ((), ()))
        turns = {
            "as it is": lambda h, w: h @ w,
            "transposed": lambda h, w: h @ w.T,
            "both": lambda h, w: jnp.tanh(h @ w) @ w.T + lax.dot_general(h, w, rows),
        }
        for turn in turns.values():
            once = jax.jit(turn)

            def five(h, w, turn=turn):
                return lax.scan(lambda h, _: (turn(h, w), None), h, None, length=5)[0]

            for matrix in (w, jnp.array(w.T).T):
                expected = h
                for _ in range(5):
                    expected = once(expected, matrix)
                np.testing.assert_array_equal(jax.jit(five)(h, matrix), expected)


def test_gradients_through_laid_out_matrices():
    rng = np.random.default_rng(0)
    w = jnp.asarray(rng.normal(size=(128, 128)) / 12, "float32")
    x = jnp.asarray(rng.normal(size=(6, 4, 20, 128)), "float32")

    def loss(w, x):
        return jnp.sum(lax.scan(lambda h, x: (jnp.tanh(h @ w + x), None), x[0], x)[0] ** 2)

    def unrolled(w, x):
        h = x[0]
        for i in range(len(x)):
            h = jnp.tanh(h @ w + x[i])
        return jnp.sum(h**2)

    many = jax.vmap(jax.value_and_grad(loss, (0, 1)), (None, 1))
    same = jax.vmap(jax.value_and_grad(unrolled, (0, 1)), (None, 1))
    for a, b in zip(jax.tree.leaves(jax.jit(many)(w, x)), jax.tree.leaves(same(w, x))):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-4)


STACKS = """
import shardax as jax, shardax.numpy as jnp
from shardax import lax

w, h = jnp.arange(65536.0).reshape(4, 128, 128), jnp.arange({m} * 512.0).reshape(4, {m}, 128)
jax.jit(lambda w, h: lax.scan(lambda h, _: (jnp.einsum("bmk,b{order}->bmn", h, w), None), h, None,
    length=9)[0])(w, h)
"""


@pytest.mark.parametrize("m, laid_out", [(32, True), (8, False)])
@pytest.mark.parametrize("order", ["kn", "nk"])
def test_stacks_of_matrices_are_laid_out_too(dump_of, m, order, laid_out):
    plan = dump_of(STACKS.format(m=m, order=order))
    found = re.search(r"copy f32\[4,(\d+),128,(\d+)\]\n.*\bscan of 9", plan)
    assert bool(found) == laid_out, plan


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(4, 32, 128), (2, 3, 64, 320), (2, 300, 640)])
def test_stacks_of_products_have_the_bits_of_products_alone(dtype, shape):
    """Each device of many multiplies by one operand in every turn."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        *batch, m, k = shape
        h = jnp.asarray(rng.normal(size=shape), dtype)
        w = jnp.asarray(rng.normal(size=(*batch, k, k)) / np.sqrt(k), dtype)
        turns = {
            "as it is": lambda h, w: h @ w,
            "transposed": lambda h, w: h @ jnp.swapaxes(w, -1, -2),
            "both": lambda h, w: jnp.tanh(h @ w) @ jnp.swapaxes(w, -1, -2),
        }
        for turn in turns.values():
            once = jax.jit(turn)

            def five(h, w, turn=turn):
                return lax.scan(lambda h, _: (turn(h, w), None), h, None, length=5)[0]

            for matrix in (w, jnp.swapaxes(jnp.array(jnp.swapaxes(w, -1, -2)), -1, -2)):
                expected = h
                for _ in range(5):
                    expected = once(expected, matrix)
                np.testing.assert_array_equal(jax.jit(five)(h, matrix), expected)


BRANCHES = """
import shardax as jax, shardax.numpy as jnp
from shardax import lax

def device(w, h):
    def turn(h, t):
        return lax.cond(t >= lax.axis_index("i"), lambda h: h @ w{order}, lambda h: h, h), None

    return lax.scan(turn, h, jnp.arange(9))[0]

w, h = jnp.arange(65536.0).reshape(4, 128, 128), jnp.arange({m} * 512.0).reshape(4, {m}, 128)
jax.jit(jax.pmap(device, axis_name="i"))(w, h)
"""


@pytest.mark.parametrize("m, laid_out", [(32, True), (8, False)])
@pytest.mark.parametrize("order", ["", ".T"])
def test_matrices_of_branches_that_devices_take_each_are_laid_out_once(dump_of, m, order, laid_out):
    plan = dump_of(BRANCHES.format(m=m, order=order))
    found = re.search(r"copy f32\[4,(\d+),128,(\d+)\]\n.*\bscan of 9", plan)
    assert bool(found) == laid_out, plan


@pytest.mark.parametrize("outer", ["branch", "loop", "both"])
def test_bodies_within_a_loop_have_the_bits_of_products_alone(outer):
    """Of a stack of matrices each in its place, and of one that stays the same."""
    rng = np.random.default_rng(0)
    stack = jnp.asarray(rng.normal(size=(5, 128, 128)) / 12, "float32")
    w = jnp.asarray(rng.normal(size=(128, 128)) / 12, "float32")
    h = jnp.asarray(rng.normal(size=(40, 128)), "float32")

    def branch(h, t, w):
        return lax.switch(
            t % 3, [lambda h: h @ w, lambda h: jnp.tanh(h @ w.T), lambda h: h + 1.0], h
        )

    def turn(h, t):
        if outer == "branch":
            return branch(h, t, w)
        layer = (lambda h, v: branch(h, t, v)) if outer == "both" else (lambda h, v: h @ v + h @ w)
        return lax.scan(lambda h, v: (layer(h, v), None), h, stack)[0]

    once = jax.jit(turn)
    expected = h
    for t in range(7):
        expected = once(expected, t)
    many = jax.jit(lambda h: lax.scan(lambda h, t: (turn(h, t), None), h, jnp.arange(7))[0])
    np.testing.assert_array_equal(many(h), expected)
