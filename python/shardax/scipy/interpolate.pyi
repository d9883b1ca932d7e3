"""Written by python/stubs.py."""

from typing import Any

from shardax.typing import ArrayLike

class RegularGridInterpolator:
    """Values between the points of a rectangular grid; differentiable by values and coordinates."""

    def __call__(self, xi: Any, method: Any = None) -> Any: ...
    def __init__(self, points: Any, values: Any, method: str = 'linear', bounds_error: bool = False, fill_value: ArrayLike = ...) -> None: ...
def inexact(*operands: Any) -> Any:
    """Arrays of the inexact dtype that the operands promote to, each of its own shape."""
