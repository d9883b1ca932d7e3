# shardax/_devices/resharding.py - arrays split in another way over axes that types show.
import shardax._core as _core
from shardax import tree_util
from shardax._base.arrays import asarray
from shardax._devices.constraints import constrain, spread
from shardax._devices.result_splits import check_explicit
from shardax._devices.shardings import NamedSharding, completed


def reshard(xs, out_shardings):
    """A tree of arrays, split over explicit axes of a mesh in another way.

    Args:
      xs: a tree of arrays.
      out_shardings: shardings or PartitionSpecs, a tree prefix of `xs`.

    Raises:
      ValueError: for axes that types do not show: `lax.with_sharding_constraint` takes these.

    Example:
      >>> with shardax.set_mesh(shardax.make_mesh((2,), ("x",))):
      ...     shardax.typeof(shardax.reshard(jnp.zeros(4), P("x")))
      ShapedArray(float32[4@x])
    """
    leaves, treedef = tree_util.tree_flatten(xs)
    wheres = spread(out_shardings, xs, "reshard", "out_shardings")
    for where in wheres:
        check_explicit(where, "reshard")
    what = "One of reshard arguments"
    return treedef.unflatten(
        with_kinds(leaf, where.mesh)
        if _is_automatic(where) and isinstance(leaf, _core.Tracer)
        else constrain(leaf, _fitted(where, asarray(leaf).ndim), what)
        for leaf, where in zip(leaves, wheres)
    )


def _is_automatic(where):
    """True if it names no axis: types show none of its mesh."""
    return isinstance(where, NamedSharding) and not where.mesh.explicit_axes


def with_kinds(x, mesh):
    """`x` split as it is, over the axes of `mesh`, which may be of other types than its own."""
    known = _core.get_type_sharding(x)
    if known is None and not isinstance(x, _core.Tracer):
        known = _core.get_sharding(x)
    if known is None or not known[4] or tuple(known[0]) != mesh.axis_names:
        return x
    kinds = mesh._kinds()
    if kinds == known[5]:
        return x
    changed = completed((*known[:5], kinds, *known[6:]), x.ndim)
    if isinstance(x, _core.Tracer) and not mesh.explicit_axes:  # its type shows no split any more
        changed = (*changed[:3], (None,) * x.ndim, *changed[4:])
    return _core.with_sharding(x, changed)


def _fitted(where, rank):
    """`where`, whose spec may go on with None beyond the dimensions of an array of that rank."""
    if not isinstance(where, NamedSharding) or any(e is not None for e in where.spec[rank:]):
        return where
    return where.with_spec(where.spec.update(partitions=where.spec[:rank]))


reshard.__module__ = "shardax.sharding"
