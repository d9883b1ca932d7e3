# shardax/_printing.py - repr of arrays, as NumPy prints them, and signatures of functions.
import inspect

import numpy as np

from shardax import _core


def array_repr(x):
    """`Array([0., 1.], dtype=float32)`: NumPy's digits in JAX's frame."""
    if x.dtype.name.startswith("key<"):
        return _key_repr(x)
    prefix = "Array("
    dtype = f"dtype={x.dtype.name}, weak_type=True)" if x.weak_type else f"dtype={x.dtype.name})"
    width = np.get_printoptions()["linewidth"]
    if x.size == 0:
        text = f"[], shape={x.shape}"
    else:
        text = np.array2string(
            np.asarray(x), prefix=prefix, suffix=",", separator=", ", max_line_width=width
        )
    last_line = len(text) - text.rfind("\n") + 1
    gap = " " * len(prefix) if last_line + len(dtype) + 1 > width else " "
    return f"{prefix}{text},{gap}{dtype}"


def _key_repr(x):
    words = np.asarray(_core.bind("random_unwrap", (x,)))
    return f"Array({x.shape}, dtype={x.dtype.name}) overlaying:\n{words}"


def positional_signature(parameters):
    """The signature of a function of positional-only parameters: "x1, x2"."""
    kind = inspect.Parameter.POSITIONAL_ONLY
    return inspect.Signature([inspect.Parameter(p, kind) for p in parameters.split(", ")])
