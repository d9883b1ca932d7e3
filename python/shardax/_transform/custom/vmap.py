# shardax/_transform/custom/vmap.py - functions that vmap treats by rules.
import functools
from typing import Any

from shardax import tree_util
from shardax._core import api as _core
from shardax._transform.custom.arguments import TakesRules, resolved


class custom_vmap(TakesRules):
    """A function that vmap treats by a rule of the user's own.

    Args:
      fun: the function. The rule is given to `def_vmap`. Derivatives of the function are batched by
        the derivative of the rule.

    Raises:
      AttributeError: at a call, when no rule has been given.
      ValueError: when the rule's results do not fit the function's, or each other.

    Example:
      >>> @shardax.custom_batching.custom_vmap
      ... def f(x):
      ...     return x + 1
      >>> @f.def_vmap
      ... def rule(axis_size, in_batched, x):
      ...     return x + 2, in_batched[0]
      >>> f(0), shardax.vmap(f)(jnp.zeros(2))
      (Array(1, dtype=int32, weak_type=True), Array([2., 2.], dtype=float32))
    """

    def __init__(self, fun) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.vmap_rule = None

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def def_vmap(self, vmap_rule) -> Any:
        """Sets the rule, vmap_rule(axis_size, in_batched, *args) -> (out, out_batched).

        in_batched is a list with a tree of bools for each argument: does it carry the mapped axis,
        as dimension 0? out_batched says the same of the results.
        """
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args, **kwargs) -> Any:
        name = getattr(self.fun, "__name__", str(self.fun))
        args = tuple(resolved("custom_vmap", self.fun, args, kwargs))
        if self.vmap_rule is None:
            raise AttributeError(
                f"No batching rule defined for custom_vmap function {name} using def_vmap."
            )
        leaves, in_tree = tree_util.tree_flatten(args)
        leaves = [_core.asarray(leaf) for leaf in leaves]
        avals = tree_util.tree_unflatten(in_tree, [_core.typeof(leaf) for leaf in leaves])
        staged = _core.stage("custom_vmap", self.fun, avals)
        call = _BatchedCall(name, self.vmap_rule, in_tree, staged.out_tree)
        out = _core.custom_vmap_call(
            staged.program, call, call.rule_name, [*leaves, *staged.captured]
        )
        return tree_util.tree_unflatten(staged.out_tree, out)


class _BatchedCall:
    """A rule on flat values: the axis size, a flag per value, the values. Values beyond the
    arguments are closed over by the function."""

    def __init__(self, name, rule, in_tree, out_tree) -> None:
        self.name = name
        self.rule = rule
        self.rule_name = getattr(rule, "__name__", "<unnamed rule>")
        self.in_tree = in_tree
        self.out_tree = out_tree

    def __call__(self, values) -> Any:
        total = (len(values) - 1) // 2
        count = self.in_tree.num_leaves
        flags = [bool(flag) for flag in values[1 : 1 + total]]
        if any(flags[count:]):
            raise ValueError(
                f"custom_vmap: the function {self.name} closes over a value that carries the "
                "mapped axis, which its rule does not get. Pass the value as an argument."
            )
        in_batched = list(tree_util.tree_unflatten(self.in_tree, flags[:count]))
        args = tree_util.tree_unflatten(self.in_tree, values[1 + total : 1 + total + count])
        result = self.rule(int(values[0]), in_batched, *args)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(
                f"custom_vmap: the rule {self.rule_name} must return a pair (out, out_batched), "
                f"got {result}."
            )
        out, tree = tree_util.tree_flatten(result[0])
        out_batched, batched_tree = tree_util.tree_flatten(result[1])
        if tree != batched_tree:
            raise ValueError(
                "structure of output value and output batching specification returned by custom "
                f"vmap rule ({self.rule_name}) do not match.\nOutput values: {tree}\n"
                f"Batching spec: {batched_tree}"
            )
        if tree != self.out_tree:
            raise ValueError(
                f"structure of output returned by custom vmap rule ({self.rule_name}) does not "
                "match that of original custom-vmapped function.\n"
                f"Original output: {self.out_tree}\nRule output: {tree}"
            )
        return [_core.asarray(leaf) for leaf in out], out_batched


custom_vmap.__module__ = "shardax.custom_batching"
