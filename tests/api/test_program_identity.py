"""tests/api/test_program_identity.py - the object that shows a program is one, while it is held."""

import gc
import threading
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


def test_it_goes_with_those_who_hold_it():
    seen = []
    fun = jax.jit(lambda x: x * 3 + 1)
    held = body_of(fun, 1.0)
    known = weakref.ref(held, seen.append)
    assert known() is body_of(fun, 1.0)
    del held
    gc.collect()
    assert known() is None and len(seen) == 1
    assert "mul" in str(body_of(fun, 1.0))


CONSTANT = jnp.arange(3.0)


def test_what_is_held_outlives_its_program():
    held = body_of(jax.jit(lambda x: jnp.cos(x) + CONSTANT), 1.0)
    jax.clear_caches()
    gc.collect()
    assert "cos" in str(held) and held is held.jaxpr


def loop(x):
    @jax.custom_jvp
    def f(x):
        return x * x

    f.defjvp(lambda p, t: (f(p[0]), t[0]))
    return lax.fori_loop(0, 3, lambda i, c: f(c), x)


def test_the_collector_runs_while_a_program_is_looked_up():
    """In cycles with functions that programs hold, and at any allocation."""
    jaxpr = jax.make_jaxpr(loop)(1.0)
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(20):
            params = jaxpr.eqns[0].params
            body = params["jaxpr" if "jaxpr" in params else "body_jaxpr"]
            cycle = [body]
            cycle.append(cycle)
            known = weakref.ref(body, lambda _: jaxpr.eqns[0].params)  # looks it up as it goes
            assert known() is body
            del params, body, cycle
            gc.collect()
    finally:
        gc.set_threshold(*before)
    assert jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, 2.0)[0] == 2.0**8


def test_threads_see_one_object():
    jaxpr = jax.make_jaxpr(lambda x: twice(x) * 2)(1.0)
    held = jaxpr.eqns[0].params["jaxpr"]
    found, failed = [], []

    def look():
        try:
            for _ in range(200):
                found.append(jaxpr.eqns[0].params["jaxpr"] is held)
                body_of(jax.jit(lambda x: x + 1), 1.0)
                gc.collect(0)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and all(found)
