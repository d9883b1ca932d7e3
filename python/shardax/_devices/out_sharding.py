# shardax/_devices/out_sharding.py - the argument out_sharding of functions.
"""Over explicit axes it says how a result is split where operands leave that open, and which sums
are left to do.
"""

import functools

import shardax._core as _core
from shardax import tree_util
from shardax._devices.constraints import current_mesh, is_asked, labelled, resolved
from shardax._devices.mesh import AxisType
from shardax._devices.mesh_context import context_mesh, get_abstract_mesh
from shardax._devices.shardings import NamedSharding, PartitionSpec, axes_of_entry
from shardax.errors import ShardingTypeError


def takes_out_sharding(function):
    """`function`, whose argument `out_sharding` says how the result is split over the mesh."""

    @functools.wraps(function)
    def call(*args, out_sharding=None, **kwargs):
        if out_sharding is None:
            return function(*args, **kwargs)

        def run(args, kwargs):
            return split_so(out_sharding, function.__name__, lambda: function(*args, **kwargs))

        return one_program_of_sums(out_sharding, run, args, kwargs)

    return call


def reshapes(function):
    """`function` of an array, which its result has in another shape: an `out_sharding` leaves the
    sums to do that the array leaves."""

    @functools.wraps(function)
    def call(x, *args, out_sharding=None, **kwargs):
        if out_sharding is not None:
            _check_sums_kept(x, out_sharding_of(out_sharding, "reshape"))
        return function(x, *args, out_sharding=out_sharding, **kwargs)

    return call


def _check_sums_kept(x, where):
    """ValueError where a result would be unreduced or reduced over other axes than `x`, of a mesh
    that was asked to be explicit."""
    if not is_asked(where.mesh):
        return
    spec, type_ = where.spec, _core.api.typeof(x)
    own = type_.sharding.spec
    for state in ("unreduced", "reduced"):
        asked, known = getattr(spec, state), getattr(own, state)
        if known and asked != known:
            raise ValueError(
                f"out_sharding passed to reshape must be {state} over the same mesh axes as "
                f"operand. Got out_sharding: {spec} and operand type: {type_.str_short(True)}"
            )
        if asked and not known:
            raise ValueError(
                f"out_sharding passed to `reshape` cannot contain {state} axes. Got {where} for an "
                f"operand without them: {type_.str_short(True)}"
            )


def whole_or_terms(function):
    """`function`, whose `out_sharding` splits no dimension: ShardingTypeError for one that does, or
    that leaves sums to do over some axes of the mesh and not over others, where the mesh was asked
    to be explicit."""

    @functools.wraps(function)
    def call(*args, out_sharding=None, **kwargs):
        if out_sharding is not None:
            where = out_sharding_of(out_sharding, function.__name__)
            left = where.spec.unreduced
            some = left and left != set(where.mesh.axis_names)
            if is_asked(where.mesh) and (where.spec.reduced or any(where.spec) or some):
                raise ShardingTypeError(
                    f"out_sharding passed to `jnp.{function.__name__}` can only be fully replicated"
                    f" or fully unreduced along all mesh axes, but got {where.spec} over "
                    f"{where.mesh.axis_names}. Split the result with shardax.reshard."
                )
        return function(*args, out_sharding=out_sharding, **kwargs)

    return call


def one_program_of_sums(out_sharding, run, *args):
    """`run(*args)`; where it leaves a sum to do, as one program of the arrays in `args`, in which
    it can be said what each device has."""
    if not getattr(getattr(out_sharding, "spec", out_sharding), "unreduced", ()):
        return run(*args)
    leaves, tree = tree_util.tree_flatten(args)
    arrays = {i: x for i, x in enumerate(leaves) if isinstance(x, _core.Array)}
    if not arrays or any(isinstance(x, _core.Tracer) for x in arrays.values()):
        return run(*args)

    def of_arrays(values):
        return run(*tree.unflatten([values.get(i, leaf) for i, leaf in enumerate(leaves)]))

    return _core.api.jit(of_arrays)(arrays)


def split_so(out_sharding, name, function):
    """What `function` of no arguments gives, split as the `out_sharding` of the user's function
    `name` says where operands leave it open."""
    where = out_sharding_of(out_sharding, name)
    with _core.api.ShardingGiven(sorted(getattr(where.spec, "unreduced", ()))):
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
