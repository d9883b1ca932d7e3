"""shardax.experimental.topologies - devices that programs are compiled for ahead of time."""

from shardax._devices.devices import devices as _devices
from shardax._devices.mesh import Mesh
from shardax.experimental import mesh_utils

__all__ = ["TopologyDescription", "get_attached_topology", "get_topology_desc", "make_mesh"]


class TopologyDescription:
    """A list of devices."""

    def __init__(self, devices):
        self.devices = devices


def get_attached_topology(platform=None):
    """The devices of this process."""
    return TopologyDescription(_devices(platform))


def get_topology_desc(topology_name="", platform=None, **kwargs):
    """Devices that are not there.

    Raises:
      NotImplementedError: always; an AbstractMesh stands for devices that are not there.
    """
    raise NotImplementedError(
        f"get_topology_desc: topology not implemented for platform {platform or 'cpu'!r}; lower "
        "for an AbstractMesh instead."
    )


def make_mesh(topo, mesh_shape, axis_names, *, contiguous_submeshes=False):
    """A Mesh of the devices of a TopologyDescription.

    Example:
      >>> make_mesh(get_attached_topology(), (4, 2), ("x", "y"))
      Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto))
    """
    grid = mesh_utils.create_device_mesh(
        mesh_shape, list(topo.devices), contiguous_submeshes=contiguous_submeshes
    )
    return Mesh(grid, axis_names)
