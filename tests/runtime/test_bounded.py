"""tests/runtime/test_bounded.py - bounds of memory for shapes and values that come and go."""

import gc
import os

import pytest
import shardax as jax
import shardax.numpy as jnp


def resident():
    """Bytes of memory that the process holds."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grown(call, start, count):
    """By how much calls with `count` numbers from `start` on let the process grow, in MB."""
    gc.collect()
    before = resident()
    for i in range(start, start + count):
        call(i)
    gc.collect()
    return (resident() - before) / 2**20


def jit_shapes():
    f = jax.jit(lambda x: jnp.sin(x) + 1)
    return lambda i: f(jnp.zeros((i % 97 + 1, i // 97 + 1)))


def static_values():
    f = jax.jit(lambda x, n: x * n, static_argnums=1)
    x = jnp.ones(3)
    return lambda i: f(x, i)


def draws():
    key = jax.random.PRNGKey(0)
    return lambda i: jax.random.normal(key, (i % 97 + 1, i // 97 + 1))


def eager_shapes():
    return lambda i: jnp.tanh(jnp.zeros((i % 97 + 1, i // 97 + 1))).sum()


def eager_params():
    x = jnp.ones(3)
    return lambda i: jax.lax.pad(x, 0.0, [(i % 97, i // 97, 0)])


def mapped_shapes():
    f = jax.pmap(lambda x: x + 1)
    return lambda i: f(jnp.zeros((2, i % 97 + 1, i // 97 + 1)))


def batch_sizes():
    f = jax.jit(lambda x: jnp.sin(x) + 1)
    f(1.0)
    return lambda i: jax.vmap(f)(jnp.zeros(i + 1))


def new_names():
    def call(i):
        return jax.vmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(jnp.zeros(i % 500 + 1))

    return call


KINDS = [
    jit_shapes,
    static_values,
    draws,
    eager_shapes,
    eager_params,
    mapped_shapes,
    batch_sizes,
    new_names,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_caches_are_bounded(kind):
    call = kind()
    grown(call, 0, 3000)  # fills them
    # A cache without a bound grows in each round; an allocator that splits its pages does in one.
    rounds = [grown(call, start, 3000) for start in (3000, 6000, 9000)]
    assert min(rounds) < 4, rounds


def test_signatures_used_longest_ago_make_room():
    traced = []

    @jax.jit
    def f(x):
        traced.append(x.shape)
        return x + 1

    first = jnp.zeros(1)
    for n in range(1, 2001):
        f(jnp.zeros(n))
        f(first)
    assert f._cache_size() <= 1024
    assert traced.count((1,)) == 1 and len(traced) == 2000
    f(jnp.zeros(2000))
    f(jnp.zeros(1500))
    assert len(traced) == 2000
    f(jnp.zeros(2))
    assert len(traced) == 2001
