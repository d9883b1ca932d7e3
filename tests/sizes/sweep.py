"""tests/sizes/sweep.py - every op and every kind of program with dimensions of 0 and of 1.

    python tests/sizes/sweep.py [--long] [--jax PYTHON] [--only NAME]

A worker runs the cases, so that one that ends it is a finding and no end. Each case is an op's
sample (tests/ops/samples.py) with some of its dimensions changed, or a program of programs.py of
three sizes. It is run in several ways (ways.py), which must agree. Without `--long`, each case runs
in some of the ways, chosen by its number. With `--jax`, programs give what JAX gives. Prints each
finding, then how much ran; the exit status is 1 where there is a finding.
"""

import argparse
import collections
import importlib
import itertools
import json
import os
import pathlib
import sys
import warnings

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "ops"), str(HERE.parent / "fuzz")]
import programs  # noqa: E402
from ways import WAYS  # noqa: E402
from worker import Worker  # noqa: E402

SECONDS = 600 if "libasan" in os.environ.get("LD_PRELOAD", "") else 60  # for one case
SIZES = (0, 1, 3)
# The classes of errors that say that such an operand does not go with the op.
REFUSALS = (TypeError, ValueError, IndexError, NotImplementedError)

# ---- cases -------------------------------------------------------------------------------------


def changes(sample):
    """Sets of dimensions, as (size, to): all of one size, one alone, or all."""
    sizes = sorted({d for a in sample.args for d in a.shape if d > 1})
    for to in (0, 1):
        for size in sizes:
            yield {"all": size, "to": to}
        for i, arg in enumerate(sample.args):
            for d in range(len(arg.shape)):
                yield {"arg": i, "dim": d, "to": to}
        if len(sizes) > 1:
            yield {"all": None, "to": to}


def op_cases():
    import running  # with NumPy's and the package's names

    for case in running.CASES:
        name, sample = case.values
        if sample.params.get("mode") == "promise_in_bounds":
            continue  # other sizes break the promise
        index = [s is sample for s in running.samples(name)].index(True)
        for number, change in enumerate(changes(sample)):
            dtype = sample.dtypes[number % len(sample.dtypes)]
            yield {"op": name, "sample": index, "change": change, "dtype": dtype}


def program_cases(sizes):
    for name, least in programs.LEAST.items():
        for n, k, m in itertools.product(sizes, repeat=3):
            if min(n, k, m) >= least:
                yield {"program": name, "sizes": (n, k, m)}


def chosen_ways(number, long):
    if long:
        return list(WAYS)
    names = list(WAYS)
    return [names[(3 * number + j * 5) % len(names)] for j in range(3)]


# ---- the worker --------------------------------------------------------------------------------


def changed_shape(shape, arg, change):
    if "all" in change:
        return tuple(change["to"] if change["all"] in (d, None) else d for d in shape)
    here = arg == change["arg"]
    return tuple(change["to"] if here and d == change["dim"] else n for d, n in enumerate(shape))


def changed_params(params, change):
    """Sizes among the parameters follow, where all dimensions of a size change."""
    if change.get("all") is None:
        return params
    size, to = change["all"], change["to"]
    named = ("shape", "new_sizes", "limit_indices", "slice_sizes", "fft_lengths")
    return {
        k: tuple(to if n == size else n for n in v) if k in named else v for k, v in params.items()
    }


def op_functions(jax, case):
    """The op, with its parameters as they are and as sizes among them follow; and operands."""
    import dataclasses

    import running

    sample = running.samples(case["op"])[case["sample"]]
    rng = np.random.default_rng(0)
    shapes = [changed_shape(a.shape, i, case["change"]) for i, a in enumerate(sample.args)]
    operands = [
        running.operand(a, case["dtype"], rng, shape)
        for a, shape in zip(sample.args, shapes, strict=True)
    ]
    args = [jax.numpy.asarray(a) for a in operands]
    for params in (sample.params, changed_params(sample.params, case["change"])):
        other = dataclasses.replace(sample, params=params)
        yield (lambda *a, other=other: running.call(case["op"], other, a)), args


def candidates(jax, case):
    if "op" in case:
        return op_functions(jax, case)
    return [programs.PROGRAMS[case["program"]](jax, *case["sizes"])]


def agree(jax, got, want, eps):
    """The differences of more than `eps`, or None."""
    got, want = jax.tree.leaves(got), jax.tree.leaves(want)
    if len(got) != len(want):
        return f"{len(got)} results for {len(want)}"
    for a, b in zip(got, want):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{a.dtype}{list(a.shape)} for {b.dtype}{list(b.shape)}"
        a, b = (numbers(v) for v in (a, b))
        if not np.allclose(a, b, eps, eps, equal_nan=True):
            return f"{a.ravel()[:6].tolist()} for {b.ravel()[:6].tolist()}"
    return None


def numbers(x):
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def told(error):
    return [type(error).__name__, " ".join(str(error).split())[:300]]


def answer(jax, case):
    """{"refused": class} or {"values": [...], "found": [...], "ran": number of comparisons}."""
    refused = None
    jax.config.update("jax_enable_x64", "op" in case)
    for f, args in candidates(jax, case):
        try:
            values = jax.tree.leaves(f(*args))
        except Exception as error:
            refused = refused or [*told(error), isinstance(error, REFUSALS)]
            continue
        found, ran = [], 0
        halves = any(v.dtype in ("float16", "bfloat16") for v in (*args, *values))
        for way in case["ways"]:
            try:
                for what, got, want in WAYS[way](jax, f, args):
                    ran += 1
                    if wrong := agree(jax, got, want, 0.1 if halves else 3e-3):
                        found.append([what, wrong])
            except Exception as error:
                if not without_derivative(error):
                    found.append([way, *told(error)])
        shown = [[str(v.dtype), v.shape, printed(v)] for v in values] if "program" in case else []
        return {"values": shown, "found": found, "ran": ran}
    return {"refused": refused}


def printed(x):
    wide = numbers(x).ravel()
    return [str(v) for v in wide[:40]]


def without_derivative(error):
    """Of ops that have none, or none of a kind; and of loops of unknown length."""
    said = str(error)
    return any(
        text in said
        for text in (
            "not implemented",
            "Reverse-mode differentiation does not work",
            "not support",
            "only implemented",
            "argmin and argmax require non-empty",  # eigenvectors of nothing
            "custom_vjp function",
            "composite",
            "callbacks",
            "Slice size at index",  # of updates that fall on nothing, as in JAX
            "should match the mesh",  # one shard_map within another
        )
    )


def main(package):
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"
    jax = importlib.import_module(package)
    importlib.import_module(f"{package}.numpy")
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        out.write(json.dumps(answer(jax, json.loads(line))) + "\n")
        out.flush()


# ---- the runner --------------------------------------------------------------------------------


def worker(python, package):
    return Worker([python, str(HERE / "sweep.py"), "--serve", package], SECONDS)


def against(got, want):
    """The difference of an answer from JAX's, or None."""
    if "refused" in want:
        return None if "refused" in got else f"computes where JAX says {want['refused']}"
    if "refused" in got:
        return f"{got['refused']} where JAX computes"
    if len(got["values"]) != len(want["values"]):
        return "another number of results than JAX"
    for (dtype, shape, a), (dtype2, shape2, b) in zip(got["values"], want["values"]):
        if (dtype, shape) != (dtype2, shape2):
            return f"{dtype}{shape} where JAX has {dtype2}{shape2}"
        if not np.allclose(*(np.array(v, complex) for v in (a, b)), 3e-3, 2e-3, equal_nan=True):
            return f"{a[:6]} where JAX has {b[:6]}"
    return None


def run(cases, jax=None, long=False, tell=print):
    """The findings: each (case, what); and counts."""
    ours, theirs = worker(sys.executable, "shardax"), worker(jax, "jax") if jax else None
    findings, counts = [], collections.Counter()
    for number, case in enumerate(cases):
        case["ways"] = chosen_ways(number, long)
        got = ours.ask(case)
        counts["cases"] += 1
        counts["comparisons"] += got.get("ran", 0)
        wrong = []
        if "end" in got:
            wrong = [got["end"]]
        elif "refused" in got:
            counts["refused"] += 1
            if not got["refused"][2] or "internal error" in got["refused"][1]:
                wrong = [str(got["refused"])]
        else:
            counts[case.get("op") or case["program"]] += 1
            wrong = [" - ".join(map(str, found)) for found in got["found"]]
        if theirs and "program" in case and "end" not in got:
            want = theirs.ask({**case, "ways": []})
            wrong += [said] if "end" not in want and (said := against(got, want)) else []
        for what in wrong:
            findings.append((case, what))
            if tell:
                tell(f"--- {json.dumps(case)}\n    {what}", flush=True)
    ours.close()
    if theirs:
        theirs.close()
    return findings, counts


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="every case in every way, more sizes")
    parser.add_argument("--jax", help="an interpreter in which JAX is installed")
    parser.add_argument("--only", help="cases of this op or program")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    options = parsed()
    if options.serve:
        main(options.serve)
        sys.exit()
    cases = [*op_cases(), *program_cases((0, 1, 2, 17) if options.long else SIZES)]
    if options.only:
        cases = [c for c in cases if options.only in (c.get("op"), c.get("program"))]
    findings, counts = run(cases, options.jax, options.long)
    print(
        f"{counts['cases']} cases, {counts['refused']} refused, {counts['comparisons']} "
        f"comparisons, {len(findings)} findings"
    )
    sys.exit(bool(findings))
