"""shardax.experimental.custom_partitioning - functions that say themselves how they are split.

All devices share one memory and a program is one program for all of them: nothing has to be split
by hand, so the function is called as it is and what it says is kept.
"""

import functools

from shardax._transform.jit import jit

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
    """How the dimensions of results belong to those of operands.

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

    Args:
      fun: the function of whole arrays.
      static_argnums: positions of arguments that stay Python values; hashable.

    Example:
      >>> @custom_partitioning
      ... def double(x):
      ...     return 2 * x
      >>> double.def_partition(None, sharding_rule="i -> i")
      >>> double(3)
      Array(6, dtype=int32, weak_type=True)
    """

    def __init__(self, fun, static_argnums=()):
        self.fun = fun
        self.rules = {}
        self._call = jit(fun, static_argnums=static_argnums)
        functools.update_wrapper(self, fun)

    def def_partition(self, partition, infer_sharding_from_operands=None, **rules):
        """Keeps the rules: `partition`, `infer_sharding_from_operands`, `sharding_rule` ..."""
        self.rules = {
            "partition": partition,
            "infer_sharding_from_operands": infer_sharding_from_operands,
            **rules,
        }

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)
