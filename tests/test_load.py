"""tests/test_load.py - the package is whole in any folder, as after `pip install --target`."""

import pathlib
import shutil
import subprocess
import sys

import shardax
from shardax import _core

PACKAGE = pathlib.Path(shardax.__file__).parent


def test_a_copy_elsewhere_imports_and_computes(tmp_path):
    skip = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(PACKAGE, tmp_path / "shardax", ignore=skip)
    shutil.copy(_core.__file__, tmp_path / "shardax")
    code = "import shardax, shardax.numpy as jnp; print(shardax.__file__, int(jnp.arange(9).sum()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    file, total = done.stdout.split()
    assert pathlib.Path(file).parent == tmp_path / "shardax"
    assert total == "36"
