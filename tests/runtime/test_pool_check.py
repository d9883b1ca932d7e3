"""tests/runtime/test_pool_check.py - the worker pool by itself, as a C++ program.

TBB_PREFIX names another oneTBB than that of this environment or the system, and CXXFLAGS adds
flags. With -fsanitize=thread and a oneTBB that was compiled with it, races of the pool show.
"""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = "-std=c++20 -O1 -g -Wall -Wextra -Werror".split()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    built = tmp_path_factory.mktemp("pool") / "pool_check"
    parts = ("pool", "startable", "cores", "interrupt", "spans")
    sources = [ROOT / f"cpp/runtime/{part}.cpp" for part in parts]
    prefix = os.environ.get("TBB_PREFIX", sys.prefix)
    paths = [f"-isystem{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"]
    flags = [*FLAGS, *os.environ.get("CXXFLAGS", "").split(), f"-I{ROOT / 'cpp'}", *paths]
    command = [os.environ.get("CXX", "g++"), *flags, ROOT / "tests/runtime/pool_check.cpp"]
    subprocess.run([*command, *sources, "-o", built, "-ltbb", "-pthread"], check=True)
    return built


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_loops_under_callers_exceptions_interrupts_and_fork(program, emulator, threads):
    done = subprocess.run(
        [*emulator, program],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "SHARDAX_NUM_THREADS": threads},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "all hold\n", "")
