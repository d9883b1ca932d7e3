"""shardax/_transform/export/meshes.py - exported functions over other meshes than those of their
export: of the same sizes, with axes of other names or on other devices."""

from shardax._core import Tracer
from shardax._devices.device_put import device_put
from shardax._devices.memory_kinds import Space
from shardax._devices.mesh import Mesh
from shardax._devices.shardings import NamedSharding, PartitionSpec


def over_mesh(mesh, where):
    """A sharding over another mesh of the same sizes, axis by axis."""
    if not isinstance(where, NamedSharding):
        return None
    if mesh.axis_sizes != where.mesh.axis_sizes:
        raise ValueError(
            f"Exported: the mesh has axes of sizes {mesh.axis_sizes}, but the function was "
            f"exported for {where.mesh.axis_sizes}."
        )
    names = dict(zip(where.mesh.axis_names, mesh.axis_names, strict=True))
    entries = [
        tuple(names[n] for n in entry) if isinstance(entry, tuple) else names.get(entry)
        for entry in where.spec
    ]
    unreduced = {names[n] for n in where.spec.unreduced}
    spec = PartitionSpec(*entries, unreduced=unreduced) if unreduced else PartitionSpec(*entries)
    return NamedSharding(mesh, spec, memory_kind=where.memory_kind)


def on_host(mesh, aval):
    """The sharding of whole arrays of a type that lie in the host's memory; None for others."""
    if getattr(aval, "memory_space", None) is not Space.Host:
        return None
    return NamedSharding(mesh, PartitionSpec(*[None] * aval.ndim), memory_kind=Space.Host.kind)


def over_exported_mesh(arguments, expected, placed):
    """Arguments of a call that lie over another mesh of the same sizes, over that of the export. A
    function that was exported for one device takes them from any mesh.

    Args:
      expected, placed: the shardings of arguments and of results at export, None for those without.

    Returns:
      The arguments, and a function that brings results to where the arguments were.
    """
    tracers = any(isinstance(x, Tracer) for x in arguments)
    given = [None if tracers else getattr(x, "sharding", None) for x in arguments]
    meshes = [w.mesh for w in given if _over_devices(w)]
    named = [w.mesh for w in (*expected, *placed) if isinstance(w, NamedSharding)]
    here = {m.axis_sizes for m in (*meshes, *named)}
    if meshes and named and named[0].size == 1 < meshes[0].size:
        return _on_one_device(arguments, given, named[0], meshes[0])
    if not meshes or not named or len(here) > 1 or meshes[0] == named[0]:
        return arguments, lambda results: results
    moved = [
        device_put(x, over_mesh(named[0], w)) if _over_devices(w) else x
        for x, w in zip(arguments, given, strict=True)
    ]
    wheres = [over_mesh(meshes[0], where) for where in placed]

    def back(results):
        return [x if w is None else device_put(x, w) for x, w in zip(results, wheres, strict=True)]

    return moved, back


def _on_one_device(arguments, given, one, mesh):
    whole, everywhere = NamedSharding(one, PartitionSpec()), NamedSharding(mesh, PartitionSpec())
    moved = [
        device_put(x, whole) if _over_devices(w) else x
        for x, w in zip(arguments, given, strict=True)
    ]
    return moved, lambda results: [device_put(x, everywhere) for x in results]


def _over_devices(where):
    return isinstance(where, NamedSharding) and isinstance(where.mesh, Mesh)
