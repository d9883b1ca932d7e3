"""shardax.interpreters.xla - Array under its older name, and running primitives on arrays."""

from shardax._core import Array as DeviceArray
from shardax._transform.primitives import apply_primitive

__all__ = ["DeviceArray", "apply_primitive", "canonicalize_dtype_handlers"]

# How objects of other types become arrays, by type. Objects with `__jax_array__` need no entry.
canonicalize_dtype_handlers = {}
