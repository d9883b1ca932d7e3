"""tests/bench/functions.py - every function of jnp, scipy, nn and random, against JAX and NumPy.

    python tests/bench/functions.py [--jax PYTHON] [--rounds N] [--sizes N,N] [--only TEXT] [--cpu]

Each is called as users call it, outside of jit, with 64, 65 536 and 4 194 304 elements
(tests/bench/function_calls.py says how). Each system has a process of its own, and they take turns
at each function. A figure is the best of the rounds, in microseconds of a call: of the wall's time,
or with --cpu of all threads' processor time. NumPy's column is SciPy's for what SciPy has, of the
interpreter with JAX. Prints a table in Markdown, a row as soon as it is measured, then the slow
rows again. Ratios are to the better of the two: above 1 shardax is slower. If it is more than 1.2
times slower, the reason stands beside it.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time

import numpy as np
from function_calls import DRAWS, calls, operands

SIZES = (64, 65536, 4194304)
# Why functions are slower than the better rival, by the last part of their name.
REASONS = {
    "a key is split for each element, as JAX's bits demand": """beta binomial chisquare dirichlet f
        gamma generalized_normal geometric loggamma poisson t wald""",
    "JAX's bits: two draws and their remainders": "choice randint",
    "the exponential of lgamma, and the sign": "special.gamma",
    "JAX's bits: sorts by random words, in rounds": "permutation",
    "series in double precision, element by element": """betainc chi2.cdf dawsn erfcx expi gamma.cdf
        gammainc gammaincc spence beta.cdf zeta""",
    "a gather, where NumPy makes a strided view": "circulant hankel toeplitz diag diagonal",
    "float32 is computed in double, for less than an ULP": """acosh arccosh arcsinh arctanh asinh
        atanh cbrt cos pow power sin tan""",
    "NumPy sorts in vectors": """median mode nanmedian nanpercentile nanquantile percentile quantile
        sort sort_complex unique unique_all unique_counts unique_inverse unique_values""",
    "JAX's order: both parts are sorted": "argpartition partition",
    "sums in the order of a matrix product's": "dot einsum inner matvec vdot vecdot vecmat",
    "which elements a mask has is counted, then searched": "tril_indices triu_indices",
    "integers and remainders are divided one by one": "divmod gcd lcm mod remainder",
    "a call for each op: sizes depend on values": """argwhere compress extract flatnonzero nonzero
        union1d intersect1d setdiff1d setxor1d""",
    "a call for each part": "array_split split hsplit delete insert",
    "a call for each op": "stft",
    "truth values are lanes of 32 bits": """isnan isinf isfinite isneginf isposinf logical_xor
        logical_and logical_or less less_equal greater greater_equal equal not_equal signbit""",
    "sums in an order that shapes fix": "norm",
    "finds as well whether all are NaN": "nanmax nanmin",
    "AVX2 has no counts of bits": "bitwise_count",
    "mantissas are products, which have derivatives": "frexp",
    "neighbours of floats are found one by one": "spacing nextafter",
    "bits are spread by products, where NumPy has a table": "unpackbits",
    "bits are gathered by shifts and products": "packbits",
    "positions are compared in each element": "identity eye tril triu",
    "divided by 6, where XLA multiplies by a sixth": "hard_sigmoid hard_silu hard_swish",
    "the ends and the middle are joined, in a pass of its own": "gradient",
    "a choice between floor and ceil": "trunc",
    "neighbours are added in tiles, which are summed then": "trapezoid",
    "Halley's iteration, as in JAX, where SciPy has singular values": "polar",
    "all pieces of the function are computed, then one is chosen": "log_ndtr",
    "in each element 32 products and sums wait for one another": "polyval",
    "elements of the operands alternate": "column_stack dstack",
    "rows of 100 elements fill no whole vectors": "one_hot",
    "transforms of complex numbers, where SciPy's are real": "dct idct dctn idctn",
}
REASON_OF = {name: reason for reason, names in REASONS.items() for name in names.split()}
# Arrays are objects of ours: a call costs these microseconds, where NumPy's cost 0.3.
CALL = 10
BUDGET = 0.04  # seconds for the calls of one function
LIMIT = 1.2  # of the better rival's time: above it a reason is due

clock = time.process_time if os.environ.get("BENCH_CPU") else time.perf_counter


def best_time(ready, f):
    """Microseconds of a call of `f`, warm: the best of some runs of several calls each."""
    ready(f())
    start, t = time.perf_counter(), clock()
    ready(f())
    once, spent = time.perf_counter() - start, clock() - t
    if once > BUDGET:
        return spent * 1e6
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


def serve(system):
    """Measures what comes in, a call a line, and answers each with a line."""
    package = None if system == "numpy" else importlib.import_module(system)
    ready = (lambda x: x) if package is None else package.block_until_ready
    values, of = {}, None
    for line in sys.stdin:
        n, module, name, arguments = json.loads(line)
        if n != of:
            values, of = arrays(package, n), n
        text = f"f({arguments})"
        if system == "numpy" and module == "random":
            text = DRAWS.get(name)
        else:
            values["f"] = function(system, module, name)
        answer = {}
        if text is not None and not (text.startswith("f(") and values["f"] is None):
            call = eval(f"lambda: {text}", dict(values))  # the table's own text
            try:
                answer = {"time": best_time(ready, call)}
            except Exception as error:  # noqa: BLE001 - not every system takes every call
                answer = {"error": f"{system} {module}.{name}({arguments}), n = {n}: {error!r}"}
        print(json.dumps(answer), flush=True)


def arrays(package, n):
    """The operands of the table's calls, as arrays of that package or of NumPy."""
    values = operands(n)
    if package:
        values = {name: package.numpy.asarray(v) for name, v in values.items()}
        values["key"] = package.random.key(0)
    return values | {"n": n, "side": int(n**0.5), "g": np.random.default_rng(0)}


class System:
    """A process that measures calls."""

    def __init__(self, name, python, cpu):
        env = {**os.environ, "BENCH_SYSTEM": name, **({"BENCH_CPU": "1"} if cpu else {})}
        if name != "shardax":
            env.pop("PYTHONPATH", None)
        self.name = name
        self.process = subprocess.Popen(
            [python, __file__], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def measure(self, call):
        """{"time": microseconds}, {"error": text}, or {} where the system lacks the function."""
        print(json.dumps(call), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"The process of {self.name} ended at {call}.")
        return json.loads(answer)


def reason_of(row, ours, theirs):
    """Why the function of a row is slow, or nothing."""
    of = row.split(".", 2 if "stats." in row else 1)[-1]
    if ours < CALL and ours <= theirs.get("jax", ours):
        return "a call"
    reason = REASON_OF.get(of) or REASON_OF.get(of.rpartition(".")[2], "")
    if not reason and row.startswith("random.") and ours <= LIMIT * theirs.get("jax", 0):
        return "JAX's bits: a hash of 20 rounds for each word"
    return reason


def rows(systems, sizes, rounds, only):
    """(ratio, row of the table, reason) of each function, and the errors of ours as text."""
    for n in sizes:
        for call in calls(n):
            name = ".".join(call[:2])
            if only not in name:
                continue
            best = {}
            for _ in range(rounds):
                for system, process in systems.items():
                    answer = process.measure([n, *call])
                    if "error" in answer and system == "shardax":
                        yield answer["error"]
                    if "time" in answer:
                        best[system] = min(best.get(system, answer["time"]), answer["time"])
            if "shardax" not in best:
                continue
            theirs = {k: v for k, v in best.items() if k != "shardax"}
            ratio = best["shardax"] / min(theirs.values(), default=float("inf"))
            reason = reason_of(name, best["shardax"], theirs) if ratio > LIMIT else ""
            cells = [f"{best[k]:.1f}" if k in best else "-" for k in ("shardax", "jax", "numpy")]
            yield ratio, f"| {name} | {n} | {' | '.join(cells)} | {ratio:.2f} | {reason} |", reason


HEAD = """| function | elements | shardax | JAX | NumPy | ratio | reason |
| --- | ---: | ---: | ---: | ---: | ---: | --- |"""


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
    interpreters = {"shardax": sys.executable, "numpy": options.jax or sys.executable}
    interpreters |= {"jax": options.jax} if options.jax else {}
    systems = {k: System(k, python, options.cpu) for k, python in interpreters.items()}
    measured, errors = [], []
    print(HEAD)
    sizes = tuple(map(int, options.sizes.split(",")))
    for found in rows(systems, sizes, options.rounds, options.only):
        if isinstance(found, str):
            errors.append(found)
            continue
        measured.append(found)
        print(found[1], flush=True)
    slow = sorted((row for row in measured if row[0] > LIMIT), reverse=True)
    missing = sum(not reason for _, _, reason in slow)
    print(
        f"\n{len(measured)} rows, {len(slow)} slower than {LIMIT} times the better rival, "
        f"{missing} of them without a reason\n\n{HEAD}"
    )
    print("\n".join(row for _, row, _ in slow))
    print("\n".join(dict.fromkeys(errors)), file=sys.stderr)


if __name__ == "__main__":
    system = os.environ.get("BENCH_SYSTEM")
    serve(system) if system else main()
