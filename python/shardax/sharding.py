"""shardax.sharding - meshes of devices, and how arrays are split over them.

All devices share one memory, so a sharding is a label: it says which part of an array belongs to
which device, and moves nothing.
"""

from shardax._base.manual_axes import ManualAxisType
from shardax._devices.axis_modes import auto_axes, explicit_axes
from shardax._devices.legacy_shardings import GSPMDSharding, PmapSharding, PositionalSharding
from shardax._devices.mesh import AbstractDevice, AbstractMesh, AxisType, Mesh, make_mesh
from shardax._devices.mesh_context import (
    get_abstract_mesh,
    get_mesh,
    set_mesh,
    use_abstract_mesh,
    use_mesh,
)
from shardax._devices.resharding import reshard
from shardax._devices.shardings import (
    DuplicateSpecError,
    IndivisibleError,
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    label,
    make_single_device_sharding,
)
from shardax._devices.specs import UNCONSTRAINED, P, PartitionSpec
from shardax.errors import ShardingTypeError
