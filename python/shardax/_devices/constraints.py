"""shardax/_devices/constraints.py - shardings that users ask for within programs.

All devices share one memory: a constraint labels a value. While a function is traced the label is
an op of its program, which transformations carry along and which costs nothing at run time.
"""

import functools
import operator

import shardax._core as _core
from shardax import config, tree_util
from shardax._base.api_errors import not_a_prefix
from shardax._base.arrays import asarray
from shardax._devices.layout import Layout
from shardax._devices.layouts import Format, described
from shardax._devices.mesh import AxisType, Mesh
from shardax._devices.mesh_context import context_mesh, get_abstract_mesh, get_mesh
from shardax._devices.shardings import (
    IndivisibleError,
    NamedSharding,
    PartitionSpec,
    Sharding,
    axes_of_entry,
    completed,
    is_explicit,
)


def with_sharding_constraint(x, shardings):
    """`x` labelled with shardings (a tree prefix of them), also while a function is traced.

    Args:
      x: a tree of arrays.
      shardings: Shardings, PartitionSpecs of the current mesh, or Formats. Dimensions for which a
        spec has PartitionSpec.UNCONSTRAINED stay split as they are.

    Raises:
      ValueError: where a sharding does not fit an array, or the trees differ. Also for axes of a
        mesh that was asked to be explicit, over which reshard splits.
      AssertionError: where all axes of the current mesh were, and `x` is split in another way.
      RuntimeError: for PartitionSpecs where no mesh is current.

    Example:
      >>> spread = shardax.NamedSharding(shardax.make_mesh((2,), ("x",)), shardax.P("x"))
      >>> f = shardax.jit(lambda x: 2 * lax.with_sharding_constraint(x, spread))
      >>> f(jnp.zeros(4)).sharding.spec
      P('x',)
    """
    leaves, treedef = tree_util.tree_flatten(x)
    wheres = spread(shardings, x, "with_sharding_constraint", "shardings", formats=True)
    what = "One of with_sharding_constraint arguments"
    for leaf, where in zip(leaves, wheres):
        _check_devices(leaf, getattr(where, "sharding", where))
    if any(where is None for where in wheres):
        raise ValueError(
            f"{what} got sharding None which is not allowed. Please pass a Sharding or a "
            "PartitionSpec; P() is that of arrays that are whole on each device."
        )
    return treedef.unflatten(
        leaf
        if _is_asserted(leaf, getattr(where, "sharding", where))
        else constrain(leaf, where, what)
        for leaf, where in zip(leaves, wheres)
    )


def _check_devices(x, where):
    """ValueError where an array lies on other devices than those of a mesh, or in another order."""
    if not isinstance(where, NamedSharding) or not isinstance(where.mesh, Mesh):
        return
    if not isinstance(x, _core.Array) or isinstance(x, _core.Tracer):
        return
    known = _core.get_sharding(x)
    ids = where.mesh.device_ids_in_order
    if known is None or known[5].startswith("p") or known[2] == ids:
        return
    raise ValueError(
        "Received incompatible devices for jitted computation. Got an argument of "
        f"with_sharding_constraint with device ids {list(known[2])} and a sharding with device ids "
        f"{list(ids)}. Bring the array there with device_put."
    )


def is_asked(mesh):
    """True if the user asked for explicit axes by name."""
    return bool(mesh.explicit_axes) and not mesh._implied


def _is_asserted(x, where):
    """True if all axes of the current mesh are explicit, by the user's wish. A constraint then
    gives the present split of `x`; another one raises AssertionError. ValueError for a spec that
    names explicit axes where not all are."""
    if not isinstance(where, NamedSharding) or not is_asked(where.mesh):
        return False
    context = get_abstract_mesh()
    if not is_asked(context) or not context.are_all_axes_explicit:
        _check_auto(where)
        return False
    own = _core.api.typeof(x).sharding.spec
    spec = PartitionSpec(*(*_in_types(where), *[None] * len(own))[: len(own)])
    if any(a != b for a, b in zip(own, spec) if b is not PartitionSpec.UNCONSTRAINED):
        raise AssertionError(
            "`with_sharding_constraint` acts as an assert when all axes of mesh are of type "
            f"`Explicit`. The array sharding: {own} did not match the sharding provided: {spec}. "
            "Please use `jax.sharding.reshard` to shard your input to the sharding you want."
        )
    return True


def _in_types(where):
    """The entries of its spec as types have them: without axes of one device, if asked so."""
    if not config.jax_remove_size_one_mesh_axis_from_type:
        return where.spec
    shape = where.mesh.shape

    def seen(entry):
        if entry is None or entry is PartitionSpec.UNCONSTRAINED:
            return entry
        return tuple(name for name in axes_of_entry(entry) if shape[name] > 1)

    return PartitionSpec(*map(seen, where.spec))


def _check_auto(where):
    types = where.mesh._name_to_type
    if any(types[name] != AxisType.Auto for entry in where.spec for name in axes_of_entry(entry)):
        raise ValueError(
            "The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto "
            f"axes of the mesh. Got spec={where.spec} and mesh={where.mesh.abstract_mesh}. You "
            "probably meant to use `reshard` API?"
        )


def labelled(x, shardings):
    """`x` labelled with shardings over axes of any type (a tree prefix of them)."""
    leaves, treedef = tree_util.tree_flatten(x)
    wheres = spread(shardings, x, "with_sharding_constraint", "shardings")
    what = "One of with_sharding_constraint arguments"
    return treedef.unflatten(constrain(leaf, w, what) for leaf, w in zip(leaves, wheres))


def constrained(x, out_sharding):
    """`x`, labelled with `out_sharding` unless that is None."""
    return x if out_sharding is None else labelled(x, out_sharding)


def resolved(where, function, argument):
    """The Sharding that is meant; None where none is."""
    if where is None or isinstance(where, Sharding):
        return where
    if not isinstance(where, PartitionSpec):
        raise TypeError(
            f"{function}: {argument} leaf specifications are expected to be Shardings, "
            f"PartitionSpec instances or None, but got {where!r}."
        )
    mesh = current_mesh() if context_mesh().manual_axes == () else context_mesh()
    if mesh.empty:
        raise RuntimeError(
            f"{function} requires a non-empty mesh in context if you are passing "
            f"`PartitionSpec`s to {argument}, got {where!r}. Define a mesh with "
            "`jax.set_mesh(mesh)`, or pass NamedSharding(mesh, spec)."
        )
    return NamedSharding(mesh, where)


def current_mesh():
    """The devices of the current mesh, with the axes that use_abstract_mesh gives them."""
    mesh, now = get_mesh(), context_mesh()
    if mesh.empty or now.empty or now.size != mesh.size:
        return mesh
    if (now.shape_tuple, now.axis_types) == (mesh.shape_tuple, mesh.axis_types):
        return mesh
    devices = mesh.devices.reshape(now.axis_sizes)
    return Mesh(devices, now.axis_names, axis_types=now.axis_types)


def _check_manual(where):
    """ValueError for axes that shard_map splits by hand."""
    manual = context_mesh().manual_axes
    for entry in getattr(where, "spec", ()):
        for name in axes_of_entry(entry):
            if name in manual:
                raise ValueError(
                    f"with_sharding_constraint: the spec {where.spec} contains a manual axes "
                    f"'{name}' of mesh {context_mesh()}. Within shard_map, a constraint may name "
                    "the axes that are not manual."
                )


def spread(shardings, tree, function, argument, formats=False):
    """A Sharding or None for each leaf of `tree`; `formats`: a Format that names a layout stays."""

    def is_leaf(where):
        return where is None or isinstance(where, PartitionSpec)

    try:
        wheres = tree_util.broadcast_prefix(shardings, tree, is_leaf=is_leaf)
    except ValueError:
        not_a_prefix(f"{function} {argument}", shardings, tree)
    if any(isinstance(where, Format) for where in wheres):
        wheres = [
            _sharding_of(where, leaf, formats) if isinstance(where, Format) else where
            for where, leaf in zip(wheres, tree_util.tree_leaves(tree), strict=True)
        ]
    return [
        where if isinstance(where, Format) else resolved(where, function, argument)
        for where in wheres
    ]


def _sharding_of(where, leaf, formats):
    """The Sharding of a Format for `leaf`, whose elements lie in the order of its dimensions."""
    if where.layout is not None:
        shape = leaf.shape if hasattr(leaf, "shape") else asarray(leaf).shape
        where.layout.check_compatible_aval(shape)
    return where if formats and isinstance(where.layout, Layout) else where.sharding


def constrain(leaf, where, what):
    """`leaf` as an array, labelled; errors name it by `what`."""
    x = asarray(leaf)
    layout = where.layout if isinstance(where, Format) else None
    where = getattr(where, "sharding", where)
    if where is None:
        return x
    if context_mesh().manual_axes:
        _check_manual(where)
    try:
        description = described(where if layout is None else Format(layout, where), x.ndim)
    except ValueError as e:
        raise ValueError(
            f"{what} is incompatible with its sharding annotation {where}: {e}"
        ) from None
    if isinstance(where, NamedSharding) and not isinstance(where.mesh, Mesh):
        if not isinstance(x, _core.Tracer):
            _check_concrete(leaf, where)
        ids = _device_ids(x, where.mesh)
        if ids is None and where.mesh.explicit_axes:
            return x
        description = (*description[:2], ids or (), *description[3:])
    if is_explicit(description):
        description = completed(description, x.ndim)
    spec = list(description[3])
    for dimension in getattr(where, "unconstrained_dims", ()):
        spec[dimension] = None
    if isinstance(x, _core.Tracer):
        spec = _even(_with_explicit(spec, x, where), x.shape, description)
        while spec and spec[-1] == () and not description[5]:
            spec.pop()
    else:
        _check_even(x.shape, where)
    return _core.with_sharding(x, (*description[:3], tuple(spec), *description[4:]))


def _check_even(shape, where):
    """Errors where `where` splits a dimension unevenly, of JAX's class for its mesh."""
    try:
        where.shard_shape(shape)
    except IndivisibleError as e:
        if isinstance(getattr(where, "mesh", None), Mesh):
            raise
        raise ValueError(str(e)) from None


def _check_concrete(x, where):
    """Errors where `x` does not say which devices the abstract mesh of `where` stands for."""
    if not isinstance(x, _core.Array):
        raise ValueError(
            "with_sharding_constraint with a NamedSharding over an AbstractMesh requires the input "
            f"passed should be a `jax.Array`, whose mesh it is over. Got {type(x)}."
        )
    known = _core.get_sharding(x)
    if known is None and get_mesh().shape_tuple == where.mesh.shape_tuple:
        return
    if known is None or not known[4]:
        raise TypeError(
            "The sharding on the input must be a `NamedSharding` where the target sharding has an "
            f"AbstractMesh. Got {where} for an array that is not split over a mesh."
        )
    if (known[0], known[1]) != (where.mesh.axis_names, where.mesh.axis_sizes):
        raise ValueError(
            f"Mesh shape of the input {dict(zip(known[0], known[1]))} does not match the mesh "
            f"shape of the target sharding {dict(where.mesh.shape)} for with_sharding_constraint. "
            "Bring the array to that mesh with device_put."
        )


def _device_ids(x, mesh):
    """Those of the array's own mesh, or of the current one, where it has the axes of `mesh`."""
    known = _core.get_type_sharding(x)
    if known is None and not isinstance(x, _core.Tracer):
        known = _core.get_sharding(x)
    if known is not None and (known[0], known[1]) == (mesh.axis_names, mesh.axis_sizes):
        return known[2]
    current = get_mesh()
    return current.device_ids_in_order if current.shape_tuple == mesh.shape_tuple else None


def _with_explicit(spec, x, where):
    """`spec`, of axes that are not explicit, behind the explicit ones that split `x`."""
    known = _core.get_type_sharding(x)
    if known is None or set(known[5]).isdisjoint("a"):
        return spec
    types = dict(zip(known[0], known[5]))
    if any(types.get(name) != "a" for names in spec for name in names or ()):
        return spec
    own = [tuple(name for name in names if types[name] != "a") for names in known[3]]
    return [(*a, *(b or ())) for a, b in zip(own, (*spec, *((),) * len(own)))]


def _even(spec, shape, description):
    """`spec` without the dimensions that it splits unevenly: within a program that is allowed."""
    sizes = dict(zip(description[0], description[1]))

    def parts(names):
        return functools.reduce(operator.mul, (sizes[name] for name in names), 1)

    return [() if names and n % parts(names) else names for names, n in zip(spec, shape)]
