"""shardax.memory - kinds of memory. There is one memory; the kinds are names for it."""

from shardax._devices.memory_kinds import Space

__all__ = ["Space"]
