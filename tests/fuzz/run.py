"""tests/fuzz/run.py - random programs and hostile calls, for as long as one likes.

    python tests/fuzz/run.py --minutes 10                           agreement with itself
    python tests/fuzz/run.py --minutes 10 --jax /path/to/python     and with JAX
    python tests/fuzz/run.py --programs 5000 --calls 0              so many, without hostile calls
    python tests/fuzz/run.py --seed 123456 [--jax ...]              one program again

Workers run the sources, so that one that ends, or hangs, is a finding and no end. A program that
disagrees is made smaller while it does. Prints each finding, then how many of each kind; the exit
status is 1 where there is any. SHARDAX_CODEGEN and SHARDAX_NUM_THREADS hold for the workers.
"""

import argparse
import collections
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
os.environ.setdefault("SHARDAX_VERIFY", "1")  # of the workers
sys.path.insert(0, str(HERE))
import evaluate  # noqa: E402
import grammar  # noqa: E402
import hostile  # noqa: E402
import trees  # noqa: E402
from worker import Worker  # noqa: E402

SECONDS = 600 if "libasan" in os.environ.get("LD_PRELOAD", "") else 60  # for one answer


def worker(python, package, seconds=SECONDS):
    return Worker([python, str(HERE / "evaluate.py"), package], seconds)


class Fuzzer:
    def __init__(self, jax):
        self.ours = worker(sys.executable, "shardax")
        self.theirs = worker(jax, "jax", 10 * SECONDS) if jax else None  # it compiles for long
        self.counts = collections.Counter()
        self.findings = []

    def report(self, kind, seed, source, text):
        self.counts[kind] += 1
        self.findings.append(kind)
        print(f"--- {kind}, seed {seed}\n{source}\n    {text}", flush=True)

    # ---- programs ------------------------------------------------------------------------

    def verdict(self, source, way, reverse):
        """(kind, text) of what is wrong, or None."""
        if way == "self":
            got = self.ours.ask({"source": source, "way": "self", "reverse": reverse})
            if "end" in got:
                return "ends", got["end"]
            if "error" in got:
                kind = "inside error" if hostile.inside(got["error"]) else "raises"
                return f"{kind} {got['error'][0]}", got["error"][1]
            return ("inconsistent", "; ".join(got["value"])) if got["value"] else None
        got = self.ours.ask({"source": source, "way": way})
        if "end" in got:
            return "ends", got["end"]
        want = self.theirs.ask({"source": source, "way": way})
        if "value" not in want:
            return None
        if "error" in got:
            return f"{got['error'][0]} where JAX computes", f"{way}: {got['error'][1]}"
        (dtype, weak, value), (dtype2, weak2, value2) = got["value"], want["value"]
        if (dtype, weak) != (dtype2, weak2):
            types = [d + "~" * w for d, w in ((dtype, weak), (dtype2, weak2))]
            return "another dtype than JAX", f"{way}: {types[0]} against {types[1]}"
        if not evaluate.close(value, value2, source):
            return "another value than JAX", f"{way}: {value} against {value2}"
        return None

    def program(self, seed):
        tree, reverse = grammar.program(seed), seed % 2 == 0
        ways = [way for way in evaluate.WAYS if reverse or way not in evaluate.REVERSE]
        asked = ["self"]
        if self.theirs:
            asked = ["self", ways[seed // 2 % len(ways)]]
        self.counts["programs"] += 1
        for way in asked:
            # JAX cannot map over devices within a map.
            if "vmap" in way and "pmap" in tree.text():
                continue
            self.counts["comparisons"] += 1
            wrong = self.verdict(tree.text(), way, reverse)
            if wrong is None:
                continue
            kind = wrong[0]

            def fails(other, way=way, kind=kind):
                found = self.verdict(other.text(), way, reverse)
                return found is not None and found[0] == kind

            most = 4 if wrong == ("ends", "hang") else 150  # each takes SECONDS
            small = trees.minimised(tree, fails, most)
            wrong = self.verdict(small.text(), way, reverse) or wrong
            self.report(wrong[0], seed, small.text(), wrong[1][:300])
            return

    # ---- calls ---------------------------------------------------------------------------

    def call(self, seed, names):
        source = hostile.call(seed, names)
        self.counts["hostile calls"] += 1
        got = self.ours.ask({"source": source, "way": "call"})
        if "end" in got:
            self.report("ends", seed, source, got["end"])
        elif "error" in got and hostile.inside(got["error"]):
            self.report("inside error", seed, source, str(got["error"]))

    def run(self, minutes, programs, calls, start):
        import shardax

        names = hostile.functions(shardax)
        end, seed = time.monotonic() + 60 * minutes, start
        while seed < start + programs if programs else time.monotonic() < end:
            self.program(seed)
            for k in range(calls):
                self.call(calls * seed + k, names)
            seed += 1
        return seed

    def close(self):
        self.ours.close()
        if self.theirs:
            self.theirs.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--programs", type=int, help="so many instead of so long")
    parser.add_argument("--calls", type=int, default=20, help="hostile calls for each program")
    parser.add_argument("--jax", help="an interpreter in which JAX is installed")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this program")
    options = parser.parse_args()
    fuzzer = Fuzzer(options.jax)
    try:
        if options.seed is not None:
            fuzzer.program(options.seed)
        else:
            stop = fuzzer.run(options.minutes, options.programs, options.calls, options.start)
            print(f"seeds {options.start} to {stop - 1}")
    finally:
        fuzzer.close()
    print(", ".join(f"{n} {what}" for what, n in fuzzer.counts.items()))
    return 1 if fuzzer.findings else 0


if __name__ == "__main__":
    sys.exit(main())
