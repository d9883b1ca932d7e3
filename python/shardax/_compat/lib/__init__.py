"""shardax.lib - the older place of the platform's name."""

from shardax._base.version import __version__
from shardax.lib import xla_bridge

__all__ = ["__version__", "xla_bridge"]
