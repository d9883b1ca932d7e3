# shardax/__init__.py - the public names of shardax.
"""JAX-style SPMD programs on many simulated devices of one machine's CPU."""

from shardax import _core, errors
from shardax._config import (
    check_tracer_leaks,
    checking_leaks,
    config,
    debug_infs,
    debug_nans,
    default_device,
    default_matmul_precision,
    default_prng_impl,
    disable_jit,
    enable_x64,
    explain_cache_misses,
    log_compiles,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    threefry_partitionable,
    transfer_guard,
)
from shardax._core import Array, ArrayImpl
from shardax._devices import (
    Device,
    default_backend,
    device_count,
    devices,
    host_count,
    host_id,
    host_ids,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)

__version__ = "0.1.0"

__all__ = [
    "Array",
    "ArrayImpl",
    "Device",
    "check_tracer_leaks",
    "checking_leaks",
    "config",
    "debug_infs",
    "debug_nans",
    "default_backend",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "device_count",
    "devices",
    "disable_jit",
    "enable_x64",
    "errors",
    "explain_cache_misses",
    "host_count",
    "host_id",
    "host_ids",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "process_count",
    "process_index",
    "process_indices",
    "threefry_partitionable",
    "transfer_guard",
]
