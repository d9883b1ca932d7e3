"""tests/runtime/test_pool.py - the number of threads, and memory over many calls."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import _core


def test_thread_count_is_set_and_restored():
    before = jax.thread_count()
    assert before >= 1
    with jax.threads(3):
        assert jax.thread_count() == 3
        with jax.threads(1):
            assert jax.thread_count() == 1
        assert jax.thread_count() == 3
    assert jax.thread_count() == before
    with pytest.raises(ZeroDivisionError), jax.threads(2):
        raise ZeroDivisionError
    assert jax.thread_count() == before
    jax.set_thread_count(before)


@pytest.mark.parametrize("count", [0, -1, 5000])
def test_unreasonable_counts_are_refused(count):
    with pytest.raises(ValueError, match=f"set_thread_count: {count} threads; expected a number"):
        jax.set_thread_count(count)
    with pytest.raises(TypeError):
        jax.set_thread_count("two")


def test_the_environment_sets_the_count():
    code = "import shardax; print(shardax.thread_count())"
    for value, expected in (("3", 3), ("1", 1)):
        out = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "SHARDAX_NUM_THREADS": value},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert int(out.stdout) == expected


def test_results_are_the_same_for_any_count():
    key = jax.random.PRNGKey(0)

    def work():
        x = jax.random.normal(key, (700_000,))
        y = jnp.sort(x)
        return [x.sum(), (x[:262_144].reshape(512, 512) @ x[:512]).sum(), y[::1000], jnp.cumsum(x)]

    results = []
    for count in (1, 2, 3, 7):
        with jax.threads(count):
            results.append([np.asarray(v).tobytes() for v in work()])
    assert all(r == results[0] for r in results)


def test_the_count_may_change_while_others_compute():
    stop, errors = threading.Event(), []

    def compute():
        try:
            while not stop.is_set():
                assert float(jnp.ones(300_000).sum()) == 300_000
        except BaseException as e:  # noqa: BLE001 - reported below
            errors.append(e)

    workers = [threading.Thread(target=compute) for _ in range(3)]
    before = jax.thread_count()
    for w in workers:
        w.start()
    try:
        for i in range(60):
            jax.set_thread_count(1 + i % 4)
            assert float(jnp.ones(200_000).sum()) == 200_000
    finally:
        stop.set()
        for w in workers:
            w.join(60)
        jax.set_thread_count(before)
    assert not errors


def resident():
    """Bytes of memory that the process holds."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def leaks(call, count, allowed=4 << 20):
    """Bytes by which `count` calls let the process and the buffers grow, where that is too much."""
    for _ in range(count // 20 + 10):
        call()
    gc.collect()
    buffers, before = _core.memory_in_use(), resident()
    for _ in range(count):
        call()
    gc.collect()
    grown, kept = resident() - before, _core.memory_in_use() - buffers
    return (grown, kept) if grown > allowed or kept > 1 << 20 else None


def calls():
    x, m = jnp.ones(100), jnp.ones((8, 4))
    jitted = jax.jit(lambda v: jnp.sin(v) + 1)
    mapped = jax.pmap(lambda v: v - jax.lax.pmean(v, "i"), "i")
    slope = jax.jit(jax.grad(lambda v: (v * v).sum()))
    key = jax.random.PRNGKey(0)

    def failing():
        with pytest.raises(TypeError):
            x + "a"

    def failing_inside():
        def f(v):
            raise KeyError("inside")

        with pytest.raises(KeyError):
            jax.jit(f)(x)

    return {
        "eager": (lambda: x + 1, 100_000),
        "jit": (lambda: jitted(x), 100_000),
        "pmap": (lambda: mapped(m), 100_000),
        "grad": (lambda: slope(x), 100_000),
        "index": (lambda: x[3], 100_000),
        "update": (lambda: x.at[3].add(1), 20_000),
        "draw": (lambda: jax.random.normal(key, (10,)), 100_000),
        "numpy": (lambda: np.asarray(jnp.asarray(np.ones(100))), 100_000),
        "item": (lambda: float(x[0]), 100_000),
        "error": (failing, 20_000),
        "error inside": (failing_inside, 3_000),
        "new function": (lambda: jax.jit(lambda v: v * 2)(x), 3_000),
        "eager grad": (lambda: jax.grad(lambda v: (v * v).sum())(x), 3_000),
    }


@pytest.mark.parametrize("name", sorted(calls()))
def test_calls_do_not_leak(name):
    call, count = calls()[name]
    assert leaks(call, count) is None


def test_threads_that_end_leave_nothing():
    def run():
        float((jnp.ones(1000) * 2).sum())

    def call():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    assert leaks(call, 2_000) is None


@pytest.mark.parametrize("text", ["abc", "-3", "0", "4x", "1025", "99999999999999999999"])
def test_a_count_in_the_environment_that_is_none_is_refused(text):
    done = subprocess.run(
        [sys.executable, "-c", "import shardax"],
        env={**os.environ, "SHARDAX_NUM_THREADS": text},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr.endswith(
        f"ValueError: shardax: the environment's SHARDAX_NUM_THREADS is '{text}'; expected a "
        "number of threads from 1 to 1024. Unset it for one thread a core.\n"
    )


def test_more_threads_than_cores_start_where_they_are_asked_for():
    code = """
import os
before = len(os.listdir("/proc/self/task"))  # an emulator adds one of its own
import shardax, shardax.numpy as jnp
x = jnp.ones((64, 300, 300))
for _ in range(20):
    (x @ x).block_until_ready()
print(len(os.listdir("/proc/self/task")) - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SHARDAX_NUM_THREADS": "6", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert int(done.stdout) == 5, done.stderr
