"""tests/bench/programs.py - whole programs as people write them, alone and mapped over 4.

    python tests/bench/programs.py [--jax PYTHON] [--rounds N] [--threads N] [--cpu]

Microseconds of a compiled call, and of the first one, which traces and compiles. The programs are
in the modules program_*: functions that take the system and give a compiled function and its
arguments. PROGRAMS=heat,newton in the environment names some of them.
"""

import json
import os
import time

import numpy as np
import program_grids
import program_list
import program_models
import program_recurrences
import program_samplers
import rivals

MODULES = (program_grids, program_list, program_models, program_samplers, program_recurrences)
NAMES = [name for name in os.environ.get("PROGRAMS", "").split(",") if name]

PROGRAMS = {
    name: make
    for module in MODULES
    for name, make in vars(module).items()
    if callable(make) and make.__module__ == module.__name__ and not name.startswith("_")
    and (not NAMES or name in NAMES)
}


def seconds(jax, f):
    start = time.perf_counter()
    jax.block_until_ready(f())
    return (time.perf_counter() - start) * 1e6


def measure(jax):
    figures = {}
    for name, make in PROGRAMS.items():
        f, args = make(jax)
        stacked = jax.tree_util.tree_map(lambda x: jax.numpy.asarray(np.stack([x] * 4)), args)
        mapped = jax.jit(jax.vmap(lambda *a: f(*a)))  # noqa: B023
        for row, g, operands in ((name, f, args), (f"{name}, mapped over 4", mapped, stacked)):
            first = seconds(jax, lambda: g(*operands))  # noqa: B023
            if g is f:
                figures[f"{name}, first call"] = first
            figures[row] = rivals.median_time(jax, lambda: g(*operands), 0.3)  # noqa: B023
    print(json.dumps(figures))


if __name__ == "__main__":
    jax = rivals.system()
    measure(jax) if jax else rivals.compare(__file__, __doc__)
