"""tests/runtime/test_interrupt.py - Ctrl-C ends long work at once and leaves the process usable."""

import functools
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import shardax as jax
import shardax.numpy as jnp

PATIENCE = float(os.environ.get("TESTS_PATIENCE", "1"))  # tests/emulated sets it
LIMIT = 0.1 * PATIENCE  # seconds from the signal to the exception

pytestmark = pytest.mark.alone


def endless_loop():
    return jax.lax.while_loop(lambda x: x >= 0, lambda x: x * 0.5 + 1, jnp.float32(1))


def endless_mapped_loop():
    def f(x):
        return jax.lax.while_loop(lambda v: v[0] >= 0, lambda v: v * 0.5 + 1, x)

    return jax.pmap(f)(jnp.ones((8, 1000)))


def long_scan():
    x = jnp.linspace(0, 1, 100_000)
    return jax.lax.scan(lambda c, _: (jnp.sin(c) + 1, None), x, None, length=100_000)[0]


def many_products():
    a = jnp.ones((1024, 1024))
    return jax.lax.fori_loop(0, 10_000, lambda i, c: c @ a / 1024, a)


def large_elementwise():
    x = jnp.linspace(0, 1, 3_000_000)
    return jax.jit(lambda x: jax.lax.fori_loop(0, 2_000, lambda i, c: jnp.tanh(c) + i, x))(x)


def many_draws():
    key, x = jax.random.PRNGKey(0), jnp.zeros(100_000)

    def draw(i, c):
        return c + jax.random.normal(jax.random.fold_in(key, i), c.shape)

    return jax.lax.fori_loop(0, 100_000, draw, x)


def long_sort():
    x = jax.random.uniform(jax.random.PRNGKey(0), (200_000,))
    return jax.lax.fori_loop(0, 100_000, lambda i, c: jnp.sort(c)[::-1], x)


def without_end(f, *operands):
    """However fast the machine is, the signal finds f at work."""
    while True:
        f(*operands)


def side(n):
    """The side of a matrix whose calls of LAPACK take seconds."""
    return int(n / PATIENCE ** (2 / 3))


def large_cholesky():
    without_end(jax.lax.linalg.cholesky, jnp.eye(side(6000)))


def two_choleskys():  # one of them on a worker
    without_end(jax.lax.linalg.cholesky, jnp.stack([jnp.eye(side(4000))] * 2))


def large_solve():
    solve = functools.partial(jax.lax.linalg.triangular_solve, left_side=True, lower=True)
    n = side(5000)
    without_end(solve, jnp.eye(n), jnp.ones((n, n)))


def large_eigenvectors():  # in the library, on a thread of its own
    n = side(1500)
    without_end(jnp.linalg.eigh, jnp.ones((n, n)) + jnp.diag(jnp.arange(float(n))))


def long_transform():
    x = jnp.ones(2**22, jnp.complex64)
    return jax.lax.fori_loop(0, 1000, lambda i, c: jnp.fft.fft(c) / 2**11, x)


def long_scatter():
    x, i = jnp.zeros(10), jnp.zeros(3_000_000, int)

    def add(_, c):
        return c.at[i].add(1.0)

    return jax.lax.fori_loop(0, 1000, add, x)


def many_columns():
    x = jnp.ones((200_000, 130))
    return jax.lax.fori_loop(0, 1000, lambda i, c: jnp.cumsum(c, 0) * 1e-3, x)


def fresh_chain():
    """A function of its own in each call: facts about another are of no use."""

    def chain(x):
        for _ in range(100_000):
            x = x @ x
        return x

    return jax.jit(chain)


def compiling():
    return fresh_chain()(jnp.eye(2))


def differentiating():
    f = fresh_chain()
    return jax.jacfwd(jax.jacrev(lambda x: f(x).sum()))(jnp.eye(2))


def mapping():
    return jax.pmap(jax.vmap(fresh_chain()))(jnp.ones((8, 3, 2, 2)))


WORK = [
    endless_loop,
    large_cholesky,
    two_choleskys,
    large_solve,
    large_eigenvectors,
    long_transform,
    long_scatter,
    many_columns,
    endless_mapped_loop,
    long_scan,
    many_products,
    large_elementwise,
    many_draws,
    long_sort,
]


# An abandoned call of LAPACK goes on with two threads of its own, whose time counts too.
IN_LIBRARY = [large_cholesky, two_choleskys, large_solve, large_eigenvectors]


def interrupted(work, after=0.4):
    """Seconds of the processor from the signal until KeyboardInterrupt arrives. The work of other
    programs counts for nothing, and no thread has to get Python's lock to send the signal."""

    def interrupt(*_):
        raise KeyboardInterrupt

    if work in IN_LIBRARY:  # abandoned calls end first: their time would count
        jax.lax.linalg.cholesky(jnp.eye(2)).block_until_ready()
    previous = signal.signal(signal.SIGPROF, interrupt)
    sent = time.process_time() + after
    signal.setitimer(signal.ITIMER_PROF, after)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        return time.process_time() - sent
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("work", WORK, ids=lambda w: w.__name__)
def test_interrupt_ends_long_work(work, threads):
    limit = LIMIT * (3 if work in IN_LIBRARY else 1)
    with jax.threads(threads):
        assert min(interrupted(work, after) for after in (0.4, 0.8)) < limit
        assert float(jnp.arange(200_000.0).sum()) == pytest.approx(199_999 * 1e5, rel=1e-5)


def test_late_interrupts_are_seen():
    """Python's own sum does not look for signals: the time that it goes on is told."""
    assert interrupted(lambda: sum(range(50_000_000)), 0.1) > LIMIT / PATIENCE


def test_an_abandoned_call_does_not_read_what_is_gone():
    """The solve that was interrupted goes on for a while when its matrix has been given back."""
    program = f"""
import signal, threading
import numpy as np, shardax as jax, shardax.numpy as jnp

def solve(a, b):
    a = jax.dlpack.from_dlpack(a)
    while True:
        jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=True)

b = jnp.ones(({side(3000)}, {side(5000)}))
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
try:
    solve(np.eye({side(3000)}, dtype=np.float32), b)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


@pytest.mark.parametrize("after", [0.1, 0.25])
@pytest.mark.parametrize("work", [compiling, differentiating, mapping], ids=lambda w: w.__name__)
def test_interrupt_ends_tracing_and_compiling(work, after):
    assert min(interrupted(work, after) for _ in range(4)) < LIMIT
    assert float(jax.jit(jnp.sum)(jnp.arange(4.0))) == 6.0


def test_a_handler_that_returns_lets_the_work_go_on():
    calls = []
    previous = signal.signal(signal.SIGUSR1, lambda *_: calls.append(float(jnp.ones(9).sum())))
    timers = [threading.Timer(0.1 * i, signal.raise_signal, (signal.SIGUSR1,)) for i in range(1, 4)]
    try:
        for t in timers:
            t.start()
        x = jnp.linspace(0, 1, 1_000_000)
        out = jax.lax.fori_loop(0, 1_000, lambda i, c: jnp.sin(c), x)
        assert out.shape == (1_000_000,)
    finally:
        for t in timers:
            t.join()
        signal.signal(signal.SIGUSR1, previous)
    assert calls and set(calls) == {9.0}


def test_a_slow_handler_may_compute():
    def slow(*_):
        end = time.process_time() + 0.15
        while time.process_time() < end:
            float(jnp.ones(9).sum())

    previous = signal.signal(signal.SIGUSR1, slow)
    timer = threading.Timer(0.1, signal.raise_signal, (signal.SIGUSR1,))
    timer.start()
    try:
        jax.lax.fori_loop(0, 500, lambda i, c: jnp.sin(c), jnp.ones(500_000))
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, previous)


def slow_callback(x):
    end = time.process_time() + 0.15
    while time.process_time() < end:
        float(jnp.ones(9).sum())
    return x


def with_callbacks():
    x = jnp.ones(200_000)

    def step(i, c):
        return jax.pure_callback(slow_callback, c, jnp.sin(c))

    return jax.lax.fori_loop(0, 100, step, x)


def test_callbacks_compute_within_long_work():
    # The callback has to end, or to see the signal.
    assert interrupted(with_callbacks) < 0.3 * PATIENCE


def test_what_a_handler_raises_reaches_the_caller():
    class Alarm(Exception):
        pass

    def raising(*_):
        raise Alarm("time is up")

    previous = signal.signal(signal.SIGALRM, raising)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Alarm, match="time is up"):
            endless_loop()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_other_threads_go_on():
    done = []

    def run():
        done.append(float(jax.lax.fori_loop(0, 300, lambda i, c: jnp.sin(c), jnp.ones(500_000))[0]))

    thread = threading.Thread(target=run)
    thread.start()
    assert interrupted(endless_loop) < PATIENCE
    thread.join(120)
    assert len(done) == 1


def test_a_process_ends_by_ctrl_c():
    code = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "print('ready', flush=True)\n"
        "jax.lax.while_loop(lambda x: x >= 0, lambda x: x + 1, jnp.zeros(()))\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A process in the background of a shell ignores the signal, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=10)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0
