"""Written by python/stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any

from shardax._transform.custom.vjp import custom_vjp as custom_vjp
from shardax.typing import ArrayLike

def closure_convert(fun: Any, *example_args: Any) -> Any:
    """A function without the traced arrays that it closes over, and those arrays: for custom rules that must differentiate by them."""
def odeint(func: Any, y0: Any, t: Any, *args: Any, rtol: ArrayLike = 1.4e-08, atol: ArrayLike = 1.4e-08, mxstep: ArrayLike = ..., hmax: ArrayLike = ...) -> Any:
    """The solution of y' = func(y, t, *args) from y0 on, at the times t."""
def ravel_pytree(pytree: Any) -> Any:
    """Joins the arrays of a tree into one vector."""
def tree_leaves(tree: Any, is_leaf: Any = None) -> Any:
    """The list of a tree's leaves."""
def tree_map(f: Any, tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """The tree of f(leaf, ...), called with each leaf of `tree` and the values at the same places of the trees in `rest`, which must have `tree` as a prefix."""
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False, reduce_axes: Sequence[Any] = ...) -> Any:
    """(fun(*primals), f): f takes a cotangent of the result and gives a tuple of cotangents of the primals."""
def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None, axis_size: int | None = None, spmd_axis_name: Any = None, sum_match: bool = False) -> Any:
    """Maps `fun` over an axis of its arguments, as one program over all elements."""
