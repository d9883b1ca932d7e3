"""Written by python/stubs.py."""

from typing import Any

from shardax.typing import ArrayLike

def map_coordinates(input: Any, coordinates: Any, order: Any, mode: str = 'constant', cval: ArrayLike = 0.0) -> Any:
    """The values of an array at coordinates between its elements."""
