"""tests/transforms/test_in_place.py - updates of arrays that die with them, in loops above all."""

import time

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

N = 7


def fill(i, a):
    return a.at[i].set(i * 1.5)


def chain(i, a):
    return a.at[i].add(1.0).at[(i + 1) % N].mul(2.0)


def reads_first(i, a):
    return a.at[i].set(a[i - 1] + 1)


def reads_afterwards(i, a):
    b = a.at[i].set(10.0)
    return b + a[i]  # a is needed still


def reads_a_view_of_itself(i, a):
    return lax.dynamic_update_slice(a, a[::-1][:3], (i,))


def shifts_itself(i, a):
    return lax.dynamic_update_slice(a, a[:-1], (1,))


def through_a_reshape(i, a):
    return lax.dynamic_update_slice(a.reshape(N, 1), jnp.full((1, 1), 3.0), (i, 0)).reshape(N)


STEPS = [
    fill, chain, reads_first, reads_afterwards, reads_a_view_of_itself, shifts_itself,
    through_a_reshape,
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS, ids=lambda f: f.__name__)
def test_loops(step):
    start = jnp.arange(1.0, N + 1)
    expected = start
    for i in range(N):
        expected = step(i, expected)
    before = np.asarray(start).copy()
    for loop in (
        lambda a: lax.fori_loop(0, N, step, a),
        lambda a: lax.scan(lambda a, i: (step(i, a), None), a, jnp.arange(N))[0],
        lambda a: lax.while_loop(lambda s: s[0] < N, lambda s: (s[0] + 1, step(*s)), (0, a))[1],
    ):
        for run in (loop, jax.jit(loop)):
            np.testing.assert_allclose(run(start), expected, rtol=1e-6)
            np.testing.assert_array_equal(start, before)
        stacked = jnp.stack([start, start + 1])
        got = jax.vmap(loop)(stacked)
        np.testing.assert_allclose(got[0], expected, rtol=1e-6)
    history = lax.scan(lambda a, i: (step(i, a), a), start, jnp.arange(N))[1]
    np.testing.assert_array_equal(history[0], start)


def test_two_arrays_that_change_places():
    def body(i, pair):
        a, b = pair
        return b.at[i].set(0.0), a.at[i].add(1.0)

    a, b = jnp.ones(4), jnp.full(4, 2.0)
    expected = (a, b)
    for i in range(3):
        expected = body(i, expected)
    got = lax.fori_loop(0, 3, body, (a, b))
    for g, e in zip(got, expected):
        np.testing.assert_array_equal(g, e)


def test_one_array_given_twice():
    def body(i, pair):
        a, b = pair
        return a.at[i].set(0.0), b.at[i].add(1.0)

    x = jnp.ones(4)
    a, b = lax.fori_loop(0, 2, body, (x, x))
    assert a.tolist() == [0, 0, 1, 1] and b.tolist() == [2, 2, 1, 1] and x.tolist() == [1] * 4


def test_results_that_share_memory():
    @jax.jit
    def f(x):
        a = jnp.sin(x)
        b = a.at[0].set(5.0)
        return b, b.at[1].set(6.0), a

    x = jnp.arange(3.0)
    b, c, a = f(x)
    np.testing.assert_allclose(a, np.sin(np.arange(3.0)), rtol=1e-6)
    assert b[0] == 5 and c[0] == 5 and c[1] == 6 and b[1] == a[1]


def test_gradients_of_updates_in_a_loop():
    def f(x):
        out = lax.fori_loop(0, N, lambda i, a: a.at[i].set(jnp.sin(a[i]) * a[i - 1]), x)
        return (out**2).sum()

    def g(x):
        for i in range(N):
            x = x.at[i].set(jnp.sin(x[i]) * x[i - 1])
        return (x**2).sum()

    x = jnp.linspace(0.1, 0.9, N)
    np.testing.assert_allclose(jax.grad(f)(x), jax.grad(g)(x), rtol=1e-5)


def test_a_step_takes_time_for_what_it_changes():
    """A million steps that each write one element of a large array would copy terabytes."""
    out = lax.fori_loop(0, 1_000_000, lambda i, a: a.at[i].set(i), jnp.zeros(1_000_000, jnp.int32))
    np.testing.assert_array_equal(out, np.arange(1_000_000))


def set_one(i, x):
    return x.at[i].set(i * 2.0)


def add_some(i, x):
    return x.at[jnp.stack([i, i + 1, i])].add(1.5)


def set_twice(i, x):
    return x.at[i].set(7.0).at[i + 1].set(x[i] + 1)


def update_slice(i, x):
    return lax.dynamic_update_slice(x, jnp.full(2, 3.0) + i, (i,))


def beyond(i, x):
    return x.at[3 * i].set(5.0, mode="drop")


def set_row(i, x):
    return x.reshape(6, 2).at[i % 6].set(x[:2] + 1.0).reshape(12)


def scale(i, x):
    return x * 0.5


@pytest.mark.parametrize(
    "step", [set_one, add_some, set_twice, update_slice, beyond, set_row, scale]
)
def test_slices_of_a_batched_loop_end_at_different_times(step):
    def loop(last, x):
        return lax.while_loop(lambda c: c[0] < last, lambda c: (c[0] + 1, step(*c)), (0, x))[1]

    lasts = jnp.array([3, 0, 9, 5])
    xs = jnp.arange(48.0).reshape(4, 12).at[1, 0].set(-0.0)
    expected = [loop(int(last), x) for last, x in zip(lasts, xs)]
    found = jax.jit(jax.vmap(loop))(lasts, xs)
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.alone
@pytest.mark.parametrize("step", [set_one, update_slice])
def test_steps_of_a_batched_loop_do_not_copy_the_carry(step):
    @jax.jit
    @jax.vmap
    def loop(first, x):
        def turn(carry):
            return carry[0] + 1, step(*carry)

        return lax.while_loop(lambda c: c[0] < 40_000, turn, (first, x))[1]

    def seconds(size):
        xs, first = jnp.zeros((2, size)), jnp.array([0, 1])
        loop(first, xs).block_until_ready()
        runs = []
        for _ in range(3):
            start = time.perf_counter()
            loop(first, xs).block_until_ready()
            runs.append(time.perf_counter() - start)
        return min(runs)

    assert seconds(400_000) < 10 * seconds(4_000)  # 100 times as many elements
