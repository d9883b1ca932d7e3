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


def takes_out_sharding(function=None, *, check=None):
    """`function`, whose argument `out_sharding` says how the result is split over the mesh.

    `check(where, x, name)`: errors of an `out_sharding` over axes that were asked to be explicit,
    which does not go with the first argument x of the function `name`.
    """
    if function is None:
        return functools.partial(takes_out_sharding, check=check)
    name = function.__name__
    first = function.__code__.co_varnames[0] if check else None

    @functools.wraps(function)
    def call(*args, out_sharding=None, **kwargs):
        if out_sharding is None:
            return function(*args, **kwargs)

        def run(args, kwargs):
            where = out_sharding_of(out_sharding, name)
            if check is not None and is_asked(where.mesh):
                check(where, args[0] if args else kwargs[first], name)
            return _split(where, lambda: function(*args, **kwargs))

        return one_program_of_sums(out_sharding, run, args, kwargs)

    return call


def keeps_sums(where, x, name):
    """ValueError where a reshaped array would be unreduced or reduced over other axes than `x`."""
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


def whole_or_terms(where, x, name):
    """ShardingTypeError where a dimension is split, or sums are left to do over some axes of the
    mesh and not over others."""
    axes = where.mesh.axis_names
    some = where.spec.unreduced and where.spec.unreduced != set(axes)
    if where.spec.reduced or any(where.spec) or some:
        raise ShardingTypeError(
            f"out_sharding passed to `jnp.{name}` can only be fully replicated or fully unreduced "
            f"along all mesh axes, but got {where.spec} over {axes}. Split the result with "
            "shardax.reshard."
        )


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
    return _split(out_sharding_of(out_sharding, name), function)


def _split(where, function):
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
