"""tests/conftest.py - what tests of several folders share."""

import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def dump_of():
    """A function: what a program, run in a process of its own, prints for SHARDAX_DUMP=what.

    Further settings are variables of its environment.
    """

    def run(program, what="plan", folder=None, **settings):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            env={**os.environ, "SHARDAX_DUMP": what, **settings},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run
