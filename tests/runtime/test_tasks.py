"""tests/runtime/test_tasks.py - the list of tracing, compilations and loops under way."""

import os
import sys
import threading
import time

import pytest
import shardax
import shardax.numpy as jnp
from shardax import _core, lax

sys.path.insert(0, os.path.dirname(__file__))
from gates import Gate, at_work, scanned, unrolled, watched  # noqa: E402


def loops():
    return [task for task in _core.tasks_under_way() if task["kind"] == "loop"]


def test_turns_of_a_scan():
    gate = Gate()
    with watched(), at_work(scanned(gate, 5), jnp.float32(0)):
        for turn in range(5):
            gate.wait()
            (task,) = loops()
            assert (task["name"], task["done"], task["length"]) == ("scan", turn, 5)
            assert task["line"].startswith("gates.py:")
            assert task["line"].endswith("train_step)")
            assert task["seconds"] > 0 and not task["inner"]
            gate.open()
    assert _core.tasks_under_way() == []


def test_turns_of_a_while_loop_have_no_length():
    gate = Gate()
    loop = shardax.jit(lambda x: lax.while_loop(lambda c: c < 4, lambda c: gate(c) + 1, x))
    with watched(), at_work(loop, jnp.float32(0)):
        for turn in range(4):
            gate.wait()
            (task,) = loops()
            assert (task["name"], task["done"], task["length"]) == ("while", turn, -1)
            gate.open()


def test_two_levels_of_loops():
    gate = Gate()

    def counted(n, inside):
        return lambda x: lax.fori_loop(0, n, lambda i, c: inside(c), x)

    loop = shardax.jit(counted(2, counted(3, counted(4, gate))))
    with watched(), at_work(loop, jnp.float32(0)):
        gate.wait()
        gate.open(2 * 4 + 3)
        for _ in range(2 * 4 + 3):
            gate.wait()
        outer, inner = loops()
        assert (outer["done"], outer["length"], outer["inner"]) == (0, 2, False)
        assert (inner["done"], inner["length"], inner["inner"]) == (2, 3, True)
        gate.open(30)


def test_loops_of_machine_code():
    """Few numbers: one piece of machine code, whose polls tell the turns of a single loop."""
    endless = threading.Event()

    def watch():
        seen = []
        while not endless.is_set():
            seen += loops()
            time.sleep(0.005)
        return seen

    seen = []
    with watched(), at_work(lambda: seen.extend(watch())):
        lax.fori_loop(0, 100_000_000, lambda i, c: c * 0.5 + 1, jnp.float32(1))
        endless.set()
    turns = [task["done"] for task in seen if task["length"] == 100_000_000]
    assert turns == sorted(turns) and 0 < turns[-1] <= 100_000_000


def test_turns_that_run_in_parallel():
    """They are one task, with nothing within."""
    x = jnp.broadcast_to(jnp.eye(64), (300, 64, 64))

    def inverses(a):
        return lax.fori_loop(0, 20, lambda i, c: jnp.linalg.inv(c), a)

    ended, seen = threading.Event(), []

    def watch():
        while not ended.is_set():
            seen.append(loops())
            time.sleep(0.002)

    with watched(), at_work(watch):
        lax.map(inverses, x)
        ended.set()
    assert any(seen) and all(len(tasks) <= 1 for tasks in seen)
    turns = [task["done"] for tasks in seen for task in tasks]
    assert turns == sorted(turns) and turns[-1] <= 300


def test_devices_are_one_loop():
    gate = Gate()

    def mapped(x):
        return lax.scan(lambda c, _: (lax.psum(gate(c), "i"), None), x, None, length=3)[0]

    f = shardax.pmap(mapped, axis_name="i")
    with watched(), at_work(f, jnp.ones(4)):
        gate.wait()
        (task,) = loops()
        assert (task["name"], task["length"]) == ("scan", 3)
        gate.open(100)


def test_tracing_and_compilations():
    seen = []

    def slow(x):
        seen.append(_core.tasks_under_way())

        @shardax.jit
        def inside(y):
            seen.append(_core.tasks_under_way())
            return jnp.sin(y)

        return inside(x)

    with watched():
        shardax.jit(slow)(1.0)
    listed = [[(t["kind"], t["name"]) for t in tasks] for tasks in seen]
    assert listed == [[("tracing", "slow")]] * 2


def test_the_compiler_lets_other_threads_look():
    for attempt in range(5):  # on a machine at work the other thread may come too late
        ended, seen = threading.Event(), []

        def watch():
            while not ended.wait(0.01):  # noqa: B023
                seen.extend(task for task in _core.tasks_under_way() if task["name"] == "chain")  # noqa: B023

        with watched(), at_work(watch):
            shardax.jit(unrolled(20_000 + attempt))(jnp.eye(2))
            ended.set()
        compilations = [task for task in seen if task["kind"] == "compilation"]
        assert len({task["id"] for task in compilations}) <= 1
        if len({task["seconds"] for task in compilations}) >= 2:
            return
    pytest.fail(f"the thread saw {seen}")


def test_nothing_is_listed_where_nobody_watches():
    gate = Gate()
    with at_work(scanned(gate, 2), jnp.float32(0)):
        gate.wait()
        assert _core.tasks_under_way() == []
        with watched():  # a loop that has begun before stays out
            assert _core.tasks_under_way() == []
        gate.open(2)


def test_a_task_of_a_loop_that_fails_ends():
    def fails(x):
        raise ValueError("no such turn")

    def loop(x):
        body = lambda i, c: shardax.pure_callback(fails, c, c)  # noqa: E731
        return lax.fori_loop(0, 3, body, x)

    with watched(), pytest.raises(Exception, match="no such turn"):
        loop(jnp.float32(0))
    assert _core.tasks_under_way() == []
