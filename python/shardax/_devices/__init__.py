"""shardax/_devices - devices, meshes, shardings, and which part of an array is whose."""
