"""shardax.memory - kinds of memory. There is one memory; the kinds are names for it."""

import enum

__all__ = ["Space"]


class Space(enum.Enum):
    """Where an array is said to lie."""

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()

    def __repr__(self):
        return f"MemorySpace.{self.name}"
