"""shardax/_transform/shard_map.py - shard_map and smap: names, options, and what specs say of the
arguments and results of one call.

The core (cpp/callables/shard_map.cpp) asks a Plan where a new signature is staged; calls of known
signatures do not come here.
"""

import functools
import inspect
import types

import shardax._core as _core
from shardax import tree_util
from shardax._base.printing import running_meshes
from shardax._devices import mesh_context as meshes
from shardax._devices.mesh import AbstractMesh, Mesh
from shardax._devices.shardings import (
    NamedSharding,
    PartitionSpec,
    axes_of_entry,
    described,
    sharding_of,
)
from shardax._transform import shard_map_errors as errors
from shardax._transform import shard_sums as sums
from shardax._transform.hi_specs import opening_specs


class _Infer:
    """Stands for in_specs that are those of the arguments."""

    def __repr__(self):
        return "jax.sharding.Infer"

    def __reduce__(self):
        return "Infer"


Infer = _Infer()
_MISSING = object()


def shard_map(
    f=None,
    mesh=None,
    in_specs=Infer,
    out_specs=_MISSING,
    check_vma=None,
    *,
    axis_names=frozenset(),
    check_rep=None,
    auto=frozenset(),
):
    """A function of blocks, run on every device of a mesh.

    Args:
      f: a function of one device's blocks. Collectives (`lax.psum` ...) in it name axes of the
        mesh. Without it, a decorator.
      mesh: a Mesh or AbstractMesh; the current one (`set_mesh`, `with mesh:`) unless given.
      in_specs: a tree prefix of the positional arguments with PartitionSpecs: which mesh axes split
        which dimension. What a spec does not mention, all devices of that axis share. None leaves
        an argument as it is; without in_specs they are the arguments' own shardings.
      out_specs: a tree prefix of the result with PartitionSpecs: along which dimension the blocks
        of which axes are joined. Over axes that a spec does not mention, all devices have one
        value.
      axis_names: the axes that are split and that collectives may name; all unless given. `auto`,
        the older spelling, names the others.
      check_vma: follow over which axes values vary: results must not vary over axes that out_specs
        do not mention, and derivatives of shared values are sums over devices. Without it the first
        device's value is taken. `check_rep` is the older spelling.

    Returns:
      A function of whole arrays.

    Raises:
      ValueError: where specs do not fit mesh, arguments or results.
      TypeError: for specs that are none.

    Example:
      >>> mesh = shardax.make_mesh((4,), ("x",))
      >>> def normalise(block):
      ...     return block / lax.psum(jnp.sum(block), "x")
      >>> shard_map(normalise, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(jnp.arange(4.0))
      Array([0.        , 0.16666667, 0.33333334, 0.5       ], dtype=float32)
    """
    if out_specs is _MISSING:
        raise TypeError("shard_map() missing 1 required keyword-only argument: 'out_specs'")
    check = next((c for c in (check_vma, check_rep) if c is not None), True)
    options = {"mesh": mesh, "in_specs": in_specs, "out_specs": out_specs, "check": check}
    if auto and not axis_names:
        known = meshes.get_abstract_mesh() if mesh is None else mesh
        options["axis_names"] = frozenset(known.axis_names) - frozenset(auto)
    else:
        options["axis_names"] = axis_names
    if f is None:
        return functools.partial(_mapped, **options)
    return _mapped(f, **options)


def smap(f=None, /, *, in_axes=Infer, out_axes, axis_name):
    """shard_map over one axis of the current mesh, with dimensions in place of specs.

    Args:
      f: a function of one device's blocks. Without it, a decorator.
      in_axes: the dimension that the axis splits, an int or None, for all arguments; or a tuple
        with such, or trees of such, for each positional argument.
      out_axes: the dimension along which blocks are joined, or None: a tree prefix of the result.
      axis_name: an axis of the current mesh.

    Raises:
      TypeError: for axes that are none.

    Example:
      >>> with shardax.set_mesh(shardax.make_mesh((4,), ("x",))):
      ...     smap(lambda x: lax.psum(x, "x"), in_axes=0, out_axes=None, axis_name="x")(jnp.ones(4))
      Array([4.], dtype=float32)
    """
    if f is None:
        return functools.partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    errors.check_smap(in_axes, out_axes, axis_name, Infer)

    def spec(axis):
        return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, axis_name)

    def specs(axes):
        return tree_util.tree_map(spec, axes, is_leaf=lambda axis: axis is None)

    in_specs = Infer if in_axes is Infer else specs(in_axes)
    return _mapped(f, None, in_specs, specs(out_axes), True, {axis_name}, smap=True)


@opening_specs
def _mapped(f, mesh, in_specs, out_specs, check, axis_names, smap=False):
    if not callable(f):
        raise TypeError(
            f"shard_map requires a callable for its first argument, but got {f} of type {type(f)}."
        )
    if in_specs is Infer:
        return _inferring(f, mesh, out_specs, check, axis_names, smap)
    if sums.mentions_sums(in_specs, out_specs):
        inner = sums.of_terms(f, in_specs, out_specs, check)
        whole, parts = Plan(mesh, in_specs, out_specs, check, axis_names, smap), sums.plain
        mapped = _mapped(inner, mesh, parts(in_specs), parts(out_specs), check, axis_names, smap)
        return sums.relabelled(mapped, out_specs, lambda: whole.resolved()[0])
    plan = Plan(mesh, in_specs, out_specs, check, axis_names, smap)
    if not _has_static(in_specs):
        return _core.api.shard_map(f, plan)

    @functools.wraps(f)
    def call(*args):
        return _call_with_static(f, plan, args)

    return call


def _inferring(f, mesh, out_specs, check, axis_names, smap):
    """shard_map whose arguments come split as they are; where they, or the results, are sums that
    are left to do, through the specs that say so."""
    mapped = _core.api.shard_map(f, Plan(mesh, Infer, out_specs, check, axis_names, smap))
    left = sums.mentions_sums(out_specs)

    @functools.lru_cache(maxsize=64)
    def of_sums(specs, tree):
        in_specs = tree.unflatten(specs)
        return _mapped(f, mesh, in_specs, out_specs, check, axis_names, smap)

    @functools.wraps(mapped)
    def call(*args):
        leaves, tree = tree_util.tree_flatten(args)
        if not left and not any(map(sums.is_sum, leaves)):
            return mapped(*args)
        plan = Plan(mesh, Infer, out_specs, check, axis_names, smap)
        names = plan.resolved()[1]
        return of_sums(tuple(_own_spec(leaf, names) for leaf in leaves), tree)(*args)

    return call


def _has_static(in_specs):
    return None in tree_util.tree_leaves(in_specs, is_leaf=lambda spec: spec is None)


def _call_with_static(f, plan, args):
    """Arguments without a spec reach the function as they are."""
    specs, (leaves, tree) = plan.spread_in_specs(args), tree_util.tree_flatten(args)
    dynamic = [i for i, spec in enumerate(specs) if spec is not None]

    @functools.wraps(f)
    def of_dynamic(*values):
        return f(*tree.unflatten([values[dynamic.index(i)] if i in dynamic else leaf
                                  for i, leaf in enumerate(leaves)]))  # fmt: skip

    of_dynamic.__wrapped__ = f
    plan.check_arguments(f, args, tree, specs, leaves)
    inner = Plan(plan.mesh, tuple(specs[i] for i in dynamic), plan.out_specs, plan.check,
                 plan.axis_names, plan.smap)  # fmt: skip
    return _core.api.shard_map(of_dynamic, inner)(*(leaves[i] for i in dynamic))


class Plan:
    """The options of one shard_map. Equal plans of one function share their programs."""

    def __init__(self, mesh, in_specs, out_specs, check, axis_names, smap):
        self.mesh = mesh
        self.in_specs = in_specs
        self.out_specs = out_specs
        self.check = bool(check)
        self.axis_names = axis_names
        self.smap = smap

    def __eq__(self, other):
        return isinstance(other, Plan) and vars(self) == vars(other)

    __hash__ = object.__hash__

    def resolved(self):
        """The mesh, and the names of those of its axes that are split; raises for what is wrong."""
        mesh = self.mesh
        current = meshes.get_abstract_mesh()
        if mesh is None:
            mesh = meshes.get_mesh()
            if mesh.empty or mesh.abstract_mesh != current:
                mesh = current
            if mesh.empty:
                raise ValueError(
                    "shard_map: The context mesh cannot be empty. Use `jax.set_mesh(mesh)` to "
                    "enter into a mesh context, or pass mesh=."
                )
        if not isinstance(mesh, AbstractMesh):
            raise TypeError(
                "shard_map requires a `jax.sharding.Mesh` or a `jax.sharding.AbstractMesh` "
                f"instance for its second argument, but got {mesh} of type {type(mesh)}."
            )
        if mesh.empty:
            raise ValueError(f"shard_map requires a non-empty mesh. Got {mesh}")
        set_mesh = meshes.context_mesh()
        if self.mesh is not None and not set_mesh.empty and mesh.abstract_mesh != set_mesh:
            raise ValueError(
                f"shard_map: The context mesh {set_mesh} should match the mesh passed to "
                f"shard_map {mesh}"
            )
        if not isinstance(self.axis_names, (set, frozenset)):
            raise TypeError(
                "`axis_names` argument of shard_map should be of type `frozenset` or `set`. Got "
                f"type: {type(self.axis_names)}"
            )
        names = frozenset(self.axis_names) or frozenset(mesh.axis_names)
        if not names <= frozenset(mesh.axis_names):
            raise ValueError(
                f"jax.shard_map requires axis_names={names} to be a subset of "
                f"mesh.axis_names={frozenset(mesh.axis_names)}"
            )
        if self.in_specs is Infer:
            errors.check_inferable(mesh, names, self.smap)
        else:
            errors.check_specs("in", self.in_specs, names)
            errors.check_sum_specs("in", self.in_specs, mesh, names)
        errors.check_specs("out", self.out_specs, names)
        errors.check_sum_specs("out", self.out_specs, mesh, names)
        return mesh, names

    def spread_in_specs(self, args):
        """A spec for each leaf of the arguments; None where it is static."""
        try:
            return tree_util.broadcast_prefix(self.in_specs, args, is_leaf=lambda s: s is None)
        except ValueError:
            raise errors.prefix_error(self.in_specs, args, "in_specs") from None

    def check_arguments(self, f, args, tree, specs, leaves):
        mesh, _ = self.resolved()
        errors.check_arguments(f, mesh, tree, self.in_specs, specs, leaves)

    def of_call(self, f, args):
        return _Call(self, f, args)


class _Call:
    """What a plan says of one call."""

    def __init__(self, plan, f, args):
        self.plan = plan
        self.check = plan.check
        mesh, names = plan.resolved()
        self.mesh, self.names = mesh, names
        leaves, tree = tree_util.tree_flatten(args)
        if not isinstance(mesh, Mesh) and not any(isinstance(x, _core.Tracer) for x in leaves):
            errors.check_meshes_of_arguments(mesh, map(_mesh_of, leaves))
        if plan.in_specs is Infer:
            specs = [_own_spec(leaf, names) for leaf in leaves]
        else:
            specs = plan.spread_in_specs(args)
            errors.check_arguments(f, mesh, tree, plan.in_specs, specs, leaves)
        manual = frozenset(mesh.manual_axes)
        new = [name for name in mesh.axis_names if name in names and name not in manual]
        self.axes = tuple((name, mesh.shape[name]) for name in new)
        self._position = {name: i for i, name in enumerate(new)}
        self.mesh_description = _description(mesh, leaves)
        self.in_blocks = [self._blocks(spec) for spec in specs]

    def _blocks(self, spec):
        return [
            tuple(self._position[name] for name in axes_of_entry(entry) if name in self._position)
            for entry in spec
        ]

    def of_result(self, f, result, varying):
        """The blocks of each leaf of a result, whose leaves are types; checks specs against them.

        `varying` lists, for each leaf, the axes over which it may vary.
        """
        plan = self.plan
        leaves, tree = tree_util.tree_flatten(result)
        try:
            specs = tree_util.broadcast_prefix(plan.out_specs, result)
        except ValueError:
            raise errors.prefix_error(plan.out_specs, result, "out_specs") from None
        errors.check_result_ranks(f, tree, plan.out_specs, specs, leaves)
        if plan.check:
            names = [name for name, _ in self.axes]
            varies = [{names[k] for k in axes} for axes in varying]
            errors.check_replication(f, self.mesh, names, tree, plan.out_specs, specs, varies)
            errors.check_sums(leaves, specs)
        return [self._blocks(spec) for spec in specs]

    def enter(self):
        meshes.enter_manual(self.mesh, [name for name, _ in self.axes])
        running_meshes.append(self.mesh)

    def leave(self):
        running_meshes.pop()
        meshes.leave_manual()


def prints(fun):
    """Whether the code of a function, or of one defined in it, names `print`."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    codes = [getattr(inspect.unwrap(fun), "__code__", None)]
    while codes:
        code = codes.pop()
        if isinstance(code, types.CodeType):
            if "print" in code.co_names:
                return True
            codes += code.co_consts
    return False


def _mesh_of(leaf):
    """The mesh that an array lies on; None for what lies on none."""
    return getattr(sharding_of(leaf), "mesh", None) if isinstance(leaf, _core.Array) else None


def _own_spec(leaf, names):
    """The spec of an argument's sharding, of the axes `names`."""
    tracer = isinstance(leaf, _core.Tracer)
    where = _core.api.typeof(leaf).sharding if tracer else sharding_of(leaf)
    if not isinstance(where, NamedSharding):
        return PartitionSpec()
    return where.spec.update(
        partitions=[
            tuple(name for name in axes_of_entry(entry) if name in names) for entry in where.spec
        ]
    )


def _description(mesh, leaves):
    """Of a sharding over `mesh`, as the core takes it; without devices where none are known, and
    None for explicit axes there."""
    if not isinstance(mesh, Mesh):
        abstract = mesh.abstract_mesh
        found = [meshes.get_mesh()]
        for leaf in leaves:
            if isinstance(leaf, _core.Array) and not isinstance(leaf, _core.Tracer):
                found.append(getattr(sharding_of(leaf), "mesh", meshes.get_mesh()))
        known = [m for m in found if isinstance(m, Mesh) and m.abstract_mesh == abstract]
        if not known:
            description = NamedSharding(mesh, PartitionSpec())._description(0)
            return None if mesh.explicit_axes else (*description[:2], (), *description[3:])
        mesh = known[0]
    return NamedSharding(mesh, PartitionSpec())._description(0)


def shown_params(names, in_splits, out_splits, mesh, check):
    """The params of the op as users of programs see them; called from C++."""

    def spec(splits):
        while splits and not splits[-1]:
            splits = splits[:-1]
        return PartitionSpec(*splits)

    return {
        "mesh": None if mesh is None else described(mesh).mesh,
        "in_specs": tuple(map(spec, in_splits)),
        "out_specs": tuple(map(spec, out_splits)),
        "check_vma": check,
        "newly_manual_axes": frozenset(names),
    }


__all__ = ["Infer", "shard_map", "smap"]
