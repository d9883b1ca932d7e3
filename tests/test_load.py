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
    for waiting in ("_devices.shardings", "_devices.mesh", "lax._loops", "_transform.ref_binding"):
        assert f"shardax.{waiting}" not in modules
