"""shardax.interpreters.xla - Array under its older name."""

from shardax._core import Array as DeviceArray

__all__ = ["DeviceArray"]
