# docs/settings_tables.py - writes the tables of docs/settings.md: python docs/settings_tables.py.
"""Flags and their values come from the package, environment variables from `--info`. The flags that
have an effect are described here; tests/test_settings_page.py holds them against the sources."""

import os
import pathlib
import subprocess
import sys

import shardax._core as _core
from shardax._base.info import VARIABLES

PAGE = pathlib.Path(__file__).with_name("settings.md")

# Flags that change what the package does. All others are accepted and kept, without effect.
EFFECTS = {
    "Devices": {
        "jax_num_cpu_devices": "how many simulated devices there are; may change at any time",
        "jax_default_device": "the device of new arrays",
        "jax_message_timeout": "seconds after which a message between processes fails; 0: never",
        "jax_sum_groups": "sums over devices in so many groups: the same bits for any number of "
        "processes that divides it; 0: in any order",
        "jax_remove_size_one_mesh_axis_from_type": "mesh axes of size 1 leave no trace in types",
    },
    "Numbers": {
        "jax_enable_x64": "64-bit dtypes, which are else narrowed to 32 bits",
        "jax_explicit_x64_dtypes": "asking for a 64-bit dtype without x64: narrows, or an error",
        "jax_numpy_dtype_promotion": "strict: dtypes are not promoted to each other implicitly",
        "jax_numpy_rank_promotion": "operands of other rank: broadcast, a warning, an error",
        "jax_allow_f16_reductions": "False: sums of 16-bit floats are refused",
        "jax_cpu_flush_denormals": "arithmetic takes denormal numbers for 0, as JAX's",
        "jax_default_matmul_precision": "shown in programs; sums are always in full precision",
    },
    "Random numbers": {
        "jax_default_prng_impl": "the generator of new keys",
        "jax_threefry_partitionable": "which bits threefry gives; False: those of older years",
        "jax_enable_custom_prng": "PRNGKey gives typed keys, as key does",
        "jax_legacy_prng_key": "keys that are arrays of uint32: allowed, with a warning, an error",
        "jax_random_seed_offset": "is added to every seed",
        "jax_debug_key_reuse": "an error where a key is used twice",
    },
    "Debugging": {
        "jax_debug_nans": "FloatingPointError where an op gives NaN, with the line",
        "jax_debug_infs": "FloatingPointError where an op gives an infinity",
        "jax_disable_jit": "functions run op by op, so that print and breakpoints see numbers",
        "jax_check_tracer_leaks": "an error where a tracer outlives its function",
        "jax_no_tracing": "an error where a function would be traced again",
        "jax_no_execution": "an error where an op would run",
        "jax_log_compiles": "logs each function that is traced and compiled",
        "jax_explain_cache_misses": "logs why a function is traced again",
        "jax_traceback_filtering": "off: tracebacks keep the package's own frames",
        "jax_check_static_indices": "an error where a constant index is out of bounds",
        "jax_transfer_guard": "moves between host and devices: allowed, logged, refused",
        "jax_transfer_guard_host_to_device": "the same, from the host to devices",
        "jax_transfer_guard_device_to_device": "the same, between devices",
        "jax_transfer_guard_device_to_host": "the same, from devices to the host",
    },
    "Programs": {
        "jax_auto_pcast": "False: operands of an op vary over the same axes, or it is an error",
        "jax_disable_bwd_checks": "cotangents of custom_vjp rules are not checked",
        "jax_export_calling_convention_version": "the version that exported programs have",
        "jax_compilation_cache_dir": "what compilation_cache's functions tell; nothing is written",
    },
}


def initial_values():
    """The flags of a process whose environment sets none, with the package of this one."""
    path = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    code = "import shardax; print(repr(shardax.config.values))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=path, capture_output=True, text=True, check=True
    )
    return eval(done.stdout)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def variables():
    return table(["variable", "effect"], [[f"`{name}`", said] for name, said in VARIABLES.items()])


def flags():
    values = initial_values()
    parts = []
    for subject, told in EFFECTS.items():
        rows = [[f"`{name}`", f"`{values[name]!r}`", said] for name, said in told.items()]
        parts.append(f"### {subject}\n\n" + table(["flag", "at the start", "effect"], rows))
    return "\n".join(parts)


def without_effect():
    told = {name for group in EFFECTS.values() for name in group}
    rest = [f"`{name}`" for name in sorted(_core.config_names()) if name not in told]
    return ",\n".join(rest) + ".\n"


def page(text):
    """The page with its tables made anew: each stands between two comments."""
    for name, made in (
        ("variables", variables()),
        ("flags", flags()),
        ("without effect", without_effect()),
    ):
        begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
        before, _, rest = text.partition(begin)
        text = before + begin + "\n" + made + "\n" + end + rest.partition(end)[2]
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
