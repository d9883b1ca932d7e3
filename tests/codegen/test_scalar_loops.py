"""tests/codegen/test_scalar_loops.py - loops over few numbers give the same bits as machine code.

Programs of while_loop, fori_loop, scan and cond are compiled twice. With SHARDAX_CODEGEN=0 each
turn runs compiled bodies, with 1 the whole loop is one piece of machine code.
"""

import random
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.machines import RUNS_LOOPS, runs_loops
from tests.codegen.test_native import BINARY, COMPARE, SPECIAL, UNARY, bits, plan_of
from tests.runtime.test_interrupt import interrupted

DTYPES = ["float32", "float64", "int32", "int64", "uint32", "uint64", "bool"]
DIVIDE = [lax.div, lax.rem, jnp.floor_divide, jnp.remainder]


def same(f, *args):
    out = []
    for wanted in ("1", "0"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SHARDAX_CODEGEN", wanted)
            out.append(jax.tree.leaves(jax.jit(lambda *a: f(*a))(*args)))
    native, steps = out
    assert len(native) == len(steps)
    for a, b in zip(native, steps):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_array_equal(bits(a), bits(b))
    return native


class Writer:
    """Expressions over numbers of all dtypes."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, values, dtype):
        found = [v for v in values if v.dtype == dtype]
        if not found:
            return self.random.choice(values).astype(dtype)
        return self.random.choice(found)

    def expression(self, values, dtype, depth):
        pick = self.random.random()
        if depth == 0 or pick < 0.08:
            return self.pick(values, dtype)
        if pick < 0.16:
            return self.constant(dtype)
        if pick < 0.24:
            other = self.random.choice(DTYPES)
            return self.expression(values, other, depth - 1).astype(dtype)
        if pick < 0.34:
            test = self.expression(values, "bool", depth - 1)
            return jnp.where(test, *(self.expression(values, dtype, depth - 1) for _ in range(2)))
        if pick < 0.4:
            test = self.expression(values, "bool", depth - 1)
            yes, no = (self.expression(values, dtype, depth - 1) for _ in range(2))
            return lax.cond(
                test, lambda a, b: a, lambda a, b: b + 1 if dtype != "bool" else b, yes, no
            )
        if dtype == "bool":
            if pick < 0.6:
                f = self.random.choice(BINARY["b"])
                return f(*(self.expression(values, "bool", depth - 1) for _ in range(2)))
            other = self.random.choice(DTYPES[:-1])
            a, b = (self.expression(values, other, depth - 1) for _ in range(2))
            return self.random.choice(COMPARE)(a, b)
        kind = "f" if dtype.startswith("f") else "i"
        if pick < 0.55:
            return self.random.choice(UNARY[kind])(self.expression(values, dtype, depth - 1))
        choice = BINARY[kind] + (DIVIDE if kind == "i" else [])
        f = self.random.choice(choice)
        return f(*(self.expression(values, dtype, depth - 1) for _ in range(2)))

    def constant(self, dtype):
        if dtype == "bool":
            return jnp.asarray(self.random.random() < 0.5)
        if dtype.startswith("f"):
            return jnp.asarray(self.random.choice([0.3, -1.5, 2.0, 1e-3, *SPECIAL]), dtype)
        least = 0 if dtype.startswith("u") else -3
        return jnp.asarray(self.random.randint(least, 9), dtype)

    def carries(self):
        dtypes = [self.random.choice(DTYPES) for _ in range(self.random.randint(1, 5))]
        return [self.constant(dtype) for dtype in dtypes]

    def body(self, carry, extra, depth):
        values = [*carry, *extra]
        out = [self.expression(values, c.dtype.name, depth) for c in carry]
        if depth > 2 and self.random.random() < 0.3:
            turns = self.random.randint(0, 3)
            out = lax.fori_loop(
                0, turns, lambda i, c: Writer(turns).body(c, [i, *extra], 2), tuple(out)
            )
        return tuple(out)

    def program(self, xs):
        carry = tuple(self.carries())
        kind = self.random.choice(["while", "fori", "scan"])
        turns = self.random.choice([0, 1, 2, 7, 20])
        seed = self.random.random()

        def again(c, extra):  # the same expressions in each trace
            writer = Writer(seed)
            return writer.body(c, extra, 4), writer

        if kind == "fori":
            return lax.fori_loop(0, turns, lambda i, c: again(c, [i])[0], carry)
        if kind == "while":

            def holds(c):
                go_on = Writer(seed).expression(list(c[1]), "bool", 3)
                return (c[0] < turns) & (go_on | (c[0] < 3))

            return lax.while_loop(holds, lambda c: (c[0] + 1, again(c[1], [c[0]])[0]), (0, carry))

        def step(c, x):
            new, writer = again(c, [x[0], x[1]])
            return new, (writer.expression([*c, *x], "float32", 3), new[0])

        return lax.scan(step, carry, xs, reverse=self.random.random() < 0.5)


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_random_loops(start):
    with jax.enable_x64(True):
        rng = np.random.default_rng(start)
        for seed in range(start, start + 20):
            n = [0, 1, 5, 33][seed % 4]
            xs = (
                jnp.asarray(rng.normal(size=n).astype("float32")),
                jnp.asarray(rng.integers(-5, 5, n)),
            )
            same(lambda *xs: Writer(seed).program(xs), *xs)  # noqa: B023


USERS = {
    "newton": (
        lambda a: lax.while_loop(
            lambda x: abs(x * x - a) > 1e-5 * a, lambda x: 0.5 * (x + a / x), a
        ),
        7.0,
    ),
    "collatz": (
        lambda n: lax.while_loop(
            lambda c: c[0] != 1,
            lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1),
            (n, 0),
        ),
        27,
    ),
    "gcd": (
        lambda a, b: lax.while_loop(lambda c: c[1] != 0, lambda c: (c[1], c[0] % c[1]), (a, b)),
        1071,
        462,
    ),
    "fibonacci": (lambda n: lax.fori_loop(0, n, lambda i, c: (c[1], c[0] + c[1]), (0, 1)), 60),
    "mandelbrot": (
        lambda x, y: lax.while_loop(
            lambda c: (c[0] * c[0] + c[1] * c[1] < 4) & (c[2] < 500),
            lambda c: (c[0] * c[0] - c[1] * c[1] + x, 2 * c[0] * c[1] + y, c[2] + 1),
            (0.0, 0.0, 0),
        ),
        -0.7436,
        0.1318,
    ),
    "table": (
        lambda t, n: lax.fori_loop(0, n, lambda i, s: s * 0.5 + t[(i * 7) % t.shape[0]], 0.0),
        np.arange(40, dtype="float32"),
        100,
    ),
    "pendulum": (
        lambda s: lax.fori_loop(
            0, 100, lambda i, s: s + 0.01 * jnp.array([s[1], -jnp.sin(s[0])]), s
        ),
        np.array([1, 0], "float32"),
    ),
    "random": (
        lambda n: lax.fori_loop(
            0, n, lambda i, s: s * jnp.uint32(1664525) + jnp.uint32(1013904223), jnp.uint32(1)
        ),
        1000,
    ),
}


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("wide", [False, True])
def test_programs_of_users(name, wide):
    f, *args = USERS[name]
    with jax.enable_x64(wide):
        same(f, *(jnp.asarray(a) for a in args))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "int8", "uint16"])
def test_division_by_anything(dtype):
    info = np.iinfo(dtype)
    edges = [info.min, info.min + 1, -1 if info.min else 1, 0, 1, 2, 3, 7, info.max - 1, info.max]

    def step(b, a):
        return b, (lax.div(a, b), lax.rem(a, b), a // b, a % b, a * b, abs(a), jnp.sign(a))

    with jax.enable_x64(True):
        xs = jnp.asarray(np.array(edges, dtype))
        for divisor in edges:
            same(lambda b, xs: lax.scan(step, b, xs), jnp.asarray(divisor, dtype), xs)
            same(lambda xs: lax.scan(step, jnp.asarray(divisor, dtype), xs), xs)  # noqa: B023


NUMBERS = [0, -0.0, 0.5, -1.5, 2.5, 127.9, 255.5, -129.0, 2147483520.0, 2147483648.0, -2147483648.0,
           4294967040.0, 4294967296.0, 9.3e18, -9.3e18, 1.8e19, 1e30, -1e30, np.inf, -np.inf,
           np.nan, 1e-40, 16777217.0]  # fmt: skip


@pytest.mark.parametrize("source", DTYPES)
def test_conversions(source):
    with jax.enable_x64(True), np.errstate(all="ignore"):
        xs = np.array(NUMBERS).astype(source)
        if source.startswith(("i", "u")):
            info = np.iinfo(source)
            xs = np.concatenate([xs, np.array([info.min, info.max, info.max // 3], source)])
        targets = [*DTYPES, "int8", "uint16", "bfloat16", "float16"]

        def step(c, x):
            return c + 1, [x.astype(t).astype("float64") for t in targets]

        same(lambda xs: lax.scan(step, 0, xs), jnp.asarray(xs))


def test_nan_ends_a_loop():
    def f(x):
        return lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] * c[0], c[1] + 1), (x, 0))

    for value in (np.nan, np.inf, 2.0, -np.inf):
        same(f, jnp.float32(value))


def test_carries_change_places():
    def f(n, *xs):
        return lax.fori_loop(0, n, lambda i, c: (c[1], c[2], c[0], c[4], c[3] + c[0]), xs)

    for n in (0, 1, 2, 3, 10):
        same(f, n, *(jnp.float32(x) for x in range(5)))


def test_more_numbers_than_registers():
    def f(x):
        def step(i, c):
            new = [a * 0.5 + b for a, b in zip(c, [*c[3:], *c[:3]])]
            return [*new[:-1], sum(c) * 0.01 + i]

        return lax.fori_loop(0, 50, step, [x + k for k in range(30)])

    same(f, jnp.float32(1))


def test_vmap_of_a_while():
    def count(n):
        return lax.while_loop(
            lambda c: (c[0] != 1) & (c[1] < 200),
            lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1),
            (n, 0),
        )[1]

    native = same(jax.vmap(count), jnp.arange(1, 9))[0]
    assert native.tolist() == [0, 1, 7, 2, 5, 8, 16, 3]


def test_derivatives_of_a_scan():
    def f(w, x, ts):
        def step(c, t):
            new = jnp.tanh(w * c + t)
            return new, c * new

        last, ys = lax.scan(step, x, ts)
        return last + ys.sum()

    ts = jnp.linspace(-1, 1, 30)
    for g in (f, jax.grad(f, (0, 1, 2)), jax.hessian(f)):
        same(g, 0.7, 0.3, ts)
    same(jax.vmap(jax.grad(f), (0, None, None)), jnp.linspace(0, 1, 5), 0.3, ts)


def test_each_device_runs_its_own():
    def f(n):
        return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 1.5), (0, 1.0))

    count = min(4, jax.device_count())
    same(jax.pmap(f), jnp.arange(count))


def test_a_cell_of_a_recurrent_network():
    def f(w, h, xs):
        return lax.scan(lambda h, x: (jnp.tanh(w @ h + x), h.sum()), h, xs)

    rng = np.random.default_rng(0)
    w, h, xs = (jnp.asarray(rng.normal(size=s).astype("float32")) for s in [(30, 30), 30, (12, 30)])
    same(f, w, h, xs)
    same(jax.grad(lambda *a: f(*a)[1].sum(), (0, 1, 2)), w, h, xs)


def test_random_numbers_in_a_loop():
    def walk(key):
        def turn(i, c):
            key, x = c
            key, sub = jax.random.split(key)
            return key, x + jax.random.normal(sub)

        return lax.fori_loop(0, 20, turn, (key, 0.0))[1]

    same(walk, jax.random.key(0))
    same(walk, jax.random.PRNGKey(0))


def test_branches():
    branches = [lambda x: x * 2, lambda x: x - 1, lambda x: -x, lambda x: jnp.sqrt(abs(x))]

    def f(x):
        return lax.fori_loop(0, 40, lambda i, x: lax.switch(i % 5 - 1, branches, x), x)

    same(f, 1.5)


def test_loops_in_loops():
    def f(xs):
        def outer(total, row):
            inner, ys = lax.scan(lambda c, x: (c * 0.5 + x, c), 0.0, row)
            count = lax.while_loop(lambda c: c[0] < inner, lambda c: (c[0] + 1, c[1] + 1), (0.0, 0))
            return total + inner + ys.sum(), count

        return lax.scan(outer, 0.0, xs, reverse=True)

    same(f, jnp.asarray(np.random.default_rng(0).normal(size=(20, 6)).astype("float32")))


@runs_loops
@pytest.mark.parametrize(
    ("f", "native"),
    [
        ("lambda n: jax.lax.fori_loop(0, n, lambda i, x: x * 2 + i, 1.0)", True),
        ("lambda n: jax.lax.fori_loop(0, n, lambda i, x: jnp.sin(x) + lax.rem(i, 3), 1.0)", True),
        ("lambda n: jax.lax.fori_loop(0, n, lambda i, x: x @ x, jnp.ones((30, 30)))", False),
        ("lambda n: jax.lax.fori_loop(0, n, lambda i, x: x * 2 + i, jnp.arange(50.))", True),
        ("lambda n: jax.lax.fori_loop(0, n, lambda i, x: x * 2 + i, jnp.arange(500.))", False),
    ],
)
def test_plans_say_which_loops_are_native(f, native):
    text = plan_of(f.replace("lax.rem", "jax.lax.rem"), "10")
    assert ("native while" in text) == native, text


LONG = {
    "while": lambda x: lax.while_loop(lambda c: c >= 0, lambda c: c * 0.5, x),
    "fori": lambda x: lax.fori_loop(0, 10**11, lambda i, x: x * 0.5 + i, x),
    "calls": lambda x: lax.fori_loop(0, 10**11, lambda i, x: jnp.sin(x) + i, x),
    "nested": lambda x: lax.fori_loop(
        0, 10**6, lambda i, x: lax.fori_loop(0, 10**9, lambda j, x: x + j, x), x
    ),
    "plans": lambda x: lax.fori_loop(0, 10**10, lambda i, x: x + jnp.sort(jnp.array([x, 1]))[0], x),
}


@pytest.mark.alone
@pytest.mark.parametrize("name", LONG)
def test_long_loops_end_by_interrupts(name):
    with jax.enable_x64(True):
        f = jax.jit(lambda x: LONG[name](x))
        assert interrupted(lambda: f(1.0).block_until_ready()) < 0.1
        assert float(jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, x: x + i, x))(1.0)) == 4


@pytest.mark.alone
def test_other_threads_go_on():
    """The interpreter's lock is free while a loop runs."""
    turns = []

    def count():
        while not done.is_set():
            turns.append(time.perf_counter())
            time.sleep(0.001)

    done = threading.Event()
    thread = threading.Thread(target=count)
    f = jax.jit(lambda n: lax.fori_loop(0, n, lambda i, x: x * 0.5 + i, 1.0))
    f(10)
    thread.start()
    start = time.perf_counter()
    f(200_000_000 if RUNS_LOOPS else 500_000).block_until_ready()
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [t for t in turns if start < t < end]
    assert len(inside) > 10


# Loops that run in turns of compiled bodies: their arrays are too large, or they call the host.
FALLBACKS = {
    "large": lambda: lax.fori_loop(0, 9, lambda i, x: x * 2 + i, jnp.arange(500.0)),
    "matrix": lambda: lax.fori_loop(0, 9, lambda i, x: x @ x, jnp.ones((30, 30))),
    "host": lambda: lax.fori_loop(
        0, 9, lambda i, x: jax.pure_callback(np.sin, jnp.zeros(()), x) + i, jnp.ones(())
    ),
}


@runs_loops
def test_what_falls_back_is_known(dump_of):
    program = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "from tests.codegen.test_scalar_loops import FALLBACKS, USERS\n"
        "for f, *args in USERS.values(): jax.jit(f)(*map(jnp.asarray, args))\n"
        "for f in FALLBACKS.values(): jax.jit(f)()\n"
    )
    plan = dump_of(program, folder=Path(__file__).parents[2], SHARDAX_CODEGEN="1")
    steps = re.findall(r"^  (native )?(?:while|scan) ?o", plan, re.MULTILINE)
    assert steps.count("") == len(FALLBACKS), plan
    assert steps.count("native ") == len(USERS), plan
