"""tests/parity/test_flow.py - pmapped control flow against devices that are Python threads.

The reference is a mapped function's meaning in the plainest form. Each device is a thread that runs
the function with Python's own control flow on NumPy numbers. A collective is a meeting of all
threads. Gradients are held against differences of it.
"""

import itertools
import pathlib
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import flow  # noqa: E402

X = np.array([0.35, -0.7, 1.2, 0.5])


class Devices:
    """`count` threads that run one function, each with a number of its own."""

    def __init__(self, count):
        self.count = count
        self.barrier = threading.Barrier(count, timeout=20)
        self.values = [None] * count
        self.here = threading.local()

    def run(self, f, xs):
        results = [None] * self.count

        def device(index):
            self.here.index = index
            try:
                results[index] = f(xs[index])
            except BaseException as e:  # reported by the caller, as results of another size
                self.barrier.abort()
                results[index] = e

        threads = [threading.Thread(target=device, args=(i,)) for i in range(self.count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return np.array(results, float)

    def meet(self, value):
        """The values of all devices."""
        self.values[self.here.index] = value
        self.barrier.wait()
        values = list(self.values)
        self.barrier.wait()
        return values

    def index(self):
        return self.here.index


def loop(step, carry, xs, reverse=False):
    out = []
    for x in xs[::-1] if reverse else xs:
        carry, y = step(carry, x)
        out.append(y)
    return carry, np.array(out[::-1] if reverse else out)


def each(f):
    return lambda xs: np.array([f(x) for x in xs])


def repeat(start, stop, step, value):
    for i in range(start, stop):
        value = step(i, value)
    return value


def repeat_while(test, step, value):
    while test(value):
        value = step(value)
    return value


def names(devices):
    """The meaning of the sources' names on threads."""
    meet, index = devices.meet, devices.index
    plain_lax = SimpleNamespace(
        psum=lambda x, _: devices.count if type(x) is int else sum(meet(x)),
        pmean=lambda x, _: sum(meet(x)) / devices.count,
        pmax=lambda x, _: max(meet(x)),
        all_gather=lambda x, _: np.array(meet(x)),
        ppermute=lambda x, _, pairs: meet(x)[{to: at for at, to in pairs}[index()]],
        axis_index=lambda _: index(),
        psum_scatter=lambda x, _: sum(meet(x))[index()],
        all_to_all=lambda x, _, split, concat: np.array([row[index()] for row in meet(x)]),
        stop_gradient=lambda x: x,
        scan=loop,
        map=lambda f, xs: each(f)(xs),
        fori_loop=repeat,
        while_loop=repeat_while,
        cond=lambda test, yes, no, v: yes(v) if test else no(v),
        switch=lambda at, branches, v: branches[at](v),
    )
    plain_jax = SimpleNamespace(checkpoint=lambda f: f, jit=lambda f: f, vmap=each)
    return {"lax": plain_lax, "jnp": np, "jax": plain_jax}


def on_threads(source, x):
    devices = Devices(len(x))
    return devices.run(eval(source, names(devices)), x)


def differences(f, x, step=1e-5):
    """The gradient of f, a number, at x."""
    out = []
    for unit in np.eye(len(x)):
        out.append((f(x + step * unit) - f(x - step * unit)) / (2 * step))
    return np.array(out)


PAIRS = list(itertools.product(flow.FLOWS, flow.COLLECTIVES))


@pytest.mark.parametrize("control, collective", PAIRS)
def test_values_and_gradients(control, collective):
    source = flow.function(control, collective)
    f = shardax.pmap(eval(source, {"lax": lax, "jnp": jnp, "jax": shardax}), "i")
    want = on_threads(source, X)
    np.testing.assert_allclose(f(jnp.array(X)), want, rtol=1e-4, atol=1e-5)
    slopes = np.array([1.0, -0.5, 2.0, 0.7])
    if collective == "pmax":  # its source stops the gradient of a factor
        return
    want = differences(lambda x: on_threads(source, x) @ slopes, X)
    t = jnp.array([0.3, 1.0, -0.4, 0.8])
    tangent = shardax.jvp(f, (jnp.array(X),), (t,))[1]
    np.testing.assert_allclose(tangent @ slopes, want @ np.asarray(t), rtol=2e-3, atol=1e-3)
    if control not in flow.FORWARD_ONLY:
        got = shardax.grad(lambda x: f(x) @ slopes)(jnp.array(X))
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-3)


MAPPED = [m for m in flow.MAPS if m not in ("pmap", "vmap")]


@pytest.mark.parametrize("mapped", MAPPED)
@pytest.mark.parametrize("way", flow.WAYS)
def test_maps_within_and_around(mapped, way):
    """Each map gives what vmap alone gives, row by row."""
    x = jnp.array(X, "float32")
    rows = jnp.stack([x, x * 0.5 + 0.1])
    given = {"lax": lax, "jnp": jnp, "jax": shardax, "x4": x, "x24": rows, "x42": rows.T}
    pairs = [p for p in PAIRS if p[0] not in flow.FORWARD_ONLY or way in ("value", "jvp")]
    for control, collective in pairs[::3]:
        got = eval(flow.expression(control, collective, mapped, way), given)
        source = flow.expression(control, collective, mapped, way)
        source = source.replace("jax.pmap(", "mapped(")
        want = eval(source, {**given, "mapped": lambda f, name: shardax.vmap(f, axis_name=name)})
        np.testing.assert_allclose(
            got, want, rtol=1e-3, atol=1e-4, err_msg=f"{control} / {collective}"
        )
