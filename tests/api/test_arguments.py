"""tests/api/test_arguments.py - no argument of a public function is silently ignored.

Each parameter of each public function, method and constructor is read, and not by a check alone.
Otherwise it stands in `WITHOUT_EFFECT` with a reason, and in the docstring of the function.
"""

import ast
import functools
import importlib
import importlib.util
import inspect
import pathlib
import pkgutil
import re

import pytest
import shardax
import shardax.numpy as jnp
from shardax.numpy import _array_methods

from tests.api.unused_parameters import without_effect

PACKAGE = pathlib.Path(shardax.__file__).parent

# Why a parameter changes nothing, and the parameters. "p has no effect: " and the reason is a
# sentence that the function's docstring may hold; each docstring names the parameter.
WITHOUT_EFFECT = {
    "arrays are immutable, and nothing is written over": (
        "numpy.astype(copy) numpy.nan_to_num(copy) numpy.reshape(copy) "
        "scipy.linalg.cho_factor(overwrite_a) scipy.linalg.cho_solve(overwrite_b) "
        "scipy.linalg.cholesky(overwrite_a) scipy.linalg.det(overwrite_a) "
        "scipy.linalg.eigh(overwrite_a) scipy.linalg.eigh(overwrite_b) "
        "scipy.linalg.hessenberg(overwrite_a) scipy.linalg.inv(overwrite_a) "
        "scipy.linalg.lu(overwrite_a) scipy.linalg.lu_factor(overwrite_a) "
        "scipy.linalg.lu_solve(overwrite_b) scipy.linalg.qr(overwrite_a) "
        "scipy.linalg.qr_multiply(overwrite_a) scipy.linalg.qr_multiply(overwrite_c) "
        "scipy.linalg.solve(overwrite_a) scipy.linalg.solve(overwrite_b) "
        "scipy.linalg.solve_triangular(overwrite_b) scipy.linalg.svd(overwrite_a)"
    ),
    "values are not known while a program is traced, and NaN gives NaN": (
        "scipy.cluster.vq.vq(check_finite) scipy.linalg.cho_factor(check_finite) "
        "scipy.linalg.cho_solve(check_finite) scipy.linalg.cholesky(check_finite) "
        "scipy.linalg.det(check_finite) scipy.linalg.eigh(check_finite) "
        "scipy.linalg.hessenberg(check_finite) scipy.linalg.inv(check_finite) "
        "scipy.linalg.lu(check_finite) scipy.linalg.lu_factor(check_finite) "
        "scipy.linalg.lu_solve(check_finite) scipy.linalg.qr(check_finite) "
        "scipy.linalg.rsf2csf(check_finite) scipy.linalg.solve(check_finite) "
        "scipy.linalg.solve_triangular(check_finite) scipy.linalg.svd(check_finite)"
    ),
    "one algorithm computes the result, as exactly as the dtype allows": (
        "experimental.pallas.triton.dot(allow_tf32) experimental.rnn.lstm(precision) "
        "experimental.sparse.bcoo_conv_general_dilated(precision) "
        "experimental.sparse.linalg.spsolve(reorder) experimental.sparse.linalg.spsolve(tol) "
        "lax.approx_max_k(recall_target) lax.approx_max_k(reduction_input_size_override) "
        "lax.approx_min_k(recall_target) lax.approx_min_k(reduction_input_size_override) "
        "numpy.isin(assume_unique) numpy.polyval(unroll) numpy.searchsorted(method) "
        "numpy.unique(sorted) scipy.linalg.eigh(turbo) scipy.linalg.eigh_tridiagonal(key) "
        "scipy.linalg.eigh_tridiagonal(tol) scipy.linalg.expm_frechet(method) "
        "scipy.linalg.qr(lwork) scipy.linalg.solve(debug) scipy.linalg.solve_triangular(debug) "
        "scipy.linalg.sqrtm(blocksize) scipy.linalg.svd(lapack_driver) "
        "scipy.sparse.linalg.gmres(solve_method) scipy.special.log_ndtr(series_order)"
    ),
    "devices share one memory and one process": (
        "experimental.array_serialization.serialization.GlobalAsyncCheckpointManager.__init__"
        "(timeout_secs) "
        "experimental.mesh_utils.create_device_mesh(allow_split_physical_axes) "
        "experimental.mesh_utils.create_device_mesh(contiguous_submeshes) "
        "experimental.mesh_utils.create_hybrid_device_mesh(allow_split_physical_axes) "
        "tools.colab_tpu.setup_tpu(tpu_driver_version) "
        "experimental.multihost_utils.reached_preemption_sync_point(step_id) "
        "experimental.serialize_executable.deserialize_and_load(backend) "
        "experimental.serialize_executable.deserialize_and_load(execution_devices) "
        "ArrayNamespaceInfo.default_dtypes(device) ArrayNamespaceInfo.dtypes(device) "
        "_Policies.offload_dot_with_no_batch_dims(offload_dst) "
        "_Policies.offload_dot_with_no_batch_dims(offload_src) "
        "_Policies.save_and_offload_only_these_names(offload_dst) "
        "_Policies.save_and_offload_only_these_names(offload_src) "
        "distributed.initialize(coordinator_address) distributed.initialize(local_device_ids) "
        "experimental.compute_on.compute_on(compute_type) "
        "experimental.compute_on.compute_on2(compute_type) "
        "experimental.compute_on.compute_on2(out_memory_spaces) "
        "experimental.io_callback(sharding) pure_callback(sharding) jit(keep_unused)"
    ),
    "callbacks run one after the other, in program order and in device order": (
        "debug.breakpoint(backend) debug.callback(ordered) debug.log(ordered) debug.print(ordered)"
    ),
    "kernels run as programs on the CPU, as with interpret=True in JAX": (
        "experimental.pallas.multiple_of(values) experimental.pallas.pallas_call(compiler_params) "
        "experimental.pallas.pallas_call(cost_estimate) experimental.pallas.pallas_call(debug) "
        "experimental.pallas.pallas_call(interpret) experimental.pallas.pallas_call(metadata) "
        "experimental.pallas.pallas_call(name) experimental.pallas.triton.load(cache_modifier) "
        "experimental.pallas.triton.load(eviction_policy) "
        "experimental.pallas.triton.load(volatile) "
        "experimental.pallas.triton.store(eviction_policy) "
        "experimental.pallas.ops.tpu.splash_attention.CausalMask.__init__(shard_count) "
        "experimental.pallas.ops.tpu.splash_attention.LocalMask.__init__(shard_count) "
        "experimental.pallas.ops.tpu.splash_attention.make_splash_mha(downcast_smem_data) "
        "experimental.pallas.ops.tpu.splash_attention.make_splash_mha(head_shards) "
        "experimental.pallas.ops.tpu.splash_attention.make_splash_mha(interpret) "
        "experimental.pallas.ops.tpu.splash_attention.make_splash_mha(q_seq_shards) "
    ),
    "sparse results are not labelled with shardings": (
        "experimental.sparse.bcoo_broadcast_in_dim(sharding) "
        "experimental.sparse.bcoo_conv_general_dilated(out_sharding) "
        "experimental.sparse.bcoo_dot_general(out_sharding) "
        "experimental.sparse.bcoo_reshape(sharding) "
        "experimental.sparse.bcsr_broadcast_in_dim(sharding) "
        "experimental.sparse.bcsr_dot_general(out_sharding)"
    ),
    "it is a promise, or a choice of implementation, that nothing makes use of": (
        "_IndexUpdateRef.get(indices_are_sorted) _IndexUpdateRef.get(unique_indices) "
        "experimental.sparse.bcoo_gather(fill_value) experimental.sparse.bcoo_gather(mode) "
        "experimental.sparse.bcoo_gather(indices_are_sorted) "
        "experimental.sparse.bcoo_gather(unique_indices) experimental.sparse.sparsify(use_tracer) "
        "jacfwd(holomorphic) jacobian(allow_int) jacobian(holomorphic) "
        "stages.Lowered.compile(compiler_options) "
        "stages.Lowered.compile(device_assignment)"
    ),
    "the result does not depend on it; the signature is that of a protocol": (
        "experimental.hijax.VJPHiPrimitive.check(arg_tys) interpreters.ad.GradAccum.accum(x) "
        "Array.array_namespace(x) HloModule.as_hlo_text(options) "
        "experimental.sparse.JAXSparse.__init__(args) core.Trace.__init__(args) "
        "core.Trace.__init__(kwargs) "
        "nn.initializers.ones(key) nn.initializers.zeros(key) "
        "experimental.hijax.HiPrimitive.is_effectful(params) "
        "experimental.hijax.HiPrimitive.is_high(avals) "
        "experimental.hijax.HiPrimitive.is_high(params) "
        "experimental.rnn.lstm_ref(hidden_size) experimental.rnn.lstm_ref(input_size) "
        "experimental.serialize_executable.deserialize_and_load(out_tree) "
        "export.register_pytree_node_serialization(from_children) lax.tie_in(x) "
        "lax.conv_dimension_numbers(rhs_shape) numpy.histogram_bin_edges(weights) "
        "core.mapped_aval(size) make_array_from_single_device_arrays(dtype)"
    ),
    "it decides only what is refused": (
        "debug.breakpoint(ordered) dtypes.canonicalize_dtype(allow_extended_dtype) "
        "array_garbage_collection_guard(new_val)"
    ),
    "the package does without what it steers in JAX": (
        "api_util.donation_vector(kws) api_util.flatten_axes(kws) api_util.flatten_fun(unk_names) "
        "api_util.flatten_fun_nokwargs(unk_names) core.eval_jaxpr(propagate_source_info) "
        "core.new_jaxpr_eqn(ctx) core.new_jaxpr_eqn(effects) core.new_jaxpr_eqn(source_info) "
        "core.set_current_trace(check_leaks) core.unmapped_aval(explicit_mesh_axis) "
        "experimental.custom_partitioning.custom_partitioning."
        "def_partition(decode_shardings) "
        "experimental.custom_partitioning.custom_partitioning."
        "def_partition(factor_sizes) "
        "experimental.custom_partitioning.custom_partitioning."
        "def_partition(need_replication_factors) "
        "experimental.custom_partitioning.custom_partitioning."
        "def_partition(permutation_factors) "
        "experimental.custom_partitioning.custom_partitioning."
        "def_partition(propagate_user_sharding) "
        "experimental.custom_partitioning.custom_partitioning."
        "def_partition(reduction_factors) "
        "experimental.hijax._Type.str_short(short_dtypes) extend.linear_util.cache(explain) "
        "extend.linear_util.transformation_with_aux2(unk_names) "
        "extend.source_info_util.summarize(num_frames) extend.source_info_util.user_context(c) "
        "interpreters.ad.jvp(instantiate) interpreters.ad.jvp(transform_stack) "
        "interpreters.batching.bdim_at_front(mesh_axis) interpreters.batching.broadcast(mesh_axis) "
        "interpreters.batching.defreducer(ident) "
        "interpreters.batching.register_vmappable(axis_size_type) "
        "interpreters.batching.register_vmappable(make_iota) "
        "interpreters.batching.register_vmappable(spec_type) "
        "interpreters.mlir.register_lowering(cacheable) "
        "interpreters.mlir.register_lowering(inline) "
        "interpreters.partial_eval.trace_to_jaxpr_dynamic(auto_lower) "
        "interpreters.partial_eval.trace_to_jaxpr_dynamic(keep_inputs) "
        "interpreters.partial_eval.trace_to_jaxpr_dynamic(lower) "
        "lax.dce_sink(prevent_mlir_dce) lax.dce_sink(val)"
    ),
}
# Methods whose signature a protocol of Python fixes.
PROTOCOLS = {"__exit__", "__get__", "__init_subclass__", "__array__", "__pow__", "__del__"}


def public_modules():
    yield shardax
    for found in pkgutil.walk_packages(shardax.__path__, "shardax."):
        if any(part.startswith("_") for part in found.name.split(".")):
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as error:
            assert "needs the library" in str(error), found.name


def objects():
    """(name, object) of what users reach by calls only: its methods are theirs, too."""
    function = shardax.jit(jnp.sin)
    lowered = function.lower(1.0)
    yield "at", jnp.ones(2).at[0]
    yield "array_namespace_info", jnp.__array_namespace_info__()
    yield "checkpoint_policies", shardax.checkpoint_policies
    yield "traced", function.trace(1.0)
    yield "lowered", lowered
    yield "hlo", lowered.compiler_ir("hlo")
    yield "compiled", lowered.compile()
    yield "vjp", shardax.vjp(jnp.sin, 1.0)[1]
    for name in _array_methods.__dict__:
        if not name.startswith("_"):
            yield f"Array.{name}", getattr(_array_methods, name)


def members(module):
    names = [*getattr(module, "__all__", dir(module)), *getattr(module, "_homes", ())]
    for name in dict.fromkeys(names):  # the last ones are names of older years
        if not name.startswith("_"):
            yield name, getattr(module, name)


def methods(cls):
    """The functions that a class of the package, or a class that it is made of, defines."""
    for base in cls.__mro__:
        if base.__module__.startswith("shardax"):
            for name, value in vars(base).items():
                if not name.startswith("_") or name in ("__init__", "__new__", "__call__"):
                    yield f"{base.__name__}.{name}", value


def python_function(value):
    """The function of Python that is called in the end; None where there is none."""
    while True:
        if isinstance(value, functools.partial):
            value = value.func
        elif isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        elif callable(getattr(value, "__wrapped__", None)):
            value = value.__wrapped__
        else:
            break
    if inspect.isfunction(value) and value.__code__.co_filename.startswith(str(PACKAGE)):
        return value
    return None


def public_functions():
    """(public name, function of Python) of everything that users may call."""
    seen = set()
    named = [(m.__name__, *member) for m in public_modules() for member in members(m)]
    for module, name, value in [*named, *(("shardax", *each) for each in objects())]:
        if isinstance(value, type):
            found = methods(value)
        elif inspect.isroutine(value) or python_function(value):
            found = [(name, value)]
        else:
            found = methods(type(value))
        for own, each in found:
            function = python_function(each)
            if function is not None and function.__code__ not in seen:
                seen.add(function.__code__)
                yield f"{module}.{own}".removeprefix("shardax."), function


@functools.cache
def definitions(file):
    """The function definitions of a file by their first line."""
    tree = ast.parse(pathlib.Path(file).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            decorators = getattr(node, "decorator_list", [])
            found.setdefault(min(n.lineno for n in [node, *decorators]), node)
    return found


def definition(function):
    code = function.__code__
    return definitions(code.co_filename).get(code.co_firstlineno)


EXCUSED = {each for listed in WITHOUT_EFFECT.values() for each in listed.split()}
if importlib.util.find_spec("tensorstore") is None:  # the module is not importable then
    EXCUSED = {each for each in EXCUSED if "array_serialization" not in each}


def ignored_parameters():
    """(what is wrong, "function(parameter)", the function) of all that public functions ignore."""
    for public, function in public_functions():
        node = definition(function)
        if node is not None and function.__name__ not in PROTOCOLS:
            for name, how in without_effect(node):
                yield how, f"{public}({name})", function


FOUND = {parameter: (how, function) for how, parameter, function in ignored_parameters()}


def test_all_public_functions_are_looked_at():
    names = [public for public, function in public_functions() if definition(function) is not None]
    assert len(names) > 1450
    assert {"jit", "numpy.sum", "lax.scan", "random.normal"} <= set(names)
    assert any(name.endswith(".Mesh.__init__") for name in names)


def test_no_parameter_is_ignored():
    unexcused = [f"{FOUND[p][0]}: {p}" for p in sorted(FOUND.keys() - EXCUSED)]
    assert not unexcused, "\n".join(["Use, refuse or document each of:", *unexcused])


def test_excuses_are_needed():
    assert not EXCUSED - FOUND.keys()


@pytest.mark.parametrize("parameter", sorted(EXCUSED))
def test_docstrings_name_what_has_no_effect(parameter):
    public, _, name = parameter[:-1].partition("(")
    function = FOUND[parameter][1]
    owner, _, method = function.__qualname__.rpartition(".")
    doc = inspect.getdoc(function) or ""
    if method == "__init__":
        doc += inspect.getdoc(getattr(importlib.import_module(function.__module__), owner)) or ""
    assert re.search(rf"\b{name}\b", doc), f"{public}: its docstring does not name {name}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x, y):\n    return x", ["ignored"]),
        ("def f(x, y):\n    del y\n    return x", ["ignored"]),
        ("def f(x, y):\n    y = 1\n    return x + y", ["ignored"]),
        ("def f(x, y):\n    if x:\n        y = 1\n        return y\n    return 2", ["ignored"]),
        ("def f(x, y):\n    if y not in (1, 2):\n        raise ValueError(y)\n    return x",
         ["checked only"]),
        ("def f(x, y):\n    check_y(y)\n    return x", ["checked only"]),
        ("def f(x, y):\n    assert y\n    return x", ["checked only"]),
        ("def f(x, y):\n    if y is not None:\n        raise ValueError(y)\n    return x", []),
        ("def f(x, y):\n    refuse_out(y)\n    return x", []),
        ("def f(x, y):\n    def g():\n        return y\n    return x + g()", []),
        ("def f(x, y):\n    if y:\n        x = 1\n    return x", []),
        ("def f(x, y):\n    raise NotImplementedError", []),
    ],
)  # fmt: skip
def test_ignored_parameters_are_found(source, expected):
    found = list(without_effect(ast.parse(source).body[0]))
    assert [how for _, how in found] == expected
    assert all(name == "y" for name, _ in found)
