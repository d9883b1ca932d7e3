"""tests/test_load.py - the package imports from any folder, as after `pip install --target`."""

import pathlib
import shutil
import subprocess
import sys

import pytest
import shardax
from shardax import _core
from shardax._base import load

PACKAGE = pathlib.Path(shardax.__file__).parent


def forget_search_path(module):
    """Blanks the RUNPATH of a shared library, so that it finds oneTBB in no environment."""
    data = bytearray(module.read_bytes())
    shown = subprocess.run(["readelf", "-d", str(module)], capture_output=True, text=True)
    if shown.returncode or "path: [" not in shown.stdout:
        pytest.skip("libraries are not found by a search path here")
    path = shown.stdout.split("path: [", 1)[1].split("]", 1)[0].encode()
    at = data.index(path + b"\0")
    data[at : at + len(path)] = b"/nowhere"[: len(path)].ljust(len(path), b"\0")
    module.write_bytes(data)


def test_a_copy_elsewhere_imports_and_computes(tmp_path):
    skip = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(PACKAGE, tmp_path / "shardax", ignore=skip)
    shutil.copy(_core.__file__, tmp_path / "shardax")
    forget_search_path(tmp_path / "shardax" / pathlib.Path(_core.__file__).name)
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


def test_without_onetbb_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError("libtbb.so.12: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(load.importlib, "import_module", missing)
    monkeypatch.setattr(load, "_candidates", lambda: iter(["/nowhere/libtbb.so.12"]))
    with pytest.raises(ImportError, match="was not found. Install it with `pip install tbb`"):
        load.load_core()


def test_other_import_errors_pass(monkeypatch):
    def broken(name):
        raise ImportError("undefined symbol")

    monkeypatch.setattr(load.importlib, "import_module", broken)
    with pytest.raises(ImportError, match="^undefined symbol$"):
        load.load_core()


TRAINING = """
import sys
import shardax as jax
import shardax.numpy as jnp

def loss(w, x, y):
    logp = jax.nn.log_softmax(jax.nn.relu(x @ w))
    return -jnp.take_along_axis(logp, y[:, None], 1).mean()

w, x, y = jnp.ones((3, 5)), jnp.ones((4, 3)), jnp.zeros(4, "int32")
jax.jit(lambda w: w - 0.1 * jax.grad(loss)(w, x, y))(w)
print(*(m for m in sys.modules if m.startswith("shardax.")))
"""


def test_a_step_of_training_imports_little():
    """Modules take most of the time of a first call: those of meshes, loops and mutable references
    wait for their first use."""
    done = subprocess.run(
        [sys.executable, "-c", TRAINING], capture_output=True, text=True, timeout=60, check=True
    )
    modules = done.stdout.split()
    assert "shardax.lax._indexing" in modules
    for waiting in ("_devices.shardings", "_devices.mesh", "lax._loops", "_transform.refs.binding"):
        assert f"shardax.{waiting}" not in modules
