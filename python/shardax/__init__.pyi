"""Written by python/stubs.py."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from functools import partial as partial
from shardax import ad as ad
from shardax import ad_checkpoint as ad_checkpoint
from shardax import api_util as api_util
from shardax import common_utils as common_utils
from shardax import config as config
from shardax import core as core
from shardax import custom_batching as custom_batching
from shardax import custom_derivatives as custom_derivatives
from shardax import debug as debug
from shardax import distributed as distributed
from shardax import dlpack as dlpack
from shardax import dtypes as dtypes
from shardax import errors as errors
from shardax import example_libraries as example_libraries
from shardax import experimental as experimental
from shardax import export as export
from shardax import extend as extend
from shardax import flatten_util as flatten_util
from shardax import image as image
from shardax import interpreters as interpreters
from shardax import jax_utils as jax_utils
from shardax import lax as lax
from shardax import lib as lib
from shardax import memory as memory
from shardax import monitoring as monitoring
from shardax import nn as nn
from shardax import numpy as numpy
from shardax import ops as ops
from shardax import profiler as profiler
from shardax import random as random
from shardax import ref as ref
from shardax import scipy as scipy
from shardax import sharding as sharding
from shardax import stages as stages
from shardax import test_util as test_util
from shardax import tools as tools
from shardax import tree as tree
from shardax import tree_util as tree_util
from shardax import typing as typing
from shardax import version as version
from shardax._base.dtypes import float0 as float0
from shardax._base.flags import allow_f16_reductions as allow_f16_reductions
from shardax._base.flags import array_garbage_collection_guard as array_garbage_collection_guard
from shardax._base.flags import auto_pcast as auto_pcast
from shardax._base.flags import check_tracer_leaks as check_tracer_leaks
from shardax._base.flags import checking_leaks as checking_leaks
from shardax._base.flags import debug_infs as debug_infs
from shardax._base.flags import debug_key_reuse as debug_key_reuse
from shardax._base.flags import debug_nans as debug_nans
from shardax._base.flags import default_device as default_device
from shardax._base.flags import default_matmul_precision as default_matmul_precision
from shardax._base.flags import default_prng_impl as default_prng_impl
from shardax._base.flags import disable_jit as disable_jit
from shardax._base.flags import enable_checks as enable_checks
from shardax._base.flags import enable_custom_prng as enable_custom_prng
from shardax._base.flags import enable_x64 as enable_x64
from shardax._base.flags import explain_cache_misses as explain_cache_misses
from shardax._base.flags import legacy_prng_key as legacy_prng_key
from shardax._base.flags import log_compiles as log_compiles
from shardax._base.flags import make_user_context as make_user_context
from shardax._base.flags import no_execution as no_execution
from shardax._base.flags import no_tracing as no_tracing
from shardax._base.flags import numpy_dtype_promotion as numpy_dtype_promotion
from shardax._base.flags import numpy_rank_promotion as numpy_rank_promotion
from shardax._base.flags import softmax_custom_jvp as softmax_custom_jvp
from shardax._base.flags import threefry_partitionable as threefry_partitionable
from shardax._base.flags import transfer_guard as transfer_guard
from shardax._base.flags import transfer_guard_device_to_device as transfer_guard_device_to_device
from shardax._base.flags import transfer_guard_device_to_host as transfer_guard_device_to_host
from shardax._base.flags import transfer_guard_host_to_device as transfer_guard_host_to_device
from shardax._base.threads import set_thread_count as set_thread_count
from shardax._base.threads import thread_count as thread_count
from shardax._base.threads import threads as threads
from shardax._base.version import __version__ as __version__
from shardax._core import Array as Array
from shardax._devices.device_put import block_until_ready as block_until_ready
from shardax._devices.device_put import copy_to_host_async as copy_to_host_async
from shardax._devices.device_put import device_get as device_get
from shardax._devices.device_put import device_put as device_put
from shardax._devices.device_put import device_put_replicated as device_put_replicated
from shardax._devices.device_put import device_put_sharded as device_put_sharded
from shardax._devices.devices import Device as Device
from shardax._devices.devices import default_backend as default_backend
from shardax._devices.devices import device_count as device_count
from shardax._devices.devices import devices as devices
from shardax._devices.devices import host_count as host_count
from shardax._devices.devices import host_id as host_id
from shardax._devices.devices import host_ids as host_ids
from shardax._devices.devices import live_arrays as live_arrays
from shardax._devices.devices import local_device_count as local_device_count
from shardax._devices.devices import local_devices as local_devices
from shardax._devices.devices import print_environment_info as print_environment_info
from shardax._devices.devices import process_count as process_count
from shardax._devices.devices import process_index as process_index
from shardax._devices.devices import process_indices as process_indices
from shardax._devices.make_array import make_array_from_callback as make_array_from_callback
from shardax._devices.make_array import make_array_from_process_local_data as make_array_from_process_local_data
from shardax._devices.make_array import make_array_from_single_device_arrays as make_array_from_single_device_arrays
from shardax._devices.placement import Shard as Shard
from shardax._explain.accelerators import Accelerators as Accelerators
from shardax._explain.explanation import explain as explain
from shardax._transform.callbacks import effects_barrier as effects_barrier
from shardax._transform.callbacks import named_call as named_call
from shardax._transform.callbacks import named_scope as named_scope
from shardax._transform.callbacks import pure_callback as pure_callback
from shardax._transform.derivatives import grad as grad
from shardax._transform.derivatives import jvp as jvp
from shardax._transform.derivatives import linear_transpose as linear_transpose
from shardax._transform.derivatives import linearize as linearize
from shardax._transform.derivatives import value_and_grad as value_and_grad
from shardax._transform.derivatives import vjp as vjp
from shardax._transform.forward_backward import fwd_and_bwd as fwd_and_bwd
from shardax._transform.jacobian import hessian as hessian
from shardax._transform.jacobian import jacfwd as jacfwd
from shardax._transform.jacobian import jacobian as jacobian
from shardax._transform.jacobian import jacrev as jacrev
from shardax._transform.jit import clear_caches as clear_caches
from shardax._transform.jit import typeof as typeof
from shardax._transform.pmap_vmap import soft_pmap as soft_pmap
from shardax._transform.pmap_vmap import vmap as vmap
from shardax._transform.refs import Ref as Ref
from shardax._transform.refs import empty_ref as empty_ref
from shardax._transform.refs import free_ref as free_ref
from shardax._transform.refs import freeze as freeze
from shardax._transform.refs import new_ref as new_ref
from shardax._transform.shard_map import shard_map as shard_map
from shardax._transform.shard_map import smap as smap
from shardax._transform.stages import ShapeDtypeStruct as ShapeDtypeStruct
from shardax._transform.stages import ensure_compile_time_eval as ensure_compile_time_eval
from shardax._transform.tracing import eval_shape as eval_shape
from shardax._transform.tracing import make_jaxpr as make_jaxpr
from shardax.ad_checkpoint import checkpoint as checkpoint
from shardax.ad_checkpoint import checkpoint_policies as checkpoint_policies
from shardax.ad_checkpoint import remat as remat
from shardax.custom_derivatives import closure_convert as closure_convert
from shardax.custom_derivatives import custom_gradient as custom_gradient
from shardax.custom_derivatives import custom_jvp as custom_jvp
from shardax.custom_derivatives import custom_vjp as custom_vjp
from shardax.lax._dynamic import ds as ds
from shardax.sharding import NamedSharding as NamedSharding
from shardax.sharding import P as P
from shardax.sharding import make_mesh as make_mesh
from shardax.sharding import reshard as reshard
from shardax.sharding import set_mesh as set_mesh
from shardax.tree_util import tree_all as tree_all
from shardax.tree_util import tree_flatten as tree_flatten
from shardax.tree_util import tree_leaves as tree_leaves
from shardax.tree_util import tree_map as tree_map
from shardax.tree_util import tree_multimap as tree_multimap
from shardax.tree_util import tree_reduce as tree_reduce
from shardax.tree_util import tree_structure as tree_structure
from shardax.tree_util import tree_transpose as tree_transpose
from shardax.tree_util import tree_unflatten as tree_unflatten


_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)

class JitWrapped(Protocol[_P, _R]):
    """A function that jit or pmap made."""

    @property
    def __wrapped__(self) -> Callable[_P, _R]: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def lower(self, *args: _P.args, **kwargs: _P.kwargs) -> stages.Lowered: ...
    def trace(self, *args: _P.args, **kwargs: _P.kwargs) -> stages.Traced: ...
    def eval_shape(self, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    def clear_cache(self) -> None: ...

def install_as_jax():
    """Lets `import jax` mean shardax from now on, submodules included: for notebooks and conftest files."""
@overload
def jit(fun: None = None, *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: Any = None, static_argnames: Any = None, donate_argnums: Any = None, donate_argnames: Any = None, keep_unused: Any = False, device: Any = None, backend: Any = None, inline: Any = False, compiler_options: Any = None) -> Callable[[Callable[_P, _R]], JitWrapped[_P, _R]]: ...
@overload
def jit(fun: Callable[_P, _R], *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: Any = None, static_argnames: Any = None, donate_argnums: Any = None, donate_argnames: Any = None, keep_unused: Any = False, device: Any = None, backend: Any = None, inline: Any = False, compiler_options: Any = None) -> JitWrapped[_P, _R]:
    """Makes `fun` run as one program: staged once per shapes and dtypes of its arguments, then compiled."""
@overload
def pmap(fun: None = None, axis_name: Any = None, *, in_axes: Any = 0, out_axes: Any = 0, static_broadcasted_argnums: Any = (), devices: Any = None, backend: Any = None, axis_size: Any = None, donate_argnums: Any = (), global_arg_shapes: Any = None, debug: Any = False) -> Callable[[Callable[_P, _R]], JitWrapped[_P, _R]]: ...
@overload
def pmap(fun: Callable[_P, _R], axis_name: Any = None, *, in_axes: Any = 0, out_axes: Any = 0, static_broadcasted_argnums: Any = (), devices: Any = None, backend: Any = None, axis_size: Any = None, donate_argnums: Any = (), global_arg_shapes: Any = None, debug: Any = False) -> JitWrapped[_P, _R]:
    """Maps `fun` over an axis of its arguments, each slice on a device of its own."""
