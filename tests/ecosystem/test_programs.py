"""tests/ecosystem/test_programs.py - programs of libraries give what they give with JAX.

Each library's programs run in a process of their own, in which `import jax` means shardax. A
library that is not installed is skipped; pyproject.toml's group `ecosystem` lists those that CI
installs.
"""

import functools
import importlib.util
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
RECORDED = json.loads((HERE / "recorded.json").read_text())

spec = importlib.util.spec_from_file_location("ecosystem_tables", HERE / "tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)


@functools.cache
def results(library):
    """The results of a library's programs: {program: result, or {"error": text}}."""
    command = [sys.executable, "-m", "shardax", HERE / "programs.py", library]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def differences(expected, got, path=""):
    """The places at which two results differ."""
    if isinstance(expected, dict) and isinstance(got, dict) and expected.keys() == got.keys():
        pairs = [(f"{path}/{key}", expected[key], got[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        pairs = [(f"{path}/{i}", a, b) for i, (a, b) in enumerate(zip(expected, got))]
    elif isinstance(expected, (int, float)) and isinstance(got, (int, float)):
        close = np.isclose(got, expected, rtol=2e-4, atol=2e-5, equal_nan=True)
        return [] if close else [f"{path}: {got}, recorded {expected}"]
    else:
        return [] if expected == got else [f"{path}: {str(got)[:300]}, recorded {expected}"]
    return [line for where, a, b in pairs for line in differences(a, b, where)]


@pytest.mark.parametrize("program", sorted(RECORDED))
def test_program(program):
    library = next(name for name in tables.LIBRARIES if program.startswith(name + "_"))
    package = tables.LIBRARIES[library]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    found = differences(RECORDED[program], results(library).get(program))
    if program in tables.NOT_YET:
        assert found, "it agrees now: its row in tables.py can go"
        pytest.xfail(tables.NOT_YET[program])
    assert not found, "\n".join(found[:10])
