"""tests/parity/corpus.py - the parity corpus: cases, and the way in which they run.

Start at `Corpus`, of which each case file makes one, then `verdict`; `comparison.py` encodes and
compares results. A case is a function of `(jax, jnp, lax)`, or a line of text with an expression
over the names that `fixtures` makes. `record.py` runs the cases under JAX, `test_parity.py` and
`summary.py` under shardax.
"""

import contextlib
import importlib
import json
import math
import pathlib
import re
import signal
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from comparison import Raised, class_name, difference, encode, short

HERE = pathlib.Path(__file__).parent
RECORDED = HERE / "recorded"
DEVICES = 8
CASE_SECONDS = 10


@dataclass
class Case:
    """One comparison with JAX.

    `function` maps (jax, jnp, lax) to a tree of results, or raises; `error` is then a regular
    expression found in the text. If shardax is to do better than JAX, `because` says why. Then
    either `reference` is what JAX runs instead of `function`, or `raises` is the (class name, text)
    that shardax promises (`A|B`: either class).
    """

    name: str
    function: Callable[[Any, Any, Any], Any]
    error: str | None = None
    raises: tuple[str, str] | None = None
    reference: Callable[[Any, Any, Any], Any] | None = None
    because: str = ""
    rtol: float | None = None
    atol: float | None = None
    config: dict[str, Any] = field(default_factory=dict)


class Corpus:
    """The cases of one file, in order; `options` are their defaults (rtol, atol, config)."""

    def __init__(self, setup: Callable[[dict], None] | None = None, **options):
        self.cases: dict[str, Case] = {}
        self.setup = setup
        self.options = options

    def add(self, name, function, **options):
        if name in self.cases:
            raise ValueError(
                f"corpus: the case {name!r} appears twice; names are unique within a file."
            )
        if ("reference" in options or "raises" in options) and not options.get("because"):
            raise ValueError(f"corpus: the case {name!r} departs from JAX; say why with `because`.")
        self.cases[name] = Case(name, function, **{**self.options, **options})

    def case(self, **options):
        """Decorates `def case_xxx(jax, jnp, lax)` into a case named xxx."""

        def register(function):
            self.add(function.__name__.removeprefix("case_"), function, **options)
            return function

        return register

    def expressions(self, text, **options):
        """One case a line: an expression, which is also its name.

        `expression !! text` expects an error whose text matches (nothing: any text). `this => that`
        records the value of `that`, in a block that states `because`. A line that ends in an open
        bracket, a comma or `=>` goes on below.
        """
        pending = ""
        for line in text.strip().splitlines():
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            pending = f"{pending} {line}" if pending else line
            if line.endswith(("(", "[", "{", ",", "=>")) and "!!" not in pending:
                continue
            source, mark, error = (part.strip() for part in pending.partition("!!"))
            source, departs, reference = (part.strip() for part in source.partition("=>"))
            pending = ""
            more = {"reference": self._evaluator(reference)} if departs else {}
            self.add(
                source, self._evaluator(source), error=error if mark else None, **more, **options
            )

    def named_expression(self, name, source, **options):
        """A case whose name is not its source."""
        self.add(name, self._evaluator(source), **options)

    def _evaluator(self, source):
        code = compile(source, "<case>", "eval")

        def evaluate(jax, jnp, lax):
            return eval(code, fixtures(jax, jnp, lax, self.setup))

        evaluate.setup = self.setup
        return evaluate

    def table(self, rows, function, **options):
        """One case for each `name: arguments` of `rows`: `function(jax, jnp, lax, *arguments)`."""
        for name, arguments in rows.items():
            self.add(
                name, lambda jax, jnp, lax, a=arguments: function(jax, jnp, lax, *a), **options
            )


def load(name):
    """The Corpus of `cases_<name>.py`."""
    return importlib.import_module(f"cases_{name}").corpus


def names():
    return sorted(p.stem.removeprefix("cases_") for p in HERE.glob("cases_*.py"))


def recording(name):
    """The recorded results of a case file: case name -> encoded result."""
    path = RECORDED / f"{name}.json"
    return json.loads(path.read_text())["cases"] if path.exists() else {}


INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
FLOATS = ("float16", "bfloat16", "float32")
DTYPES = ("bool", *INTEGERS, *FLOATS, "complex64")
FEW = ("bool", "int8", "int32", "uint8", "float16", "bfloat16", "float32")

_SAMPLES = {
    "b": [1, 0, 1, 1],
    "i": [3, -2, 0, 5],
    "u": [3, 2, 0, 5],
    "f": [1.5, -0.25, 0.0, 2.0],
    "c": [1 + 2j, -0.5j, 0, 2],
}
_fixtures: dict[tuple, dict] = {}


def sample(jnp, dtype):
    """Four values of a dtype: positive, negative where there are negatives, zero, larger."""
    kind = {"bo": "b", "in": "i", "ui": "u", "fl": "f", "bf": "f", "co": "c"}[dtype[:2]]
    return jnp.asarray(
        np.array(_SAMPLES[kind]), dtype=getattr(jnp, dtype + "_" * (dtype == "bool"))
    )


def fixtures(jax, jnp, lax, setup=None):
    """The names an expression may use. One that cannot be made is absent: only its users fail."""
    found = _fixtures.get((id(jax), setup))
    if found is not None:
        return found

    def each(function, dtypes=DTYPES):
        return {d: attempt(lambda d=d: function(sample(jnp, d))) for d in dtypes}

    made = dict(
        jax=jax,
        jnp=jnp,
        lax=lax,
        np=np,
        math=math,
        each=each,
        attempt=attempt,
        warned=warned,
    )
    made.update(DTYPES=DTYPES, INTEGERS=INTEGERS, FLOATS=FLOATS, FEW=FEW)
    simple = {
        "random": lambda: jax.random,
        "nn": lambda: jax.nn,
        "tree_util": lambda: jax.tree_util,
        "f0": lambda: jnp.asarray(np.float32(1.5)),
        "i0": lambda: jnp.asarray(np.int32(3)),
        "f4": lambda: jnp.arange(4, dtype=jnp.float32),
        "i4": lambda: jnp.arange(4, dtype=jnp.int32),
        "b4": lambda: sample(jnp, "bool"),
        "u4": lambda: jnp.arange(4, dtype=jnp.uint8),
        "h4": lambda: jnp.arange(4, dtype=jnp.bfloat16),
        "c4": lambda: sample(jnp, "complex64"),
        "x4": lambda: jnp.asarray(np.float32([0.25, -1.5, 3.0, 0.5])),
        "n4": lambda: jnp.asarray(np.float32([np.nan, np.inf, -np.inf, 1.0])),
        "m23": lambda: jnp.asarray(np.float32([[1, -2, 3], [0.5, 5, -6]])),
        "i23": lambda: jnp.asarray(np.int32([[4, 1, 3], [1, 5, 9]])),
        "m33": lambda: jnp.asarray(np.float32([[4, 1, 0.5], [1, 3, -1], [0.5, -1, 2]])),
        "t234": lambda: jnp.asarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4)),
        "e0": lambda: jnp.zeros((0,), jnp.float32),
        "e03": lambda: jnp.zeros((0, 3), jnp.float32),
        "wi": lambda: jnp.asarray(2),
        "wf": lambda: jnp.asarray(2.5),
    }
    for name, make in simple.items():
        with contextlib.suppress(Exception):
            made[name] = make()
    if setup is not None:
        with contextlib.suppress(Exception):
            setup(made)
    _fixtures[id(jax), setup] = made
    return made


def attempt(function):
    """The result of `function()`, or a leaf with the class of the exception it raises."""
    try:
        return function()
    except Exception as e:
        return Raised(class_name(e))


def warned(function):
    """The classes and texts of the warnings that `function()` gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [(w.category.__name__, str(w.message)) for w in caught]


@contextlib.contextmanager
def configured(jax, config):
    """Applies config values for the length of a case, then those from before again."""
    before = {name: getattr(jax.config, name) for name in config}
    try:
        for name, value in config.items():
            jax.config.update(name, value)
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def run(jax, function, config):
    """Runs a case: ("value", encoded) or ("error", class names, text)."""
    try:
        with contextlib.ExitStack() as stack, warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if hasattr(function, "setup"):  # names are made under the default configuration
                fixtures(jax, jax.numpy, jax.lax, function.setup)
            stack.enter_context(configured(jax, config))
            return "value", encode(jax, function(jax, jax.numpy, jax.lax))
    except Exception as e:
        return "error", [class_name(e), *(c.__name__ for c in type(e).__mro__)], str(e), e


def verdict(jax, case, recorded):
    """Runs a case under shardax and compares it with its recording: None, or what is wrong."""
    if recorded is None and case.raises is None:
        return "no recording; run tests/parity/record.py under JAX"
    outcome = run(jax, case.function, case.config)
    want_error = case.raises or (recorded.get("error") and (recorded["error"], case.error))
    if outcome[0] == "value":
        if want_error:
            return f"expected {want_error[0]}, got {short(outcome[1])}"
        return difference(recorded["value"], outcome[1], case)
    _, classes, text, exception = outcome
    if not want_error:
        return f"raised {classes[1]}: {first_line(text)}{origin(exception)}"
    if not set(want_error[0].split("|")) & set(classes):
        return (
            f"expected {want_error[0]}, raised {classes[1]}: {first_line(text)}{origin(exception)}"
        )
    if want_error[1] and not re.search(want_error[1], text, re.S):
        return f"expected a text like {want_error[1]!r}, got {text[:300]!r}"
    return None


def first_line(text):
    return (text.strip().splitlines() or [""])[0][:200]


def origin(exception):
    """The place inside the package that an unexpected exception comes from."""
    frames = [
        f
        for f in traceback.extract_tb(exception.__traceback__)
        if "parity" not in f.filename and f.line
    ]
    return f"  [{pathlib.Path(frames[-1].filename).name}:{frames[-1].lineno}]" if frames else ""


class Timeout(BaseException):
    pass


@contextlib.contextmanager
def time_limit(seconds):
    """Raises Timeout in the main thread after `seconds`; elsewhere no limit applies."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def expire(*_):
        raise Timeout

    previous = signal.signal(signal.SIGALRM, expire)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def prepare(jax):
    """Eight devices for every case, whatever the environment says."""
    with contextlib.suppress(Exception):
        jax.config.update("jax_num_cpu_devices", DEVICES)
