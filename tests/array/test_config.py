"""tests/array/test_config.py - flags, environment variables, devices and scalar types."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


@pytest.fixture
def device_count():
    before = shardax.device_count()
    yield
    shardax.config.update("jax_num_cpu_devices", before)


def test_devices(device_count):
    shardax.config.update("jax_num_cpu_devices", 3)
    assert repr(shardax.devices()) == "[CpuDevice(id=0), CpuDevice(id=1), CpuDevice(id=2)]"
    assert str(shardax.devices()[1]) == "cpu:1"
    d = shardax.local_devices()[2]
    assert {"id", "platform"} <= set(dir(type(d)))  # mocks with its spec may set these
    assert (d.id, d.platform, d.device_kind, d.process_index, d.local_hardware_id) == (
        2,
        "cpu",
        "cpu",
        0,
        2,
    )
    assert d is shardax.devices("cpu")[2]
    shardax.config.update("jax_cpu_device_count", 5)  # the older name; at any time
    assert shardax.device_count() == shardax.local_device_count() == 5
    assert (shardax.process_index(), shardax.process_count(), shardax.default_backend()) == (
        0,
        1,
        "cpu",
    )
    with pytest.raises(RuntimeError, match="Unknown backend: 'gpu' requested"):
        shardax.devices("gpu")
    with pytest.raises(ValueError, match="a number from 1"):
        shardax.config.update("jax_num_cpu_devices", 0)


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({}, 8),
        ({"JAX_NUM_CPU_DEVICES": "3"}, 3),
        ({"SHARDAX_NUM_DEVICES": "5", "JAX_NUM_CPU_DEVICES": "3"}, 5),
        ({"XLA_FLAGS": "--other --xla_force_host_platform_device_count=6"}, 6),
        ({"XLA_FLAGS": "--xla_force_host_platform_device_count=6", "JAX_NUM_CPU_DEVICES": "2"}, 2),
    ],
)
def test_device_count_of_the_environment(environment, count):
    names = ("SHARDAX_NUM_DEVICES", "JAX_NUM_CPU_DEVICES", "XLA_FLAGS", "JAX_ENABLE_X64")
    env = {k: v for k, v in os.environ.items() if k not in names} | environment
    code = "import shardax; print(shardax.device_count())"
    run = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [str(count)]


def test_x64_of_the_environment():
    code = "import shardax.numpy as jnp; print(jnp.asarray(1.).dtype)"
    env = os.environ | {"JAX_ENABLE_X64": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["float64"]


def test_flags():
    assert shardax.config.jax_enable_x64 is False
    assert shardax.config.read("jax_default_prng_impl") == "threefry2x32"
    with pytest.raises(AttributeError, match="Unrecognized config option: nope"):
        shardax.config.update("nope", 1)
    with pytest.raises(AttributeError, match="Unrecognized config option: nope"):
        shardax.config.nope  # noqa: B018
    with shardax.debug_nans(True):
        assert shardax.config.jax_debug_nans
    assert not shardax.config.jax_debug_nans
    with shardax.enable_x64(), shardax.enable_x64(False):
        assert jnp.asarray(1.0).dtype == np.float32


def test_debug_nans():
    with shardax.debug_nans(True):
        with pytest.raises(FloatingPointError, match=r"invalid value \(nan\) encountered in log"):
            jnp.log(-1.0)
        with pytest.raises(FloatingPointError, match=r"invalid value \(nan\) encountered in div"):
            jnp.zeros(2) / 0
        assert jnp.log(1.0) == 0
    with shardax.debug_infs(True):
        with pytest.raises(FloatingPointError, match=r"invalid value \(inf\) encountered in div"):
            jnp.ones(2) / 0
    assert np.isnan(jnp.log(-1.0))


def test_scalar_types():
    assert repr(jnp.float32(2)) == "Array(2., dtype=float32)"
    assert jnp.float32 == np.float32 and np.dtype("float32") == jnp.float32
    assert jnp.float32 == jnp.dtype("float32") and jnp.float32 != jnp.int32
    assert np.zeros(2, jnp.float32).dtype == np.float32
    assert isinstance(np.float32(1), jnp.float32)
    assert {jnp.int8: 1}[jnp.int8] == 1
    assert jnp.zeros(2, jnp.bfloat16).dtype == jnp.bfloat16


def test_error_classes():
    e = shardax.errors
    assert issubclass(e.TracerBoolConversionError, e.ConcretizationTypeError)
    assert issubclass(e.ConcretizationTypeError, TypeError)
    assert issubclass(e.NonConcreteBooleanIndexError, IndexError)
    assert issubclass(e.JaxRuntimeError, RuntimeError)
    with pytest.raises(TypeError):
        raise e.TracerIntegerConversionError("text")


def test_names_of_narrow_dtypes():
    for name, kind in [
        ("int4", jnp.signedinteger),
        ("uint2", jnp.unsignedinteger),
        ("float8_e5m2", jnp.floating),
        ("float8_e4m3fn", jnp.inexact),
    ]:
        dtype = getattr(jnp, name)
        assert dtype.dtype.name == name
        assert dtype == dtype.dtype
        assert jnp.issubdtype(dtype, kind) and not jnp.issubdtype(jnp.float32, dtype)
        assert jnp.isdtype(dtype, ("integral", "real floating"))
        assert jnp.ones(3, dtype).dtype == dtype
    assert jnp.iinfo(jnp.int4).max == 7
    assert jnp.finfo(jnp.float8_e5m2).bits == 8


class TestPromotionRules:
    a, b = jnp.ones(3), jnp.ones((2, 3))

    def test_ranks(self):
        with shardax.numpy_rank_promotion("raise"):
            with pytest.raises(ValueError, match=r"for add on shapes \(3,\) \(2, 3\).*'raise'"):
                self.a + self.b
            with pytest.raises(ValueError, match="for mul on shapes"):
                jnp.multiply(self.b, self.a)
            assert (self.a + 1 + jnp.float32(2)).shape == (3,)  # scalars have no rank to promote
            assert (self.b + jnp.ones((1, 3))).shape == (2, 3)
        with shardax.numpy_rank_promotion("warn"):
            with pytest.warns(
                UserWarning, match=r"rank promotion for add on shapes \(3,\) \(2, 3\)"
            ):
                self.a + self.b
        assert (self.a + self.b).shape == (2, 3)

    def test_dtypes(self):
        n = jnp.arange(3)
        with shardax.numpy_dtype_promotion("strict"):
            with pytest.raises(ValueError, match=r"'float32', 'int32'.* no available implicit"):
                self.a + n
            with pytest.raises(ValueError, match="jax_numpy_dtype_promotion=strict"):
                n + 1.5
            for number, kind in ((1.5, "float"), (1j, "complex")):
                with pytest.raises(ValueError, match=f"\"<class '{kind}'>\""):
                    n + number
            assert (self.a + 1).dtype == (self.a * 2.5).dtype == jnp.float32
            assert (n + 1).dtype == jnp.int32
        assert (self.a + n).dtype == jnp.float32

    def test_choices(self):
        with pytest.raises(ValueError, match="one of 'allow', 'warn', 'raise', got 'maybe'"):
            shardax.config.update("jax_numpy_rank_promotion", "maybe")


def test_flags_that_steer_jax_itself_are_kept():
    assert shardax.config.jax_remat3 is False and shardax.config.jax_dump_ir_modes == "stablehlo"
    with shardax.transfer_guard_host_to_device("disallow"):
        assert shardax.config.jax_transfer_guard_host_to_device == "disallow"
    assert shardax.config.jax_transfer_guard_host_to_device is None


def test_devices_are_counted_when_they_are_asked_for():
    program = (
        "import os, shardax, shardax.numpy as jnp\n"
        "os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=5'\n"
        "print(shardax.device_count())\n"
        "os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=6'\n"
        "print(shardax.device_count(), shardax.config.jax_num_cpu_devices)\n"
    )
    names = ("SHARDAX_NUM_DEVICES", "JAX_NUM_CPU_DEVICES", "XLA_FLAGS")
    environment = {k: v for k, v in os.environ.items() if k not in names}
    command = [sys.executable, "-c", program]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["5", "5", "5"]


def test_flags_of_the_command_line(monkeypatch):
    flags = pytest.importorskip("absl.flags")
    monkeypatch.setattr(flags, "FLAGS", flags.FlagValues())
    flags.DEFINE_integer("size_of_a_test", 3, "A flag of a program.", flag_values=flags.FLAGS)
    arguments = ["program", "--jax_enable_x64=true", "--other=1", "--", "--jax_enable_x64=false"]
    monkeypatch.setattr("sys.argv", arguments)
    before = shardax.config.jax_enable_x64
    try:
        shardax.config.parse_flags_with_absl()
        assert shardax.config.jax_enable_x64 and flags.FLAGS.size_of_a_test == 3
    finally:
        shardax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SHARDAX_NUM_DEVICES", "abc"),
        ("SHARDAX_NUM_DEVICES", "4x"),
        ("SHARDAX_NUM_DEVICES", "-1"),
        ("SHARDAX_NUM_DEVICES", "0"),
        ("SHARDAX_NUM_DEVICES", "1048577"),
        ("JAX_NUM_CPU_DEVICES", "two"),
        ("XLA_FLAGS", "--xla_force_host_platform_device_count=4x --other"),
    ],
)
def test_device_counts_of_the_environment_are_numbers(variable, value):
    code = "import shardax; print(shardax.device_count())"
    names = ("SHARDAX_NUM_DEVICES", "JAX_NUM_CPU_DEVICES", "XLA_FLAGS")
    clean = {k: v for k, v in os.environ.items() if k not in names}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env={**clean, variable: value}, capture_output=True, text=True)
    assert done.returncode == 1 and "from 1 to 1048576" in done.stderr
    assert (
        "SHARDAX_NUM_DEVICES (or JAX_NUM_CPU_DEVICES, or the count in XLA_FLAGS) is" in done.stderr
    )
    right = re.sub("abc|4x|-1|0|1048577|two", "4", value)
    done = subprocess.run(run, env={**clean, variable: right}, capture_output=True, text=True)
    assert done.stdout == "4\n"


def import_with(variable, value, code="import shardax"):
    """The end of a process whose environment sets the variable."""
    environment = {**os.environ, variable: value}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


WORDS = {
    "SHARDAX_CODEGEN": (["0", "1", "avx2", "stream", "neon"], "avx512", "one of"),
    "SHARDAX_DUMP": (["plan", "passes|time", "asm,plan"], "plan,nope", "words among 'passes'"),
    "SHARDAX_NODE_WINDOW": (["0", "1"], "no", "one of '0', '1' was expected"),
    "SHARDAX_PERF_MAP": (["0", "1"], "true", "one of '0', '1' was expected"),
    "SHARDAX_PROGRESS": (["0", "1"], "yes", "one of '0', '1' was expected"),
    "SHARDAX_VERIFY": (["0", "1"], "2", "one of '0', '1' was expected"),
}


@pytest.mark.parametrize("variable", WORDS)
def test_words_that_a_setting_has_not_are_refused(variable):
    right, wrong, expected = WORDS[variable]
    done = import_with(variable, wrong)
    assert done.returncode == 1
    text = f"ValueError: shardax: the environment's {variable} is '{wrong}'; {expected}"
    assert text in done.stderr and "unset it." in done.stderr
    for word in ["", *right]:
        assert import_with(variable, word).returncode == 0


def test_every_setting_that_has_words_is_checked():
    from shardax._base.info import VARIABLES

    numbers = {"SHARDAX_NUM_DEVICES", "SHARDAX_NUM_THREADS"}
    assert {name for name in VARIABLES if name.startswith("SHARDAX_")} - numbers == set(WORDS)


def test_words_that_are_set_after_the_import_are_checked_when_they_are_read():
    code = (
        "import os, shardax\n"
        "os.environ['SHARDAX_DUMP'] = 'pla'\n"
        "print(shardax.jit(lambda x: x + 1)(1))\n"
    )
    done = import_with("SHARDAX_DUMP", "", code)
    assert done.returncode == 1 and "SHARDAX_DUMP is 'pla'" in done.stderr
