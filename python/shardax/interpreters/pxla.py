"""shardax.interpreters.pxla - Array and Mesh under their older names."""

from shardax._core import Array as ShardedDeviceArray
from shardax.sharding import Mesh, PartitionSpec

__all__ = ["Mesh", "PartitionSpec", "ShardedDeviceArray"]
