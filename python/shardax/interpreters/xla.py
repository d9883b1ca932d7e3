"""shardax.interpreters.xla - Array under its older name, and running primitives on arrays."""

from shardax._core import Array as DeviceArray
from shardax._transform.array_classes import canonicalize_dtype_handlers
from shardax._transform.primitives import apply_primitive

__all__ = ["DeviceArray", "apply_primitive", "canonicalize_dtype_handlers"]
