"""tests/programs/test_program_identity.py - a program is shown by one object, while either is
held."""

import gc
import resource
import threading
import weakref

import shardax as jax
import shardax.numpy as jnp
from shardax import lax

twice = jax.jit(lambda x: 2 * x)


def resident():
    """Bytes of memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


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
    del held
    gc.collect()
    assert known() is body_of(fun, 1.0) and "mul" in str(known()) and not seen
    del fun
    gc.collect()
    assert known() is None and len(seen) == 1


def test_what_jit_keeps_goes_with_its_programs():
    fun = jax.jit(lambda x: lax.while_loop(lambda c: c < 5.0, lambda c: c + twice(1.0), x))
    loop = body_of(fun, 1.0).eqns[0].params
    bodies = [loop["cond_jaxpr"], loop["body_jaxpr"]]
    bodies.append(next(e for e in bodies[1].eqns if "jaxpr" in e.params).params["jaxpr"])
    known = [weakref.ref(body) for body in bodies]
    del loop, bodies
    gc.collect()
    again = body_of(fun, 1.0).eqns[0].params
    assert [known[0](), known[1]()] == [again["cond_jaxpr"], again["body_jaxpr"]]
    assert known[2]() is body_of(twice, 1.0)
    del again
    jax.clear_caches()
    gc.collect()
    assert [k() for k in known] == [None] * 3


def test_what_goes_may_be_asked_for():
    """By a callback of a weak reference, while a cache drops it."""
    fun = jax.jit(lambda x: jnp.sin(x) + 1)
    seen = []
    known = weakref.ref(body_of(fun, 1.0), lambda _: seen.append(str(body_of(fun, 1.0))))
    for _ in range(3):
        fun.clear_cache()
        assert known() is None and "sin" in seen[-1]
        known = weakref.ref(body_of(fun, 1.0), lambda _: seen.append(str(body_of(fun, 1.0))))
    assert len(seen) == 3


def cyclic(marker):
    @jax.custom_jvp
    def f(x):
        return x * x

    def rule(primals, tangents):
        return f(primals[0]), tangents[0] if marker else whole(tangents[0])

    f.defjvp(rule)
    whole = jax.jit(lambda x: f(x))
    return whole


def test_shown_programs_leave_no_functions_behind():
    """A cycle through a function that the program holds: rule, jit's cache, program, rule."""

    class Marker:
        pass

    markers = []
    for _ in range(3):
        marker = Marker()
        markers.append(weakref.ref(marker))

        whole = cyclic(marker)
        assert "custom_jvp" in str(body_of(whole, 1.0))
        body_of(whole, 1.0).eqns[0].params  # noqa: B018
        del marker, whole
    gc.collect()
    gc.collect()
    assert [m() for m in markers] == [None] * 3


def test_many_programs_come_and_go():
    def make(count):
        for k in range(count):
            body_of(jax.jit(lambda x, k=k: x + k), 1.0).eqns[0].params  # noqa: B018

    make(500)
    gc.collect()
    before = len(gc.get_objects()), resident()
    make(10000)
    gc.collect()
    assert len(gc.get_objects()) - before[0] < 500
    assert resident() - before[1] < 8e6


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
