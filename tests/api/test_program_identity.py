"""tests/api/test_program_identity.py - the object of a program is one, while the program lives."""

import gc
import weakref

import shardax as jax
import shardax.numpy as jnp
from shardax import lax

twice = jax.jit(lambda x: 2 * x)


def body_of(fun, *args):
    """The program that the first equation of fun carries."""
    params = jax.make_jaxpr(fun)(*args).eqns[0].params
    return params["jaxpr"] if "jaxpr" in params else params["body_jaxpr"]


def test_a_program_is_shown_by_one_object():
    jaxpr = jax.make_jaxpr(lambda x: twice(x) + twice(x))(1.0)
    first, second = (eqn.params["jaxpr"] for eqn in jaxpr.eqns[:2])
    assert first is second
    assert first.jaxpr is first
    assert jaxpr.eqns[0].params["jaxpr"] is first
    assert body_of(twice, 1.0) is first


def test_it_outlives_those_who_hold_it():
    fun = jax.jit(lambda x: x * 3 + 1)
    seen = []
    known = weakref.ref(body_of(fun, 1.0), seen.append)
    identity = id(known())
    gc.collect()
    assert id(body_of(fun, 1.0)) == identity
    assert known() is body_of(fun, 1.0)
    assert str(known()) == str(body_of(fun, 1.0))
    assert not seen


def test_it_goes_with_its_program():
    def fun(x):
        return jnp.sin(x) * CONSTANT

    jitted = jax.jit(fun)
    known = weakref.ref(body_of(jitted, 1.0))
    for _ in range(3):
        body_of(jitted, 1.0)  # comes back, and is kept again
    assert known() is not None
    del jitted, fun
    gc.collect()
    assert known() is None


CONSTANT = jnp.arange(3.0)


def test_what_is_held_outlives_its_program():
    held = body_of(jax.jit(lambda x: jnp.cos(x) + CONSTANT), 1.0)
    gc.collect()
    jax.clear_caches()
    assert "cos" in str(held)
    assert held is held.jaxpr


def test_bodies_of_loops_with_functions():
    @jax.custom_jvp
    def f(x):
        return x * x

    f.defjvp(lambda p, t: (f(p[0]), t[0]))

    def loop(x):
        return lax.fori_loop(0, 3, lambda i, c: f(c), x)

    jaxpr = jax.make_jaxpr(loop)(1.0)
    params = jaxpr.eqns[0].params
    name = "jaxpr" if "jaxpr" in params else "body_jaxpr"
    known = weakref.ref(params[name])
    del params
    gc.collect()
    assert known() is jaxpr.eqns[0].params[name]
    assert jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, 2.0)[0] == 2.0**8


def test_a_program_with_constants_is_closed_once():
    made = jax.make_jaxpr(lambda c: (c + CONSTANT.sum(),))(jnp.zeros(()))
    condition = jax.make_jaxpr(lambda c: c < 10)(jnp.zeros(()))
    traces = []
    for _ in range(2):
        out = jax.make_jaxpr(
            lambda x: lax.while_p.bind(
                x, cond_nconsts=0, cond_jaxpr=condition, body_nconsts=0, body_jaxpr=made
            )
        )(jnp.zeros(()))
        traces.append(out.eqns[0].params["body_jaxpr"])
    assert traces[0] is traces[1]
