"""tests/fuzz/test_texts.py - texts of programs with changes are read or refused.

A longer run prints what it finds: python tests/fuzz/test_texts.py 0 20000.
"""

import collections
import json
import pathlib
import subprocess
import sys

CALLS = pathlib.Path(__file__).resolve().parent / "text_calls.py"


def outcomes(first, last):
    """(seed, how, error) of each seed; how is also "end", of the process."""
    command = [sys.executable, str(CALLS), str(first), str(last)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines, done.stderr[-1000:]
    for seed, (how, error) in zip(lines[::2], lines[1::2]):
        yield seed, how, error
    if done.returncode != 0:
        yield lines[-1], "end", f"status {done.returncode} {done.stderr[-300:]}"


def test_changed_texts_are_read_or_refused():
    counts, bad = collections.Counter(), []
    for seed, how, error in outcomes(0, 1500):
        counts[how] += 1
        placed = error.startswith("ValueError: parse: ") or "parse: no valid" in error
        if how in ("end", "fault", "error") or (how == "refused" and not placed):
            bad.append((seed, how, error))
    assert not bad, bad[:5]
    assert counts["refused"] > 500 and counts["read"] > 40, counts


def main(first, last):
    counts = collections.Counter()
    for seed, how, error in outcomes(first, last):
        counts[how] += 1
        if how in ("end", "fault", "error"):
            print(seed, how, error, sep="\n   ", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
