"""shardax/_transform/custom/arguments.py - arguments, results and tangents of functions with
derivative rules of their own."""

import dataclasses
import functools
import inspect
from typing import Any

import numpy as np

from shardax import tree_util
from shardax._base.dtypes import KeyTy
from shardax._core import api as _core
from shardax.dtypes import float0


def _name(fun):
    return getattr(fun, "__name__", None) or getattr(type(fun), "__name__", str(fun))


class SymbolicZero:
    """A tangent or cotangent that is zero, in a rule with symbolic_zeros=True; `.aval` has its
    shape and dtype.

    Example:
      >>> from shardax.custom_derivatives import zero_from_primal
      >>> zero_from_primal(jnp.ones(2), symbolic_zeros=True).aval.shape
      (2,)
    """

    def __init__(self, aval):
        self.aval = aval

    @property
    def shape(self):
        return self.aval.shape

    @property
    def dtype(self):
        return float0 if isinstance(self.aval.dtype, KeyTy) else self.aval.dtype

    def __repr__(self):
        return f"SymbolicZero({self.aval})"


@dataclasses.dataclass
class CustomVJPPrimal:
    """An argument of a forward rule with symbolic_zeros=True: its value, and whether it is being
    differentiated.

    Example:
      >>> shardax.custom_derivatives.CustomVJPPrimal(1.0, perturbed=True).value
      1.0
    """

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(tree):
    """The values in a tree of CustomVJPPrimal, as a forward rule with symbolic_zeros=True gets it.

    Raises:
      TypeError: a leaf is something else.

    Example:
      >>> from shardax.custom_derivatives import CustomVJPPrimal, custom_vjp_primal_tree_values
      >>> custom_vjp_primal_tree_values({"x": CustomVJPPrimal(1.0, True)})
      {'x': 1.0}
    """

    def value(leaf):
        if type(leaf) is not CustomVJPPrimal:
            raise TypeError(f"unexpected leaf type {type(leaf)}")
        return leaf.value

    return tree_util.tree_map(value, tree)


def zero_from_primal(x, symbolic_zeros=False):
    """The zero tangents of a tree of values: a SymbolicZero or an array for each.

    Example:
      >>> shardax.custom_derivatives.zero_from_primal(jnp.ones(2))
      Array([0., 0.], dtype=float32)
    """

    def zero(leaf):
        aval = _core.typeof(_core.asarray(leaf))
        if symbolic_zeros:
            return SymbolicZero(aval)
        return _core.asarray(leaf) * 0 if _differentiable(aval) else _no_tangent(aval)

    return tree_util.tree_map(zero, x)


def _no_tangent(aval):
    return np.zeros(aval.shape, float0)


def _tangent(value, aval, symbolic):
    if value is not None:
        return value
    return SymbolicZero(aval) if symbolic else _no_tangent(aval)


def _differentiable(aval):
    """Keys, integers and their derivatives have none but those of dtype float0."""
    if isinstance(aval.dtype, KeyTy) or aval.dtype == float0:
        return False
    return np.dtype(aval.dtype).kind in "fcV"


class TakesRules:
    """A function with a rule of one kind, around one that may take rules of another kind: methods
    that set those are the inner function's."""

    def __getattr__(self, name):
        if name in ("defjvp", "defjvps", "defvjp", "def_vmap") and "fun" in self.__dict__:
            return getattr(self.fun, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class _Arguments:
    """The arguments of one call: those that are differentiated, flat, and the others."""

    def __init__(self, kind, fun, nondiff_argnums, nondiff_argnames, args, kwargs):
        args = resolved(kind, fun, args, kwargs)
        self.args = args
        count = len(args)
        nondiff = nondiff_positions(fun, nondiff_argnums, nondiff_argnames, count)
        self.count = count
        self.nondiff = {n: args[n] for n in sorted(nondiff)}
        self.dynamic = [n for n in range(count) if n not in nondiff]
        self.leaves, self.tree = tree_util.tree_flatten(tuple(args[n] for n in self.dynamic))
        self.leaves = [_core.asarray(leaf) for leaf in self.leaves]
        self.avals = [_core.typeof(leaf) for leaf in self.leaves]

    def traced(self):
        """May the call be transformed or staged?"""
        return _core.tracing() or any(map(_core.is_tracer, self.leaves))

    def given_away(self):
        """The leaves, of which nothing is kept: they may be tracers of a function whose program
        keeps the rules."""
        leaves = self.leaves
        self.leaves, self.args = [None] * len(leaves), None
        return leaves

    def whole(self, leaves):
        """All arguments, with these leaves in place of the differentiated ones."""
        args = [None] * self.count
        for n, value in self.nondiff.items():
            args[n] = value
        for n, value in zip(self.dynamic, tree_util.tree_unflatten(self.tree, leaves)):
            args[n] = value
        return args


def nondiff_positions(fun, argnums, argnames, count):
    """The arguments, of `count`, that are not differentiated."""
    nondiff = {n + count if n < 0 else n for n in argnums}
    if argnames:
        names = list(inspect.signature(fun).parameters)
        nondiff |= {names.index(name) for name in argnames if name in names}
    if any(n >= count for n in nondiff):
        raise ValueError(
            f"nondiff_argnums={tuple(argnums)} of {_name(fun)} names more than the "
            f"{count} arguments of this call."
        )
    return nondiff


def resolved(kind, fun, args, kwargs):
    """Keyword arguments and defaults as positional arguments."""
    code = getattr(fun, "__code__", None)
    if not kwargs and code and code.co_argcount == len(args) and not code.co_kwonlyargcount:
        return args
    try:
        bound = inspect.signature(fun).bind(*args, **kwargs)
    except ValueError:
        if kwargs:
            raise
        return args  # no signature: a builtin
    except TypeError as error:
        raise TypeError(
            f"The input arguments to the {kind}-decorated function {_name(fun)} could not be "
            f"resolved to positional-only arguments. Binding failed with the error:\n{error}"
        ) from None
    bound.apply_defaults()
    unplaced = [name for name in bound.kwargs if name in kwargs]
    if unplaced:
        raise TypeError(
            f"The input arguments to the {kind}-decorated function {_name(fun)} could not be "
            "resolved to positional-only arguments.\nThe following keyword arguments could not be "
            f"resolved to positions: {', '.join(unplaced)}"
        )
    return bound.args


def _flat_output(out):
    leaves, tree = tree_util.tree_flatten(out)
    return [_core.asarray(leaf) for leaf in leaves], tree


class _FunctionOutput:
    """The output of the function of one call: a rule gives the same structure and types."""

    def __init__(self, kind, fun):
        self.kind = kind
        self.fun = fun
        self.tree = None
        self.avals = None

    def ran(self, out, tree):
        self.avals, self.tree = [_core.typeof(value) for value in out], tree

    def check(self, out, tree, pair, rule, in_particular=False):
        """TypeError unless the rule's first result is like the function's. With `in_particular` it
        names the failed demand, in brackets that `pair` opens."""
        if self.tree is None:
            return
        avals = [_core.typeof(value) for value in out]
        found, wanted = self._shown(tree, avals), self._shown(self.tree, self.avals)
        if tree != self.tree:
            what, like = "container/pytree structure", "of the same container/pytree structure"
        elif all(a.shape == b.shape and a.dtype == b.dtype for a, b in zip(avals, self.avals)):
            return
        else:
            what, like = "shapes/dtypes of", "with leaves of the same shape/dtype"
        if in_particular:
            pair += f", and in particular {like})"
        raise TypeError(
            f"{pair}, but instead the {rule} output's first element had {what}:\n    {found}\n"
            f"while the {self.kind}-decorated function {_name(self.fun)} had output {what}:\n"
            f"    {wanted}."
        )

    @staticmethod
    def _shown(tree, avals):
        shown = tree_util.tree_unflatten(tree, [aval.str_short() for aval in avals])
        return str(shown).replace("'", "")


def _update_wrapper(wrapper, fun):
    functools.update_wrapper(wrapper, fun, updated=())


class Call:
    """One call of a function with rules of its own, on flat leaves."""

    def __init__(self, kind, owner, args, kwargs):
        self.fun, self.symbolic = owner.fun, owner.symbolic_zeros
        self.arguments = _Arguments(
            kind, owner.fun, owner.nondiff_argnums, owner.nondiff_argnames, args, kwargs
        )
        self.out_tree = None
        self.output = _FunctionOutput(kind, owner.fun)

    def function(self, leaves):
        out, self.out_tree = _flat_output(self.fun(*self.arguments.whole(leaves)))
        self.output.ran(out, self.out_tree)
        return [out]
