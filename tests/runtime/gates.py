"""tests/runtime/gates.py - loops on other threads that a test lets go on, turn by turn."""

import contextlib
import threading
import time

import shardax
import shardax.numpy as jnp
from shardax import _core, lax

LIMIT = 30  # seconds: no wait of a test is longer


class Gate:
    """A turn of a loop on another thread waits in `step` until `open` lets it go on."""

    made = []

    def __init__(self):
        self._arrived, self._opened = threading.Semaphore(0), threading.Semaphore(0)
        Gate.made.append(self)

    def step(self, x):
        self._arrived.release()
        assert self._opened.acquire(timeout=LIMIT)
        return x

    def wait(self):
        assert self._arrived.acquire(timeout=LIMIT)

    def open(self, turns=1):
        for _ in range(turns):
            self._opened.release()

    def __call__(self, x):
        return shardax.pure_callback(self.step, x, x)


@contextlib.contextmanager
def watched():
    _core.watch_tasks(True)
    try:
        yield
    finally:
        _core.watch_tasks(False)


@contextlib.contextmanager
def at_work(function, *operands):
    """Runs function(*operands) on a thread of its own, which ends before the block does. No loop is
    left waiting, so that a test that fails is the only one."""
    errors = []

    def run():
        try:
            function(*operands)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield thread
    except BaseException:
        for gate in Gate.made:
            gate.open(1000)
        raise
    finally:
        thread.join(LIMIT)
        Gate.made.clear()
    assert not thread.is_alive() and not errors, errors


def eventually(found):
    """The first true value of found()."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.01)
    raise AssertionError("nothing was found in time")


def scanned(gate, n):
    """A compiled function of n such turns."""

    @shardax.jit
    def train_step(x):
        return lax.scan(lambda c, _: (gate(c) + 1, None), x, None, length=n)[0]

    gate.open(n)
    train_step(jnp.float32(0))
    for _ in range(n):
        gate.wait()
    return train_step


def unrolled(equations):
    def chain(x):
        for _ in range(equations // 2):
            x = jnp.sin(x) @ x
        return x

    return chain
