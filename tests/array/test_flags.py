"""tests/array/test_flags.py - values of flags: each enumerated one refuses unknown values."""

import os
import subprocess
import sys

import pytest
import shardax as jax

# Values that flags take besides their defaults; all else is refused.
CHOICES = {
    "jax_cpu_collectives_implementation": "gloo",
    "jax_default_matmul_precision": "BF16_BF16_F32",
    "jax_default_prng_impl": "rbg",
    "jax_explicit_x64_dtypes": "allow",
    "jax_legacy_prng_key": "error",
    "jax_logging_level": "DEBUG",
    "jax_memory_fitting_level": "O1",
    "jax_numpy_dtype_promotion": "strict",
    "jax_numpy_rank_promotion": "raise",
    "jax_optimization_level": "O3",
    "jax_send_traceback_to_runtime": "full",
    "jax_traceback_filtering": "off",
    "jax_transfer_guard": "allow",
    "jax_transfer_guard_device_to_device": "log",
    "jax_transfer_guard_device_to_host": "allow",
    "jax_transfer_guard_host_to_device": "log_explicit",
    "jax_use_magma": "off",
}


@pytest.mark.parametrize(("flag", "choice"), CHOICES.items())
def test_flags_take_their_choices_only(flag, choice):
    before = jax.config.values[flag]
    try:
        jax.config.update(flag, choice)
        assert jax.config.values[flag] == choice
        for value in ("nope", 17, -1.5, ["allow"]):
            with pytest.raises(ValueError, match=flag):
                jax.config.update(flag, value)
        assert jax.config.values[flag] == choice
    finally:
        jax.config.update(flag, before)


def test_all_flags_refuse_what_is_of_another_kind():
    """A flag that is no switch takes a str, an int, a float or a device: never an arbitrary
    object."""
    accepting = []
    for flag, before in jax.config.values.items():
        if isinstance(before, bool) or flag.startswith("jax_cross_host"):
            continue
        try:
            jax.config.update(flag, object())
        except ValueError:
            continue
        except TypeError:
            continue
        accepting.append(flag)
        jax.config.update(flag, before)
    assert not accepting


def test_blocks_that_set_flags_refuse_the_same():
    for block in (jax.default_matmul_precision, jax.default_prng_impl, jax.default_device):
        with pytest.raises(ValueError, match="nope"), block("nope"):
            pass
    with jax.default_device(jax.devices()[1]), jax.default_device("cpu"):
        pass


def test_flags_of_the_environment_are_checked():
    env = os.environ | {"JAX_DEFAULT_MATMUL_PRECISION": "nope"}
    done = subprocess.run(
        [sys.executable, "-c", "import shardax"], env=env, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "new enum value for jax_default_matmul_precision" in done.stderr
    assert isinstance(jax.config.jax_persistent_cache_min_compile_time_secs, float)
