"""tests/kernels/test_target.py - base/target.h and array/half.h with each compiler there is."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILERS = ("g++", "g++-11", "clang++", "clang++-14", "clang++-19")
# Of another processor, such as aarch64-linux-gnu-g++, if tests/emulated names it.
PREFIX = os.environ.get("TESTS_COMPILER_PREFIX", "")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_promises_hold(compiler, level, emulator, tmp_path):
    called = PREFIX + compiler
    if not shutil.which(called):
        if compiler == "g++":
            pytest.fail("the tests need a compiler")
        pytest.skip(f"{called} is not installed")
    program = tmp_path / "target_check"
    flags = ["-std=gnu++20", level, "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    if compiler.startswith("clang"):
        flags.append("-Wno-pass-failed")
    source = ROOT / "tests/kernels/target_check.cpp"
    subprocess.run([called, *flags, f"-I{ROOT / 'cpp'}", source, "-o", program], check=True)
    done = subprocess.run([*emulator, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
