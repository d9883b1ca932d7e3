"""shardax/_devices/type_shardings.py - shardings of types, for the core and for users."""

from shardax._devices.mesh_context import context_mesh
from shardax._devices.shardings import NamedSharding, completed, described
from shardax._devices.specs import PartitionSpec, axes_of_entry


def described_in_types(where, ndim):
    """The description of a sharding where types show it, over a mesh with explicit axes; else
    None."""
    where = getattr(where, "sharding", where)
    if not isinstance(where, NamedSharding) or not where.mesh.explicit_axes:
        return None
    return completed(where._description(ndim), ndim)


def unplaced(description, ndim):
    """The sharding of types that show none. It is over the mesh of the context, or of a description
    of an array's, without devices, so that it places nothing."""
    mesh = context_mesh()
    if mesh.empty and description is not None:
        mesh = described(description).mesh.abstract_mesh
    return NamedSharding(mesh, PartitionSpec(*[None] * ndim))


def of_type(description, ndim):
    """The sharding that a type has over a mesh with explicit axes, an entry per dimension."""
    where = described(completed(description, ndim))
    named = where.mesh.explicit_axes
    entries = [tuple(a for a in axes_of_entry(entry) if a in named) for entry in where.spec]
    spec = where.spec.update(partitions=entries)
    return NamedSharding(where.mesh.abstract_mesh, spec)
