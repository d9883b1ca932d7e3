"""shardax.experimental.custom_partitioning - functions that say themselves how they are split.

All devices share one memory and a program is one program for all of them: nothing has to be split
by hand, so the function is called as it is and what it says is kept.
"""

import functools

from shardax._transform.jit import jit

__all__ = ["custom_partitioning"]


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
