"""shardax/_transform/shard_map/plan.py - specs of the arguments and results of one call.

The core (cpp/callables/transforms/shard_map.cpp) asks a Plan where a new signature is staged; calls
of known signatures do not come here.
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
from shardax._transform.shard_map import errors


class _Infer:
    """Stands for in_specs that are those of the arguments."""

    def __repr__(self):
        return "jax.sharding.Infer"

    def __reduce__(self):
        return "Infer"


Infer = _Infer()


class Plan:
    """The options of one shard_map. Equal plans of one function share their programs.

    `typed`: in_specs are held against how types show that arguments are split; not where that has
    been done, and the specs say nothing of sums.
    """

    def __init__(self, mesh, in_specs, out_specs, check, axis_names, smap, typed=True):
        self.mesh = mesh
        self.in_specs = in_specs
        self.out_specs = out_specs
        self.check = bool(check)
        self.axis_names = axis_names
        self.smap = smap
        self.typed = typed

    def __eq__(self, other):
        return isinstance(other, Plan) and vars(self) == vars(other)

    __hash__ = object.__hash__

    def resolved(self):
        """The mesh, and the names of those of its axes that are split; raises for wrong ones."""
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

    def check_types(self, args):
        mesh, names = self.resolved()
        if mesh.are_all_axes_explicit and not mesh._implied and names == {*mesh.axis_names}:
            leaves = tree_util.tree_leaves(args)
            errors.check_types(mesh, self.spread_in_specs(args), leaves)

    def of_call(self, f, args):
        return _Call(self, f, args)


class _Call:
    """The part of a plan for one call."""

    def __init__(self, plan, f, args):
        self.plan = plan
        self.check = plan.check
        self.current = plan.mesh is None
        mesh, names = plan.resolved()
        self.mesh, self.names = mesh, names
        leaves, tree = tree_util.tree_flatten(args)
        if not isinstance(mesh, Mesh) and not any(isinstance(x, _core.Tracer) for x in leaves):
            errors.check_meshes_of_arguments(mesh, map(_mesh_of, leaves))
        if plan.in_specs is Infer:
            specs = [own_spec(leaf, names) for leaf in leaves]
        else:
            specs = plan.spread_in_specs(args)
            errors.check_arguments(f, mesh, tree, plan.in_specs, specs, leaves)
            if plan.typed:
                plan.check_types(args)
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
    """True if the code of a function, or of one defined in it, names `print`."""
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
    """The mesh that an array lies on; None for values on no mesh."""
    return getattr(sharding_of(leaf), "mesh", None) if isinstance(leaf, _core.Array) else None


def own_spec(leaf, names):
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
    """The description of a sharding over `mesh`, as the core takes it; without devices where none
    are known, and None for explicit axes there."""
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


def shown_params(names, in_splits, out_splits, mesh, check, current):
    """The params of the op as users of programs see them; called from C++."""

    def spec(splits):
        while splits and not splits[-1]:
            splits = splits[:-1]
        return PartitionSpec(*splits)

    mesh = None if mesh is None else described(mesh).mesh
    return {
        "mesh": mesh.abstract_mesh if current and mesh is not None else mesh,
        "in_specs": tuple(map(spec, in_splits)),
        "out_specs": tuple(map(spec, out_splits)),
        "check_vma": check,
        "newly_manual_axes": frozenset(names),
    }
