"""tests/programs/test_key_reuse.py - jax_debug_key_reuse: which programs use a key twice."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax, random
from shardax.errors import KeyReuseError

TWICE = "Previously-consumed key passed to"


@pytest.fixture(autouse=True)
def watched():
    with jax.debug_key_reuse(True):
        yield


def test_single_draws():
    key = random.key(0)
    first = random.bits(key)
    with pytest.raises(KeyReuseError, match=f"{TWICE} random_bits at index 0; split a key"):
        random.bits(key)
    with pytest.raises(KeyReuseError, match=f"{TWICE} jit-compiled function at index 0"):
        random.normal(key)
    assert random.bits(random.clone(key)) == first
    with jax.debug_key_reuse(False):
        assert random.bits(key) == first


def test_splits_and_their_parts():
    key = random.key(0)
    keys = random.split(key)
    random.normal(keys[0])
    random.normal(keys[1])
    with pytest.raises(KeyReuseError, match=TWICE):
        random.normal(keys[1])
    with pytest.raises(KeyReuseError, match=f"{TWICE} random_split at index 0"):
        random.split(key)
    root = random.key(1)
    assert [random.normal(random.fold_in(root, i)).shape for i in range(3)] == [()] * 3
    random.normal(root)


def test_jit():
    key = random.key(0)
    draw = jax.jit(lambda k: random.normal(k))
    draw(key)
    with pytest.raises(KeyReuseError, match=f"{TWICE} jit-compiled function at index 0"):
        draw(key)
    closed = random.key(1)
    f = jax.jit(lambda: random.normal(closed))
    f()
    with pytest.raises(KeyReuseError, match=f"{TWICE} jit-compiled function at index 0"):
        f()
    same, other = jax.jit(lambda k: (k, random.split(k)))(random.key(2))
    with pytest.raises(KeyReuseError, match=TWICE):
        random.normal(same)
    random.normal(other[0])


@jax.jit
def twice(key):
    return random.bits(key) + random.bits(key)


@jax.jit
def part_twice(keys):
    return random.bits(keys[0]) + random.bits(keys[1]) + random.bits(keys[0])


@jax.jit
def one_branch(key):
    drawn = lax.cond(True, random.bits, lambda k: jnp.uint32(0), key)
    return drawn + random.bits(key)


@jax.jit
def reshaped(key):
    return random.bits(key) + random.bits(key.reshape((1,))[0])


@jax.jit
def checkpointed(key):
    return jax.checkpoint(lambda k: random.bits(k) + random.bits(k))(key)


@jax.jit
def joined(key):
    return random.bits(jnp.stack([key, random.clone(key)])[0]) + random.bits(key)


@pytest.mark.parametrize("f", [twice, one_branch, reshaped, checkpointed, joined])
def test_twice_in_a_program(f):
    with pytest.raises(KeyReuseError, match="In [a-z_]+, argument [0-9] is already consumed"):
        f(random.key(0))


def test_parts_twice_in_a_program():
    with pytest.raises(KeyReuseError, match="is already consumed"):
        part_twice(random.split(random.key(0)))


def _scan(body):
    return jax.jit(lambda key: lax.scan(body, key, jnp.arange(3.0)))


def test_loops():
    def moves_on(key, x):
        key, sub = random.split(key)
        return key, x + random.normal(sub)

    _scan(moves_on)(random.key(0))
    jax.jit(lambda k: lax.map(random.normal, random.split(k, 3)))(random.key(0))
    text = "scan body function leads to key reuse when repeatedly executed, because "
    with pytest.raises(KeyReuseError, match=text):
        _scan(lambda key, x: (key, x + random.normal(key)))(random.key(0))
    with pytest.raises(KeyReuseError, match=text + "consumed inputs don't match"):
        jax.jit(
            lambda a, b: lax.scan(
                lambda c, x: (c[::-1], random.normal(c[0])), (a, b), jnp.arange(3)
            )
        )(random.key(1), random.key(2))
    with pytest.raises(KeyReuseError, match=text + "key constants"):
        key = random.key(3)
        jax.jit(lambda k: lax.scan(lambda c, x: (c, random.normal(k)), 0, jnp.arange(3)))(key)

    def loop(condition, body):
        return jax.jit(lambda k: lax.while_loop(condition, body, (k, 0.0)))

    loop(lambda c: c[1] < 3, lambda c: (random.split(c[0])[0], c[1] + 1))(random.key(0))
    with pytest.raises(KeyReuseError, match="while_loop body function leads to key reuse"):
        loop(lambda c: c[1] < 3, lambda c: (c[0], c[1] + random.uniform(c[0])))(random.key(0))
    with pytest.raises(KeyReuseError, match="while_loop cond function leads to key reuse"):
        loop(lambda c: random.uniform(c[0]) < 0.5, lambda c: c)(random.key(0))


def test_batches_devices_and_derivatives():
    def draw(key, x):
        return x * random.normal(key)

    keys = random.split(random.key(0), 4)
    jax.vmap(draw, (0, None))(keys, 2.0)
    with pytest.raises(KeyReuseError, match=TWICE):
        jax.vmap(draw, (0, None))(keys, 2.0)
    keys = random.split(random.key(1), 4)
    jax.pmap(draw, in_axes=(0, None))(keys, 2.0)
    with pytest.raises(KeyReuseError, match=f"{TWICE} pmap at index 0"):
        jax.pmap(draw, in_axes=(0, None))(keys, 2.0)
    jax.jit(jax.grad(lambda x, k: jax.checkpoint(draw)(k, x)))(1.0, random.key(2))
    empty = random.split(random.key(3), 0)
    assert jax.vmap(random.bits)(empty).shape == (0,)


def test_equality_does_not_use_keys():
    key, other = random.key(0), random.key(1)
    assert not jax.jit(lambda a, b: a == b)(key, other) and bool(key == key)
    np.asarray(random.key_data(key))
    random.normal(key)


# Draws that loop until each element has its number, or take it by one method of several.
LOOPS = {
    "gamma": (1.0,),
    "loggamma": (1.0,),
    "beta": (1.0, 2.0),
    "dirichlet": (np.ones(3, np.float32),),
    "poisson": (3.0,),
    "binomial": (5, 0.5),
    "multinomial": (5, np.full(3, 1 / 3, np.float32)),
    "t": (3.0,),
    "chisquare": (3.0,),
    "f": (2.0, 3.0),
    "ball": (3,),
    "generalized_normal": (2.0,),
}


@pytest.mark.parametrize("name", LOOPS)
def test_draws_that_loop_use_their_key_once(name):
    key = random.key(0)
    draw = jax.jit(lambda key: getattr(random, name)(key, *LOOPS[name]))
    draw(key)
    with pytest.raises(KeyReuseError, match=TWICE):
        getattr(random, name)(key, *LOOPS[name])


def test_choices_of_keys():
    def turns(key):  # ends for one element of a batch before the others
        def turn(state):
            key, sub = random.split(state[0])
            return key, random.uniform(sub)

        return lax.while_loop(lambda s: s[1] < 0.5, turn, (key, jnp.float32(0)))[0]

    ends = jax.jit(jax.vmap(turns))(random.split(random.key(0), 3))
    random.normal(ends[0])

    def chosen(key, other):
        random.bits(key)
        random.bits(other)
        return random.normal(jnp.where(True, key, other))

    with pytest.raises(KeyReuseError, match="already consumed"):
        jax.jit(chosen)(random.key(1), random.key(2))
