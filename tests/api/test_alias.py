"""tests/api/test_alias.py - `python -m shardax`: the imports from jax in programs of all years."""

import subprocess
import sys

import pytest

PROGRAM = """
from jax.config import config
config.update("jax_enable_x64", True)
config.enable_omnistaging()
config.parse_flags_with_absl()

import jax
import jax.config
import jax.tools.colab_tpu
from jax.core import valid_jaxtype
from jax.experimental import checkify
from jax.interpreters.pxla import ShardedDeviceArray
from jax.interpreters.xla import DeviceArray
from jax.lib import xla_bridge
from jax.typing import ArrayLike, DTypeLike

assert jax.config is config and jax.config.jax_enable_x64 and jax.config.x64_enabled
assert jax.numpy.ones(2).dtype == "float64"
config.FLAGS.jax_enable_x64 = False
assert jax.numpy.ones(2).dtype == "float32"

jax.tools.colab_tpu.setup_tpu()
assert xla_bridge.get_backend().platform == "cpu"
x = jax.pmap(lambda x: 2 * x)(jax.numpy.arange(8))
assert isinstance(x, ShardedDeviceArray) and isinstance(x, DeviceArray)
assert jax.numpy.ones(2).device() == jax.devices()[0]
assert isinstance(1.0, ArrayLike) and isinstance(x, ArrayLike) and not isinstance("a", ArrayLike)
assert valid_jaxtype(x) and valid_jaxtype(1.0) and not valid_jaxtype("a")
assert checkify.ErrorCategory == type[checkify.JaxException]
assert jax.__version_info__ >= (0, 10) and jax.__version__.startswith("0.10")
assert jax.__name__ == "shardax"
print("fine")
"""


def test_a_program_with_names_of_all_years(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "shardax", str(script)], capture_output=True, text=True
    )
    assert done.stdout == "fine\n", done.stderr


def test_names_of_earlier_years():
    import shardax as jax
    import shardax.numpy as jnp

    x = jnp.array([[3.0, 1], [2, 4]])
    assert jnp.round_ is jnp.round and jnp.row_stack is jnp.vstack
    assert jnp.product is jnp.prod and jnp.cumproduct is jnp.cumprod
    assert jnp.alltrue is jnp.all and jnp.sometrue is jnp.any and jnp.trapz is jnp.trapezoid
    assert jnp.msort(x).tolist() == [[2, 1], [3, 4]]
    assert jnp.in1d(x, jnp.array([1, 2])).tolist() == [False, True, True, False]
    assert (jnp.NINF, jnp.PZERO, str(jnp.NZERO)) == (-float("inf"), 0.0, "-0.0")
    assert isinstance(x, jnp.DeviceArray)
    key = jax.random.key(0)
    assert isinstance(key, jax.random.KeyArray)
    assert jax.random.shuffle(key, x).tolist() == (
        jax.random.permutation(key, x, independent=True).tolist()
    )
    assert jax.tree_util.tree_multimap is jax.tree_multimap is jax.tree_util.tree_map
    assert jax.lax.tie_in(1, 2) == 2 and jax.partial(max, 3)(5) == 5
    assert jax.nn.normalize is jax.nn.standardize
    with jax.transfer_guard_host_to_device("disallow"), jax.transfer_guard_device_to_host("log"):
        assert float((x + x).sum()) == 20


def test_the_version_is_that_of_this_package_elsewhere():
    import shardax

    assert shardax.__version__.count(".") == 2 and not hasattr(shardax, "__version_info__")


def test_modules_that_come_with_the_alias():
    code = (
        "import sys, shardax; shardax.install_as_jax()\n"
        "import jax\n"
        "print(sys.modules['jax.tree_util'] is jax.tree_util, 'jax.numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True True\n", done.stderr


def test_a_script_knows_its_whole_path(tmp_path):
    (tmp_path / "script.py").write_text("import sys; print(__file__, sys.argv[0])")
    done = subprocess.run(
        [sys.executable, "-m", "shardax", "script.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout == f"{tmp_path / 'script.py'} script.py\n", done.stderr


@pytest.mark.parametrize("processes", [(), ("--processes", "2")])
def test_a_script_that_does_not_exist(tmp_path, processes):
    command = [sys.executable, "-m", "shardax", *processes, "no.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    said = f"can't open file {str(tmp_path / 'no.py')!r}: [Errno 2] No such file or directory\n"
    assert (done.returncode, done.stderr) == (2, f"python -m shardax: {said}")


@pytest.mark.parametrize("processes", [(), ("--processes", "2")])
def test_a_module_that_does_not_exist(processes):
    command = [sys.executable, "-m", "shardax", *processes, "-m", "no_such_module"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = "python -m shardax: No module named no_such_module\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize("option", ["--proceses", "-m", "-x"])
def test_options_that_do_not_exist(option):
    command = [sys.executable, "-m", "shardax", option]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"python -m shardax: {option} is not an option.\nusage: python")
