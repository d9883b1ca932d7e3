"""Written by python/stubs.py."""

from typing import Any

from shardax._base.manual_axes import ManualAxisType as ManualAxisType
from shardax._devices.legacy_shardings import GSPMDSharding as GSPMDSharding
from shardax._devices.legacy_shardings import PmapSharding as PmapSharding
from shardax._devices.legacy_shardings import PositionalSharding as PositionalSharding
from shardax._devices.mesh import AbstractDevice as AbstractDevice
from shardax._devices.mesh import AbstractMesh as AbstractMesh
from shardax._devices.mesh import AxisType as AxisType
from shardax._devices.mesh import Mesh as Mesh
from shardax._devices.mesh_context import set_mesh as set_mesh
from shardax._devices.mesh_context import use_abstract_mesh as use_abstract_mesh
from shardax._devices.mesh_context import use_mesh as use_mesh
from shardax._devices.shardings import DuplicateSpecError as DuplicateSpecError
from shardax._devices.shardings import IndivisibleError as IndivisibleError
from shardax._devices.shardings import NamedSharding as NamedSharding
from shardax._devices.shardings import Sharding as Sharding
from shardax._devices.shardings import SingleDeviceSharding as SingleDeviceSharding
from shardax._devices.specs import P as P
from shardax._devices.specs import PartitionSpec as PartitionSpec
from shardax._devices.specs import UNCONSTRAINED as UNCONSTRAINED
from shardax.errors import ShardingTypeError as ShardingTypeError

def auto_axes(fun: Any = None, /, *, axes: Any = None, out_sharding: Any = None) -> Any:
    """`fun`, in which the system decides how arrays are split over `axes`."""
def explicit_axes(fun: Any = None, /, *, axes: Any = None, in_sharding: Any = None) -> Any:
    """`fun`, in which the types of arrays say how they are split over `axes`."""
def get_abstract_mesh() -> Any:
    """The current mesh, without its devices. Within shard_map its axes are of type Manual."""
def get_mesh() -> Any:
    """The current mesh: of the innermost `with mesh:` block or of `set_mesh`, else an empty one."""
def label(array: Any, where: Any, src: Any = None) -> Any:
    """An array labelled with a device, a sharding, or a PartitionSpec of the current mesh; `src` is its label before."""
def make_mesh(axis_shapes: Any, axis_names: Any, axis_types: Any = None, *, devices: Any = None) -> Mesh:
    """A mesh of the first devices in that shape, whose axes are of type Explicit."""
def make_single_device_sharding(device: Any, *, memory_kind: Any = None) -> Any:
    """The sharding of arrays that lie on one device."""
def reshard(xs: Any, out_shardings: Any) -> Any:
    """A tree of arrays, split over explicit axes of a mesh in another way."""
