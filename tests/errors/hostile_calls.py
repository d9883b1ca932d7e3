"""tests/errors/hostile_calls.py PART SECONDS SEED - public functions, senseless arguments.

Prints what must not be: SystemError, SystemExit, errors of the system itself ("internal error").
Ends with another status where a call neither ends nor lets itself be interrupted within 20 s.
"""

import faulthandler
import importlib
import inspect
import io
import os
import random
import resource
import signal
import sys
import time
import warnings

import numpy as np
import shardax as jax
import shardax.numpy as jnp

warnings.simplefilter("ignore")
part, seconds = sys.argv[1], float(sys.argv[2])
MODULES = {
    "lax": ["lax", "lax.linalg"],
    "numpy": ["numpy"],
    "numpy.linalg": ["numpy.linalg", "numpy.fft"],
    "nn": ["nn", "nn.initializers", "random", "image", "ops"],
    "top": ["", "tree_util", "tree"],
    "scipy": ["scipy.special", "scipy.linalg", "scipy.signal"],
}
# Functions that wait for input or other machines, or change the process.
SKIPPED = {
    "install_as_jax",
    "distributed",
    "breakpoint",
    "set_thread_count",
    "threads",
    "save",
    "savez",
    "load",
    "clear_caches",
    "print_environment_info",
    "printoptions",  # NumPy fails to print with some options that it takes
    "set_printoptions",
    "live_arrays",
    "set_mesh",
}
if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # it has terabytes of shadow memory
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, limit))


class Plain:
    def __repr__(self):
        return "Plain()"


x, m, i = jnp.arange(6.0), jnp.ones((2, 3)), jnp.arange(3)
HOSTILE = [
    None,
    "x",
    -1,
    2**63,
    float("nan"),
    [],
    (),
    Plain(),
    (2**40, 2**40),
    {},
    {"a": 1},
    0,
    1.5,
    -(2**31),
    [[1], [2, 3]],
    np.array(["a"]),
    b"x",
    jnp.float32,
    lambda *a: a,
    True,
    [None],
    range(3),
    jax.random.key(0),
    jnp.zeros((0, 3)),
    [object()],
]


class Slow(BaseException):
    pass


def slow(*_):
    raise Slow


signal.signal(signal.SIGALRM, slow)
current = ["", None]
failures = []


def shown(args, kwargs):
    return ", ".join([repr(a)[:60] for a in args] + [f"{k}={v!r:.60}" for k, v in kwargs.items()])


def call(name, f, args, kwargs):
    current[:] = [name, (args, kwargs)]
    faulthandler.dump_traceback_later(20, exit=True)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        try:
            f(*args, **kwargs)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Slow:
        pass
    except BaseException as e:
        text = str(e)
        if isinstance(e, SystemError) or "internal error" in text or isinstance(e, SystemExit):
            failures.append(f"{name}({shown(args, kwargs)}): {type(e).__name__}: {text[:200]}")


def cases(f):
    yield (), {}
    for v in HOSTILE:
        yield (v,), {}
    for v in HOSTILE:
        yield (x, v), {}
        yield (v, x), {}
        yield (v, v), {}
        yield (m, i, v), {}
        yield (m, v, 0), {}
        yield (m, v, v), {}
        yield (lambda *a: a, v), {}
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        parameters = []
    needed = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in parameters)
    for base in (x, m, i):
        for p in parameters:
            if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
                continue
            before = [q.name for q in parameters].index(p.name)
            for v in HOSTILE:
                if p.default is p.empty:
                    args = [base] * needed
                    if before < needed:
                        args[before] = v
                        yield tuple(args), {}
                else:
                    yield (base,) * needed, {p.name: v}


def functions():
    for module in MODULES[part]:
        owner = importlib.import_module(f"shardax.{module}".rstrip("."))
        for name in sorted(dir(owner)):
            f = getattr(owner, name)
            if name.startswith("_") or name in SKIPPED or not callable(f):
                continue
            if isinstance(f, type) and issubclass(f, BaseException):
                continue
            yield f"{module}.{name}", f


sys.stdout.flush()
real, sys.stdout = sys.stdout, io.StringIO()
sys.stderr = open("stderr.txt", "w")
everything = [(name, f, list(cases(f))) for name, f in functions()]
# In turns, so that a bounded time still reaches every function.
order = random.Random(int(sys.argv[3]))
for _, _, some in everything:
    order.shuffle(some)
count, end = 0, time.monotonic() + seconds
for turn in range(max(len(some) for _, _, some in everything)):
    if time.monotonic() > end:
        break
    for name, f, some in everything:
        if turn < len(some):
            call(name, f, *some[turn])
            count += 1
faulthandler.cancel_dump_traceback_later()
assert float(jax.jit(jnp.sin)(0.0)) == 0.0
for failure in failures:
    print(failure, file=real)
print(count, "calls of", len(everything), "functions", file=real)
