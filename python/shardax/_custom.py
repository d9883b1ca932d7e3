"""python/shardax/_custom.py - functions with derivative rules of the user's own.

custom_jvp and custom_vjp turn a call into one op on flat leaves (`_core.api.custom_jvp_call`,
`custom_vjp_call`); what is here flattens arguments and results and checks what the rules return.
"""

import dataclasses
import functools
import inspect
from typing import Any

import numpy as np

from shardax import tree_util
from shardax._core import api as _core
from shardax.dtypes import float0
from shardax.errors import UnexpectedTracerError

__all__ = ["closure_convert", "custom_gradient", "custom_jvp", "custom_vjp"]


def _name(fun):
    return getattr(fun, "__name__", None) or getattr(type(fun), "__name__", str(fun))


class SymbolicZero:
    """A tangent or cotangent that is zero, in a rule with symbolic_zeros=True; `.aval` has its
    shape and dtype."""

    def __init__(self, aval):
        self.aval = aval

    @property
    def shape(self):
        return self.aval.shape

    @property
    def dtype(self):
        return self.aval.dtype

    def __repr__(self):
        return f"SymbolicZero({self.aval})"


@dataclasses.dataclass
class CustomVJPPrimal:
    """An argument of a forward rule with symbolic_zeros=True: its value, and whether it is being
    differentiated."""

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(tree):
    """The values in a tree of CustomVJPPrimal, as a forward rule with symbolic_zeros=True gets it.

    Raises:
      TypeError: where a leaf is something else.
    """

    def value(leaf):
        if type(leaf) is not CustomVJPPrimal:
            raise TypeError(f"unexpected leaf type {type(leaf)}")
        return leaf.value

    return tree_util.tree_map(value, tree)


def zero_from_primal(x, symbolic_zeros=False):
    """The zero tangent of `x`: a SymbolicZero, or an array."""
    aval = _core.typeof(_core.asarray(x))
    if symbolic_zeros:
        return SymbolicZero(aval)
    if not _differentiable(aval):
        return _no_tangent(aval)
    return _core.asarray(x) * 0


def _no_tangent(aval):
    return np.zeros(aval.shape, float0)


def _tangent(value, aval, symbolic):
    if value is not None:
        return value
    return SymbolicZero(aval) if symbolic else _no_tangent(aval)


def _differentiable(aval):
    return np.dtype(aval.dtype).kind in "fcV"


class _Arguments:
    """The arguments of one call: those that are differentiated, flat, and the others."""

    def __init__(self, kind, fun, nondiff_argnums, nondiff_argnames, args, kwargs):
        args = resolved(kind, fun, args, kwargs)
        self.args = args
        count = len(args)
        nondiff = {n + count if n < 0 else n for n in nondiff_argnums}
        if nondiff_argnames:
            names = list(inspect.signature(fun).parameters)
            nondiff |= {names.index(name) for name in nondiff_argnames if name in names}
        if any(n >= count for n in nondiff):
            raise ValueError(
                f"nondiff_argnums={tuple(nondiff_argnums)} of {_name(fun)} names more than the "
                f"{count} arguments of this call."
            )
        self.count = count
        self.nondiff = {n: args[n] for n in sorted(nondiff)}
        self.dynamic = [n for n in range(count) if n not in nondiff]
        self.leaves, self.tree = tree_util.tree_flatten(tuple(args[n] for n in self.dynamic))
        self.leaves = [_core.asarray(leaf) for leaf in self.leaves]
        self.avals = [_core.typeof(leaf) for leaf in self.leaves]

    def traced(self):
        """Will the call be transformed or staged?"""
        return _core.staging_in_progress() or any(map(_core.is_tracer, self.leaves))

    def whole(self, leaves):
        """All arguments, with these leaves in place of the differentiated ones."""
        args = [None] * self.count
        for n, value in self.nondiff.items():
            args[n] = value
        for n, value in zip(self.dynamic, tree_util.tree_unflatten(self.tree, leaves)):
            args[n] = value
        return args


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
            "resolved to positional-only arguments. The following keyword arguments could not be "
            f"resolved to positions: {', '.join(unplaced)}"
        )
    return bound.args


def _flat_output(out):
    leaves, tree = tree_util.tree_flatten(out)
    return [_core.asarray(leaf) for leaf in leaves], tree


class _FunctionOutput:
    """What the function of one call gave when it ran: a rule gives the same structure and types."""

    def __init__(self, kind, fun):
        self.kind = kind
        self.fun = fun
        self.tree = None
        self.avals = None

    def ran(self, out, tree):
        self.avals, self.tree = [_core.typeof(value) for value in out], tree

    def check(self, out, tree, pair, rule):
        """TypeError where the rule's first result is not like the function's."""
        if self.tree is None:
            return
        avals = [_core.typeof(value) for value in out]
        found, wanted = self._shown(tree, avals), self._shown(self.tree, self.avals)
        if tree != self.tree:
            what = "container/pytree structure"
        elif all(a.shape == b.shape and a.dtype == b.dtype for a, b in zip(avals, self.avals)):
            return
        else:
            what = "shapes/dtypes of"
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


class custom_jvp:
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
      >>> @custom_jvp
      ... def f(x):
      ...     return jnp.sin(x)
      >>> @f.defjvp
      ... def rule(primals, tangents):
      ...     return f(*primals), 10 * tangents[0]
      >>> grad(f)(1.0)
      Array(10., dtype=float32, weak_type=True)
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        _update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.nondiff_argnames = tuple(nondiff_argnames)
        self.jvp = None
        self.symbolic_zeros = False

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def defjvp(self, jvp, symbolic_zeros=False):
        """Sets the rule, jvp(*nondiff_args, primals, tangents) -> (out, out_tangent)."""
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps):
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

    def __call__(self, *args, **kwargs):
        if self.jvp is None:
            raise AttributeError(
                f"No JVP defined for custom_jvp function {_name(self)} using defjvp."
            )
        call = _JvpCall(self, args, kwargs)
        if not call.arguments.traced():
            return self.fun(*call.arguments.args)
        out = _core.custom_jvp_call(
            _name(self),
            call.function,
            call.rule,
            _name(self.jvp),
            self.symbolic_zeros,
            call.arguments.leaves,
        )
        return tree_util.tree_unflatten(call.out_tree, out)


class _JvpCall:
    """One call of a custom_jvp function, and its rule on flat leaves."""

    def __init__(self, owner, args, kwargs):
        self.fun, self.jvp, self.symbolic = owner.fun, owner.jvp, owner.symbolic_zeros
        self.arguments = _Arguments(
            "custom_jvp", owner.fun, owner.nondiff_argnums, owner.nondiff_argnames, args, kwargs
        )
        self.out_tree = None
        self.output = _FunctionOutput("custom_jvp", owner.fun)

    def function(self, leaves):
        out, self.out_tree = _flat_output(self.fun(*self.arguments.whole(leaves)))
        self.output.ran(out, self.out_tree)
        return [out]

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
            f"custom_jvp-decorated function {fun}, and in particular of the same container/pytree "
            "structure)",
            "JVP rule",
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


class custom_vjp:
    """A function with a reverse derivative (VJP) rule of the user's own.

    Args:
      fun: the function. Reverse mode uses the rules given to `defvjp` only; forward mode is an
        error.
      nondiff_argnums: positions of arguments that are not differentiated (functions, say); the
        backward rule gets them first. They cannot be arrays that are being traced.
      nondiff_argnames: the same by name.

    Raises:
      AttributeError: at a call, when no rules have been given.
      TypeError, ValueError: when results of the rules do not fit the function's.

    Example:
      >>> @custom_vjp
      ... def clip_gradient(x):
      ...     return x
      >>> clip_gradient.defvjp(lambda x: (x, None), lambda res, g: (jnp.clip(g, -1, 1),))
      >>> grad(lambda x: 5 * clip_gradient(x))(2.0)
      Array(1., dtype=float32, weak_type=True)
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        _update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.nondiff_argnames = tuple(nondiff_argnames)
        self.fwd = None
        self.bwd = None
        self.symbolic_zeros = False

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """Sets the rules: fwd(*args) -> (out, residuals) and bwd(*nondiff_args, residuals,
        cotangent) -> one cotangent per differentiated argument, None for zero."""
        self.fwd = fwd
        self.bwd = bwd
        self.symbolic_zeros = symbolic_zeros

    def __call__(self, *args, **kwargs):
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"No VJP defined for custom_vjp function {_name(self)} using defvjp."
            )
        call = _VjpCall(self, args, kwargs)
        if not call.arguments.traced():
            return self.fun(*call.arguments.args)
        out = _core.custom_vjp_call(
            _name(self),
            call.function,
            call.forward,
            _name(self.fwd),
            call.backward,
            _name(self.bwd),
            self.symbolic_zeros,
            call.arguments.leaves,
        )
        return tree_util.tree_unflatten(call.out_tree, out)


class _VjpCall:
    """One call of a custom_vjp function, and its rules on flat leaves."""

    def __init__(self, owner, args, kwargs):
        self.fun, self.fwd, self.bwd = owner.fun, owner.fwd, owner.bwd
        self.symbolic = owner.symbolic_zeros
        self.arguments = _Arguments(
            "custom_vjp", owner.fun, owner.nondiff_argnums, owner.nondiff_argnames, args, kwargs
        )
        for value in self.arguments.nondiff.values():
            if any(_core.is_tracer(leaf) for leaf in tree_util.tree_leaves(value)):
                raise UnexpectedTracerError(
                    "Found a JAX Tracer object passed as an argument to a custom_vjp function in a "
                    "position indicated by nondiff_argnums as non-differentiable. Tracers cannot "
                    "be passed as non-differentiable arguments to custom_vjp functions; instead, "
                    "nondiff_argnums should only be used for arguments that can't be or contain "
                    "JAX tracers, e.g. function-valued arguments. In particular, array-valued "
                    "arguments should typically not be indicated as nondiff_argnums."
                )
        self.out_tree = None
        self.out_avals = None
        self.residual_tree = None
        self.output = _FunctionOutput("custom_vjp", owner.fun)

    def function(self, leaves):
        out, self.out_tree = _flat_output(self.fun(*self.arguments.whole(leaves)))
        self.output.ran(out, self.out_tree)
        return [out]

    def forward(self, leaves):
        if self.symbolic:
            count = len(leaves) // 2
            leaves = [
                CustomVJPPrimal(leaf, moves is not None)
                for leaf, moves in zip(leaves[:count], leaves[count:])
            ]
        pair = self.fwd(*self.arguments.whole(leaves))
        fwd, fun = _name(self.fwd), _name(self.fun)
        expected = (
            f"Custom VJP fwd rule {fwd} for function {fun} must produce a pair (list or tuple of "
            "length two) where the first element represents the primal output (equal to the output "
            f"of the custom_vjp-decorated function {fun}) and the second element represents "
            "residuals (i.e. values stored from the forward pass for use on the backward pass)"
        )
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"{expected}, but instead of a pair the fwd rule {fwd} produced {pair}."
            )
        out, self.out_tree = _flat_output(pair[0])
        self.output.check(out, self.out_tree, expected, "fwd rule")
        self.out_avals = [_core.typeof(value) for value in out]
        residuals, self.residual_tree = _flat_output(pair[1])
        return out, residuals

    def backward(self, values):
        count = self.residual_tree.num_leaves
        residuals = tree_util.tree_unflatten(self.residual_tree, values[:count])
        given = iter(values[count:])
        cotangents = [
            _tangent(next(given) if _differentiable(aval) else None, aval, self.symbolic)
            for aval in self.out_avals
        ]
        cotangent = tree_util.tree_unflatten(self.out_tree, cotangents)
        result = self.bwd(*self.arguments.nondiff.values(), residuals, cotangent)
        return [self._flat_cotangents(result)]

    def _flat_cotangents(self, result):
        arguments = self.arguments
        if isinstance(result, list):
            result = tuple(result)
        slots = tree_util.tree_unflatten(arguments.tree, list(range(len(arguments.leaves))))
        flat = [None] * len(arguments.leaves)

        def place(cotangent, subtree):
            if cotangent is None or isinstance(cotangent, SymbolicZero):
                return
            if not isinstance(subtree, int):
                raise ValueError
            flat[subtree] = cotangent

        try:
            if not isinstance(result, tuple) or len(result) != len(slots):
                raise ValueError
            tree_util.tree_map(
                place,
                result,
                slots,
                is_leaf=lambda x: x is None or isinstance(x, SymbolicZero),
            )
        except ValueError:
            raise TypeError(
                "Custom VJP bwd rule must produce an output with the same container (pytree) "
                "structure as the args tuple of the primal function, and in particular must "
                "produce a tuple of length equal to the number of arguments to the primal "
                f"function, but got bwd output structure {tree_util.tree_structure(result)} for "
                f"primal input structure {arguments.tree}. The rule is {_name(self.bwd)} of "
                f"function {_name(self.fun)}."
            ) from None
        paths = None
        for i, (cotangent, aval) in enumerate(zip(flat, arguments.avals)):
            if cotangent is None or getattr(cotangent, "dtype", None) == float0:
                flat[i] = None
                continue
            if not _differentiable(aval):
                flat[i] = None
                continue
            cotangent = flat[i] = _core.asarray(cotangent)
            found = _core.typeof(cotangent)
            if found.shape == aval.shape:
                if found.dtype != aval.dtype:
                    flat[i] = cotangent.astype(aval.dtype)
                continue
            if paths is None:
                paths = [
                    tree_util.keystr(path) for path, _ in tree_util.tree_leaves_with_path(slots)
                ]
            raise ValueError(
                "Custom VJP bwd rule must produce an output with the same type as the args tuple "
                f"of the primal function, but at output{paths[i]} the bwd rule produced an output "
                f"of type {found.str_short()} corresponding to an input of type "
                f"{aval.str_short()}, so the shapes do not match. The rule is {_name(self.bwd)} of "
                f"function {_name(self.fun)}."
            )
        return flat


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
      >>> @custom_gradient
      ... def f(x):
      ...     return x ** 2, lambda g: 10 * g
      >>> grad(f)(3.0)
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
      ...     converted, consts = closure_convert(lambda x: x * y, 2.0)
      ...     return converted(2.0, *consts)
      >>> grad(f)(3.0)
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
