"""tests/mpi/test_examples.py - the examples of several processes print the same for any number."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "processes"
LINES = {
    "training_loop": "[ 0.99999505 -1.9999845   2.999997  ] loss 3.6e-10",
    "fsdp": "step 100  loss 0.0262\nw1: (32, 64) in parts of (4, 64)\n",
    "global_arrays": "mean 0.00041, norm 1450.768, median 0.0004\n",
}


def test_all_examples_are_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(LINES)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", LINES)
def test_an_example_in_processes(start, name, count):
    ended = start((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"), count)
    assert ended.code == 0 and LINES[name] in ended.out, ended.err


@pytest.mark.parametrize("name", LINES)
def test_an_example_alone(name):
    done = subprocess.run(
        [sys.executable, "-m", "shardax", EXAMPLES / f"{name}.py"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert LINES[name] in done.stdout, done.stderr
