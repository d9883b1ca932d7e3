# shardax/_devices/result_splits.py - results that are split as an out_sharding says.
import shardax._core as _core
from shardax._devices.constraints import current_mesh, is_asked, labelled, resolved
from shardax._devices.mesh import AxisType
from shardax._devices.mesh_context import context_mesh, get_abstract_mesh
from shardax._devices.shardings import NamedSharding, PartitionSpec, axes_of_entry

__all__ = ["check_explicit", "is_asked", "out_sharding_of", "split"]


def split(where, function):
    """The result of `function` of no arguments, split as `where` says if operands leave that
    open."""
    with _core.api.ShardingGiven(list(getattr(where.spec, "unreduced", ()))):
        out = function()
    rank = getattr(out, "ndim", None)
    if rank is not None and len(where.spec) > rank and not any(where.spec[rank:]):
        where = where.with_spec(where.spec.update(partitions=where.spec[:rank]))
    return labelled(out, where)


def out_sharding_of(where, function):
    """An `out_sharding` as a Sharding; ValueError for axes that types do not follow."""
    if isinstance(where, PartitionSpec) and current_mesh().empty and context_mesh().empty:
        raise ValueError(
            f"{function}: Using PartitionSpec when you are not under a mesh context is not "
            "allowed. Please pass a NamedSharding instance or enter into a mesh context via "
            f"`jax.set_mesh`. Got {where}"
        )
    where = resolved(where, function, "out_sharding")
    check_explicit(where, function)
    context = get_abstract_mesh()
    mesh = getattr(where, "mesh", context)
    differ = mesh.abstract_mesh.shape_tuple, mesh.axis_types
    if is_asked(context) and differ != (context.shape_tuple, context.axis_types):
        raise ValueError(
            f"{function}: Context mesh {context} should match the mesh of sharding {where}. Give "
            "out_sharding a PartitionSpec, which is over the current mesh."
        )
    return where


def check_explicit(where, function):
    spec = getattr(where, "spec", ())
    types = where.mesh._name_to_type if isinstance(where, NamedSharding) else {}
    for entry in spec:
        for name in axes_of_entry(entry):
            if types[name] != AxisType.Explicit:
                raise ValueError(
                    f"PartitionSpec passed to {function} cannot contain axis names that are of "
                    f"type Auto or Manual. Got PartitionSpec: {spec} with axis name: {name} of "
                    f"type: {types[name]!s}. Use with_sharding_constraint there."
                )
