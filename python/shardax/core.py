"""shardax.core - programs (jaxprs), their parts, and how to run them."""

from shardax import tree_util
from shardax._core import Tracer
from shardax._core import api as _api
from shardax._transform.jit import ShapedArray
from shardax._transform.primitives import CallPrimitive, Primitive
from shardax._transform.stages import ensure_compile_time_eval

Jaxpr = ClosedJaxpr = _api.Program
JaxprEqn = _api.Equation
Literal = _api.Literal
Var = _api.Var
Atom = Var | Literal
get_aval = _api.typeof

__all__ = [
    "Atom",
    "CallPrimitive",
    "ClosedJaxpr",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "Primitive",
    "ShapedArray",
    "Tracer",
    "Var",
    "ensure_compile_time_eval",
    "eval_jaxpr",
    "get_aval",
    "jaxpr_as_fun",
    "valid_jaxtype",
]


def eval_jaxpr(jaxpr, consts, *args, propagate_source_info=True):
    """Runs a program on arrays, op by op.

    Args:
      jaxpr: a program, as `make_jaxpr` gives it. It holds its own constants.
      consts: arrays in place of its constants; empty: its own.
      args: one array per input.

    Returns:
      The list of results.

    Example:
      >>> core.eval_jaxpr(make_jaxpr(lambda x: x + 1)(1.0).jaxpr, [], 2.0)
      [Array(3., dtype=float32, weak_type=True)]
    """
    leaves = tree_util.tree_leaves(args)
    return _api.evaluate(jaxpr, [_api.asarray(leaf) for leaf in leaves], consts)


def jaxpr_as_fun(closed_jaxpr, *args):
    """A function of arrays that runs the program and returns the list of results."""
    if args:
        return eval_jaxpr(closed_jaxpr, [], *args)
    return lambda *operands: eval_jaxpr(closed_jaxpr, [], *operands)


def valid_jaxtype(x):
    """Whether functions of shardax take `x` as an array.

    Example:
      >>> valid_jaxtype(1.0), valid_jaxtype("a")
      (True, False)
    """
    try:
        _api.typeof(x)
    except TypeError:
        return False
    return True
