"""shardax/_transform/custom/jvp.py - custom_jvp: functions with a forward derivative rule of their
own."""

import functools
from typing import Any

from shardax import tree_util
from shardax._base.tracebacks import api_boundary
from shardax._core import api as _core
from shardax._transform.custom.arguments import (
    Call,
    SymbolicZero,
    TakesRules,
    _differentiable,
    _flat_output,
    _name,
    _tangent,
    _update_wrapper,
    resolved,
)
from shardax._transform.refs import references_exist
from shardax.dtypes import float0


class custom_jvp(TakesRules):
    """A function with a forward derivative (JVP) rule of the user's own.

    Args:
      fun: the function. It is differentiated by the rule given to `defjvp` or `defjvps` only.
      nondiff_argnums: positions of arguments that are not differentiated (functions, say); the rule
        gets them first.
      nondiff_argnames: the same by name.

    Raises:
      AttributeError: at a call, when no rule has been given.
      TypeError: when the rule's results do not fit the function's.

    Example:
      >>> @shardax.custom_jvp
      ... def f(x):
      ...     return jnp.sin(x)
      >>> @f.defjvp
      ... def rule(primals, tangents):
      ...     return f(*primals), 10 * tangents[0]
      >>> shardax.grad(f)(1.0)
      Array(10., dtype=float32, weak_type=True)
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()) -> None:
        _update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.nondiff_argnames = tuple(nondiff_argnames)
        self.jvp = None
        self.symbolic_zeros = False

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def defjvp(self, jvp, symbolic_zeros=False) -> Any:
        """Sets the rule, jvp(*nondiff_args, primals, tangents) -> (out, out_tangent)."""
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps) -> Any:
        """Sets one rule per argument: jvp(tangent, out, *primals), or None for a derivative of
        zero."""
        if self.nondiff_argnums or self.nondiff_argnames:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``.")

        def rule(primals, tangents):
            out = self(*primals)
            parts = [
                jvp(tangent, out, *primals)
                for tangent, jvp in zip(tangents, jvps, strict=True)
                if jvp is not None
            ]
            if not parts:
                return out, tree_util.tree_map(lambda v: v * 0, out)
            total = functools.reduce(
                lambda a, b: tree_util.tree_map(lambda x, y: x + y, a, b), parts
            )
            return out, total

        self.defjvp(rule)

    @api_boundary
    def __call__(self, *args, **kwargs) -> Any:
        if self.jvp is None:
            raise AttributeError(
                f"No JVP defined for custom_jvp function {_name(self)} using defjvp."
            )
        if references_exist():
            from shardax._transform.refs.rules import call_custom_jvp  # at first use: quick import

            return call_custom_jvp(self, resolved("custom_jvp", self.fun, args, kwargs))
        return self._call(args, kwargs)

    def _call(self, args, kwargs=None):
        call = _JvpCall(self, args, kwargs or {})
        if not call.arguments.traced():
            return self.fun(*call.arguments.args)
        out = _core.custom_jvp_call(
            _name(self),
            call.function,
            call.rule,
            _name(self.jvp),
            self.symbolic_zeros,
            call.arguments.given_away(),
        )
        return tree_util.tree_unflatten(call.out_tree, out)


class _JvpCall(Call):
    """A call of a custom_jvp function, and its rule on flat leaves."""

    def __init__(self, owner, args, kwargs) -> None:
        super().__init__("custom_jvp", owner, args, kwargs)
        self.jvp = owner.jvp

    def rule(self, values):
        arguments = self.arguments
        count = len(values) // 2
        primals = tree_util.tree_unflatten(arguments.tree, values[:count])
        tangents = [
            _tangent(t, aval, self.symbolic) for t, aval in zip(values[count:], arguments.avals)
        ]
        tangents = tree_util.tree_unflatten(arguments.tree, tangents)
        pair = self.jvp(*arguments.nondiff.values(), primals, tangents)
        names = f"Custom JVP rule {_name(self.jvp)} for function {_name(self.fun)}"
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"{names} must produce a pair (list or tuple of length two) representing primal "
                f"and tangent outputs, but got {pair}."
            )
        out, self.out_tree = _flat_output(pair[0])
        tangent_leaves, tangent_tree = tree_util.tree_flatten(pair[1])
        if tangent_tree != self.out_tree:
            raise TypeError(
                f"{names} must produce primal and tangent outputs with equal container (pytree) "
                f"structures, but got {self.out_tree} and {tangent_tree} respectively."
            )
        fun = _name(self.fun)
        self.output.check(
            out,
            self.out_tree,
            f"{names} must produce a pair (list or tuple of length two) where the first element "
            "represents the primal output (equal in value to the output of the "
            f"custom_jvp-decorated function {fun}",
            "JVP rule",
            in_particular=True,
        )
        return out, [self._checked(o, t) for o, t in zip(out, tangent_leaves)]

    def _checked(self, out, tangent):
        aval = _core.typeof(out)
        if isinstance(tangent, SymbolicZero):
            return None
        if not _differentiable(aval):
            return None
        if getattr(tangent, "dtype", None) == float0:
            given = f"float0[{','.join(map(str, tangent.shape))}]"
        else:
            tangent = _core.asarray(tangent)
            found = _core.typeof(tangent)
            if found.shape == aval.shape and found.dtype == aval.dtype:
                return tangent
            given = found.str_short()
        raise TypeError(
            "Custom JVP rule must produce primal and tangent outputs with corresponding shapes and "
            f"dtypes. Expected {aval.str_short()} (tangent type of {aval.str_short()}) but got "
            f"{given}. The rule is {_name(self.jvp)} of function {_name(self.fun)}."
        )
