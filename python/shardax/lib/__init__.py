"""shardax.lib - where programs for JAX look up the platform."""

from shardax.lib import xla_bridge

__all__ = ["xla_bridge"]
