"""shardax.experimental.maps - where Mesh used to be."""

from shardax.sharding import Mesh

__all__ = ["Mesh"]
