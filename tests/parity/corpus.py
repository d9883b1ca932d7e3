"""tests/parity/corpus.py - the parity corpus: what a case is, how it runs, how results are written and compared.

Start at `Corpus` (what a case file makes), then `encode` (a result as JSON) and `difference` (its comparison).
A case is a function of `(jax, jnp, lax)` or one line of text holding an expression over the names that `fixtures` makes.
`record.py` runs the cases under JAX, `test_parity.py` and `summary.py` under shardax; all three use this file.
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

HERE = pathlib.Path(__file__).parent
RECORDED = HERE / "recorded"
DEVICES = 8
CASE_SECONDS = 10

# The relative and absolute tolerance of each inexact dtype; cases loosen them with `rtol` and `atol`.
TOLERANCE = {
    "float16": (2e-3, 1e-4),
    "bfloat16": (1e-2, 1e-3),
    "float32": (2e-6, 1e-7),
    "complex64": (4e-6, 2e-7),
    "float64": (1e-12, 1e-14),
    "complex128": (1e-12, 1e-14),
}


@dataclass
class Case:
    """One comparison with JAX.

    `function` maps (jax, jnp, lax) to a tree of results, or raises. `error` is a regular expression that the text of the
    expected exception contains. `reference` is run under JAX instead of `function` where shardax means to do better than
    JAX; `raises` is a (class name, text) pair that shardax promises there (`A|B`: either class); `because` says why.
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
    """The cases of one file, in order; `options` are the defaults of its cases (rtol, atol, config)."""

    def __init__(self, setup: Callable[[dict], None] | None = None, **options):
        self.cases: dict[str, Case] = {}
        self.setup = setup
        self.options = options

    def add(self, name, function, **options):
        if name in self.cases:
            raise ValueError(f"corpus: the case {name!r} appears twice; names are unique within a file.")
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
        """One case a line: an expression, which is also its name, and after `!!` the text of the error it raises
        (nothing: any text). `this => that` records the value of `that`, for a block of lines that states `because`.

        A line that ends in an open bracket, a comma or `=>` goes on below; lines starting with `#` are comments.
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
            self.add(source, self._evaluator(source), error=error if mark else None, **more, **options)

    def _evaluator(self, source):
        code = compile(source, "<case>", "eval")
        return lambda jax, jnp, lax: eval(code, fixtures(jax, jnp, lax, self.setup))

    def table(self, rows, function, **options):
        """One case for each `name: arguments` of `rows`, calling `function(jax, jnp, lax, *arguments)`."""
        for name, arguments in rows.items():
            self.add(name, lambda jax, jnp, lax, a=arguments: function(jax, jnp, lax, *a), **options)


def load(name):
    """The Corpus of `cases_<name>.py`."""
    return importlib.import_module(f"cases_{name}").corpus


def names():
    return sorted(p.stem.removeprefix("cases_") for p in HERE.glob("cases_*.py"))


def recording(name):
    """The recorded results of a case file: case name -> encoded result."""
    path = RECORDED / f"{name}.json"
    return json.loads(path.read_text())["cases"] if path.exists() else {}


# ---------------------------------------------------------------------------------------------------------------- fixtures

INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
FLOATS = ("float16", "bfloat16", "float32")
DTYPES = ("bool", *INTEGERS, *FLOATS, "complex64")
FEW = ("bool", "int8", "int32", "uint8", "float16", "bfloat16", "float32")

_SAMPLES = {"b": [1, 0, 1, 1], "i": [3, -2, 0, 5], "u": [3, 2, 0, 5], "f": [1.5, -0.25, 0.0, 2.0], "c": [1 + 2j, -0.5j, 0, 2]}
_fixtures: dict[tuple, dict] = {}


def sample(jnp, dtype):
    """Four values of a dtype: positive, negative where there are negatives, zero, larger."""
    kind = {"bo": "b", "in": "i", "ui": "u", "fl": "f", "bf": "f", "co": "c"}[dtype[:2]]
    return jnp.asarray(np.array(_SAMPLES[kind]), dtype=getattr(jnp, dtype + "_" * (dtype == "bool")))


def fixtures(jax, jnp, lax, setup=None):
    """The names an expression may use. One that cannot be made is left out, so that only its users fail."""
    found = _fixtures.get((id(jax), setup))
    if found is not None:
        return found

    def each(function, dtypes=DTYPES):
        return {d: attempt(lambda d=d: function(sample(jnp, d))) for d in dtypes}

    def pairs(function, dtypes=FEW):
        return {d: each(lambda y, d=d: function(sample(jnp, d), y[::-1]), dtypes) for d in dtypes}

    made = dict(jax=jax, jnp=jnp, lax=lax, np=np, math=math, each=each, pairs=pairs, attempt=attempt, warned=warned)
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
        setup(made)
    _fixtures[id(jax), setup] = made
    return made


def attempt(function):
    """The result of `function()`, or the class of the exception it raises as a leaf of the result."""
    try:
        return function()
    except Exception as e:
        return Raised(class_name(e))


@dataclass
class Raised:
    name: str


def warned(function):
    """The classes and texts of the warnings that `function()` gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [(w.category.__name__, str(w.message)) for w in caught]


# ---------------------------------------------------------------------------------------------------------------- encoding


def class_name(e):
    """The name of the first class of an exception that is built in or belongs to `jax.errors`."""
    for cls in type(e).__mro__:
        if cls.__module__ == "builtins" or re.match(r"Tracer|UnexpectedTracer|Concretization|NonConcrete|JAX", cls.__name__):
            return cls.__name__
    return "Exception"


def encode(jax, value):
    """A result as JSON. Containers stay containers, a leaf becomes one string such as `~float32[2]: 1.0 2.5`.

    `~` marks a weak type, `np:` a NumPy array or scalar, `py:` anything else, by its repr.
    """
    if isinstance(value, Raised):
        return f"raises:{value.name}"
    if isinstance(value, jax.Array):
        if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
            return f"{value.dtype}{list(value.shape)} " + encode(jax, jax.random.key_data(value))
        return "~" * bool(value.weak_type) + encode_array(np.asarray(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return "np:" + encode_array(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ["namedtuple", *(encode(jax, v) for v in value)]
    if type(value) in (tuple, list):
        return [type(value).__name__, *(encode(jax, v) for v in value)]
    if isinstance(value, dict):
        return {k if isinstance(k, str) else repr(k): encode(jax, v) for k, v in value.items()}
    if isinstance(value, np.dtype):
        return f"dtype:{value.name}"
    if isinstance(value, type):
        return f"type:{value.__name__}"
    return f"py:{type(value).__name__} {without_paths(repr(value))}"


def encode_array(a):
    if a.dtype.names:
        return f"{a.dtype.names[0]}{list(a.shape)}"
    head = f"{a.dtype.name}{list(a.shape)}:".replace(" ", "")
    return " ".join([head, *(encode_number(v, a.dtype.name) for v in a.reshape(-1).tolist())])


def encode_number(v, dtype):
    if isinstance(v, complex):
        part = "float32" if dtype == "complex64" else "float64"
        return f"{encode_number(v.real, part)},{encode_number(v.imag, part)}"
    if isinstance(v, float) and dtype != "float64":
        return str(np.float32(v))
    return str(int(v)) if isinstance(v, bool) else str(v)


def without_paths(text):
    """A text without directories, addresses and the positions that change with an edit of a case file."""
    text = re.sub(r"(?:/[\w.+-]+)+/([\w.-]+\.py)(?::\d+)*", r"\1", text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)


# -------------------------------------------------------------------------------------------------------------- comparison

_ARRAY = re.compile(r"^((?:np:)?~?)(\w+)\[([\d,]*)\]:(.*)$", re.S)


def difference(expected, actual, case, path="result"):
    """The first difference between two encoded results, as a sentence, or None."""
    if type(expected) is not type(actual):
        return f"{path}: expected {short(expected)}, got {short(actual)}"
    if isinstance(expected, list):
        if expected[0] != actual[0] or len(expected) != len(actual):
            return f"{path}: expected a {expected[0]} of {len(expected) - 1}, got a {actual[0]} of {len(actual) - 1}"
        steps = ((f"{path}[{i - 1}]", expected[i], actual[i]) for i in range(1, len(expected)))
    elif isinstance(expected, dict):
        if expected.keys() != actual.keys():
            return f"{path}: expected the keys {sorted(expected)}, got {sorted(actual)}"
        steps = ((f"{path}[{k!r}]", expected[k], actual[k]) for k in expected)
    elif expected == actual:
        return None
    else:
        return leaf_difference(expected, actual, case, path)
    return next((d for p, e, a in steps if (d := difference(e, a, case, p))), None)


def leaf_difference(expected, actual, case, path):
    wrong = f"{path}: expected {short(expected)}, got {short(actual)}"
    e, a = _ARRAY.match(expected), _ARRAY.match(actual)
    if not e or not a or e.groups()[:3] != a.groups()[:3]:
        if e and a and e.group(4) == a.group(4):
            return f"{path}: expected {expected.split(':')[0]}, got {actual.split(':')[0]} (the values agree)"
        return wrong
    if e.group(2) not in TOLERANCE:
        return wrong
    rtol, atol = TOLERANCE[e.group(2)]
    if e.group(2) in ("float32", "complex64"):
        rtol, atol = case.rtol or rtol, case.atol if case.atol is not None else atol
    want, have = decode_numbers(e.group(4)), decode_numbers(a.group(4))
    with np.errstate(all="ignore"):
        close = np.isclose(have, want, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return None
    i = int(np.argmin(close))
    return f"{wrong} (first at flat index {i}: {want[i]!r} against {have[i]!r})"


def decode_numbers(text):
    words = text.split()
    if words and "," in words[0]:
        return np.array([complex(*map(float, w.split(","))) for w in words])
    return np.array([float(w) for w in words])


def short(encoded, limit=160):
    text = encoded if isinstance(encoded, str) else json.dumps(encoded)
    return text if len(text) <= limit else text[:limit] + " ..."


# ----------------------------------------------------------------------------------------------------------------- running


@contextlib.contextmanager
def configured(jax, config):
    """Applies config values for the length of a case; the case files state the values that are not the default."""
    defaults = {"jax_enable_x64": False, "jax_threefry_partitionable": True}
    try:
        for name, value in config.items():
            jax.config.update(name, value)
        yield
    finally:
        for name in config:
            jax.config.update(name, defaults.get(name, False))


def run(jax, function, config):
    """Runs a case: ("value", encoded) or ("error", class names, text)."""
    try:
        with warnings.catch_warnings(), configured(jax, config), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
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
        return f"expected {want_error[0]}, raised {classes[1]}: {first_line(text)}{origin(exception)}"
    if want_error[1] and not re.search(want_error[1], text, re.S):
        return f"expected a text like {want_error[1]!r}, got {text[:300]!r}"
    return None


def first_line(text):
    return (text.strip().splitlines() or [""])[0][:200]


def origin(exception):
    """Where inside the package an unexpected exception comes from."""
    frames = [f for f in traceback.extract_tb(exception.__traceback__) if "parity" not in f.filename and f.line]
    return f"  [{pathlib.Path(frames[-1].filename).name}:{frames[-1].lineno}]" if frames else ""


class Timeout(BaseException):
    pass


@contextlib.contextmanager
def time_limit(seconds):
    """Raises Timeout in the main thread after `seconds`; elsewhere, and without SIGALRM, no limit applies."""
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
