"""tests/parity/comparison.py - the result of a case as JSON, and the comparison of two of them.

Start at `encode`; `difference` is its counterpart.
"""

import json
import re
from dataclasses import dataclass

import numpy as np

# The relative and absolute tolerance of each inexact dtype; cases loosen them by rtol and atol.
TOLERANCE = {
    "float16": (2e-3, 1e-4),
    "bfloat16": (1e-2, 1e-3),
    "float32": (2e-6, 1e-7),
    "complex64": (4e-6, 2e-7),
    "float64": (1e-12, 1e-14),
    "complex128": (1e-12, 1e-14),
}

# Errors of JAX's internals about a wrong argument; TypeError and ValueError say it better.
LEAKED = ("raises:IndexError", "raises:RuntimeError", "raises:TracerArrayConversionError")


@dataclass
class Raised:
    """A leaf that stands for an exception, by the name of its class."""

    name: str


def class_name(e):
    """The name of the first class of an exception that is built in or belongs to `jax.errors`."""
    for cls in type(e).__mro__:
        if cls.__module__ == "builtins" or re.match(
            r"Tracer|UnexpectedTracer|Concretization|NonConcrete|JAX", cls.__name__
        ):
            return cls.__name__
    return "Exception"


def encode(jax, value):
    """A result as JSON: containers stay containers, a leaf is one string (`~float32[2]: 1.0 2.5`).

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
    """A text without directories, line numbers and addresses."""
    text = re.sub(r"(?:/[\w.+-]+)+/([\w.-]+\.py)(?::\d+)*", r"\1", text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)


_ARRAY = re.compile(r"^((?:np:)?~?)(\w+)\[([\d,]*)\]:(.*)$", re.S)


def difference(expected, actual, case, path="result"):
    """The first difference between two encoded results, as a sentence, or None."""
    if type(expected) is not type(actual):
        return f"{path}: expected {short(expected)}, got {short(actual)}"
    if isinstance(expected, list):
        if expected[0] != actual[0] or len(expected) != len(actual):
            sizes = [f"a {v[0]} of {len(v) - 1}" for v in (expected, actual)]
            return f"{path}: expected {sizes[0]}, got {sizes[1]}"
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
    if expected in LEAKED and actual in ("raises:TypeError", "raises:ValueError"):
        return None
    e, a = _ARRAY.match(expected), _ARRAY.match(actual)
    if not e or not a or e.groups()[:3] != a.groups()[:3]:
        if e and a and e.group(4) == a.group(4):
            heads = [v.split(":")[0] for v in (expected, actual)]
            return f"{path}: expected {heads[0]}, got {heads[1]} (the values agree)"
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
