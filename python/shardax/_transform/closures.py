"""shardax/_transform/closures.py - custom_gradient, and functions with what they close over as
arguments."""

import functools

from shardax import tree_util
from shardax._core import api as _core
from shardax._transform.custom.arguments import _differentiable
from shardax._transform.custom.vjp import custom_vjp


class _ClosedFunction:
    """A program with the values that it closed over taken out: a node of a tree without leaves of
    its own."""

    def __init__(self, program, out_tree):
        self.program = program
        self.out_tree = out_tree


tree_util.register_static(_ClosedFunction)


def custom_gradient(fun):
    """A function whose reverse derivative comes with its value.

    Args:
      fun: fun(*args) returns (out, rule); rule(cotangent of out) returns a cotangent per argument
        (for one argument, the cotangent itself or a tuple).

    Returns:
      A function of the same arguments that returns `out`.

    Example:
      >>> @shardax.custom_gradient
      ... def f(x):
      ...     return x ** 2, lambda g: 10 * g
      >>> shardax.grad(f)(3.0)
      Array(10., dtype=float32, weak_type=True)
    """

    @functools.wraps(fun)
    def wrapped(*args, **kwargs):
        def forward(*args):
            out, rule = fun(*args, **kwargs)
            cotangent = tree_util.tree_map(lambda v: _core.typeof(_core.asarray(v)), out)
            staged = _core.stage("custom_gradient", rule, (cotangent,))
            program, values = _core.hoist_constants(staged)
            return out, (_ClosedFunction(program, staged.out_tree), values)

        def backward(residuals, cotangent):
            function, values = residuals
            leaves = [_core.asarray(leaf) for leaf in tree_util.tree_leaves(cotangent)]
            out = _core.evaluate(function.program, [*leaves, *values])
            result = tree_util.tree_unflatten(function.out_tree, out)
            return result if isinstance(result, tuple) or len(args) > 1 else (result,)

        call = custom_vjp(lambda *args: fun(*args, **kwargs)[0])
        call.defvjp(forward, backward)
        return call(*args)

    return wrapped


def closure_convert(fun, *example_args):
    """A function without the traced arrays that it closes over, and those arrays: for custom rules
    that must differentiate by them.

    Args:
      fun: a function of arrays.
      example_args: arguments of the types that it will be called with.

    Returns:
      (converted, consts): converted(*args, *consts) equals fun(*args). Closed-over integers stay
      inside, and so do arrays that are not being traced.

    Example:
      >>> def f(y):
      ...     converted, consts = shardax.closure_convert(lambda x: x * y, 2.0)
      ...     return converted(2.0, *consts)
      >>> shardax.grad(f)(3.0)
      Array(2., dtype=float32, weak_type=True)
    """
    example = tree_util.tree_map(lambda v: _core.typeof(_core.asarray(v)), example_args)
    in_tree = tree_util.tree_structure(example_args)
    staged = _core.stage("closure_convert", fun, example)
    hoisted = [i for i, v in enumerate(staged.captured) if _differentiable(v)]

    def converted(*args):
        count = len(args) - len(hoisted)
        args, consts = args[:count], args[count:]
        captured = list(staged.captured)
        for i, const in zip(hoisted, consts):
            captured[i] = _core.asarray(const)
        leaves, tree = tree_util.tree_flatten(tuple(args))
        if tree != in_tree:
            raise TypeError(
                "The inputs to the closure produced by closure_convert must have the same Pytree "
                f"structure as the example arguments passed when closure_convert was called. "
                f"Expected {in_tree}, but got {tree}."
            )
        out = _core.evaluate(staged.program, [*map(_core.asarray, leaves), *captured])
        return tree_util.tree_unflatten(staged.out_tree, out)

    return converted, [staged.captured[i] for i in hoisted]
