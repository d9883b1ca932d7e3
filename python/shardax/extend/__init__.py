"""shardax.extend - what programs that look into programs use."""

from shardax.extend import core

__all__ = ["core"]
