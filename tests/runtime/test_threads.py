"""tests/runtime/test_threads.py - Python threads, fork, exceptions that reach the caller."""

import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax._base.forks import held_over_forks
from shardax.sharding import Mesh


def work(scale):
    x = jnp.arange(200_000.0) * scale
    return float(jnp.sum(jnp.sqrt(x + 1.0)))


def test_several_threads_compute_at_once():
    expected = [work(s) for s in range(1, 9)]
    results = [None] * 8

    def run(i):
        for _ in range(5):
            results[i] = work(i + 1)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert results == expected


def test_threads_trace_and_map_independently():
    errors = []

    def run(i):
        try:
            f = jax.pmap(lambda x: jax.lax.psum(x * i, "i"), axis_name="i")
            assert np.asarray(f(jnp.arange(4)))[0] == 6 * i
            assert float(jax.grad(lambda v: v**3)(float(i))) == 3.0 * i * i
        except Exception as e:  # noqa: BLE001 - reported below
            errors.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(1, 7)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not errors


def test_threads_trace_shard_map():
    """The mesh within it, whose axes are manual, is that of one thread."""
    mesh = jax.make_mesh((2, 2), ("x", "y"))
    split = jax.sharding.PartitionSpec("x")
    meeting = threading.Barrier(4, timeout=60)
    errors = []

    def run():
        @jax.jit
        @jax.shard_map(mesh=mesh, in_specs=split, out_specs=split)
        def double(x):
            meeting.wait()  # all threads are within
            return 2 * x

        try:
            assert float(double(jnp.ones((4, 2)))[3, 1]) == 2
        except Exception as e:  # noqa: BLE001 - reported below
            errors.append(e)
            meeting.abort()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not errors


def test_the_current_mesh_is_that_of_a_thread():
    mesh = jax.make_mesh((2,), ("x",))
    traced, seen = [], []

    @jax.jit
    def f(x):
        traced.append(str(jax.sharding.get_abstract_mesh()))
        return x + 1

    def other():
        seen.append(jax.sharding.get_mesh().empty)
        seen.append(f(jnp.ones(2)).sharding)
        with jax.set_mesh(jax.make_mesh((4,), ("y",))):
            seen.append(jax.sharding.get_abstract_mesh().axis_names)

    with jax.set_mesh(mesh):
        inside = f(jnp.ones(2)).sharding
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(60)
        assert jax.sharding.get_mesh() == mesh
        assert f(jnp.ones(2)).sharding == inside
    assert inside.mesh == mesh and seen[1] != inside
    assert seen[0] and seen[2] == ("y",)
    assert len(traced) == 2 and len(set(traced)) == 2


SCANS_BESIDE_ANOTHER_THREAD = """
import threading, time
import shardax as jax, shardax.numpy as jnp
from shardax import _core, lax

auto = (jax.sharding.AxisType.Auto,) * 2
mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=auto)
ended = threading.Event()

def others():
    while not ended.is_set():
        lax.cond(True, lambda x: x, lambda x: 2 * x, 1.0)
        time.sleep(0.001)

others_thread = threading.Thread(target=others, daemon=True)
others_thread.start()
_core.watch_tasks(True)  # as shardax.progress() does: tracing hands Python's lock over at times
xs = [jnp.ones(4)] * 2000
spec = jax.sharding.PartitionSpec("x")
double = jax.shard_map(lambda xs: [2 * x for x in xs], mesh=mesh, in_specs=spec, out_specs=spec)
lax.scan(lambda c, _: (double(c), None), xs, None, length=1)
ended.set()
others_thread.join()
print("done")
"""


def test_ops_of_other_threads_go_on_while_a_program_is_staged():
    """No thread waits for the cache's lock with Python's lock in hand."""
    done = subprocess.run(
        [sys.executable, "-c", SCANS_BESIDE_ANOTHER_THREAD],
        env={**os.environ, "SHARDAX_NUM_DEVICES": "4"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "done\n", done.stderr


def test_threads_do_everything_at_once():
    key = jax.random.key(0)
    shared = jax.jit(lambda x: jnp.sin(x) @ x.T)
    errors = []

    def run(i):
        try:
            for n in range(3):
                x = jnp.linspace(0, i + 1, 200 * (300 + n)).reshape(200, -1)
                assert shared(x).shape == (200, 200)
                assert float(jax.jit(lambda x, i=i: (x * i).sum())(jnp.ones(50_000))) == 50_000 * i
                summed = jax.pmap(lambda v: jax.lax.psum(v, "i"), "i")(jnp.ones((8, 20_000)))
                assert float(summed[3, 5]) == 8
                ordered = jnp.sort(jax.random.normal(jax.random.fold_in(key, i), (100_000,)))
                assert float(ordered[0]) < 0 < float(ordered[-1])
                given = jnp.ones(100_000)
                kept = jax.jit(lambda v: v + 1, donate_argnums=0)(given)
                assert given.is_deleted() and float(kept[-1]) == 2
                called = jax.jit(
                    lambda v: jax.pure_callback(lambda a: np.asarray(a) + 1, v, jnp.cos(v))
                )(jnp.zeros(10_000))
                assert float(called[7]) == 2
                slope = jax.grad(lambda v: jax.lax.fori_loop(0, 5, lambda _, c: c * v, 1.0))(2.0)
                assert float(slope) == 80
        except Exception as e:  # noqa: BLE001 - reported below
            errors.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)
    assert not errors


def forked(check, timeout=30):
    """Runs check() in a forked child; its exit status, or None where it hangs."""
    pid = os.fork()
    if pid == 0:
        try:
            check()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the status tells
            os._exit(1)
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def check_in_child():
    x = jnp.arange(300_000.0)
    assert float(x.sum()) == pytest.approx(300_000 * 299_999 / 2, rel=1e-5)
    out = jax.pmap(lambda v: jax.lax.psum(v, "i"), axis_name="i")(jnp.arange(8))
    assert np.asarray(out).tolist() == [28] * 8


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_computes():
    work(1)
    assert forked(check_in_child) == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_while_another_thread_computes():
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            work(2)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(5):
            assert forked(check_in_child) == 0
    finally:
        stop.set()
        thread.join(60)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork_while_other_threads_enter_a_mesh():
    ended = []

    def enter(mesh):
        with mesh:
            pass

    def busy(mesh):
        while not ended:
            enter(mesh)

    mesh = Mesh(jax.devices()[:1], ("x",))
    threads = [threading.Thread(target=busy, args=(mesh,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            assert forked(functools.partial(enter, mesh)) == 0
    finally:
        ended.append(True)
        for thread in threads:
            thread.join(60)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_for_a_lock_that_it_would_catch():
    lock, taken = held_over_forks(threading.RLock()), threading.Event()

    def hold():
        with lock:
            taken.set()
            time.sleep(0.3)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(60)
    assert forked(lambda: lock.acquire() and lock.release()) == 0
    thread.join(60)
    with lock:
        pass


def square_sum(n):
    return int(jnp.sum(jnp.arange(n) ** 2))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_multiprocessing_pool():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(square_sum, [10, 100]) == [285, 328350]


def test_an_exception_inside_a_traced_function_reaches_the_caller_unchanged():
    class Mine(Exception):
        pass

    def f(x):
        raise Mine("as it is")

    for transform in (jax.jit, jax.vmap, jax.pmap, jax.grad):
        with pytest.raises(Mine, match="^as it is"):
            transform(f)(jnp.arange(4.0))
    assert float(jax.grad(lambda x: x * x)(3.0)) == 6.0
