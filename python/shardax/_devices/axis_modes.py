# shardax/_devices/axis_modes.py - functions in which mesh axes are of another type.
"""Over explicit axes, types say how arrays are split, and where an op leaves that open it raises.
Within auto_axes it does not; explicit_axes is the way back.
"""

import contextlib
import functools

import shardax._core as _core
from shardax import tree_util
from shardax._devices.constraints import labelled
from shardax._devices.mesh import AxisType, Mesh
from shardax._devices.mesh_context import get_abstract_mesh, set_mesh, use_abstract_mesh
from shardax._devices.resharding import with_kinds
from shardax._devices.shardings import NamedSharding

__all__ = ["auto_axes", "explicit_axes"]


def _with_axes(axes, kind, *wheres):
    """The types of axes where `axes` of the current mesh (all unless given) are of that type, and a
    context in which they are. Without a current mesh it is that of a sharding in `wheres`; None
    where there is none, or the axes are of that type."""
    mesh = get_abstract_mesh()
    context = contextlib.nullcontext()
    found = [w.mesh for w in tree_util.tree_leaves(wheres) if isinstance(w, NamedSharding)]
    if mesh.empty:
        if not found:
            return None
        mesh = found[0]
        context = set_mesh(mesh) if isinstance(mesh, Mesh) else context
    names = mesh.axis_names if axes is None else (axes,) if isinstance(axes, str) else axes
    types = {mesh._name_to_type[name] for name in names}
    if AxisType.Manual in types:
        raise NotImplementedError(
            "Going from `Manual` AxisType to `Auto` or `Explicit` AxisType is not allowed: axes "
            f"{', '.join(map(repr, names))} of {mesh}. Do it outside of shard_map."
        )
    if types == {AxisType.Auto} == {kind}:
        return None
    changed = mesh.abstract_mesh.update_axis_types({name: kind for name in names})
    return context, changed


def _cast(tree, mesh):
    """Arrays whose types are over `mesh`, with its types of axes."""

    def cast(x):
        return with_kinds(x, mesh) if isinstance(x, _core.Array) else x

    return tree_util.tree_map(cast, tree)


def auto_axes(fun=None, /, *, axes=None, out_sharding=None):
    """`fun`, in which the system decides how arrays are split over `axes`.

    Args:
      fun: a function of arrays. Without it, a decorator.
      axes: names of axes of the current mesh; all unless given.
      out_sharding: how the result is split: a PartitionSpec, Sharding, or tree prefix of them. It
        may be given when the function is called.

    Raises:
      TypeError: where no out_sharding is given.

    Example:
      >>> mesh = shardax.make_mesh((2,), ("x",))
      >>> with shardax.set_mesh(mesh):
      ...     x = shardax.reshard(jnp.ones(4), P("x"))
      ...     shardax.typeof(shardax.sharding.auto_axes(jnp.sort)(x, out_sharding=P("x")))
      ShapedArray(float32[4@x])
    """
    if fun is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)
    given = out_sharding

    @functools.wraps(fun)
    def call(*args, out_sharding=None, **kwargs):
        where = given if out_sharding is None else out_sharding
        if where is None:
            raise TypeError("Missing required keyword argument: 'out_sharding'")
        changed = _with_axes(axes, AxisType.Auto, where)
        if changed is None:
            return fun(*args, **kwargs)
        context, mesh = changed
        with context:
            with use_abstract_mesh(mesh), _core.api.ShardingGiven():
                out = fun(*_cast(args, mesh), **_cast(kwargs, mesh))
            return labelled(out, where)

    return call


def explicit_axes(fun=None, /, *, axes=None, in_sharding=None):
    """`fun`, in which the types of arrays say how they are split over `axes`.

    Args:
      fun: a function of arrays. Without it, a decorator.
      axes: names of axes of the current mesh; all unless given.
      in_sharding: how the arguments are split: a PartitionSpec, Sharding, or tree prefix of the
        tuple of arguments. It may be given when the function is called.

    Raises:
      TypeError: where no in_sharding is given.

    Example:
      >>> mesh = shardax.make_mesh((2,), ("x",), axis_types=(shardax.sharding.AxisType.Auto,))
      >>> with shardax.set_mesh(mesh):
      ...     f = shardax.sharding.explicit_axes(lambda x: 2 * x, in_sharding=P("x"))
      ...     f(jnp.ones(4)).sharding.spec
      P('x',)
    """
    if fun is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)
    given = in_sharding

    @functools.wraps(fun)
    def call(*args, in_sharding=None, **kwargs):
        where = given if in_sharding is None else in_sharding
        if where is None:
            raise TypeError("Missing required keyword argument: 'in_sharding'")
        changed = _with_axes(axes, AxisType.Explicit, where)
        if changed is None:
            raise ValueError(
                "Context mesh cannot be empty. Please use `jax.set_mesh` API to enter into a mesh "
                "context when using `explicit_axes`, or give NamedShardings."
            )
        context, mesh = changed
        with context:
            outer = get_abstract_mesh()
            with use_abstract_mesh(mesh):
                out = fun(*labelled(args, where), **kwargs)
            return _cast(out, outer)

    return call


for _public in (auto_axes, explicit_axes):
    _public.__module__ = "shardax.sharding"
