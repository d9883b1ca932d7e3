"""Written by python/stubs.py."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from shardax.experimental._taylor import RULES as RULES
from shardax.experimental._taylor import Series as Series

BODIES: dict[Any, Any]
def constant(bind: Any, order: Any, *operands: Any) -> Any:
    """"""
def fact(n: Any) -> Any:
    """n!, as a float."""
def inexact(x: Any) -> Any:
    """"""
def jet(fun: Any, primals: Any, series: Any, factorial_scaled: bool = True, **_: Any) -> Any:
    """The Taylor series of fun(h(t)) in t, for h given by its series."""
def jet2(fun: Any, primals: Any, series: Any, *, factorial_scaled: bool = False, **_: Any) -> Any:
    """partial(func, *args, **keywords) - new function with partial application of the given arguments and keywords."""
def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """(fun(*primals), directional derivative along tangents)."""
def make_jaxpr(fun: Callable[..., Any], static_argnums: int | Iterable[int] = ..., axis_env: Sequence[tuple[Any, int]] | None = None, return_shape: bool = False) -> Any:
    """A function that gives the program of `fun` for its arguments, printed as JAX prints a jaxpr."""
def term(x: Any, k: Any) -> Any:
    """The coefficient of t^k; None for zero."""
def value(x: Any) -> Any:
    """"""
zero_series: Any
def zeros(x: Any) -> Any:
    """"""
