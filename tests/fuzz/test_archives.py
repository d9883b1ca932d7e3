"""tests/fuzz/test_archives.py - exported programs with changes end no process.

A longer run prints what it finds: python tests/fuzz/test_archives.py fields 0 5000.
"""

import collections
import json
import pathlib
import subprocess
import sys

import pytest

CALLS = pathlib.Path(__file__).resolve().parent / "archive_calls.py"
sys.path.insert(0, str(CALLS.parent))


def outcomes(kind, first, last):
    """(seed, name, changes, how, error) of each seed; how is also "end" and "hang"."""
    while first < last:
        command = [sys.executable, str(CALLS), kind, str(first), str(last)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
            status, out, said = done.returncode, done.stdout, done.stderr[-300:]
        except subprocess.TimeoutExpired as late:
            status, out, said = "hang", late.stdout.decode(), ""
        lines = [json.loads(line) for line in out.splitlines()]
        assert lines, said
        for begun, ended in zip(lines[::2], lines[1::2]):
            yield (*begun, *ended)
        if status == 0:
            return
        begun = lines[-1 - (len(lines) % 2 == 0)]
        yield (*begun, "end", f"status {status} {said}")
        first = begun[0] + 1


@pytest.mark.parametrize("kind", ["fields", "bytes"])
def test_changed_archives_end_no_process(kind):
    counts, bad = collections.Counter(), []
    for outcome in outcomes(kind, 0, 300):
        counts[outcome[3]] += 1
        if outcome[3] in ("end", "late") or "internal error" in outcome[4]:
            bad.append(outcome)
    assert not bad
    assert counts["refused"] > 100  # changes are seen
    assert kind == "bytes" or counts["ran"] > 20  # and not all of them matter


@pytest.mark.parametrize("depth", [10, 500, 2000, 100_000])
def test_deep_archives_end_no_process(depth):
    """Programs within programs: called, or refused where they are deeper than files may be."""
    code = f"""
import archive_calls as calls
import archives
header, data = calls.taken_apart(calls.exported("newton"))
deep = archives.nested(archives.parsed(data, calls.itemsize), {depth})
how, error = calls.tried(calls.put_together([header, deep]))
print(how, "deep" in str(error) or "recursion" in str(error))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CALLS.parent, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr[-1000:]
    how, deep = done.stdout.split()
    if depth > 1000:
        assert (how, deep) == ("refused", "True")
    else:
        assert how in ("ran", "error")


HEADERS = {
    "no JSON": lambda header: b"{",
    "a list": lambda header: b"[]",
    "no tree": lambda header: header.replace(b'"in_tree"', b'"no_tree"'),
    "other leaves": lambda header: header.replace(b'"tuple": ["*", ', b'"tuple": [', 1),
    "a number": lambda header: header.replace(b'"platforms": ["cpu"]', b'"platforms": 3'),
}


@pytest.mark.parametrize("name", HEADERS)
def test_descriptions_are_checked(name):
    import archive_calls as calls
    from shardax import export

    header, data = calls.taken_apart(calls.exported("newton"))
    changed = HEADERS[name](header)
    assert changed != header, header
    with pytest.raises(ValueError, match="export"):
        export.deserialize(calls.put_together([changed, data]))


def main(kind, first, last):
    counts = collections.Counter()
    for outcome in outcomes(kind, first, last):
        counts[outcome[3]] += 1
        if outcome[3] in ("end", "late", "error"):
            print(*outcome, sep="\n   ", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
