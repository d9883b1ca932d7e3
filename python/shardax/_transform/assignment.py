# shardax/_transform/assignment.py - on which devices a staged function runs, for lower and compile.
from shardax._devices.devices import default_device
from shardax._devices.mesh import Mesh
from shardax._devices.mesh_context import context_mesh, get_mesh


class Assignment:
    """The devices that the meshes of arguments, or of the context, stand for.

    Args:
      shardings: NamedShardings, or None, of the arguments.
      platforms: the lowering_platforms that the user gave.

    Raises:
      ValueError: where meshes differ in size; where only an AbstractMesh is known and no platforms.
    """

    def __init__(self, shardings, platforms):
        meshes = [where.mesh for where in shardings if where is not None]
        if context_mesh().size > 1:
            meshes.append(context_mesh() if get_mesh().empty else get_mesh())
        known = [mesh for mesh in meshes if isinstance(mesh, Mesh)]
        self.devices = tuple(known[0].devices.flat) if known else (default_device(),)
        self.abstract = None if known or not meshes else meshes[0]
        size = known[0].size if known else meshes[0].size if meshes else 1
        for mesh in meshes:
            if not isinstance(mesh, Mesh) and mesh.size != size:
                raise ValueError(
                    f"AbstractMesh size: {mesh.size} does not match the device assignment size: "
                    f"{size}"
                )
        if self.abstract is not None and platforms is None:
            raise ValueError(
                "Passing lowering_platforms via jit(f).trace(*args).lower(lowering_platforms=...) "
                "is required when only AbstractMesh exists in a jitted computation. Got mesh: "
                f"{self.abstract}"
            )
        self.size = size

    def check(self, given):
        """Errors where `device_assignment` of compile, a tuple of devices or None, does not fit."""
        if self.abstract is None:
            if given is not None and tuple(given) != self.devices:
                raise ValueError(
                    "device_assignment passed to `.compile` must match the device_assignment "
                    "calculated from array shardings and out_shardings. Got "
                    f"{tuple(given)} and {self.devices}"
                )
        elif given is None:
            raise RuntimeError(
                "device_assignment cannot be `None` during compilation. Please pass a tuple of "
                "devices to `.compile(device_assignment=)`"
            )
        elif len(given) != self.size:
            raise ValueError(
                f"The size of abstract mesh {self.size} in {self.abstract} must match the length "
                f"of device assignment: {len(given)}"
            )
