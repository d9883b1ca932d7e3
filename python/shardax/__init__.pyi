"""Written by python/stubs.py."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
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
from shardax import experimental as experimental
from shardax import export as export
from shardax import extend as extend
from shardax import flatten_util as flatten_util
from shardax import image as image
from shardax import interpreters as interpreters
from shardax import jax_utils as jax_utils
from shardax import lax as lax
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
from shardax import tree as tree
from shardax import tree_util as tree_util
from shardax import typing as typing
from shardax import version as version
from shardax._base.dtypes import float0 as float0
from shardax._base.flags import enable_x64 as enable_x64
from shardax._base.flags import make_user_context as make_user_context
from shardax._base.version import __version__ as __version__
from shardax._core import Array as Array
from shardax._devices.devices import Device as Device
from shardax._devices.mesh import Mesh
from shardax._devices.placement import Shard as Shard
from shardax._explain.accelerators import Accelerators as Accelerators
from shardax._explain.profiles import Span
from shardax._transform.refs import Ref as Ref
from shardax._transform.stages import ShapeDtypeStruct as ShapeDtypeStruct
from shardax.ad_checkpoint import checkpoint_policies as checkpoint_policies
from shardax.custom_derivatives import custom_jvp as custom_jvp
from shardax.custom_derivatives import custom_vjp as custom_vjp
from shardax.sharding import NamedSharding as NamedSharding
from shardax.sharding import P as P
from shardax.sharding import set_mesh as set_mesh
from shardax.typing import DTypeLike

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])

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

class Explanation:
    """The facts about a function that `explain` gives."""

    function: str
    axes: dict[str, int]
    devices: int
    arguments: list[dict[str, Any]]
    results: list[dict[str, Any]]
    values: list[dict[str, Any]]
    collectives: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    buffers: list[dict[str, Any]]
    work: dict[str, Any]
    memory: dict[str, Any]
    lines: list[dict[str, Any]]
    summary: list[str]
    @property
    def apart(self) -> Explanation | None: ...
    def on(self, accelerators: Any) -> Any: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self, **options: Any) -> str: ...

class Profile:
    """The spans of a block of `profile`, with their times."""

    seconds: float
    spans: tuple[Span, ...]
    dropped: int
    def by_step(self) -> list[dict[str, Any]]: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...


def allow_f16_reductions(new_val: Any = True) -> Any:
    """Allows sums in 16 bits. Sets jax_allow_f16_reductions while the block runs; afterwards the value that config.update sets holds."""
def array_garbage_collection_guard(new_val: Any) -> Any:
    """The treatment of arrays that the garbage collector frees while the block runs."""
def auto_pcast(new_val: Any = True) -> Any:
    """Lets shard_map cast invarying operands to varying ones. Sets jax_auto_pcast while the block runs; afterwards the value that config.update sets holds."""
def block_until_ready(x: _T) -> _T:
    """A tree of arrays, as it is: results are ready when a call returns."""
def check_tracer_leaks(new_val: Any = True) -> Any:
    """Raises where a tracer outlives its function. Sets jax_check_tracer_leaks while the block runs; afterwards the value that config.update sets holds."""
def checking_leaks(new_val: Any = True) -> Any:
    """Raises where a tracer outlives its function. Sets jax_check_tracer_leaks while the block runs; afterwards the value that config.update sets holds."""
def checkpoint(fun: _F, *, prevent_cse: bool = True, policy: Any = None, static_argnums: Any = ..., static_argnames: Any = ..., concrete: bool = False) -> _F:
    """`fun`, whose derivatives compute its intermediate values again instead of keeping them."""
def clear_caches() -> Any:
    """Forgets all programs kept for jitted functions and control flow, and gives memory back."""
def closure_convert(fun: Callable[..., Any], *example_args: Any) -> Any:
    """A function without the traced arrays that it closes over, and those arrays: for custom rules that must differentiate by them."""
def copy_to_host_async(x: _T) -> _T:
    """A tree of arrays, as it is: they lie in the host's memory."""
def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose reverse derivative comes with its value."""
def debug_infs(new_val: Any = True) -> Any:
    """Raises FloatingPointError where a result is infinite. Sets jax_debug_infs while the block runs; afterwards the value that config.update sets holds."""
def debug_key_reuse(new_val: Any = True) -> Any:
    """Raises where a key is used twice. Sets jax_debug_key_reuse while the block runs; afterwards the value that config.update sets holds."""
def debug_nans(new_val: Any = True) -> Any:
    """Raises FloatingPointError where a result is NaN. Sets jax_debug_nans while the block runs; afterwards the value that config.update sets holds."""
def default_backend() -> str:
    """The name of the platform that computes, "cpu"."""
def default_device(new_val: Any = True) -> Any:
    """Chooses the device of new arrays. Sets jax_default_device while the block runs; afterwards the value that config.update sets holds."""
def default_matmul_precision(new_val: Any = True) -> Any:
    """Chooses the precision of products. Sets jax_default_matmul_precision while the block runs; afterwards the value that config.update sets holds."""
def default_prng_impl(new_val: Any = True) -> Any:
    """Chooses the generator of new keys. Sets jax_default_prng_impl while the block runs; afterwards the value that config.update sets holds."""
def device_count(backend: Any = None) -> int:
    """The number of devices in all processes."""
def device_get(x: Any) -> Any:
    """A tree of arrays as NumPy arrays; PRNG keys, tracers and Python numbers stay."""
def device_put(x: Any, device: Any = None, *, src: Any = None, donate: bool = False, may_alias: Any = None) -> Any:
    """`x` as arrays, labelled with a device, sharding or memory.Space, or a tree prefix of these."""
def device_put_replicated(x: Any, devices: Any) -> Any:
    """Every leaf of a tree with a leading axis of len(devices) along which it repeats; kept once."""
def device_put_sharded(shards: Any, devices: Any) -> Any:
    """The trees in `shards`, one per device, stacked along a leading axis."""
def devices(backend: Any = None) -> list[Device]:
    """The devices of all processes, in order of their ids."""
def disable_jit(disable: bool = True) -> Any:
    """Sets jax_disable_jit while the block runs: jitted functions are called as they are."""
def ds(start: Any, size: int | None = None, stride: Any = None) -> Any:
    """An index for `size` elements from `start` on, of which `start` may be traced."""
def effects_barrier() -> Any:
    """Waits until all callbacks have run. They run before the call that contains them returns."""
def empty_ref(ty: Any, memory_space: Any = None) -> Any:
    """A reference to zeros of the shape and dtype of `ty`; for `memory_space` see `new_ref`."""
def enable_checks(new_val: Any = True) -> Any:
    """Verifies programs between transformations. Sets jax_enable_checks while the block runs; afterwards the value that config.update sets holds."""
def enable_custom_prng(new_val: Any = True) -> Any:
    """Makes PRNGKey give typed keys. Sets jax_enable_custom_prng while the block runs; afterwards the value that config.update sets holds."""
def ensure_compile_time_eval() -> Any:
    """A context in which ops on known arrays compute at once, also inside a function that is being traced. Ops on tracers are recorded as ever."""
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of fun(*args, **kwargs), without computing it. Arguments may be ShapeDtypeStructs, also of symbolic sizes (`export.symbolic_shape`): the function is then staged for many sizes."""
example_libraries: Any
def explain(fun: Callable[..., Any]) -> Callable[..., Explanation]:
    """Explains the program that a function runs on its devices, and its cost."""
def explain_cache_misses(new_val: Any = True) -> Any:
    """Logs why a function is traced anew. Sets jax_explain_cache_misses while the block runs; afterwards the value that config.update sets holds."""
def free_ref(ref: Any) -> Any:
    """Marks a reference as not used any more."""
def freeze(ref: Any) -> Any:
    """The value of a reference, which may not be used any more."""
def fwd_and_bwd(fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True) -> Any:
    """Two functions, of which the second can be compiled once for all calls of the first."""
def grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False, reduce_axes: Sequence[Any] = ...) -> Callable[..., Any]:
    """A function that gives the gradient of `fun`, which returns a real scalar."""
def hessian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False) -> Callable[..., Any]:
    """The matrix of second derivatives: jacfwd of jacrev."""
def host_count(backend: Any = None) -> int:
    """The number of processes."""
def host_id(backend: Any = None) -> int:
    """The number of this process, from 0."""
def host_ids(backend: Any = None) -> Any:
    """The numbers of all processes."""
def install_as_jax() -> Any:
    """Lets `import jax` mean shardax from now on, submodules included: for notebooks and conftest files."""
def jacfwd(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False) -> Callable[..., Any]:
    """The Jacobian of `fun`, column by column: efficient for few inputs and many outputs."""
def jacobian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False) -> Callable[..., Any]:
    """The Jacobian of a function by reverse mode, row by row: for many inputs and few outputs."""
def jacrev(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False) -> Callable[..., Any]:
    """The Jacobian of a function by reverse mode, row by row: for many inputs and few outputs."""
@overload
def jit(fun: Callable[_P, _R], *, in_shardings: Any = None, out_shardings: Any = None, static_argnums: Any = None, static_argnames: Any = None, donate_argnums: Any = None, donate_argnames: Any = None, keep_unused: Any = False, device: Any = None, backend: Any = None, inline: Any = False, compiler_options: Any = None) -> JitWrapped[_P, _R]: ...
@overload
def jit(*, in_shardings: Any = None, out_shardings: Any = None, static_argnums: Any = None, static_argnames: Any = None, donate_argnums: Any = None, donate_argnames: Any = None, keep_unused: Any = False, device: Any = None, backend: Any = None, inline: Any = False, compiler_options: Any = None) -> Callable[[Callable[_P, _R]], JitWrapped[_P, _R]]:
    """Makes `fun` run as one program: staged once per shapes and dtypes of its arguments, then compiled."""
def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """(fun(*primals), directional derivative along tangents)."""
def legacy_prng_key(new_val: Any = True) -> Any:
    """Decides whether raw keys are taken. Sets jax_legacy_prng_key while the block runs; afterwards the value that config.update sets holds."""
lib: Any
def linear_transpose(fun: Callable[..., Any], *primals: Any, reduce_axes: Any = ...) -> Callable[..., Any]:
    """The transpose of `fun`, which is linear in all its arguments; primals give shapes and dtypes only."""
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(fun(*primals), f): f is the derivative at primals as a linear function of tangents."""
def live_arrays(platform: Any = None) -> list[Array]:
    """The arrays that Python holds and that are not deleted, oldest first: to look for those that are kept by mistake."""
def local_device_count(backend: Any = None) -> int:
    """The number of devices that each process has."""
def local_devices(process_index: Any = None, backend: Any = None, host_id: Any = None) -> list[Device]:
    """The devices of this process, or of the one with a number."""
def log_compiles(new_val: Any = True) -> Any:
    """Logs each compilation. Sets jax_log_compiles while the block runs; afterwards the value that config.update sets holds."""
def make_array_from_callback(shape: int | Sequence[Any], sharding: Any, data_callback: Callable[[Any], Any], dtype: DTypeLike | None = None) -> Array:
    """An array whose parts a function gives."""
def make_array_from_process_local_data(sharding: Any, local_data: Any, global_shape: Any = None) -> Any:
    """A tree of arrays out of the data that each process has."""
def make_array_from_single_device_arrays(shape: int | Sequence[Any], sharding: Any, arrays: Sequence[Array], *, dtype: DTypeLike | None = None) -> Array:
    """An array out of its parts, one array per device of the sharding."""
def make_jaxpr(fun: Callable[..., Any], static_argnums: int | Iterable[int] = ..., axis_env: Sequence[tuple[Any, int]] | None = None, return_shape: bool = False) -> Callable[..., Any]:
    """A function that gives the program of `fun` for its arguments, printed as JAX prints a jaxpr."""
def make_mesh(axis_shapes: Any, axis_names: Any, axis_types: Any = None, *, devices: Any = None) -> Mesh:
    """A mesh of the first devices in that shape, whose axes are of type Explicit."""
def named_call(fun: _F, *, name: str | None = None) -> _F:
    """`fun` as a call of that name (by default its own) in programs."""
def named_scope(name: str) -> Any:
    """A name for the operations inside the `with` block, in `source_info.name_stack` of equations."""
def new_ref(init_val: Any, *, memory_space: Any = None, kind: None = None) -> Any:
    """A mutable reference to an array."""
def no_execution(new_val: Any = True) -> Any:
    """Raises where a program would run. Sets jax_no_execution while the block runs; afterwards the value that config.update sets holds."""
def no_tracing(new_val: Any = True) -> Any:
    """Raises where a function would be traced anew. Sets jax_no_tracing while the block runs; afterwards the value that config.update sets holds."""
def numpy_dtype_promotion(new_val: Any = True) -> Any:
    """Decides which dtypes promote. Sets jax_numpy_dtype_promotion while the block runs; afterwards the value that config.update sets holds."""
def numpy_rank_promotion(new_val: Any = True) -> Any:
    """Decides whether broadcasting may add dimensions. Sets jax_numpy_rank_promotion while the block runs; afterwards the value that config.update sets holds."""
@overload
def pmap(fun: Callable[_P, _R], axis_name: Any = None, *, in_axes: Any = 0, out_axes: Any = 0, static_broadcasted_argnums: Any = (), devices: Any = None, backend: Any = None, axis_size: Any = None, donate_argnums: Any = (), global_arg_shapes: Any = None, debug: Any = False) -> JitWrapped[_P, _R]: ...
@overload
def pmap(*, axis_name: Any = None, in_axes: Any = 0, out_axes: Any = 0, static_broadcasted_argnums: Any = (), devices: Any = None, backend: Any = None, axis_size: Any = None, donate_argnums: Any = (), global_arg_shapes: Any = None, debug: Any = False) -> Callable[[Callable[_P, _R]], JitWrapped[_P, _R]]:
    """Maps `fun` over an axis of its arguments, each slice on a device of its own."""
def print_environment_info(return_string: bool = False) -> Any:
    """Prints versions, the machine and the devices, for reports of errors; or returns the text."""
def process_count(backend: Any = None) -> int:
    """The number of processes."""
def process_index(backend: Any = None) -> int:
    """The number of this process, from 0."""
def process_indices(backend: Any = None) -> Any:
    """The numbers of all processes."""
def profile() -> AbstractContextManager[Profile]:
    """Records the spans of a block: programs, their steps with their lines, messages to other processes, tracing, compilations, and annotations of `shardax.profiler`."""
def progress() -> Any:
    """Shows tracing, compilations and loops of a block that take more than a second, while they run. Short ones show nothing."""
def pure_callback(callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, sharding: Any = None, vmap_method: Any = None, **kwargs: Any) -> Any:
    """The result of a Python function without side effects, in a program."""
def remat(fun: _F, *, prevent_cse: bool = True, policy: Any = None, static_argnums: Any = ..., static_argnames: Any = ..., concrete: bool = False) -> _F:
    """`fun`, whose derivatives compute its intermediate values again instead of keeping them."""
def reshard(xs: _T, out_shardings: Any) -> _T:
    """A tree of arrays, split over explicit axes of a mesh in another way."""
def set_thread_count(count: Any) -> Any:
    """Sets how many threads compute, from the next operation on and for all Python threads."""
@overload
def shard_map(
    f: _F, /, mesh: Any = None, in_specs: Any = ..., out_specs: Any = ...,
    check_vma: bool | None = None, axis_names: Any = frozenset(), check_rep: bool | None = None,
    auto: Any = frozenset(),
) -> _F: ...
@overload
def shard_map(
    *, f: _F, mesh: Any = None, in_specs: Any = ..., out_specs: Any = ...,
    check_vma: bool | None = None, axis_names: Any = frozenset(), check_rep: bool | None = None,
    auto: Any = frozenset(),
) -> _F: ...
@overload
def shard_map(
    *, mesh: Any = None, in_specs: Any = ..., out_specs: Any = ...,
    check_vma: bool | None = None, axis_names: Any = frozenset(), check_rep: bool | None = None,
    auto: Any = frozenset(),
) -> Callable[[_F], _F]:
    """A function of blocks, run on every device of a mesh."""
def smap(f: Callable[..., Any] | None = None, /, *, in_axes: Any = ..., out_axes: Any, axis_name: Any) -> Any:
    """shard_map over one axis of the current mesh, with dimensions in place of specs."""
def soft_pmap(fun: Callable[..., Any], axis_name: Any = None, in_axes: Any = 0) -> Callable[..., Any]:
    """pmap over more slices than there are devices, which JAX had until version 0.3."""
def softmax_custom_jvp(new_val: Any = True) -> Any:
    """Lets nn.softmax have a derivative rule of its own. Sets jax_softmax_custom_jvp while the block runs; afterwards the value that config.update sets holds."""
def thread_count() -> int:
    """The number of threads that compute: the cores that this process may use, unless set."""
def threads(count: Any) -> Any:
    """Sets how many threads compute while the block runs."""
def threefry_partitionable(new_val: Any = True) -> Any:
    """Chooses the stream of threefry's keys. Sets jax_threefry_partitionable while the block runs; afterwards the value that config.update sets holds."""
tools: Any
def transfer_guard(new_val: Any) -> Any:
    """Guards transfers between the host and devices, and between devices, while the block runs."""
def transfer_guard_device_to_device(new_val: Any = True) -> Any:
    """Guards transfers between devices. Sets jax_transfer_guard_device_to_device while the block runs; afterwards the value that config.update sets holds."""
def transfer_guard_device_to_host(new_val: Any = True) -> Any:
    """Guards transfers from devices to the host. Sets jax_transfer_guard_device_to_host while the block runs; afterwards the value that config.update sets holds."""
def transfer_guard_host_to_device(new_val: Any = True) -> Any:
    """Guards transfers from the host to devices. Sets jax_transfer_guard_host_to_device while the block runs; afterwards the value that config.update sets holds."""
def tree_all(tree: Any, *, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """True if all leaves are true; a tree without leaves is."""
def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The list of a tree's leaves, and its structure as a PyTreeDef."""
def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The list of a tree's leaves."""
def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree of f(leaf, ...), called with each leaf of `tree` and the values at the same places of the trees in `rest`, which must have `tree` as a prefix."""
def tree_multimap(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree of f(leaf, ...), called with each leaf of `tree` and the values at the same places of the trees in `rest`, which must have `tree` as a prefix."""
def tree_reduce(function: Callable[..., Any], tree: Any, initializer: Any = ..., is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Combines the leaves from left to right: function(function(initializer, leaf), leaf)..."""
def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """A tree's structure as a PyTreeDef."""
def tree_transpose(outer_treedef: Any, inner_treedef: Any, pytree_to_transpose: Any) -> Any:
    """Turns a tree of trees inside out."""
def tree_unflatten(treedef: Any, leaves: Any) -> Any:
    """The tree of the given structure and leaves: the reverse of tree_flatten."""
def typeof(x: Any) -> Any:
    """The type of an array, a number or what has a shape and a dtype; of a mutable reference, that of a reference."""
def value_and_grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False, reduce_axes: Sequence[Any] = ...) -> Callable[..., tuple[Any, Any]]:
    """A function that gives (value, gradient) of `fun`; see `grad`. With has_aux: ((value, anything), gradient)."""
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False, reduce_axes: Sequence[Any] = ...) -> Any:
    """(fun(*primals), f): f takes a cotangent of the result and gives a tuple of cotangents of the primals."""
def vmap(fun: _F, in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None, axis_size: int | None = None, spmd_axis_name: Any = None, sum_match: bool = False) -> _F:
    """Maps `fun` over an axis of its arguments, as one program over all elements."""
