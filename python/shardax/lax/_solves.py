"""shardax/lax/_solves.py - linear_call, custom_linear_solve and custom_root: solutions whose
derivatives follow from what they solve, not from how.

The user's functions are staged here; the programs are joined so that all take the same closed-over
values first, and bound as one op.
"""

from shardax import tree_util
from shardax._base.tracebacks import api_boundary
from shardax._core import api as _core
from shardax._transform.custom.arguments import zero_from_primal
from shardax._transform.custom.jvp import custom_jvp
from shardax._transform.derivatives import jvp, linear_transpose, linearize
from shardax.lax._loops import flatten

__all__ = ["custom_linear_solve", "custom_root", "linear_call"]


def _avals(tree):
    return tree_util.tree_map(lambda leaf: _core.typeof(_core.asarray(leaf)), tree)


def _call(program, values):
    return _core.bind("jit", {"name": program.name, "jaxpr": program}, values)


def _check_tree(function, expected_name, found, expected, has_aux=False):
    if has_aux:
        parts = found.children()
        if len(parts) != 2:
            raise ValueError(
                f"{function}() produced a pytree with structure {found}, but a pytree tuple with "
                "auxiliary output was expected because has_aux was set to True."
            )
        found = parts[0]
    if found != expected:
        raise TypeError(
            f"{function}() output pytree structure must match {expected_name}, got {found} and "
            f"{expected}."
        )


def _check_shapes(function, found, expected):
    found = [aval.shape for aval in found[: len(expected)]]
    expected = [aval.shape for aval in expected]
    if found != expected:
        raise ValueError(f"{function}() output shapes must match b, got {found} and {expected}")


def linear_call(fun, fun_transpose, residual_args, linear_args):
    """fun(residual_args, linear_args), a linear function of linear_args whose transpose is given.

    Args:
      fun: linear in its second argument.
      fun_transpose: fun_transpose(residual_args, cotangent of the result) gives the cotangent of
        linear_args.
      residual_args: a tree of arrays that are not differentiated.
      linear_args: a tree of arrays.

    Raises:
      TypeError: when the transpose has another structure than linear_args, or residual_args
        are differentiated.

    Example:
      >>> from shardax.custom_derivatives import linear_call
      >>> double = lambda x: linear_call(lambda r, x: 2 * x, lambda r, ct: 2 * ct, (), x)
      >>> shardax.grad(double)(1.0)
      Array(2., dtype=float32, weak_type=True)
    """
    residuals, _ = flatten(residual_args)
    linear, linear_tree = flatten(linear_args)
    residual_avals = _avals(residual_args)
    callee = _core.stage("linear_call", fun, (residual_avals, _avals(linear_args)))
    out_avals = tree_util.tree_unflatten(callee.out_tree, callee.out_avals)
    transpose = _core.stage("linear_call", fun_transpose, (residual_avals, out_avals))
    if transpose.out_tree != linear_tree:
        raise TypeError(
            "transpose output pytree structure must match that of linear inputs, got output "
            f"structure {transpose.out_tree} and input structure {linear_tree}."
        )
    (callee_program, transpose_program), captured = _core.join_closed([callee, transpose])
    out = _core.bind(
        "linear_call",
        {
            "callee": callee_program,
            "transpose": transpose_program,
            "num_consts": len(captured) + len(residuals),
        },
        [*captured, *residuals, *linear],
    )
    return tree_util.tree_unflatten(callee.out_tree, out)


@api_boundary
def custom_linear_solve(matvec, b, solve, transpose_solve=None, symmetric=False, has_aux=False):
    """The solution x of matvec(x) = b, found by solve(matvec, b).

    It is differentiated as the solution of a linear system, by further solves: `solve` itself need
    not be differentiable.

    Args:
      matvec: a linear function of a tree of arrays like `b`; it may close over arrays, by which the
        solution is differentiated.
      b: a tree of arrays.
      solve: solve(matvec, b) gives x.
      transpose_solve: transpose_solve(vecmat, b) solves the transposed system; for reverse mode.
      symmetric: matvec is its own transpose, and `solve` the default of transpose_solve.
      has_aux: `solve` and `transpose_solve` return (x, anything).

    Returns:
      x, or (x, anything).

    Raises:
      TypeError, ValueError: when a function's result has another structure or shape than `b`; in
        reverse mode without transpose_solve.

    Example:
      >>> lax.custom_linear_solve(lambda x: 2 * x, 6.0, lambda f, b: b / f(1.0))
      Array(3., dtype=float32, weak_type=True)
    """
    if transpose_solve is None and symmetric:
        transpose_solve = solve
    leaves, tree = flatten(b)
    avals = _avals(b)
    flat_avals = tree_util.tree_leaves(avals)

    def staged(name, function, has_aux):
        result = _core.stage("custom_linear_solve", function, (avals,))
        _check_tree(name, "b", result.out_tree, tree, has_aux)
        _check_shapes(name, result.out_avals, flat_avals)
        return result

    parts = {
        "matvec": staged("matvec", matvec, False),
        "solve": staged("solve", lambda v: solve(matvec, v), has_aux),
    }
    if transpose_solve is not None:
        vecmat = matvec if symmetric else lambda v: linear_transpose(matvec, b)(v)[0]
        parts["vecmat"] = parts["matvec"] if symmetric else staged("vecmat", vecmat, False)
        parts["transpose_solve"] = staged(
            "transpose_solve", lambda v: transpose_solve(vecmat, v), has_aux
        )
    programs, captured = _core.join_closed(list(parts.values()))
    params = dict(zip(parts, programs)) | {"num_consts": len(captured)}
    out = _core.bind("custom_linear_solve", params, [*captured, *leaves])
    return tree_util.tree_unflatten(parts["solve"].out_tree, out)


@api_boundary
def custom_root(f, initial_guess, solve, tangent_solve, has_aux=False):
    """A root of `f`, found by solve(f, initial_guess) and differentiated by the implicit function
    theorem, with respect to the values that `f` closes over.

    Args:
      f: a function of a tree of arrays, with results of the same structure.
      initial_guess: a tree of arrays.
      solve: solve(f, initial_guess) gives x with f(x) = 0. It need not be differentiable.
      tangent_solve: tangent_solve(g, y) gives x with g(x) = y; g is f linearised at the root.
      has_aux: `solve` returns (x, anything).

    Returns:
      x, or (x, anything).

    Raises:
      TypeError, ValueError: when a function's result has another structure than initial_guess.

    Example:
      >>> def root(a):
      ...     step = lambda f, x: x - f(x) / shardax.grad(f)(x)
      ...     newton = lambda f, x: lax.fori_loop(0, 9, lambda i, x: step(f, x), x)
      ...     return lax.custom_root(lambda x: x ** 2 - a, 1.0, newton, lambda g, y: y / g(1.0))
      >>> shardax.grad(root)(4.0)
      Array(0.25, dtype=float32, weak_type=True)
    """
    guess, tree = flatten(initial_guess)
    avals = _avals(initial_guess)

    def linearized_solve(x, y):
        return tangent_solve(linearize(f, x)[1], y)

    def staged(name, expected, function, args, has_aux=False):
        result = _core.stage("custom_root", function, args)
        _check_tree(name, expected, result.out_tree, tree, has_aux)
        return result

    parts = [
        staged("f", "initial_guess", f, (avals,)),
        staged("solve", "initial_guess", lambda v: solve(f, v), (avals,), has_aux),
        staged("tangent_solve", "x", linearized_solve, (avals, avals)),
    ]
    (f_program, solve_program, tangent_program), captured = _core.join_closed(parts)

    @custom_jvp
    def root(captured, guess):
        return _call(solve_program, [*captured, *guess])

    @root.defjvp
    def rule(primals, tangents):
        captured, guess = primals
        out = root(captured, guess)
        x = out[: len(guess)]
        _, moved = jvp(lambda c: _call(f_program, [*c, *x]), (captured,), (tangents[0],))
        solved = _call(tangent_program, [*captured, *x, *moved])
        aux = [zero_from_primal(value) for value in out[len(guess) :]]
        return out, [*(-value for value in solved), *aux]

    out = root(captured, guess)
    return tree_util.tree_unflatten(parts[1].out_tree, out)
