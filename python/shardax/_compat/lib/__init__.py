"""shardax.lib - where programs for JAX look up the platform."""

from shardax._base.version import __version__
from shardax.lib import xla_bridge

__all__ = ["__version__", "xla_bridge"]
