# shardax/_devices/mesh_context.py - the current mesh: setting it and asking for it.
import numpy as np

from shardax._devices import mesh_state as state
from shardax._devices.mesh import AbstractMesh, AxisType, Mesh

_NO_MESH = Mesh(np.empty((), dtype=object), ())
_NO_AXES = AbstractMesh((), ())


class set_mesh:
    """Makes a mesh the current one, from now on or in a `with` block, which gives the one before
    back. PartitionSpecs without a mesh mean the current one. None: no mesh is current.

    Raises:
      ValueError: where `mesh` is no Mesh, has manual axes, or a function is being traced.

    Example:
      >>> with shardax.set_mesh(Mesh(shardax.devices()[:2], "x")):
      ...     print(shardax.sharding.get_mesh())
      Mesh('x': 2, axis_types=(Auto,))
    """

    def __init__(self, mesh) -> None:
        mesh = _NO_MESH if mesh is None else mesh
        if not isinstance(mesh, Mesh):
            raise ValueError(f"Expected mesh of type `jax.sharding.Mesh`. Got {type(mesh)}")
        if mesh._any_axis_manual:
            raise ValueError(
                f"mesh {mesh} contains manual axes which is not allowed when using "
                "`jax.set_mesh`. Please use `jax.shard_map` to enter into `Manual` mode instead."
            )
        self._mesh = mesh
        self._before = list(state.thread.meshes), list(state.thread.abstract)
        state.thread.meshes[-1:] = [mesh]
        state.thread.abstract[-1:] = [mesh.abstract_mesh]
        state.tell()

    def __enter__(self):
        return self._mesh

    def __exit__(self, *exc):
        state.thread.meshes[:], state.thread.abstract[:] = self._before
        state.tell()


use_mesh = set_mesh


class use_abstract_mesh:
    """A `with` block in which an AbstractMesh is current.

    Raises:
      ValueError: where `mesh` is none, or has another size than the one that is current.

    Example:
      >>> with shardax.sharding.use_abstract_mesh(shardax.sharding.AbstractMesh((2,), "x")):
      ...     shardax.sharding.get_abstract_mesh()
      AbstractMesh('x': 2, axis_types=(Auto,))
    """

    def __init__(self, mesh) -> None:
        if not isinstance(mesh, AbstractMesh) or isinstance(mesh, Mesh):
            raise ValueError(
                f"Expected mesh of type `jax.sharding.AbstractMesh`. Got type: {type(mesh)}"
            )
        self.mesh = mesh

    def __enter__(self):
        before = context_mesh()
        if not before.empty and not self.mesh.empty and before.size != self.mesh.size:
            raise ValueError(
                "use_abstract_mesh cannot change the size of the mesh. Got new mesh: "
                f"{self.mesh} with size={self.mesh.size} and prev mesh: {before} with "
                f"size={before.size}"
            )
        state.thread.abstract.append(self.mesh)
        state.tell()
        return self.mesh

    def __exit__(self, *exc):
        state.thread.abstract.pop()
        state.tell()


def get_mesh():
    """The current mesh: of the innermost `with mesh:` block or of `set_mesh`, else an empty one.

    Example:
      >>> shardax.sharding.get_mesh().empty
      True
    """
    return state.thread.meshes[-1] if state.thread.meshes else _NO_MESH


def context_mesh():
    """The mesh of set_mesh, use_abstract_mesh or shard_map, without devices; or an empty one."""
    return state.thread.abstract[-1] if state.thread.abstract else _NO_AXES


def get_abstract_mesh():
    """The current mesh, without its devices. Within shard_map its axes are of type Manual.

    Example:
      >>> with shardax.set_mesh(shardax.make_mesh((2,), ("x",))):
      ...     shardax.sharding.get_abstract_mesh().axis_names
      ('x',)
    """
    mesh = context_mesh()
    return get_mesh().abstract_mesh if mesh.empty else mesh


def enter_manual(mesh, names):
    """Within shard_map over `names`, until `leave_manual`."""
    types = {name: AxisType.Manual for name in names}
    state.thread.abstract.append(mesh.abstract_mesh.update_axis_types(types))
    state.tell()


def leave_manual():
    state.thread.abstract.pop()
    state.tell()


__all__ = [
    "context_mesh",
    "enter_manual",
    "get_abstract_mesh",
    "get_mesh",
    "leave_manual",
    "set_mesh",
    "use_abstract_mesh",
    "use_mesh",
]
