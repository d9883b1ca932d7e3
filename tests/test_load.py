"""tests/test_load.py - the package imports where oneTBB is not where pip puts it."""

import pathlib
import shutil
import subprocess
import sys

import pytest
import shardax
from shardax import _core
from shardax._base import load as _load

PACKAGE = pathlib.Path(shardax.__file__).parent


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder like one of `pip install --target`: the package, no libraries, no way to them."""
    folder = tmp_path_factory.mktemp("target")
    skip = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(PACKAGE, folder / "shardax", ignore=skip)
    module = folder / "shardax" / pathlib.Path(_core.__file__).name
    shutil.copy(_core.__file__, module)
    forget_search_path(module)
    return folder


def forget_search_path(module):
    """Blanks the RUNPATH of a shared library: the string that DT_RUNPATH points at."""
    data = bytearray(module.read_bytes())
    shown = subprocess.run(["readelf", "-d", str(module)], capture_output=True, text=True)
    if shown.returncode or "path: [" not in shown.stdout:
        pytest.skip("the library of threads is not found by a search path here")
    path = shown.stdout.split("path: [", 1)[1].split("]", 1)[0].encode()
    at = data.index(path + b"\0")
    data[at : at + len(path)] = b"/nowhere"[: len(path)].ljust(len(path), b"\0")
    module.write_bytes(data)


def run(folder, code, *options):
    command = [sys.executable, *options, "-c", code]
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


def test_a_copy_elsewhere_imports_and_computes(elsewhere):
    done = run(
        elsewhere,
        "import shardax, shardax.numpy as jnp; print(shardax.__file__, int(jnp.arange(9).sum()))",
    )
    assert done.returncode == 0, done.stderr
    file, total = done.stdout.split()
    assert pathlib.Path(file).parent == elsewhere / "shardax"
    assert total == "36"


def test_without_the_library_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError("libtbb.so.12: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(_load.importlib, "import_module", missing)
    monkeypatch.setattr(_load, "_candidates", lambda: iter(["/nowhere/libtbb.so.12"]))
    with pytest.raises(ImportError, match="was not found. Install it with `pip install tbb`"):
        _load.load_core()


def test_other_import_errors_pass(monkeypatch):
    def broken(name):
        raise ImportError("undefined symbol")

    monkeypatch.setattr(_load.importlib, "import_module", broken)
    with pytest.raises(ImportError, match="^undefined symbol$"):
        _load.load_core()
