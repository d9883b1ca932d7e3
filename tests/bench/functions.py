"""tests/bench/functions.py - every function of jnp, scipy, nn and random, against JAX and NumPy.

    python tests/bench/functions.py [--jax PYTHON] [--rounds N] [--sizes N,N] [--only TEXT] [--cpu]

Each is called as users call it, outside of jit, with 64, 65 536 and 4 194 304 elements
(tests/bench/function_calls.py says how). The systems run in turns, in processes of their own; a
figure is the best of the rounds, in microseconds of a call: of the wall's time, or with --cpu of
all threads' processor time. NumPy's column is SciPy's for what SciPy has, of the interpreter with
JAX.
Ratios are to the better of the two: above 1 shardax is slower. Where it is more than 1.2 times
slower, the reason stands beside it.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
import types

import numpy as np
from function_calls import DRAWS, calls, operands

SIZES = (64, 65536, 4194304)
# Why functions are slower than the better rival, by the last part of their name.
REASONS = {
    "a key is split for each element, as JAX's bits demand": """beta binomial chisquare dirichlet f
        gamma generalized_normal geometric loggamma poisson t wald""",
    "JAX's bits: two draws and their remainders": "choice randint",
    "JAX's bits: sorts by random words, in rounds": "permutation",
    "series in double precision, element by element": """betainc chi2.cdf dawsn erfcx expi gamma.cdf
        gammainc gammaincc polygamma spence zeta beta.cdf""",
    "a gather, where NumPy makes a strided view": "circulant hankel toeplitz",
    "which elements a mask has is counted, then searched": "tril_indices triu_indices",
    "integers and remainders are divided one by one": "divmod gcd lcm mod remainder",
}
REASON_OF = {name: reason for reason, names in REASONS.items() for name in names.split()}
# Arrays are objects of ours: what a call costs, in microseconds, where NumPy's cost 0.3.
CALL = 10
BUDGET = 0.04  # seconds for the calls of one function

clock = time.process_time if os.environ.get("BENCH_CPU") else time.perf_counter


def best_time(ready, f):
    """Microseconds of a call of `f`, warm: the best of some runs of several calls each."""
    ready(f())
    start = time.perf_counter()
    ready(f())
    once = time.perf_counter() - start
    calls = max(1, int(BUDGET / 4 / max(once, 1e-7)))
    best, start = float("inf"), time.perf_counter()
    while best == float("inf") or time.perf_counter() - start < BUDGET:
        t = clock()
        for _ in range(calls):
            out = f()
        ready(out)
        best = min(best, (clock() - t) / calls)
    return max(best, 1e-9) * 1e6


def library(system, module):
    """The module `module` of that system, or None."""
    if system == "numpy":
        if module.startswith("scipy") or module == "numpy" or module.startswith("numpy."):
            return importlib.import_module(module)
        return None
    return importlib.import_module(f"{system}.{module}")


def function(system, module, name):
    found = library(system, module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def measure(system, sizes, only):
    figures = {}
    package = None if system == "numpy" else importlib.import_module(system)
    ready = (lambda x: x) if package is None else package.block_until_ready
    for n in sizes:
        values = operands(n)
        if package:
            values = {name: package.numpy.asarray(v) for name, v in values.items()}
            values["key"] = package.random.key(0)
        values |= {"n": n, "side": int(n**0.5), "g": np.random.default_rng(0)}
        for module, name, arguments in calls(n):
            if only and only not in f"{module}.{name}":
                continue
            text = f"f({arguments})"
            if system == "numpy" and module == "random":
                text = DRAWS.get(name)
            else:
                values["f"] = function(system, module, name)
            if text is None or (text.startswith("f(") and values["f"] is None):
                continue
            call = eval(f"lambda: {text}", dict(values))  # the table's own text
            try:
                figures[f"{module}.{name} {n}"] = best_time(ready, call)
            except Exception as error:  # noqa: BLE001 - not every system takes every call
                print(f"{system} {module}.{name}({arguments}), n = {n}: {error!r}", file=sys.stderr)
    print(json.dumps(figures))


def run(system, python, options):
    env = {**os.environ, "BENCH_SYSTEM": system, **({"BENCH_CPU": "1"} if options.cpu else {})}
    if system != "shardax":
        env.pop("PYTHONPATH", None)
    command = [python, __file__, "--sizes", options.sizes, "--only", options.only]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout), done.stderr


def table(figures, limit=1.2):
    """Prints all rows, the slowest first; gives how many lack a reason."""
    ours, rivals = figures["shardax"], {k: v for k, v in figures.items() if k != "shardax"}
    rows, missing = [], 0
    for name, mine in ours.items():
        theirs = {k: v[name] for k, v in rivals.items() if name in v}
        rows.append((mine / min(theirs.values(), default=float("inf")), name, mine, theirs))
    print(f"{'':40}{'shardax':>12}{'JAX':>12}{'NumPy':>12}{'ratio':>8}")
    for ratio, name, mine, theirs in sorted(rows, reverse=True):
        cells = [f"{theirs[k]:12.1f}" if k in theirs else f"{'-':>12}" for k in ("jax", "numpy")]
        reason = ""
        if ratio > limit:
            of = name.split(" ")[0].split(".", 2 if "stats." in name else 1)[-1]
            reason = REASON_OF.get(of) or REASON_OF.get(of.rpartition(".")[2], "")
            if mine < CALL and mine <= theirs.get("jax", mine):
                reason = "a call"
            missing += not reason
        print(f"{name:40}{mine:12.1f}{''.join(cells)}{ratio:8.2f}  {reason}")
    slower = sum(row[0] > limit for row in rows)
    print(
        f"{len(rows)} rows, {slower} slower than {limit} times the better rival, {missing} of them "
        "without a reason"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jax", help="an interpreter with jax and scipy")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--only", default="", help="functions whose name has this text")
    parser.add_argument("--cpu", action="store_true", help="processor time, of all threads")
    options = parser.parse_args()
    system = os.environ.get("BENCH_SYSTEM")
    if system:
        return measure(system, tuple(map(int, options.sizes.split(","))), options.only)
    systems = {"shardax": sys.executable, "numpy": options.jax or sys.executable}
    systems |= {"jax": options.jax} if options.jax else {}
    figures, told = {}, types.SimpleNamespace(text="")
    for _ in range(options.rounds):
        for name, python in systems.items():
            found, told.text = run(name, python, options)
            known = figures.setdefault(name, found)
            for row, value in found.items():
                known[row] = min(known.get(row, value), value)
            if name == "shardax":
                failures = told.text
    table(figures)
    print(failures, end="", file=sys.stderr)


if __name__ == "__main__":
    main()
