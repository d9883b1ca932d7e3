"""shardax.experimental.shard_map - shard_map, where JAX had it first.

>>> from shardax.experimental.shard_map import shard_map
>>> mesh = shardax.make_mesh((4,), ("x",))
>>> shard_map(lambda x: lax.psum(x, "x"), mesh, P("x"), P())(jnp.arange(4))
Array([6], dtype=int32)
"""

from shardax._transform.shard_map import shard_map

__all__ = ["shard_map"]
