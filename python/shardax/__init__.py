"""shardax - JAX-style SPMD programs on many simulated devices of one machine's CPU.

>>> import shardax as jax
>>> jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(jax.numpy.arange(8))[0]
Array(28, dtype=int32)
"""

import functools

# isort: off
from shardax._base.load import load_core

_core = load_core()
# isort: on
from shardax import config, errors, tree, tree_util
from shardax._base.flags import (
    check_tracer_leaks,
    checking_leaks,
    debug_infs,
    debug_key_reuse,
    debug_nans,
    default_device,
    default_matmul_precision,
    default_prng_impl,
    disable_jit,
    enable_checks,
    enable_custom_prng,
    enable_x64,
    explain_cache_misses,
    legacy_prng_key,
    log_compiles,
    no_tracing,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    softmax_custom_jvp,
    threefry_partitionable,
    transfer_guard,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
    transfer_guard_host_to_device,
)
from shardax._base.threads import set_thread_count, thread_count, threads
from shardax._base.tracebacks import install as install_tracebacks
from shardax._core import Array
from shardax._devices.devices import (
    Device,
    default_backend,
    device_count,
    devices,
    host_count,
    host_id,
    host_ids,
    live_arrays,
    local_device_count,
    local_devices,
    print_environment_info,
    process_count,
    process_index,
    process_indices,
)
from shardax._devices.replicas import (
    block_until_ready,
    copy_to_host_async,
    device_get,
    device_put,
    device_put_replicated,
    device_put_sharded,
)
from shardax._transform.api import (
    clear_caches,
    eval_shape,
    grad,
    jit,
    jvp,
    linear_transpose,
    linearize,
    make_jaxpr,
    pmap,
    soft_pmap,
    typeof,
    value_and_grad,
    vjp,
    vmap,
)
from shardax.tree_util import (
    tree_all,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_multimap,
    tree_reduce,
    tree_structure,
    tree_transpose,
    tree_unflatten,
)

__version__ = "0.1.0"

install_tracebacks()

partial = functools.partial  # where programs of earlier years import it from

# Submodules that are imported when first used, so that `import shardax` stays quick.
_LAZY = {
    "ad_checkpoint",
    "common_utils",
    "core",
    "custom_batching",
    "custom_derivatives",
    "debug",
    "distributed",
    "dlpack",
    "dtypes",
    "example_libraries",
    "experimental",
    "extend",
    "flatten_util",
    "image",
    "interpreters",
    "jax_utils",
    "lax",
    "lib",
    "nn",
    "numpy",
    "ops",
    "profiler",
    "random",
    "scipy",
    "sharding",
    "stages",
    "test_util",
    "tools",
    "typing",
}
# Likewise for names: the module of each.
_LAZY_NAMES = {
    "NamedSharding": "sharding",
    "P": "sharding",
    "ShapeDtypeStruct": "_transform.stages",
    "Shard": "_devices.placement",
    "checkpoint": "ad_checkpoint",
    "checkpoint_policies": "ad_checkpoint",
    "closure_convert": "custom_derivatives",
    "custom_gradient": "custom_derivatives",
    "custom_jvp": "custom_derivatives",
    "custom_vjp": "custom_derivatives",
    "effects_barrier": "_transform.callbacks",
    "float0": "_base.dtypes",
    "make_array_from_callback": "_devices.assembly",
    "make_array_from_process_local_data": "_devices.assembly",
    "make_array_from_single_device_arrays": "_devices.assembly",
    "ensure_compile_time_eval": "_transform.stages",
    "fwd_and_bwd": "_transform.forward_backward",
    "hessian": "_transform.jacobian",
    "jacfwd": "_transform.jacobian",
    "jacobian": "_transform.jacobian",
    "jacrev": "_transform.jacobian",
    "make_mesh": "sharding",
    "named_call": "_transform.callbacks",
    "named_scope": "_transform.callbacks",
    "pure_callback": "_transform.callbacks",
    "remat": "ad_checkpoint",
    "reshard": "sharding",
    "set_mesh": "sharding",
}


def __getattr__(name):
    import importlib

    if name in _LAZY:
        return importlib.import_module(f"shardax.{name}")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(f"shardax.{_LAZY_NAMES[name]}"), name)
    raise AttributeError(f"module 'shardax' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_LAZY, *_LAZY_NAMES})


def install_as_jax():
    """Lets `import jax` mean shardax from now on, submodules included: for notebooks and conftest
    files.

    Raises:
      RuntimeError: where the real jax is imported already.
    """
    from shardax._alias import install

    install()
