"""shardax/_transform/shard_map/__init__.py - shard_map and smap: their names and options.

plan.py has the specs of the arguments and results of one call.
"""

import functools

import shardax._core as _core
from shardax import tree_util
from shardax._devices import mesh_context as meshes
from shardax._devices.shardings import PartitionSpec
from shardax._transform.hijax.specs import opening_specs
from shardax._transform.shard_map import errors, sums
from shardax._transform.shard_map.plan import Infer, Plan, own_spec

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
        which dimension. All devices of an axis that a spec does not mention share the value. None
        leaves an argument as it is; without in_specs they are the arguments' own shardings.
      out_specs: a tree prefix of the result with PartitionSpecs: along which dimension the blocks
        of which axes are joined. Over axes that a spec does not mention, all devices have one
        value.
      axis_names: the axes that are split and that collectives may name; all unless given. `auto`,
        the older spelling, names the others.
      check_vma: follow the axes over which values vary. Results must not vary over axes that
        out_specs do not mention, and derivatives of shared values are sums over devices. Without it
        the first device's value is taken. `check_rep` is the older spelling.

    Returns:
      A function of whole arrays.

    Raises:
      ValueError: where specs do not fit mesh, arguments or results.
      TypeError: for specs that are none.

    Example:
      >>> mesh = shardax.make_mesh((4,), ("x",))
      >>> def normalise(block):
      ...     return block / lax.psum(jnp.sum(block), "x")
      >>> f = shardax.shard_map(normalise, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
      >>> f(jnp.arange(4.0))
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
      in_axes: the dimension that the axis splits, an int or None, for all arguments. A tuple has
        such an entry, or a tree of such, for each positional argument.
      out_axes: the dimension along which blocks are joined, or None: a tree prefix of the result.
      axis_name: an axis of the current mesh.

    Raises:
      TypeError: for axes that are none.

    Example:
      >>> with shardax.set_mesh(shardax.make_mesh((4,), ("x",))):
      ...     f = shardax.smap(lambda x: lax.psum(x, "x"), in_axes=0, out_axes=None, axis_name="x")
      ...     f(jnp.ones(4))
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
def _mapped(f, mesh, in_specs, out_specs, check, axis_names, smap=False, typed=True):
    if not callable(f):
        raise TypeError(
            f"shard_map requires a callable for its first argument, but got {f} of type {type(f)}."
        )
    if in_specs is Infer:
        return _inferring(f, mesh, out_specs, check, axis_names, smap)
    if sums.mentions_sums(in_specs, out_specs):
        inner = sums.of_terms(f, in_specs, out_specs, check)
        whole = Plan(mesh, in_specs, out_specs, check, axis_names, smap)
        parts = (sums.plain if check else sums.stacked)(in_specs), sums.plain(out_specs)
        return sums.relabelled(_mapped(inner, mesh, *parts, check, axis_names, smap, False), whole)
    plan = Plan(mesh, in_specs, out_specs, check, axis_names, smap, typed)
    if not _has_static(in_specs):
        return _core.api.shard_map(f, plan)

    @functools.wraps(f)
    def call(*args):
        return _call_with_static(f, plan, args)

    return call


def _inferring(f, mesh, out_specs, check, axis_names, smap):
    """shard_map whose arguments come split as they are. If they, or the results, are sums that are
    left to do, it goes through the specs that say so."""
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
        return of_sums(tuple(own_spec(leaf, names) for leaf in leaves), tree)(*args)

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
                 plan.axis_names, plan.smap, plan.typed)  # fmt: skip
    return _core.api.shard_map(of_dynamic, inner)(*(leaves[i] for i in dynamic))


__all__ = ["Infer", "shard_map", "smap"]
