"""tests/pmap/test_uniform_loops.py - loops and branches carry replicated values once."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import _core, lax

N = 8


def step(w, x):
    g = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.1 * lax.pmean(g, "i")


mapped = jax.pmap(step, axis_name="i")


def steps(w, x, n):
    for _ in range(n):
        w = mapped(w, x)
    return w


def by_scan(w, x, n):
    return lax.scan(lambda w, _: (mapped(w, x), None), w, None, length=n)[0]


def by_scan_with_history(w, x, n):
    def body(w, _):
        w = mapped(w, x)
        return w, w

    return lax.scan(body, w, None, length=n)[1][-1]


def by_fori(w, x, n):
    return lax.fori_loop(0, n, lambda i, w: mapped(w, x), w)


def by_while(w, x, n):
    def body(state):
        i, w, m = state
        new = mapped(w, x)
        return i + 1, new, 0.9 * m + (w - new)  # momentum outside of pmap

    return lax.while_loop(lambda s: s[0] < n, body, (0, w, jnp.zeros_like(w)))[1]


def by_cond(w, x, n):
    def body(i, w):
        return lax.cond(i % 2 == 0, lambda w: mapped(w, x), lambda w: mapped(w, x) + 0 * w, w)

    return lax.fori_loop(0, n, body, w)


def by_nested_loops(w, x, n):
    def outer(i, w):
        return lax.scan(lambda w, _: (mapped(w, x), None), w, None, length=1)[0]

    return lax.fori_loop(0, n, outer, w)


LOOPS = [by_scan, by_scan_with_history, by_fori, by_while, by_cond, by_nested_loops]


def arguments():
    rng = np.random.default_rng(0)
    w = jnp.asarray(rng.standard_normal(5), dtype=jnp.float32)
    x = jnp.asarray(rng.standard_normal((N, 6, 5)), dtype=jnp.float32)
    return w, x


@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_replicated_parameters_stay_one_copy(loop):
    w, x = arguments()
    expected = steps(jnp.stack([w] * N), x, 3)
    for run in (loop, jax.jit(loop, static_argnums=2)):
        # Known to be one copy, and recognised by the bits of separate ones.
        for stacked in (jnp.stack([w] * N), np.stack([w] * N)):
            out = run(stacked, x, 3)
            np.testing.assert_allclose(out, expected, rtol=1e-6)
            assert _core.strides(out)[0] == 0


@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_parameters_that_differ_do_not(loop):
    w, x = arguments()
    varying = jnp.stack([w] * N) + jnp.arange(N, dtype=jnp.float32)[:, None]
    expected = steps(varying, x, 3)
    np.testing.assert_allclose(loop(varying, x, 3), expected, rtol=1e-5, atol=1e-6)


def test_a_carry_that_starts_equal_and_grows_apart():
    def body(carry, x):
        a, b = carry
        return (a + x, b * 2), (a.sum(), b)

    init = jnp.zeros((4, 3)), jnp.ones((4, 3))
    xs = jnp.arange(20.0).reshape(5, 4)[:, :, None]
    (a, b), (sums, bs) = jax.jit(lambda c, x: lax.scan(body, c, x))(init, xs)
    expected = np.cumsum(np.asarray(xs), 0)[-1] + np.zeros((4, 3))
    np.testing.assert_allclose(a, expected)
    np.testing.assert_allclose(b, np.full((4, 3), 32.0))
    before = np.concatenate([np.zeros((1, 4, 1)), np.cumsum(np.asarray(xs), 0)[:-1]])
    np.testing.assert_allclose(sums, 3 * before.sum((1, 2)))
    np.testing.assert_allclose(bs, np.broadcast_to(2.0 ** np.arange(5)[:, None, None], (5, 4, 3)))


def test_one_carry_makes_another_vary():
    # b repeats for one step only: a does not, and moves into it.
    def body(carry, _):
        a, b, c = carry
        return (a, b + c, c + a), None

    a = jnp.arange(3.0)
    zeros = jnp.zeros(3)
    out = lax.scan(body, (a, zeros, zeros), None, length=4)[0]
    np.testing.assert_allclose(out[1], 6 * np.arange(3.0))
    np.testing.assert_allclose(out[2], 4 * np.arange(3.0))


@pytest.mark.parametrize("reverse", [False, True])
def test_slices_that_repeat(reverse):
    xs = jnp.broadcast_to(jnp.arange(4.0)[:, None], (4, 6))

    def body(c, x):
        return c * 0.5 + x.sum(), x * 2

    out, ys = jax.jit(lambda x: lax.scan(body, 0.0, x, reverse=reverse))(xs)
    order = range(4)[::-1] if reverse else range(4)
    expected = 0.0
    for i in order:
        expected = expected * 0.5 + 6.0 * i
    assert float(out) == expected
    np.testing.assert_allclose(ys, 2 * np.asarray(xs))
    assert _core.strides(ys)[1] == 0


def test_branches_that_repeat_along_different_dimensions():
    x, y = jnp.arange(3.0)[:, None] + jnp.zeros(4), jnp.zeros(3)[:, None] + jnp.arange(4.0)

    @jax.jit
    def f(i, rows, columns):
        a = jnp.broadcast_to(rows[:, :1], (3, 4))
        b = jnp.broadcast_to(columns[:1], (3, 4))
        return lax.switch(
            i, [lambda a, b: (a, a), lambda a, b: (b, a), lambda a, b: (a + b, a)], a, b
        )

    for i, first in enumerate((x, y, x + y)):
        out = f(i, x, y)
        np.testing.assert_allclose(out[0], first)
        np.testing.assert_allclose(out[1], x)


def test_a_gradient_through_a_loop_over_steps():
    w, x = arguments()

    def loss(w, loop):
        return (loop(jnp.stack([w] * N), x, 3) ** 2).sum()

    expected = jax.grad(lambda w: loss(w, steps))(w)
    np.testing.assert_allclose(jax.grad(lambda w: loss(w, by_scan))(w), expected, rtol=1e-5)
    np.testing.assert_allclose(
        jax.jit(jax.grad(lambda w: loss(w, by_scan)))(w), expected, rtol=1e-5
    )
