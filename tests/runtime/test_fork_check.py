"""tests/runtime/test_fork_check.py - forks while threads hold mutexes, as a C++ program.

Workers, and threads of other libraries, take these mutexes without the interpreter's lock.
"""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = "-std=c++20 -O1 -g -Wall -Wextra -Werror".split()


def test_no_mutex_is_caught_by_a_fork(tmp_path, emulator):
    built = tmp_path / "fork_check"
    sources = ["tests/runtime/fork_check.cpp", "cpp/runtime/spans.cpp"]
    sources.append("cpp/array/exported_buffers.cpp")
    flags = [*FLAGS, *os.environ.get("CXXFLAGS", "").split(), f"-I{ROOT / 'cpp'}"]
    command = [os.environ.get("CXX", "g++"), *flags, *(ROOT / source for source in sources)]
    subprocess.run([*command, "-o", built, "-pthread"], check=True)
    done = subprocess.run([*emulator, built], capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all hold\n", "")
