"""tests/parity/record.py - writes recorded/<file>.json by running the case files under JAX.

    pip install jax==0.10.2
    python tests/parity/record.py [file[:part of a case name] ...] [--new]

With `--new` only the cases that have no recording yet run; recordings without a case are dropped.
Each file states the version of JAX that made it. A recording is the value of a case, or the class
and text of its exception.
"""

import json
import os
import re
import sys

import corpus
from comparison import short, without_paths

os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={corpus.DEVICES}"
os.environ["JAX_PLATFORMS"] = "cpu"

VERSION = "0.10.2"
LARGEST = 60_000


def record(jax, case):
    """The recording of a case, or a complaint about the case itself."""
    function = case.reference or case.function
    outcome = corpus.run(jax, function, case.config)
    if outcome[0] == "value":
        if case.error is not None and not case.reference:
            return None, f"raises nothing, returned {short(outcome[1])}"
        if len(json.dumps(outcome[1])) > LARGEST:
            return None, "the result is too large; return less of it"
        return {"value": outcome[1]}, None
    _, classes, text, exception = outcome
    if case.reference or case.error is None:
        return None, f"raised {classes[1]}: {text[:1500]}{corpus.origin(exception)}"
    if not re.search(case.error, text, re.S):
        return None, f"the text of {classes[1]} does not contain {case.error!r}: {text[:1500]}"
    return {"error": classes[0], "text": without_paths(text)[:400]}, None


def main(arguments):
    import jax

    if jax.__version__ != VERSION:
        sys.exit(f"record: the recordings are those of JAX {VERSION}; this is {jax.__version__}.")
    new_only, failed = "--new" in arguments, 0
    chosen = [a for a in arguments if a != "--new"] or corpus.names()
    for name, _, part in (c.partition(":") for c in chosen):
        kept, done, ran = corpus.recording(name), {}, 0
        for case in corpus.load(name).cases.values():
            if case.raises is not None:
                continue
            if part not in case.name or (new_only and case.name in kept):
                if case.name in kept:
                    done[case.name] = kept[case.name]
                continue
            ran += 1
            recorded, complaint = record(jax, case)
            if complaint:
                failed += 1
                print(f"{name}: {case.name}: {complaint}")
            else:
                done[case.name] = recorded
        lines = ",\n".join(
            f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in done.items()
        )
        text = f'{{"jax": "{VERSION}", "devices": {corpus.DEVICES}, "cases": {{\n{lines}\n}}}}\n'
        (corpus.RECORDED / f"{name}.json").write_text(text)
        print(f"{name}: {ran} recorded now, {len(done)} in all", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
