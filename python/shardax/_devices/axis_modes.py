# shardax/_devices/axis_modes.py - functions in which mesh axes are of another type.
"""Over explicit axes, types say how arrays are split, and where an op leaves that open it raises.
Within auto_axes it does not; explicit_axes is the way back.
"""

import functools

import shardax._core as _core
from shardax._devices.constraints import with_sharding_constraint
from shardax._devices.mesh import AxisType
from shardax._devices.mesh_context import get_abstract_mesh, use_abstract_mesh

__all__ = ["auto_axes", "explicit_axes"]


def _with_axes(axes, kind):
    """A context in which `axes` of the current mesh (all unless given) are of that type."""
    mesh = get_abstract_mesh()
    names = mesh.axis_names if axes is None else (axes,) if isinstance(axes, str) else axes
    return use_abstract_mesh(mesh.update_axis_types({name: kind for name in names}))


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
      >>> mesh = make_mesh((2,), ("x",))
      >>> with set_mesh(mesh):
      ...     typeof(auto_axes(jnp.sort)(reshard(jnp.ones(4), P("x")), out_sharding=P("x")))
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
        with _with_axes(axes, AxisType.Auto), _core.api.ShardingGiven():
            out = fun(*args, **kwargs)
        return with_sharding_constraint(out, where)

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
      >>> mesh = make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
      >>> with set_mesh(mesh):
      ...     explicit_axes(lambda x: 2 * x, in_sharding=P("x"))(jnp.ones(4)).sharding.spec
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
        with _with_axes(axes, AxisType.Explicit):
            return fun(*with_sharding_constraint(args, where), **kwargs)

    return call


for _public in (auto_axes, explicit_axes):
    _public.__module__ = "shardax.sharding"
