"""tests/mpi/conftest.py - starting a program in several processes, and what each of them wrote."""

import dataclasses
import os
import subprocess
import sys
import textwrap

import pytest


@dataclasses.dataclass
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture
def start(tmp_path):
    """start(program, count=2, environment={}): runs a program's text by the launcher."""
    pytest.importorskip("mpi4py")

    def run(program, count=2, options=(), timeout=120, **environment):
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(program))
        done = subprocess.run(
            [sys.executable, "-m", "shardax", "--processes", str(count), *options, str(script)],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **environment},
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
