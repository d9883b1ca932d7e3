"""shardax.custom_derivatives - functions with derivative rules of the user's own."""

from shardax._closures import closure_convert, custom_gradient
from shardax._custom_arguments import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)
from shardax._custom_jvp import custom_jvp
from shardax._custom_vjp import custom_vjp
from shardax._solves import linear_call

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]
