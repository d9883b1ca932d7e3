"""shardax.custom_derivatives - functions with derivative rules of the user's own."""

from shardax._transform.closures import closure_convert, custom_gradient
from shardax._transform.custom.arguments import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)
from shardax._transform.custom.jvp import custom_jvp
from shardax._transform.custom.vjp import custom_vjp
from shardax._transform.primitives import of_op as _of_op
from shardax.lax._solves import linear_call

custom_jvp_call_p, custom_vjp_call_p = _of_op("custom_jvp_call"), _of_op("custom_vjp_call")

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_jvp_call_p",
    "custom_vjp",
    "custom_vjp_call_p",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]
