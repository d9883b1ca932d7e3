"""shardax.experimental.custom_partitioning - functions with rules for each device's parts."""

import functools
import inspect

from shardax import numpy as jnp
from shardax import tree_util
from shardax._base.options import indices
from shardax._core import Tracer
from shardax._devices.shardings import NamedSharding
from shardax._devices.specs import P
from shardax._transform.jit import jit
from shardax._transform.shape_structs import ShapeDtypeStruct
from shardax._transform.shard_map import shard_map

__all__ = ["BATCHING", "ArrayMapping", "CompoundFactor", "SdyShardingRule", "custom_partitioning"]

# The leading dimensions of a mapping, however many there are.
BATCHING = "..."


class CompoundFactor(tuple):
    """The factors that one dimension consists of: at least two, none of them BATCHING."""

    def __new__(cls, *factors):
        if len(factors) < 2:
            raise ValueError("A compound factor should contain at least two factors")
        _check_factors(factors)
        if BATCHING in factors:
            raise ValueError("Ellipsis can't be used in a compound factor")
        return super().__new__(cls, factors)


class ArrayMapping(tuple):
    """The factors of an array's dimensions: names, CompoundFactors, and BATCHING at the front."""

    def __new__(cls, *dims):
        _check_factors(d for d in dims if not isinstance(d, CompoundFactor))
        if BATCHING in dims[1:]:
            raise ValueError("Ellipsis can only be used at the beginning of a dimension")
        return super().__new__(cls, dims)


def _check_factors(names):
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"Each element of a mapping must be a str or a CompoundFactor: {name}")
        if not name.isidentifier() and not name.startswith(BATCHING):
            raise ValueError(f"Factor names have to start with a letter, but got '{name[:1]}'")


class SdyShardingRule:
    """The map between the dimensions of results and those of operands.

    Args:
      operand_mappings, result_mappings: an ArrayMapping (or a tuple) for each array.
      factor_sizes: the sizes of factors of compound dimensions, by name.

    Example:
      >>> SdyShardingRule((("i", "j"), ("j", "k")), (("i", "k"),))
      SdyShardingRule((('i', 'j'), ('j', 'k')), (('i', 'k'),), {})
    """

    def __init__(self, operand_mappings, result_mappings, **factor_sizes):
        self.operand_mappings = tuple(ArrayMapping(*m) for m in operand_mappings)
        self.result_mappings = tuple(ArrayMapping(*m) for m in result_mappings)
        self.factor_sizes = factor_sizes

    def __repr__(self):
        return (
            f"SdyShardingRule({self.operand_mappings}, {self.result_mappings}, {self.factor_sizes})"
        )


class custom_partitioning:
    """A function with rules for how its operands and results are split.

    A call on arrays that lie on a mesh runs the function of `partition`, on each device's parts.
    Within programs, and on other arrays, `fun` is called as it is: devices share one memory, and a
    rule must compute the same as `fun`.

    Args:
      fun: the function of whole arrays.
      static_argnums: positions of arguments that stay Python values; hashable.

    Example:
      >>> @custom_partitioning
      ... def double(x):
      ...     return 2 * x
      >>> def partition(mesh, arg_shapes, result_shape):
      ...     (x,) = arg_shapes
      ...     return mesh, lambda part: part + part, x.sharding, (x.sharding,)
      >>> double.def_partition(partition, sharding_rule="i -> i")
      >>> mesh = shardax.make_mesh((2,), ("a",))
      >>> x = shardax.device_put(jnp.arange(2), shardax.NamedSharding(mesh, shardax.P("a")))
      >>> double(x).sharding.spec
      P('a',)
    """

    def __init__(self, fun, static_argnums=()):
        self.fun = fun
        self.static_argnums = indices(static_argnums, "static_argnums")
        self._rules = None
        self._call = jit(fun, static_argnums=static_argnums)
        functools.update_wrapper(self, fun)

    def def_partition(
        self,
        partition,
        infer_sharding_from_operands=None,
        propagate_user_sharding=None,
        decode_shardings=True,
        sharding_rule=None,
        *,
        reduction_factors=(),
        need_replication_factors=(),
        permutation_factors=(),
        **factor_sizes,
    ):
        """Says how calls are split.

        Args:
          partition: `partition(*static, mesh, arg_shapes, result_shape)` gives (mesh, a function of
            a device's parts, the shardings of results, those of operands). Shapes are trees of
            ShapeDtypeStruct, with shardings.
          infer_sharding_from_operands: `infer(*static, mesh, arg_shapes, result_shape)` gives the
            shardings of results that `partition` is told.
          sharding_rule: an SdyShardingRule, or its text "i j, j k -> i k", which says the same
            where there is no `infer_sharding_from_operands`.
          propagate_user_sharding, decode_shardings, reduction_factors, need_replication_factors,
            permutation_factors, factor_sizes: without effect: no partitioner asks for them.
        """
        self._rules = partition, infer_sharding_from_operands, _rule_of(sharding_rule)

    def __call__(self, *args, **kwargs):
        mesh = _mesh_of(args, kwargs) if self._rules else None
        if mesh is None:
            return self._call(*args, **kwargs)
        bound = inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        return self._in_parts(mesh, bound.args)

    def _in_parts(self, mesh, args):
        partition, infer, rule = self._rules
        static = [args[i] for i in self.static_argnums]
        chosen = {i % len(args) for i in self.static_argnums}
        operands = tuple(x for i, x in enumerate(args) if i not in chosen)
        given = tree_util.tree_map(lambda x: _shape(x, _spec_on(mesh, x), mesh), operands)
        result = self._call.eval_shape(*args)
        if infer is not None:
            shardings = infer(*static, mesh, given, result)
            result = tree_util.tree_map(lambda r, s: _shape(r, s.spec, mesh), result, shardings)
        elif rule is not None:
            result = _propagated(rule, given, result, mesh)
        mesh, lower, results, wanted = partition(*static, mesh, given, result)
        in_specs, out_specs = (tree_util.tree_map(lambda s: s.spec, s) for s in (wanted, results))
        run = shard_map(
            lower, mesh=mesh, in_specs=tuple(in_specs), out_specs=out_specs, check_vma=False
        )
        return run(*operands)


def _mesh_of(args, kwargs):
    """The mesh that arrays lie on; None where there is none, or values are traced."""
    leaves = tree_util.tree_leaves((args, kwargs))
    if any(isinstance(x, Tracer) for x in leaves):
        return None
    shardings = [getattr(x, "sharding", None) for x in leaves]
    return next((s.mesh for s in shardings if isinstance(s, NamedSharding)), None)


def _spec_on(mesh, x):
    sharding = getattr(x, "sharding", None)
    return sharding.spec if isinstance(sharding, NamedSharding) and sharding.mesh == mesh else P()


def _shape(x, spec, mesh):
    spec = P(*spec, *[None] * (jnp.ndim(x) - len(spec)))
    return ShapeDtypeStruct(jnp.shape(x), jnp.result_type(x), sharding=NamedSharding(mesh, spec))


def _rule_of(rule):
    """(factors of operands' dimensions, of results'), from an SdyShardingRule or its text; None for
    a function."""
    if isinstance(rule, SdyShardingRule):
        return rule.operand_mappings, rule.result_mappings
    if not isinstance(rule, str):
        return None
    sides = [side.split(",") for side in rule.split("->")]
    if len(sides) != 2:
        raise ValueError(f"sharding_rule: {rule!r} has no '->' between operands and results.")
    return tuple([ArrayMapping(*each.split()) for each in side] for side in sides)


def _propagated(rule, given, result, mesh):
    """The shapes of results, split as their factors are in operands; compound ones are whole."""
    axes = {}
    for mapping, x in zip(rule[0], tree_util.tree_leaves(given)):
        for factor, names in zip(reversed(mapping), reversed(x.sharding.spec)):
            if names is not None:
                axes.setdefault(factor, names)
    leaves, tree = tree_util.tree_flatten(result)
    return tree.unflatten(
        [
            _shape(x, ([None] * x.ndim + [axes.get(f) for f in mapping])[-x.ndim or None :], mesh)
            for mapping, x in zip(rule[1], leaves)
        ]
    )
