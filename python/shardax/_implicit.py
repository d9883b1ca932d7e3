"""shardax/_implicit.py - derivatives of what is defined by an equation, and named compositions."""

import functools

from shardax import _core, tree_util
from shardax._api import jit, jvp
from shardax._custom import closure_convert, custom_jvp
from shardax.numpy._common import asarray

__all__ = ["composite", "custom_root"]


def custom_root(f, initial_guess, solve, tangent_solve, has_aux=False):
    """A root of f whose derivatives are those of the equation f(x) = 0, not those of the steps by
    which it was found.

    Args:
      f: a function of x that returns a tree like x; derivatives are by what it closes over.
      initial_guess: where to start, a tree of arrays like the root.
      solve: solve(f, initial_guess) gives the root; it need not be differentiable.
      tangent_solve: tangent_solve(g, y) solves g(x) = y for the linear function g, the derivative
        of f at the root.
      has_aux: solve gives (root, more), which is passed on without derivatives.

    Example:
      >>> def root(a):
      ...     newton = lambda f, x: lax.fori_loop(0, 20, lambda i, x: x - f(x) / (2 * x), x)
      ...     return lax.custom_root(lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0))
      >>> grad(root)(4.0)
      Array(0.25, dtype=float32, weak_type=True)
    """
    guess = tree_util.tree_map(asarray, initial_guess)
    converted, consts = closure_convert(f, guess)
    shape = tree_util.tree_structure(converted(guess, *consts))
    if shape != tree_util.tree_structure(guess):
        raise TypeError(
            "f() output pytree structure must match initial_guess, "
            f"got {shape} and {tree_util.tree_structure(guess)}."
        )

    @custom_jvp
    def root(consts):
        return solve(lambda x: converted(x, *consts), guess)

    @root.defjvp
    def derivative(primals, tangents):
        (consts,), (changes,) = primals, tangents
        out = root(consts)
        x, aux = out if has_aux else (out, None)
        change = jvp(lambda consts: converted(x, *consts), (consts,), (changes,))[1]

        def linear(direction):
            return jvp(lambda x: converted(x, *consts), (x,), (direction,))[1]

        moved = tree_util.tree_map(lambda v: -asarray(v), tangent_solve(linear, change))
        if not has_aux:
            return out, moved
        return out, (moved, tree_util.tree_map(_no_change, aux))

    return root(consts)


def _no_change(x):
    x = asarray(x)
    return _core.full(x.shape, 0, x.dtype) if x.dtype.kind in "fcV" else _float0(x)


def _float0(x):
    import numpy as np

    from shardax.dtypes import float0

    return np.zeros(x.shape, float0)


def composite(decomposition, name, version=0):
    """`decomposition` as one call of that name: a function of arrays, with attributes as keyword
    arguments that are not arrays.

    Example:
      >>> scaled = lax.composite(lambda x, *, by: x * by, "my.scaled")
      >>> scaled(2.0, by=3)
      Array(6., dtype=float32, weak_type=True)
    """

    @functools.wraps(decomposition)
    def call(*args, **attributes):
        body = functools.partial(decomposition, **attributes)
        body.__name__ = name
        return jit(body)(*args)

    return call
