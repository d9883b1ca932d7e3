"""Written by python/stubs.py."""

from typing import Any

from shardax._core import Array

def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array on the memory that another library exports by the DLPack protocol."""
