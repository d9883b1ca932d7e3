"""shardax.experimental.pjit - the older name of jit."""

from shardax._api import jit as pjit

__all__ = ["pjit"]
