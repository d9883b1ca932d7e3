"""tests/kernels/test_target.py - base/target.h and array/half.h with each compiler there is."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILERS = ("g++", "g++-11", "clang++", "clang++-14", "clang++-19")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_promises_hold(compiler, level, tmp_path):
    if not shutil.which(compiler):
        if compiler == "g++":
            pytest.fail("the tests need a compiler")
        pytest.skip(f"{compiler} is not installed")
    program = tmp_path / "target_check"
    flags = ["-std=gnu++20", level, "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    if compiler.startswith("clang"):
        flags.append("-Wno-pass-failed")
    source = ROOT / "tests/kernels/target_check.cpp"
    subprocess.run([compiler, *flags, f"-I{ROOT / 'cpp'}", source, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
