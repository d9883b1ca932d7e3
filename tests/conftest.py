"""tests/conftest.py - fixtures that tests of several folders share."""

import fcntl
import os
import shlex
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import pytest

os.environ.setdefault("SHARDAX_VERIFY", "1")  # read when the first function is compiled
# NumPy computes what results are compared with. The threads of its OpenBLAS wait for each other in
# loops, so that one decomposition takes minutes where other tests use the processors. It reads this
# when it is imported; shardax's OpenBLAS has a number of its own (cpp/lapack/library.cpp).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

PATIENCE = float(os.environ.get("TESTS_PATIENCE", "1"))


class PatientPopen(subprocess.Popen):
    """Limits of time are those of a processor of today; an emulated one gets a multiple of them."""

    def communicate(self, input=None, timeout=None):
        return super().communicate(input, timeout and timeout * PATIENCE)

    def wait(self, timeout=None):
        return super().wait(timeout and timeout * PATIENCE)


if PATIENCE != 1:  # tests/emulated sets it
    subprocess.Popen = PatientPopen


@contextmanager
def locked(path, how):
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(file, how)
        yield
    finally:
        os.close(file)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """If several processes run the tests (pytest -n), a test marked `alone`, as it measures time,
    waits for the others' tests to end. It keeps the next ones waiting."""
    with ExitStack() as room:
        if "PYTEST_XDIST_WORKER" in os.environ:
            how = fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH
            with locked(__file__, fcntl.LOCK_EX):  # the door: who waits for the room waits here
                room.enter_context(locked(os.path.dirname(__file__), how))
        yield


@pytest.fixture(scope="session")
def emulator():
    """The beginning of a command that runs a program of the processor under test: tests/emulated
    sets the variable, and CXX to that processor's compiler."""
    return shlex.split(os.environ.get("TESTS_EMULATOR", ""))


@pytest.fixture(scope="session")
def dump_of():
    """A function: the text that a program, run in a process of its own, prints for
    SHARDAX_DUMP=what.

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
