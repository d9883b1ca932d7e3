"""tests/errors/test_hostile_arguments.py - no argument ends the process, hangs, or breaks the core.

Every public function is called with arguments that make no sense, in a process of its own with
little memory. Any outcome is fine, except: a crash, a call that neither ends nor can be
interrupted, SystemError, and errors of the system itself ("internal error"). A longer run:
SHARDAX_HOSTILE_SECONDS=60 SHARDAX_HOSTILE_SEED=1 pytest tests/errors/test_hostile_arguments.py.
"""

import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).parent / "hostile_calls.py"
SECONDS = float(os.environ.get("SHARDAX_HOSTILE_SECONDS", "4"))
SEED = os.environ.get("SHARDAX_HOSTILE_SEED", "0")


@pytest.mark.parametrize("part", ["lax", "numpy", "numpy.linalg", "nn", "top", "scipy"])
def test_hostile_arguments(part, tmp_path):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), part, str(SECONDS), SEED],
        capture_output=True,
        text=True,
        timeout=SECONDS + 100,
        cwd=tmp_path,
    )
    log = tmp_path / "stderr.txt"
    assert done.returncode == 0, (done.returncode, done.stderr[-1500:], log.read_text()[-1500:])
    lines = done.stdout.splitlines()
    assert lines[:-1] == [], "\n".join(lines[:40])
    assert int(lines[-1].split()[0]) > 100
