"""shardax.core - programs (jaxprs), their parts, and how to run them."""

from typing import Any

from shardax import tree_util
from shardax._base.effects import Effect, Effects, no_effects
from shardax._core import Tracer
from shardax._core import api as _api
from shardax._transform.array_classes import pytype_aval_mappings
from shardax._transform.avals import (
    AbstractValue,
    InconclusiveDimensionOperation,
    JaxprTypeError,
    concrete_or_error,
    is_concrete,
    is_constant_dim,
    is_constant_shape,
    mapped_aval,
    max_dim,
    min_dim,
    physical_aval,
    primal_dtype_to_tangent_dtype,
    unmapped_aval,
)
from shardax._transform.jit import ShapedArray, typeof
from shardax._transform.primitives import CallPrimitive, Primitive
from shardax._transform.program_parts import (
    DebugInfo,
    DropVar,
    check_jaxpr,
    gensym,
    jaxprs_in_params,
    new_jaxpr_eqn,
    subjaxprs,
)
from shardax._transform.python_traces import Trace, TraceTag
from shardax._transform.stages import ensure_compile_time_eval
from shardax._transform.trace_state import (
    eval_context,
    find_top_trace,
    get_opaque_trace_state,
    nonempty_axis_env,
    set_current_trace,
    take_current_trace,
    trace_state_clean,
    unsafe_am_i_under_a_jit,
    unsafe_am_i_under_a_vmap,
    unsafe_get_axis_names,
)

Jaxpr = ClosedJaxpr = _api.Program
JaxprEqn = _api.Equation
Literal = _api.Literal
Var = _api.Var
Atom = Var | Literal
Value = Any
ParamDict = dict[str, Any]
get_aval = typeof
nonempty_axis_env_DO_NOT_USE = nonempty_axis_env
unsafe_am_i_under_a_jit_DO_NOT_USE = unsafe_am_i_under_a_jit
unsafe_am_i_under_a_vmap_DO_NOT_USE = unsafe_am_i_under_a_vmap
unsafe_get_axis_names_DO_NOT_USE = unsafe_get_axis_names

__all__ = [
    "AbstractValue",
    "Atom",
    "CallPrimitive",
    "ClosedJaxpr",
    "DebugInfo",
    "DropVar",
    "Effect",
    "Effects",
    "InconclusiveDimensionOperation",
    "Jaxpr",
    "JaxprEqn",
    "JaxprTypeError",
    "Literal",
    "ParamDict",
    "Primitive",
    "ShapedArray",
    "Trace",
    "TraceTag",
    "Tracer",
    "Value",
    "Var",
    "check_jaxpr",
    "concrete_or_error",
    "ensure_compile_time_eval",
    "eval_context",
    "eval_jaxpr",
    "find_top_trace",
    "gensym",
    "get_aval",
    "get_opaque_trace_state",
    "is_concrete",
    "is_constant_dim",
    "is_constant_shape",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "mapped_aval",
    "max_dim",
    "min_dim",
    "new_jaxpr_eqn",
    "no_effects",
    "nonempty_axis_env_DO_NOT_USE",
    "physical_aval",
    "primal_dtype_to_tangent_dtype",
    "pytype_aval_mappings",
    "set_current_trace",
    "subjaxprs",
    "take_current_trace",
    "trace_state_clean",
    "unmapped_aval",
    "unsafe_am_i_under_a_jit_DO_NOT_USE",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE",
    "unsafe_get_axis_names_DO_NOT_USE",
    "valid_jaxtype",
]


def eval_jaxpr(jaxpr, consts, *args, propagate_source_info=True):
    """Runs a program on arrays, op by op.

    `propagate_source_info` has no effect: the package does without what it steers in JAX.

    Args:
      jaxpr: a program, as `make_jaxpr` gives it. It holds its own constants.
      consts: arrays in place of its constants; empty: its own.
      args: one array per input.

    Returns:
      The list of results.

    Example:
      >>> shardax.core.eval_jaxpr(shardax.make_jaxpr(lambda x: x + 1)(1.0).jaxpr, [], 2.0)
      [Array(3., dtype=float32, weak_type=True)]
    """
    leaves = tree_util.tree_leaves(args)
    return _api.evaluate(jaxpr, [_api.asarray(leaf) for leaf in leaves], consts)


def jaxpr_as_fun(closed_jaxpr, *args):
    """A function of arrays that runs the program and returns the list of results.

    Args:
      closed_jaxpr: a program, as `make_jaxpr` gives it.
      args: one array per input: the results at once, in place of the function.

    Example:
      >>> add_one = shardax.core.jaxpr_as_fun(shardax.make_jaxpr(lambda x: x + 1)(1.0))
      >>> add_one(2.0)
      [Array(3., dtype=float32, weak_type=True)]
    """
    if args:
        return eval_jaxpr(closed_jaxpr, [], *args)
    return lambda *operands: eval_jaxpr(closed_jaxpr, [], *operands)


def valid_jaxtype(x):
    """True if functions of shardax take `x` as an array.

    Example:
      >>> shardax.extend.core.valid_jaxtype(1.0), shardax.extend.core.valid_jaxtype("a")
      (True, False)
    """
    try:
        _api.typeof(x)
    except TypeError:
        return False
    return True
