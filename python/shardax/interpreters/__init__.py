"""shardax.interpreters - where older programs for JAX find the types of arrays."""

from shardax.interpreters import pxla, xla

__all__ = ["pxla", "xla"]
