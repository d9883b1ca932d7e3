# shardax/_base/info.py - the text of `python -m shardax --info`, for reports of errors.
import importlib.metadata
import os
import platform
import sys

import shardax._core as _core
from shardax._base.version import __version__

# Environment variables that are read, and the effect of each; JAX_<FLAG> sets the flag jax_<flag>.
VARIABLES = {
    "SHARDAX_NUM_DEVICES": "number of simulated devices at the start",
    "SHARDAX_NUM_THREADS": "number of threads that compute, from 1 on",
    "SHARDAX_CODEGEN": "machine code of loops: 0 (none), avx2, stream (past caches), neon (listed)",
    "SHARDAX_PROGRESS": "1: long compilations and loops are shown, as by shardax.progress()",
    "SHARDAX_DUMP": "prints what the compiler does: passes, plan, time or asm",
    "SHARDAX_VERIFY": "1: the program is verified after each pass",
    "SHARDAX_PERF_MAP": "1: `perf` names loops by their ops",
    "SHARDAX_NODE_WINDOW": "0: processes of one machine exchange messages, and share no memory",
    "JAX_NUM_CPU_DEVICES": "number of simulated devices, as in JAX",
    "XLA_FLAGS": "the number in --xla_force_host_platform_device_count=N; other flags are ignored",
}
LIBRARIES = ("numpy", "ml_dtypes", "scipy-openblas32", "tbb")


def _version_of(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed by pip"


def _processor():
    """The processor's name where Linux gives one, else its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe():
    """The text: versions, the processor, threads, machine code, settings of the environment.

    >>> "threads:" in describe()
    True
    """
    target = _core.target_info()
    given = {
        name: value
        for name, value in sorted(os.environ.items())
        if name in VARIABLES or name.startswith(("SHARDAX_", "JAX_"))
    }
    lines = {
        "shardax": __version__,
        "Python": f"{platform.python_version()} ({sys.executable})",
        **{name: _version_of(name) for name in LIBRARIES},
        "system": platform.platform(),
        "processor": f"{_processor()} ({target['architecture']})",
        "cores": f"{_core.usable_cores()} of {os.cpu_count()} may be used",
        "threads": _core.thread_count(),
        "devices": _core.config_read("jax_num_cpu_devices"),
        "compiler": target["compiler"],
        "kernels": target["kernels"],
        "matrix products": target["products"],
        "machine code of loops": target["loops"],
    }
    text = [f"{name + ':':<23}{value}" for name, value in lines.items()]
    text.append("environment:")
    text += [f"  {name}={value}" for name, value in given.items()] or ["  nothing is set"]
    text.append("variables that are read (and JAX_<FLAG> for the flag jax_<flag>):")
    text += [f"  {name:<21}{what}" for name, what in VARIABLES.items()]
    return "\n".join(text)
