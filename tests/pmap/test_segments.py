"""tests/pmap/test_segments.py - large temporaries of mapped functions take memory per chunk."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

sys.path.append(str(pathlib.Path(__file__).parents[1]))
import peak_memory  # noqa: E402

N, D = 100, 512  # 1 MB a device for a D x D temporary: more than the budget for all devices
rng = np.random.default_rng(0)
w = jnp.asarray(rng.standard_normal((D, D)) / D**0.5, dtype=jnp.float32)
x = jnp.asarray(rng.standard_normal((N, 2, D)), dtype=jnp.float32)


def clipped_gradient(w, x):
    g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return g * jnp.minimum(1.0, 1.0 / jnp.linalg.norm(g))


def clip(w, x):
    return w - 0.1 * lax.pmean(clipped_gradient(w, x), "i")


def outer(x):
    return jnp.tanh(x[0][:, None] * x[1])


def crossing(w, x):
    """Two segments: values of the first for the second cross a collective."""
    a = outer(x)
    mean = lax.pmean(a.mean(), "i")
    b = jnp.sin(a - mean) * w
    return b.sum(0), lax.psum(jnp.abs(b), "i"), lax.pmax(b.max(), "i")


def neighbours(w, x):
    n = lax.axis_size("i")
    right = lax.ppermute(x, "i", [(i, (i + 1) % n) for i in range(n)])
    return (outer(x) @ outer(right)).sum(1) * lax.axis_index("i"), lax.all_gather(x[0, 0], "i")


def loop(w, x):
    def body(c, _):
        return jnp.tanh(c + outer(x)), c.mean()

    c, means = lax.scan(body, jnp.zeros((D, D)), None, length=2)
    return lax.psum(c, "i"), means


def low_precision(w, x):
    return lax.psum(outer(x.astype(jnp.bfloat16)) ** 2, "i")


def beside_nothing(w, x):
    """Arrays without elements cross from one segment to the next."""
    large, nothing = outer(x), x[:0]
    mean = lax.pmean(large.mean(), "i")
    gradient = jax.grad(lambda w: jnp.tanh(nothing @ w).sum())(w)
    shared = lax.all_gather(nothing, "i").sum((0, 1)) + lax.psum(nothing.sum(0), "i")
    return jnp.sin(large - mean).sum(0) + shared, lax.psum(gradient, "i")[0], nothing @ large


def groups(w, x):
    halves = [list(range(N // 2)), list(range(N // 2, N))]
    return lax.psum(outer(x), "i", axis_index_groups=halves).sum(0)


def solved(w, x):
    """Uniform values, made by an op that carries programs, beside what varies."""
    y = lax.cond(w[0, 0] < 9, lambda: jnp.linalg.solve(w + 3 * jnp.eye(D), w[0]), lambda: w[0])
    return lax.pmean(clipped_gradient(w, x) * y, "i"), lax.psum(y, "i")


def branch(w, x):
    positive = lax.psum(x[0, 0], "i") > 0
    return lax.cond(positive, lambda: lax.psum(outer(x), "i"), lambda: -lax.psum(outer(x), "i"))


@pytest.fixture(autouse=True)
def many_devices():
    before = jax.device_count()
    jax.config.update("jax_num_cpu_devices", N)
    yield
    jax.config.update("jax_num_cpu_devices", before)


CASES = [clip, crossing, neighbours, loop, low_precision, solved, beside_nothing]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_values(f):
    got = jax.pmap(f, axis_name="i", in_axes=(None, 0))(w, x)
    want = jax.vmap(f, axis_name="i", in_axes=(None, 0))(w, x)
    tolerance = 2e-2 if f is low_precision else 1e-5
    for g, e in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        g, e = np.asarray(g, np.float32), np.asarray(e, np.float32)
        scale = np.abs(e).max(initial=0)
        np.testing.assert_allclose(g, e, rtol=tolerance, atol=tolerance * scale)


def test_groups():
    out = jax.pmap(groups, axis_name="i", in_axes=(None, 0))(w, x)
    each = np.tanh(np.einsum("na,nb->nab", x[:, 0], x[:, 1])).sum(1)
    halves = np.repeat(each.reshape(2, N // 2, D).sum(1), N // 2, axis=0)
    np.testing.assert_allclose(out, halves, rtol=1e-4, atol=1e-3)


def test_a_branch_that_all_devices_take():
    out = jax.pmap(branch, axis_name="i", in_axes=(None, 0))(w, x)
    each = np.tanh(np.einsum("na,nb->nab", x[:, 0], x[:, 1])).sum(0)
    np.testing.assert_allclose(out[3], np.sign(x[:, 0, 0].sum()) * each, rtol=1e-4, atol=1e-4)


def test_parameters_that_vary():
    stacked = w + jnp.arange(N, dtype=jnp.float32)[:, None, None] / N
    got = jax.pmap(clip, axis_name="i")(stacked, x)
    want = jax.vmap(clip, axis_name="i")(stacked, x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_effects_keep_their_order(capfd):
    def f(x):
        a = outer(x)
        jax.debug.print("a {}", x[0, 0])
        total = lax.psum(jnp.abs(a), "i")
        jax.debug.print("b {}", x[0, 1])
        return total.sum()

    jax.pmap(f, axis_name="i")(x)
    jax.effects_barrier()
    lines = capfd.readouterr().out.splitlines()
    assert [line[0] for line in lines] == ["a"] * N + ["b"] * N
    assert lines[1] == f"a {x[1, 0, 0]}"


def test_bits_do_not_depend_on_threads():
    f = jax.pmap(clip, axis_name="i", in_axes=(None, 0))
    results = []
    for threads in (1, 2, 3):
        with jax.threads(threads):
            results.append(np.asarray(f(w, x)[0]).tobytes())
    assert len(set(results)) == 1


MEMORY = """
import numpy as np
sys.path.insert(0, {folder!r})
import shardax as jax
import test_segments as t

t.N = int(sys.argv[2])
jax.config.update("jax_num_cpu_devices", t.N)
t.D = 1664
w = np.random.default_rng(0).standard_normal((t.D, t.D)).astype("float32")
x = np.random.default_rng(1).standard_normal((t.N, 2, t.D)).astype("float32")
f = jax.pmap(getattr(t, sys.argv[1]), axis_name="i", in_axes=(None, 0))
w, x = jax.block_until_ready((jax.numpy.asarray(w), jax.numpy.asarray(x)))
peak = Peak()
jax.block_until_ready(f(w, x))
print(peak.kilobytes() // 1024)
"""


@peak_memory.linux_only
@pytest.mark.parametrize(("case", "devices"), [("clip", 100), ("loop", 32), ("low_precision", 100)])
def test_memory_does_not_grow_with_devices(case, devices):
    """Temporaries of 11 MB and more for each device: halving them is worth any time.

    The loop's take 1.3 GB on 32 devices, and their hyperbolic tangents an emulator's minutes.
    """
    folder = os.path.dirname(os.path.abspath(__file__))
    script = peak_memory.IMPORT + MEMORY.format(folder=folder)
    out = subprocess.run(
        [sys.executable, "-c", script, case, str(devices)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert out.returncode == 0, out.stderr[-2000:]
    assert int(out.stdout) < 256


PERCEPTRON = """
import shardax as jax
import shardax.numpy as jnp

def loss(ws, x):
    for w in ws:
        x = jnp.tanh(x @ w)
    return x.sum()

def step(ws, x):
    grads = jax.lax.psum(jax.grad(loss)(ws, x), "i")
    return [w - 1e-3 * g for w, g in zip(ws, grads)]

f = jax.pmap(step, axis_name="i", in_axes=(None, 0), out_axes=None)
f([jnp.ones((512, 512)) / 512] * 12, jnp.arange(2**21.0).reshape(8, 512, 512) / 2**21)
"""


def test_gradients_that_are_products_over_all_devices_stay_so(dump_of):
    """To add them up device by device takes more time than the memory is worth."""
    dump = dump_of(PERCEPTRON)
    plan = dump.split("-- plan:")[-1]
    assert int(plan.split(" steps, ")[1].split(" bytes")[0]) > 64 << 20
    assert plan.count("dot_general -> f32[512,512]") == 12
    assert "scan" not in plan


SMALL_STEPS = """
import shardax as jax
import shardax.numpy as jnp

def loss(ws, x):
    for w in ws:
        y = x - x.mean(0)
        x = x + jnp.tanh(y / jnp.sqrt((y * y).mean(0) + 1e-5) * w)
    return (x**2).sum()

def step(ws, x):
    grads = jax.lax.psum(jax.grad(loss)(ws, x), "i")
    return [w - 1e-3 * g for w, g in zip(ws, grads)]

f = jax.pmap(step, axis_name="i", in_axes=(None, 0), out_axes=None)
f([jnp.ones(256)] * 40, jnp.arange(8.0 * ROWS * 256).reshape(8, ROWS, 256))
"""


@pytest.mark.parametrize(("rows", "in_turns"), [(128, False), (4096, True)])
def test_small_steps_are_not_made_smaller(dump_of, rows, in_turns):
    """Steps of a few microseconds take as long for one device as for eight."""
    dump = dump_of(SMALL_STEPS.replace("ROWS", str(rows)))
    assert ("scan of 8 steps" in dump) == in_turns
