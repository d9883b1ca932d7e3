"""shardax/_transform/custom/vjp.py - custom_vjp: functions with a backward derivative rule of their
own."""

import functools
from typing import Any

from shardax import tree_util
from shardax._base.tracebacks import api_boundary
from shardax._core import api as _core
from shardax._transform.custom.arguments import (
    Call,
    CustomVJPPrimal,
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
from shardax.config import config
from shardax.dtypes import float0
from shardax.errors import UnexpectedTracerError


class custom_vjp(TakesRules):
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
      >>> @shardax.custom_vjp
      ... def clip_gradient(x):
      ...     return x
      >>> clip_gradient.defvjp(lambda x: (x, None), lambda res, g: (jnp.clip(g, -1, 1),))
      >>> shardax.grad(lambda x: 5 * clip_gradient(x))(2.0)
      Array(1., dtype=float32, weak_type=True)
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()) -> None:
        _update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.nondiff_argnames = tuple(nondiff_argnames)
        self.fwd = None
        self.bwd = None
        self.symbolic_zeros = False
        self.optimize_remat = False

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False) -> Any:
        """Sets the rules: fwd(*args) -> (out, residuals) and bwd(*nondiff_args, residuals,
        cotangent) -> one cotangent per differentiated argument, None for zero. Cotangents keep the
        dtypes that bwd gives them. With `optimize_remat` the function itself is computed wherever
        no residual is needed: in the first pass of a checkpoint.

        Raises:
          NotImplementedError: at a derivative, with both `symbolic_zeros` and `optimize_remat`.
        """
        self.fwd = fwd
        self.bwd = bwd
        self.symbolic_zeros = symbolic_zeros
        self.optimize_remat = optimize_remat

    @api_boundary
    def __call__(self, *args, **kwargs) -> Any:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"No VJP defined for custom_vjp function {_name(self)} using defvjp."
            )
        if references_exist():
            from shardax._transform.refs.rules import call_custom_vjp  # at first use: quick import

            return call_custom_vjp(self, resolved("custom_vjp", self.fun, args, kwargs))
        return self._call(args, kwargs)

    def _call(self, args, kwargs=None):
        call = _VjpCall(self, args, kwargs or {})
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
            call.arguments.given_away(),
        )
        return tree_util.tree_unflatten(call.out_tree, out)


class _VjpCall(Call):
    """A call of a custom_vjp function, and its rules on flat leaves."""

    def __init__(self, owner, args, kwargs) -> None:
        super().__init__("custom_vjp", owner, args, kwargs)
        self.fwd, self.bwd = owner.fwd, owner.bwd
        self.optimize_remat = owner.optimize_remat
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
        self.out_avals = None
        self.residual_tree = None
        self.scalars = {}

    def forward(self, leaves):
        if not self.optimize_remat:
            return self._forward(leaves)
        if self.symbolic:
            raise NotImplementedError(
                "custom_vjp: remat optimization for custom_vjp does not support symbolic zeros. "
                "Define the rules with one of symbolic_zeros and optimize_remat."
            )
        flat = _core.remat_opt_call(
            _name(self.fun), self.function, self._forward, _name(self.fwd), leaves
        )
        return flat[: self.out_tree.num_leaves], flat[self.out_tree.num_leaves :]

    def _forward(self, leaves):
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
        # Python's numbers and truth values reach the backward rule as they are.
        self.scalars = {
            i: leaf
            for i, leaf in enumerate(tree_util.tree_leaves(pair[1]))
            if type(leaf) in (bool, int, float, complex)
        }
        residuals, self.residual_tree = _flat_output(pair[1])
        return out, residuals

    def backward(self, values):
        count = self.residual_tree.num_leaves
        kept = [self.scalars.get(i, value) for i, value in enumerate(values[:count])]
        residuals = tree_util.tree_unflatten(self.residual_tree, kept)
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
        try:
            if not isinstance(result, tuple) or len(result) != len(slots):
                raise ValueError
            cotangents, tree = tree_util.tree_flatten(
                result, is_leaf=lambda x: x is None or isinstance(x, SymbolicZero)
            )
            for cotangent, subtree in zip(cotangents, tree.flatten_up_to(slots)):
                for n in tree_util.tree_leaves(subtree):
                    flat[n] = cotangent
        except ValueError:
            raise TypeError(
                "Custom VJP bwd rule must produce an output with the same container (pytree) "
                "structure as the args tuple of the primal function, and in particular must "
                "produce a tuple of length equal to the number of arguments to the primal "
                f"function, but got bwd output structure {tree_util.tree_structure(result)} for "
                f"primal input structure {arguments.tree}. The rule is {_name(self.bwd)} of "
                f"function {_name(self.fun)}."
            ) from None
        return [
            None if cotangent is None else self._checked(cotangent, i, slots)
            for i, cotangent in enumerate(flat)
        ]

    def _checked(self, cotangent, i, slots):
        """A cotangent of the shape of leaf i of the arguments; None for zero."""
        aval = self.arguments.avals[i]
        if getattr(cotangent, "dtype", None) == float0 or not _differentiable(aval):
            return None
        zero = isinstance(cotangent, SymbolicZero)
        value = None if zero else _core.asarray(cotangent)
        found = cotangent.aval if zero else _core.typeof(value)
        follows = not zero and _core.follows_varying()
        extra = follows and found.mat.varying - aval.mat.varying
        lacking = follows and aval.mat.varying - found.mat.varying
        if found.shape == aval.shape and not extra and not lacking:
            return value
        if config.jax_disable_bwd_checks:
            return value
        path = tree_util.keystr(tree_util.tree_leaves_with_path(slots)[i][0])
        hint = "Consider just returning a None here instead of a SymbolicZero object. "
        why = "the shapes do not match" if found.shape != aval.shape else ""
        advice = ""
        if extra or lacking:
            why += f"{', and ' if why else ''}the manual axis types do not match"
            axes = ", ".join(map(repr, sorted(extra or lacking)))
            advice = (
                f"You might need to add an extra `jax.lax.psum(..., ({axes},))` to the output, or "
                "to vary the input with `jax.lax.pcast(..., to='varying')`. "
                if extra
                else f"You might need to vary the output with `jax.lax.pcast(..., ({axes},), "
                "to='varying')`, or to leave a sum out whose result all devices share. "
            )
        raise ValueError(
            "Custom VJP bwd rule must produce an output with the same type as the args tuple of "
            f"the primal function, but at output{path} the bwd rule produced an output of type "
            f"{found.str_short()} corresponding to an input of type {aval.str_short()}, so "
            f"{why}. {hint if zero else ''}{advice}The rule is "
            f"{_name(self.bwd)} of function "
            f"{_name(self.fun)}."
        )
