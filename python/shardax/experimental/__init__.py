"""shardax.experimental - names that JAX keeps, or kept, under jax.experimental."""

from shardax._base.lazy_modules import at_first_use as _at_first_use
from shardax._transform.callbacks import io_callback
from shardax._transform.refs import Ref as MutableArray
from shardax.experimental import checkify, maps, mesh_utils, multihost_utils, pjit
from shardax.sharding import PartitionSpec

# See shardax/__init__.py.
__path__.append(__file__.replace("experimental/__init__.py", "_compat/experimental"))

_, __getattr__, __dir__ = _at_first_use(
    __name__,
    {"hijax": "cur_qdd"},
    (
        "array_serialization",
        "checkpoints",
        "colocated_python",
        "compilation_cache",
        "compute_on",
        "custom_partitioning",
        "hijax",
        "jet",
        "key_reuse",
        "layout",
        "ode",
        "pallas",
        "random",
        "rnn",
        "roofline",
        "scheduling_groups",
        "serialize_executable",
        "shard_alike",
        "shard_map",
        "sparse",
        "topologies",
        "xla_metadata",
    ),
)
