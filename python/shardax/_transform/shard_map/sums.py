# shardax/_transform/shard_map/sums.py - shard_map over sums that are still to be done.
"""An array with P(unreduced={"x"}) stands for the sum of what the devices along x have.

If types check the operations on it, all of these are linear. In a function of blocks the first
device then sees all of the sum, the others zero. Unchecked functions can tell the terms apart, and
get them as an array that stacks them. Results that out_specs leave unreduced are summed where
blocks are joined.
"""

import functools

from shardax import tree_util
from shardax._core import Array, Tracer, get_type_sharding, partial_sums
from shardax._core import api as _core
from shardax._devices.constraints import labelled
from shardax._devices.mesh import Mesh
from shardax._devices.shardings import NamedSharding
from shardax._devices.shardings import label as place_label
from shardax._devices.specs import PartitionSpec
from shardax._transform.shard_map.errors import check_sums


def _is_spec(spec):
    return spec is None or isinstance(spec, PartitionSpec)


def mentions_sums(*specs):
    """Is a spec of the trees unreduced or reduced over an axis?"""
    leaves = tree_util.tree_leaves(specs, is_leaf=_is_spec)
    return any(any(spec._sums) for spec in leaves if isinstance(spec, PartitionSpec))


def is_sum(x):
    """Is it an array that is unreduced or reduced over explicit axes?"""
    known = get_type_sharding(x) if isinstance(x, Array) else None
    return known is not None and any(known[6:8])


def plain(specs):
    """The specs without their sums."""
    return tree_util.tree_map(
        lambda spec: spec if spec is None else PartitionSpec(*spec), specs, is_leaf=_is_spec
    )


def stacked(specs):
    """The specs of arguments whose terms are stacked: by an axis in front for each that they are
    unreduced over."""
    return tree_util.tree_map(
        lambda spec: spec if spec is None else PartitionSpec(*sorted(spec.unreduced), *spec),
        specs,
        is_leaf=_is_spec,
    )


def _stack(x, spec, mesh):
    if spec is None or not spec.unreduced:
        return x
    where = NamedSharding(mesh, stacked(spec))
    count = len(spec.unreduced)
    return partial_sums(x, where._description(_core.typeof(x).ndim + count), count)


def _each(change, specs, tree):
    """`tree` with each leaf changed by the axes of its spec."""
    known = tree_util.broadcast_prefix(specs, tree, is_leaf=_is_spec)
    leaves, structure = tree_util.tree_flatten(tree)
    return structure.unflatten([change(x, spec) for x, spec in zip(leaves, known)])


def _own(x, spec):
    if spec is None or not spec.unreduced:
        return x
    return x.reshape(x.shape[len(spec.unreduced) :])


def _term(x, spec):
    if spec is None:
        return x
    if spec.unreduced:
        x = _core.first_term(x, tuple(sorted(spec.unreduced)))
    if spec.reduced:
        x = _core.pcast(x, tuple(sorted(spec.reduced)), "reduced")
    return x


def _total(x, spec):
    if not spec.unreduced:
        return x
    return _core.reduce_devices("psum", x, tuple(sorted(spec.unreduced)), None)


def _typed_total(x, spec):
    mat = _core.typeof(x).mat
    left = tuple(sorted(spec.unreduced - mat.unreduced))
    if left:
        x = _core.pcast(x, left, "unreduced")
    check_sums([_core.typeof(x)], [spec])
    x = _total(x, spec)
    return _core.value_of_reduced(x, tuple(sorted(spec.reduced))) if spec.reduced else x


def of_terms(f, in_specs, out_specs, check):
    """`f` between blocks without sums to be done: each device computes with its term, which types
    know where they are checked."""
    term, total = (_term, _typed_total) if check else (_own, _total)

    @functools.wraps(f)
    def call(*args):
        return _each(total, out_specs, f(*_each(term, in_specs, args)))

    return call


def relabelled(mapped, plan):
    """`mapped`, with sums among its arguments as `plan` says: as they are or, unchecked, as stacks
    of terms. Its results are labelled with the sums that out_specs leave to do."""
    in_specs, out_specs = plan.in_specs, plan.out_specs

    def label(x, spec, mesh):
        if not any(spec._sums) or not mesh.explicit_axes:
            return x
        return labelled(x, NamedSharding(mesh, spec))

    def run(*args):
        mesh, _ = plan.resolved()  # or the error of the specs
        plan.check_types(args)
        if not plan.check:
            args = _each(lambda x, spec: _stack(x, spec, mesh), in_specs, args)
        return _each(lambda x, spec: label(x, spec, mesh), out_specs, mapped(*args))

    def as_written(x, spec, mesh):
        known = isinstance(mesh, Mesh) and mesh.explicit_axes
        return place_label(x, NamedSharding(mesh, spec)) if known else x

    # One program, within which each device's term is known.
    staged = _core.jit(run)

    @functools.wraps(mapped)
    def call(*args):
        if any(isinstance(leaf, Tracer) for leaf in tree_util.tree_leaves(args)):
            return run(*args)
        results, mesh = staged(*args), plan.resolved()[0]
        return _each(lambda x, spec: as_written(x, spec, mesh), out_specs, results)

    return call
