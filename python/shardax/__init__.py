"""shardax - JAX-style SPMD programs on many simulated devices of one machine's CPU.

>>> import shardax as jax
>>> jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(jax.numpy.arange(8))[0]
Array(28, dtype=int32)
"""

import functools

# Modules that few programs use lie in a folder of their own; their names are those of its inside.
__path__.append(__file__.replace("__init__.py", "_compat"))

# isort: off
from shardax._base.load import load_core

_core = load_core()
_core.check_settings()
# isort: on
from shardax import config, errors, tree, tree_util
from shardax._base.flags import (
    allow_f16_reductions,
    array_garbage_collection_guard,
    auto_pcast,
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
    make_user_context,
    no_execution,
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
from shardax._base.lazy_modules import at_first_use as _at_first_use
from shardax._base.threads import set_thread_count, thread_count, threads
from shardax._base.tracebacks import install as install_tracebacks
from shardax._base.version import __version__
from shardax._core import Array
from shardax._devices.device_put import (
    block_until_ready,
    copy_to_host_async,
    device_get,
    device_put,
    device_put_replicated,
    device_put_sharded,
)
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
from shardax._transform.derivatives import (
    grad,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from shardax._transform.jit import clear_caches, jit, typeof
from shardax._transform.pmap_vmap import pmap, soft_pmap, vmap
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

install_tracebacks()

partial = functools.partial  # programs of earlier years import it from here

# The modules that names live in which are not needed at once: imported when first used, so that
# `import shardax` stays quick.
_NAMES = {
    "_base.dtypes": "float0",
    "_devices.make_array": (
        "make_array_from_callback make_array_from_process_local_data "
        "make_array_from_single_device_arrays"
    ),
    "_debug.progress": "progress",
    "_devices.placement": "Shard",
    "_explain.accelerators": "Accelerators",
    "_explain.explanation": "explain",
    "_explain.profiles": "profile",
    "_transform.callbacks": "effects_barrier named_call named_scope pure_callback",
    "ad_checkpoint": "checkpoint checkpoint_policies remat",
    "_transform.forward_backward": "fwd_and_bwd",
    "_transform.jacobian": "hessian jacfwd jacobian jacrev",
    "_transform.tracing": "eval_shape make_jaxpr",
    "_transform.refs": "Ref empty_ref free_ref freeze new_ref",
    "_transform.shard_map": "shard_map smap",
    "lax._dynamic": "ds",
    "_transform.stages": "ShapeDtypeStruct ensure_compile_time_eval",
    "custom_derivatives": "closure_convert custom_gradient custom_jvp custom_vjp",
    "sharding": "NamedSharding P make_mesh reshard set_mesh",
}
_SUBMODULES = (
    "_src ad ad_checkpoint api_util common_utils core custom_batching custom_derivatives debug "
    "distributed dlpack dtypes example_libraries experimental export extend flatten_util image "
    "interpreters jax_utils lax lib memory monitoring nn numpy ops profiler random ref scipy "
    "sharding stages test_util tools typing version"
).split()
_, __getattr__, __dir__ = _at_first_use(__name__, _NAMES, _SUBMODULES)

if _core.setting("SHARDAX_PROGRESS") == "1":
    from shardax._debug.progress import begin as _begin_progress  # else at first use: quick import

    _begin_progress()


def install_as_jax():
    """Lets `import jax` mean shardax from now on, submodules included: for notebooks and conftest
    files.

    In the first cell of a notebook:

      import shardax
      shardax.install_as_jax()
      import jax.numpy as jnp

    Raises:
      RuntimeError: the real jax is imported already.
    """
    from shardax._alias import install  # at first use: quick import

    install()
