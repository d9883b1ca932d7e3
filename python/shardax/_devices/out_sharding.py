# shardax/_devices/out_sharding.py - the argument out_sharding of functions.
"""Over explicit axes it says how a result is split where operands leave that open, and which sums
are left to do.
"""

import functools

import shardax._core as _core
from shardax import tree_util
from shardax.errors import ShardingTypeError


def takes_out_sharding(function=None, *, check=None):
    """`function`, whose argument `out_sharding` says how the result is split over the mesh.

    `check(where, x, name)`: errors of an `out_sharding` over axes that were asked to be explicit.
    It raises if this does not go with the first argument x of the function `name`.
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
            from shardax._devices import result_splits  # at first use: quick import

            where = result_splits.out_sharding_of(out_sharding, name)
            if check is not None and result_splits.is_asked(where.mesh):
                check(where, args[0] if args else kwargs[first], name)
            return result_splits.split(where, lambda: function(*args, **kwargs))

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
    """`run(*args)`; if it leaves a sum to do, as one program of the arrays in `args`, in which each
    device's term is known."""
    if not getattr(getattr(out_sharding, "spec", out_sharding), "unreduced", ()):
        return run(*args)
    leaves, tree = tree_util.tree_flatten(args)
    arrays = {i: x for i, x in enumerate(leaves) if isinstance(x, _core.Array)}
    if not arrays:
        return run(*args)

    def of_arrays(values):
        return run(*tree.unflatten([values.get(i, leaf) for i, leaf in enumerate(leaves)]))

    return _core.api.jit(of_arrays)(arrays)


def split_so(out_sharding, name, function):
    """The result of `function` of no arguments. If operands leave its split open, it is split as
    the `out_sharding` of the user's function `name` says."""
    from shardax._devices import result_splits  # at first use: quick import

    return result_splits.split(result_splits.out_sharding_of(out_sharding, name), function)
