"""Written by python/stubs.py."""

from typing import Any

from shardax._transform.refs import Ref as MutableArray
from shardax.experimental import array_serialization as array_serialization
from shardax.experimental import checkify as checkify
from shardax.experimental import checkpoints as checkpoints
from shardax.experimental import colocated_python as colocated_python
from shardax.experimental import compilation_cache as compilation_cache
from shardax.experimental import compute_on as compute_on
from shardax.experimental import custom_partitioning as custom_partitioning
from shardax.experimental import jet as jet
from shardax.experimental import key_reuse as key_reuse
from shardax.experimental import layout as layout
from shardax.experimental import maps as maps
from shardax.experimental import mesh_utils as mesh_utils
from shardax.experimental import multihost_utils as multihost_utils
from shardax.experimental import ode as ode
from shardax.experimental import pjit as pjit
from shardax.experimental import random as random
from shardax.experimental import rnn as rnn
from shardax.experimental import scheduling_groups as scheduling_groups
from shardax.experimental import serialize_executable as serialize_executable
from shardax.experimental import shard_alike as shard_alike
from shardax.experimental import shard_map as shard_map
from shardax.experimental import sparse as sparse
from shardax.experimental import topologies as topologies
from shardax.experimental import xla_metadata as xla_metadata
from shardax.sharding import PartitionSpec as PartitionSpec

def cur_qdd(x: Any) -> Any:
    """The part of the type of `x` that changes, as it is now: the result of its method `cur_qdd`."""
hijax: Any
def io_callback(callback: Any, result_shape_dtypes: Any, *args: Any, sharding: Any = None, ordered: bool = False, **kwargs: Any) -> Any:
    """The result of a Python function with side effects, called exactly once per evaluation (inside pmap: per device), in program order."""
pallas: Any
roofline: Any
