"""tests/runtime/test_workers.py - oneTBB's workers: many callers, sleep, signals, no memory."""

import os
import subprocess
import sys
import threading
import time

import pytest
import shardax as jax
import shardax.numpy as jnp

if not os.path.isdir("/proc/self/task"):
    pytest.skip("the threads of a process are not listed here", allow_module_level=True)


def tasks():
    return set(map(int, os.listdir("/proc/self/task")))


def ticks(task):
    """The processor time that a thread has used, in ticks of the system's clock."""
    with open(f"/proc/self/task/{task}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def in_a_process(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_more_callers_than_arenas_get_their_own_results():
    callers, rounds = 40, 30
    start, errors = threading.Barrier(callers), []

    def compute(k):
        try:
            x = jnp.arange(150_000) % 3 + k - 1
            start.wait(60)
            for r in range(rounds):
                assert int((x + r).sum()) == 150_000 * (k + r)
        except BaseException as e:  # noqa: BLE001 - reported below
            errors.append(e)

    threads = [threading.Thread(target=compute, args=(k,)) for k in range(callers)]
    with jax.threads(4):
        for t in threads:
            t.start()
        for t in threads:
            t.join(120)
    assert not errors
    assert not any(t.is_alive() for t in threads)


def test_workers_that_sleep_are_woken():
    x = jnp.linspace(0, 9, 4_000_000)
    f = jax.jit(lambda x: jnp.sin(x).sum())
    with jax.threads(2):
        before = float(f(x))
        time.sleep(0.2)
        others = {task: ticks(task) for task in tasks() - {threading.get_native_id()}}
        for _ in range(200):
            time.sleep(0.002)
            assert float(f(x)) == before
        assert max(ticks(task) - used for task, used in others.items()) > 5


def test_a_worker_that_waits_for_long_uses_no_processor():
    with jax.threads(2):
        float(jnp.ones(1_000_000).sum())
        time.sleep(0.1)
        others = {task: ticks(task) for task in tasks() - {threading.get_native_id()}}
        time.sleep(0.5)
        assert all(ticks(task) - used <= 2 for task, used in others.items())


def test_the_first_workers_serve_after_the_count_went_down():
    x = jnp.ones(2_000_000)
    for count in (6, 2, 5, 3):
        with jax.threads(count):
            for _ in range(20):
                assert float(x.sum()) == 2_000_000


def test_signals_are_left_to_python_s_threads():
    code = """
import os
import shardax.numpy as jnp
before = set(os.listdir("/proc/self/task"))
x = jnp.ones((64, 300, 300))
for _ in range(20):
    (x @ x).block_until_ready()
workers = set(os.listdir("/proc/self/task")) - before
masks = [line.split()[1] for task in workers for line in open(f"/proc/self/task/{task}/status")
         if line.startswith("SigBlk")]
print(len(workers), all(int(mask, 16) >> (2 - 1) & 1 for mask in masks))
"""
    done = in_a_process(code, SHARDAX_NUM_THREADS="3")
    assert done.stdout.split() == ["2", "True"], done.stderr


LITTLE_ROOM = """
import os, resource
import shardax.numpy as jnp
pages = int(open("/proc/self/statm").read().split()[0])
room = pages * os.sysconf("SC_PAGE_SIZE") + (MB << 20)
resource.setrlimit(resource.RLIMIT_AS, (room, room))
if resource.getrlimit(resource.RLIMIT_AS)[0] != room:
    print("no limit")
    raise SystemExit
sums, x = set(), None
for _ in range(20):
    try:
        x = jnp.ones((700, 700)) if x is None else x
        sums.add(float((x @ x).sum()))
    except MemoryError:
        pass
print(sums <= {700.0**3}, len(os.listdir("/proc/self/task")))
"""


@pytest.mark.parametrize("megabytes", [4, 16, 40, 100, 250, 400, 900])
@pytest.mark.parametrize("threads", [8, 64])
def test_little_address_space_does_not_end_the_process(megabytes, threads):
    """Threads start as far as their stacks have room, and heaps of the first take none of it."""
    environment = {"SHARDAX_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
    done = in_a_process(LITTLE_ROOM.replace("MB", str(megabytes)), **environment)
    if done.stdout == "no limit\n":
        pytest.skip("QEMU ignores limits of address space")
    right, tasks = done.stdout.split() or (done.stderr, "0")
    assert right == "True", done.stderr
    assert int(tasks) == 1 if megabytes < 50 else 1 < int(tasks) <= 9
