"""tests/ecosystem/programs.py - runs small programs of libraries for JAX.

    python -m shardax tests/ecosystem/programs.py optax flax     (or with JAX, without -m shardax)

prints their results as JSON. The programs are the functions of networks.py, numerics.py and
probability.py. Each takes nothing and returns a tree of arrays and numbers; its name starts with
the library's. All random numbers of a program come from keys.
"""

import json
import sys

import jax
import networks
import numerics
import numpy as np
import probability
from tables import LIBRARIES

PROGRAMS = {
    name: value
    for module in (networks, numerics, probability)
    for name, value in sorted(vars(module).items())
    if callable(value) and getattr(value, "__module__", None) == module.__name__
}


def library_of(program):
    return next(name for name in LIBRARIES if program.startswith(name + "_"))


def plain(x):
    """A result as JSON: arrays as lists of numbers."""
    if isinstance(x, (str, bool)):
        return x
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in sorted(x.items())}
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return [plain(v) for v in x]
    leaves = jax.tree.leaves(x)
    if len(leaves) == 1 and leaves[0] is x:
        return np.vectorize(lambda v: float(f"{v:.6g}"), otypes=[float])(np.asarray(x)).tolist()
    return [plain(v) for v in leaves]


def main(libraries):
    out = {}
    for name, program in PROGRAMS.items():
        if libraries and library_of(name) not in libraries:
            continue
        try:
            out[name] = plain(program())
        except Exception as error:
            out[name] = {"error": f"{type(error).__name__}: {error}"[:300]}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
