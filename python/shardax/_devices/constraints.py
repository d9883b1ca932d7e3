"""shardax/_devices/constraints.py - shardings that users ask for within programs.

All devices share one memory: a constraint labels a value. While a function is traced the label is
an op of its program, which transformations carry along and which costs nothing at run time.
"""

import functools
import operator

import shardax._core as _core
from shardax import tree_util
from shardax._base.arrays import asarray
from shardax._devices.layouts import Format
from shardax._devices.mesh import AxisType, Mesh
from shardax._devices.mesh_context import context_mesh, get_mesh
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
      shardings: Shardings, PartitionSpecs of the current mesh, or Formats, of which only the
        sharding changes anything: elements lie in the order of dimensions. Dimensions for which a
        spec has PartitionSpec.UNCONSTRAINED stay split as they are.

    Raises:
      ValueError: where a sharding does not fit an array, or the trees differ.
      RuntimeError: for PartitionSpecs where no mesh is current.

    Example:
      >>> spread = shardax.NamedSharding(shardax.make_mesh((2,), ("x",)), shardax.P("x"))
      >>> jit(lambda x: 2 * with_sharding_constraint(x, spread))(jnp.zeros(4)).sharding.spec
      P('x',)
    """
    leaves, treedef = tree_util.tree_flatten(x)
    wheres = _spread(shardings, x, "with_sharding_constraint", "shardings")
    what = "One of with_sharding_constraint arguments"
    return treedef.unflatten(_constrain(leaf, w, what) for leaf, w in zip(leaves, wheres))


def constrained(x, out_sharding):
    """`x`, labelled with `out_sharding` unless that is None."""
    return x if out_sharding is None else with_sharding_constraint(x, out_sharding)


def takes_out_sharding(function):
    """`function`, whose argument `out_sharding` says how the result is split over the mesh."""

    @functools.wraps(function)
    def call(*args, out_sharding=None, **kwargs):
        if out_sharding is None:
            return function(*args, **kwargs)
        where = out_sharding_of(out_sharding, function.__name__)
        with _core.api.ShardingGiven():
            out = function(*args, **kwargs)
        return with_sharding_constraint(out, where)

    return call


def out_sharding_of(where, function):
    """An `out_sharding` as a Sharding; ValueError for axes that types do not follow."""
    where = _resolve(where, function, "out_sharding")
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
    return where


def _resolve(where, function, argument):
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
    """The current mesh, with the types of axes that use_abstract_mesh gives them."""
    mesh, types = get_mesh(), context_mesh()
    same = types.shape_tuple == mesh.shape_tuple
    if mesh.empty or not same or types.axis_types == mesh.axis_types:
        return mesh
    return Mesh(mesh.devices, mesh.axis_names, axis_types=types.axis_types)


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


def _spread(shardings, tree, function, argument):
    """A Sharding or None for each leaf of `tree`."""

    def is_leaf(where):
        return where is None or isinstance(where, PartitionSpec)

    try:
        wheres = tree_util.broadcast_prefix(shardings, tree, is_leaf=is_leaf)
    except ValueError as e:
        details = str(e).replace("broadcast_prefix prefix_tree", f"{function} {argument}")
        raise ValueError(
            f"{function} {argument} specification must be a tree prefix of the corresponding "
            f"value; {details}"
        ) from None
    if any(isinstance(where, Format) for where in wheres):
        wheres = [
            _sharding_of(where, leaf) if isinstance(where, Format) else where
            for where, leaf in zip(wheres, tree_util.tree_leaves(tree), strict=True)
        ]
    return [_resolve(where, function, argument) for where in wheres]


def _sharding_of(where, leaf):
    """The Sharding of a Format for `leaf`, whose elements lie in the order of its dimensions."""
    if where.layout is not None:
        where.layout.check_compatible_aval(asarray(leaf).shape)
    return where.sharding


def _constrain(leaf, where, what):
    """`leaf` as an array, labelled; `what` it is in errors."""
    x = asarray(leaf)
    if where is None:
        return x
    if context_mesh().manual_axes:
        _check_manual(where)
    try:
        description = where._description(x.ndim)
    except ValueError as e:
        raise ValueError(
            f"{what} is incompatible with its sharding annotation {where}: {e}"
        ) from None
    if isinstance(where, NamedSharding) and not isinstance(where.mesh, Mesh):
        ids = _device_ids(x, where.mesh)
        if ids is None:
            return x  # names of axes, and no devices
        description = (*description[:2], ids, *description[3:])
    if is_explicit(description):
        description = completed(description, x.ndim)
    spec = list(description[3])
    for dimension in getattr(where, "unconstrained_dims", ()):
        spec[dimension] = None
    if isinstance(x, _core.Tracer):
        spec = _even(spec, x.shape, description)
        while spec and spec[-1] == () and not description[5]:
            spec.pop()
    else:
        where.shard_shape(x.shape)
    return _core.with_sharding(x, (*description[:3], tuple(spec), *description[4:]))


def _device_ids(x, mesh):
    """Those of the array's own mesh, or of the current one, where it has the axes of `mesh`."""
    known = _core.get_type_sharding(x)
    if known is not None and (known[0], known[1]) == (mesh.axis_names, mesh.axis_sizes):
        return known[2]
    current = get_mesh()
    return current.device_ids_in_order if current.shape_tuple == mesh.shape_tuple else None


def _even(spec, shape, description):
    """`spec` without the dimensions that it splits unevenly: within a program that is allowed."""
    sizes = dict(zip(description[0], description[1]))

    def parts(names):
        return functools.reduce(operator.mul, (sizes[name] for name in names), 1)

    return [() if names and n % parts(names) else names for names, n in zip(spec, shape)]


class Constrained:
    """`fun` as jit stages it where it has in_shardings or out_shardings."""

    def __init__(self, fun, in_shardings, out_shardings, static_positions):
        functools.update_wrapper(self, fun)
        self._shardings = in_shardings, out_shardings
        self._statics = static_positions

    def __call__(self, *args, **kwargs):
        inputs, outputs = self._shardings
        if inputs is not None:
            args = self._place(args, kwargs, inputs)
        out = self.__wrapped__(*args, **kwargs)
        return out if outputs is None else self._label(out, outputs, "out_shardings", "outputs")

    def _place(self, args, kwargs, shardings):
        if tree_util.tree_leaves(kwargs):
            raise ValueError(
                "jit: in_shardings are for positional arguments, but "
                f"{', '.join(map(repr, kwargs))} came by keyword (pjit does not support kwargs "
                "when in_shardings is specified)."
            )
        statics = {p % len(args) for p in self._statics if -len(args) <= p < len(args)}
        mapped = [i for i in range(len(args)) if i not in statics]
        if isinstance(shardings, list):
            shardings = tuple(shardings)
        if type(shardings) is tuple and len(shardings) != len(mapped):
            raise ValueError(
                "pjit in_shardings specification must be a tree prefix of the positional arguments "
                "tuple: a Sharding, a PartitionSpec, or a tuple of length equal to the number of "
                f"positional arguments. But in_shardings is a tuple of length {len(shardings)} for "
                f"{len(mapped)} positional arguments, static ones not counted."
            )
        dynamic = self._label(
            tuple(args[i] for i in mapped), shardings, "in_shardings", "arguments"
        )
        args = list(args)
        for i, value in zip(mapped, dynamic):
            args[i] = value
        return args

    def _label(self, tree, shardings, argument, what):
        wheres = _spread(shardings, tree, "jit", argument)
        paths, treedef = tree_util.tree_flatten_with_path(tree)
        out = []
        for (path, leaf), where in zip(paths, wheres):
            if getattr(where, "unconstrained_dims", ()):
                raise ValueError(
                    f"jit: Unconstrained dims are not allowed when passed to {argument}: {where}; "
                    "with_sharding_constraint takes them."
                )
            named = f"One of jit {what}, at {argument}{tree_util.keystr(path)},"
            x = _constrain(leaf, where, named)
            if where is not None:
                try:
                    where.shard_shape(x.shape)
                except IndivisibleError as e:
                    raise IndivisibleError(f"{named} cannot be split so: {e}") from None
            out.append(x)
        return treedef.unflatten(out)


def reshard(xs, out_shardings):
    """`xs` labelled with shardings (a tree prefix of them): with_sharding_constraint."""
    return with_sharding_constraint(xs, out_shardings)


reshard.__module__ = "shardax.sharding"
