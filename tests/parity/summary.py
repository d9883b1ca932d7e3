"""tests/parity/summary.py - the parity corpus as a work list, with counts.

    python tests/parity/summary.py [file[:part of a case name] ...] [-q | -v] [--differences]

All cases run in this process, each for at most ten seconds. `-q` prints the counts only, `-v` also
each case before it runs. `--differences` writes the cases that differ to differences.txt.
"""

import faulthandler
import importlib
import pathlib
import sys
import time

import corpus


def check(module, case, recorded):
    try:
        with corpus.time_limit(corpus.CASE_SECONDS):
            return corpus.verdict(module, case, recorded)
    except corpus.Timeout:
        return f"no answer within {corpus.CASE_SECONDS} s"
    except Exception as e:  # encoding a half-finished array may fail
        return f"could not be encoded: {type(e).__name__}: {corpus.first_line(str(e))}"


def main(arguments):
    module = importlib.import_module("shardax")
    corpus.prepare(module)
    faulthandler.enable()
    quiet, verbose = "-q" in arguments, "-v" in arguments
    chosen = [a for a in arguments if not a.startswith("-")] or corpus.names()
    totals, differences = [0, 0], []
    for name, _, part in (c.partition(":") for c in chosen):
        recorded, start, passed = corpus.recording(name), time.perf_counter(), 0
        cases = [c for c in corpus.load(name).cases.values() if part in c.name]
        for case in cases:
            if verbose:
                print(f"  {case.name} ...", flush=True)
            wrong = check(module, case, recorded.get(case.name))
            passed += wrong is None
            if wrong:
                differences.append(f"{name}: {case.name}\n")
            if wrong and not quiet:
                print(f"  {name}: {case.name}\n      {wrong}")
        totals = [totals[0] + passed, totals[1] + len(cases)]
        print(
            f"{name}: {passed} of {len(cases)} agree ({time.perf_counter() - start:.1f} s)",
            flush=True,
        )
    print(f"all: {totals[0]} of {totals[1]}")
    if "--differences" in arguments:
        pathlib.Path(__file__).with_name("differences.txt").write_text("".join(differences))
    return totals[0] != totals[1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
