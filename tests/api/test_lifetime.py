"""tests/api/test_lifetime.py - caches keep nothing alive that the user dropped."""

import copy
import functools
import gc
import resource
import weakref

import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax


def resident():
    """Bytes of memory in use now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def fresh_jit(i):
    jax.jit(lambda x: x * 2 + i)(1.0)


def fresh_grad(i):
    jax.grad(lambda x: jnp.sin(x) * i)(1.0)


def fresh_vmap(i):
    jax.vmap(lambda x: x * i)(jnp.ones(2))


def fresh_pmap(i):
    jax.pmap(lambda x: x * i)(jnp.ones(2))


def fresh_scan(i):
    lax.scan(lambda c, x: (c + x * i, c), 0.0, jnp.ones(3))


def fresh_custom_jvp(i):
    f = jax.custom_jvp(lambda x: x * i)
    f.defjvp(lambda p, t: (f(*p), t[0] * i))
    jax.jit(jax.grad(f))(1.0)


def fresh_custom_vjp(i):
    f = jax.custom_vjp(lambda x: x * i)
    f.defvjp(lambda x: (f(x), x), lambda r, g: (g * i,))
    jax.grad(jax.jit(f))(1.0)


def fresh_checkpoint(i):
    jax.grad(jax.checkpoint(lambda x: jnp.sin(x) * i))(1.0)


def fresh_callback(i):
    jax.jit(lambda x: (jax.debug.callback(lambda v: i, x), x)[1])(1.0)


@pytest.mark.parametrize(
    "use",
    [
        fresh_jit,
        fresh_grad,
        fresh_vmap,
        fresh_pmap,
        fresh_scan,
        fresh_custom_jvp,
        fresh_custom_vjp,
        fresh_checkpoint,
        fresh_callback,
    ],
)
def test_memory_stays_flat_over_fresh_functions(use):
    """At least in one round of three: free-threaded Python's memory grows some 2 MB, and stays."""

    def grown(calls):
        before = resident()
        for i in range(calls):
            use(float(i))
        gc.collect()
        return (resident() - before) / calls

    grown(1500)
    rounds = []
    while len(rounds) < 3 and (not rounds or rounds[-1] >= 300):
        rounds.append(grown(3000))
    assert rounds[-1] < 300, f"{rounds} bytes a function"


def dies(make):
    """Is what make() leaves behind collected? make returns an object to watch."""
    reference = weakref.ref(make())
    gc.collect()
    return reference() is None


class Trainer:
    """An object and its compiled methods refer to each other."""

    def __init__(self):
        self.step = jax.jit(self.take_step)
        self.mapped = jax.pmap(self.take_step)
        self.seen = []

    def log(self, x):
        self.seen.append(float(x))

    def take_step(self, x):
        jax.debug.callback(self.log, x)
        return x * 2


def test_cycles_through_callbacks_are_collected():
    def make():
        trainer = Trainer()
        trainer.step(1.0)
        trainer.mapped(jnp.ones(2))
        assert trainer.seen == [1.0, 1.0, 1.0]
        return trainer

    assert dies(make)


class Model:
    """A custom rule that refers to the object whose compiled method uses it."""

    def __init__(self):
        self.scale = 3.0
        self.f = jax.custom_vjp(lambda x: x * self.scale)
        self.f.defvjp(lambda x: (self.f(x), x), lambda x, g: (g * self.scale,))
        self.apply = jax.jit(lambda x: self.f(x) + 1)


def test_cycles_through_custom_rules_are_collected():
    def make():
        model = Model()
        assert jax.grad(model.apply)(1.0) == 3.0
        return model

    assert dies(make)


def test_cycles_through_vjp_functions_are_collected():
    def make():
        model = Model()
        model.pullback = jax.vjp(model.f, 1.0)[1]
        return model

    assert dies(make)


def test_functions_in_use_survive_collection():
    outer = jax.jit(lambda x: Model().apply(x))
    assert outer(2.0) == 7.0
    gc.collect()
    assert jax.grad(outer)(2.0) == 3.0  # the rule of a model that nobody else refers to

    program = jax.make_jaxpr(lambda x: Model().apply(x))(1.0)
    gc.collect()
    f = jax.core.jaxpr_as_fun(program)
    assert jax.grad(lambda x: f(x)[0])(1.0) == 3.0


def test_shared_programs_survive_the_function_that_staged_them():
    def body(x):
        jax.debug.callback(seen.append, x)
        return x

    seen = []
    first, second = jax.jit(body), jax.jit(body)
    first(1.0)
    del first
    gc.collect()
    second(1.0)
    assert len(seen) == 2


def test_attributes_of_what_is_transformed():
    class Layer:
        def __init__(self):
            self.width = 3

        def __call__(self, x):
            return self.width * x

    layer = Layer()
    for transform in (jax.jit, jax.vmap, jax.grad, jax.value_and_grad, jax.pmap, jax.checkpoint):
        assert transform(layer).width == 3
    assert jax.jit(layer)(2.0) == 6


@jax.custom_jvp
def square(x):
    return x * x


square.defjvp(lambda primals, tangents: (primals[0] ** 2, 2 * primals[0] * tangents[0]))


@pytest.mark.parametrize("transform", [jax.jit, jax.pmap])
@pytest.mark.parametrize(
    "body",
    [
        square,
        lambda x: jax.pure_callback(lambda x: x, x, x),
        lambda x: jax.debug.callback(str, x) or x,
    ],
)
def test_programs_with_functions_of_the_host_are_reused_by_the_next_jit(transform, body):
    calls = []

    def f(x):
        calls.append(1)
        return body(x)

    for _ in range(3):
        assert transform(f)(jnp.full(1, 2.0)).shape == (1,)
        assert jax.jit(f, donate_argnums=0)(jnp.full(1, 2.0)).shape == (1,)
    assert len(calls) == 2


def test_left_programs_go_with_the_function():
    def make():
        f = jax.custom_jvp(lambda x: x * scale[0])
        f.defjvp(lambda primals, tangents: (g(*primals), tangents[0] * scale[0]))

        def g(x):
            return f(x)

        scale = [2.0]
        assert jax.jit(g)(1.0) == 2.0
        assert jax.grad(jax.jit(g))(1.0) == 2.0
        copied = functools.wraps(g)(lambda x: g(x) + 1)
        assert jax.jit(copied)(1.0) == 3.0 and jax.jit(copied)(1.0) == 3.0
        copy.deepcopy(vars(copied)["__shardax_programs__"])
        return weakref.ref(g)

    alive = make()
    gc.collect()
    assert alive() is None
