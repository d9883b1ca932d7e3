"""tests/compile/test_stacked_carries.py - a carry that a result stacks has no memory of its own.

The next turn reads the slice of the stack.
"""

import numpy as np
import pytest
import shardax as jax
from shardax import lax
from shardax import numpy as jnp

N = 1024


def turns(h, xs, reverse=False):
    out = np.empty_like(xs)
    order = range(len(xs))
    for t in reversed(order) if reverse else order:
        h = out[t] = np.float32(0.5) * h + xs[t]
    return h, out


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_carry_that_is_stacked(length, reverse):
    rng = np.random.default_rng(0)
    h = rng.standard_normal(N).astype("float32")
    xs = rng.standard_normal((length, N)).astype("float32")

    def turn(h, x):
        h = 0.5 * h + x
        return h, h

    step = jax.jit(lambda h, xs: lax.scan(turn, h, xs, reverse=reverse))
    expected = turns(h, xs, reverse)
    for _ in range(2):
        for got, wanted in zip(step(h, xs), expected):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)
    np.testing.assert_array_equal(h, np.random.default_rng(0).standard_normal(N).astype("float32"))


def test_it_needs_no_memory():
    def loop(stacks):
        def turn(h, x):
            h = jnp.tanh(h @ x)
            return h, h if stacks else jnp.sum(h)

        return lambda h, xs: lax.scan(turn, h, xs)

    h, xs = jnp.ones((64, N)), jnp.ones((4, N, N))

    def temporaries(f):
        return jax.jit(f).lower(h, xs).compile().memory_analysis().temp_size_in_bytes

    assert temporaries(loop(True)) <= temporaries(loop(False)) - 2 * h.nbytes


def test_no_turns():
    h, xs = jnp.arange(N, dtype="float32"), jnp.zeros((0, N))
    last, out = jax.jit(lambda h, xs: lax.scan(lambda h, x: (h + x, h + x), h, xs))(h, xs)
    np.testing.assert_array_equal(last, h)
    assert out.shape == (0, N)


def test_several_of_them():
    """Two carries of one value, one that changes places with what was read, one that stays."""
    rng = np.random.default_rng(1)
    a, b, c, d = rng.standard_normal((4, N)).astype("float32")
    xs = rng.standard_normal((5, N)).astype("float32")

    def turn(carry, x):
        a, b, c, d = carry
        new = jnp.sin(a + b) + c
        return (new, new, x, d), (new, x, d, a)

    last, out = jax.jit(lambda *carry: lax.scan(turn, carry, xs))(a, b, c, d)
    stacks = [[], [], [], []]
    carry = (a, b, c, d)
    for x in xs:
        new = np.sin(carry[0] + carry[1]) + carry[2]
        for stack, value in zip(stacks, (new, x, d, carry[0])):
            stack.append(value)
        carry = new, new, x, d
    for got, wanted in zip((*last, *out), (*carry, *stacks)):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def test_stacked_over_what_is_read():
    """A result that is written over the slices of an operand is the carry, too."""
    xs = jnp.asarray(np.random.default_rng(2).standard_normal((6, 64, N)), "float32")

    def turn(h, x):
        h = h * 0.5 + x
        return h, h

    f = jax.jit(lambda h, xs: lax.scan(turn, h, xs * 2.0)[1] + 1.0)
    expected = turns(np.zeros((64, N), "float32"), 2 * np.asarray(xs))[1] + 1
    np.testing.assert_allclose(f(jnp.zeros((64, N)), xs), expected, rtol=1e-5, atol=1e-5)


def test_gradients_through_it():
    rng = np.random.default_rng(3)
    w = rng.standard_normal((32, 32)).astype("float32") / 6
    xs = rng.standard_normal((7, 4, 32)).astype("float32")

    def loss(w, scan):
        def turn(h, x):
            h = jnp.tanh(h @ w + x)
            return h, h

        h, hs = scan(turn, jnp.zeros((4, 32)), xs)
        return jnp.sum(h * h) + jnp.sum(jnp.cos(hs))

    def unrolled(turn, h, xs):
        hs = []
        for x in xs:
            h, _ = turn(h, x)
            hs.append(h)
        return h, jnp.stack(hs)

    got = jax.jit(jax.grad(lambda w: loss(w, lax.scan)))(w)
    np.testing.assert_allclose(got, jax.grad(lambda w: loss(w, unrolled))(w), rtol=1e-4, atol=1e-5)
