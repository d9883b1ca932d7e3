"""shardax.experimental - names that JAX keeps, or kept, under jax.experimental."""

from shardax._transform.callbacks import io_callback
from shardax.experimental import checkify, maps, mesh_utils, multihost_utils, pjit
from shardax.sharding import PartitionSpec
