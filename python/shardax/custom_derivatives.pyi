"""Written by python/stubs.py."""

from typing import Any

from shardax._transform.custom.arguments import CustomVJPPrimal as CustomVJPPrimal
from shardax._transform.custom.arguments import SymbolicZero as SymbolicZero
from shardax._transform.custom.jvp import custom_jvp as custom_jvp
from shardax._transform.custom.vjp import custom_vjp as custom_vjp

def closure_convert(fun: Any, *example_args: Any) -> Any:
    """A function without the traced arrays that it closes over, and those arrays: for custom rules that must differentiate by them."""
def custom_gradient(fun: Any) -> Any:
    """A function whose reverse derivative comes with its value."""
custom_jvp_call_p: Any
custom_vjp_call_p: Any
def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """The values in a tree of CustomVJPPrimal, as a forward rule with symbolic_zeros=True gets it."""
def linear_call(fun: Any, fun_transpose: Any, residual_args: Any, linear_args: Any) -> Any:
    """fun(residual_args, linear_args), a linear function of linear_args whose transpose is given."""
def zero_from_primal(x: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangents of a tree of values: a SymbolicZero or an array for each."""
