"""shardax/_transform/jacobian.py - Jacobians and Hessians: vmap over basis vectors of jvp or
vjp."""

from collections.abc import Sequence

import numpy as np

from shardax import tree_util
from shardax._base.array_functions import eye
from shardax._base.arrays import asarray, result_type
from shardax._base.function_names import named_like
from shardax._core import api as _core
from shardax._core import full
from shardax._transform.derivatives import linearize, vjp
from shardax._transform.pmap_vmap import vmap
from shardax.dtypes import float0, issubdtype

__all__ = ["hessian", "jacfwd", "jacobian", "jacrev"]


def _partial(fun, args, kwargs, argnums):
    """fun as a function of the arguments at argnums only, and these."""
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    positions = tuple(p % len(args) for p in positions)

    def f(*dynamic):
        full = list(args)
        for p, value in zip(positions, dynamic, strict=True):
            full[p] = value
        return fun(*full, **kwargs)

    return f, tuple(args[p] for p in positions)


def _basis(tree):
    """One tree per element of the leaves: 1 there, 0 elsewhere; stacked."""
    leaves, treedef = tree_util.tree_flatten(tree)
    leaves = [asarray(leaf) for leaf in leaves]
    sizes = [leaf.size for leaf in leaves]
    total = sum(sizes)
    parts, start = [], 0
    for leaf, size in zip(leaves, sizes, strict=True):
        part = eye(total, size, -start, leaf.dtype)
        parts.append(part.reshape((total, *leaf.shape)))
        start += size
    return tree_util.tree_unflatten(treedef, parts)


def _split(tree, x, axis):
    """The axis of basis vectors of `x` taken apart: one part per leaf of `tree`."""
    leaves, treedef = tree_util.tree_flatten(tree)
    axis = axis % x.ndim
    parts, start = [], 0
    for leaf in leaves:
        leaf = asarray(leaf)
        index = (slice(None),) * axis + (slice(start, start + leaf.size),)
        shape = x.shape[:axis] + leaf.shape + x.shape[axis + 1 :]
        parts.append(x[index].reshape(shape))
        start += leaf.size
    return tree_util.tree_unflatten(treedef, parts)


def _weak_like(like, tree):
    """`tree` with leaves that are weakly typed as `like` is."""
    weak = _core.typeof(like).weak_type

    def leaf(x):
        aval = _core.typeof(x)
        return _core.convert(x, _core.ShapedArray(aval.shape, aval.dtype, weak))

    return tree_util.tree_map(leaf, tree)


def _moving(tree, tangents):
    """`tangents` with zeros of the dtype of those leaves of `tree` that have none."""

    def leaf(x, tangent):
        return full(x.shape, 0, x.dtype) if tangent.dtype == float0 else tangent

    return tree_util.tree_map(leaf, tree, tangents)


def _check(api, leaves, holomorphic, allow_int, what):
    for leaf in leaves:
        dtype = result_type(leaf)
        if holomorphic and not issubdtype(dtype, np.complexfloating):
            raise TypeError(
                f"{api} with holomorphic=True requires {what}s with complex dtype, but got "
                f"{dtype.name}."
            )
        if holomorphic:
            continue
        if api == "jacfwd" and not issubdtype(dtype, np.floating):
            raise TypeError(
                "jacfwd requires real-valued inputs (input dtype that is a sub-dtype of "
                f"np.floating), but got {dtype.name}. "
                "For holomorphic differentiation, pass holomorphic=True. For differentiation of "
                "non-holomorphic functions "
                "involving complex inputs or integer inputs, use shardax.jvp directly."
            )
        if (
            api == "jacrev"
            and what == "input"
            and not allow_int
            and not issubdtype(dtype, np.inexact)
        ):
            raise TypeError(
                "jacrev requires real- or complex-valued inputs (input dtype that is a "
                "sub-dtype of np.inexact), but got "
                f"{dtype.name}. If you want to use Boolean- or integer-valued inputs, use vjp or "
                "set allow_int to True."
            )
        if api == "jacrev" and what == "output" and not issubdtype(dtype, np.floating):
            raise TypeError(
                "jacrev requires real-valued outputs (output dtype that is a sub-dtype of "
                "np.floating), but got "
                f"{dtype.name}. For holomorphic differentiation, pass holomorphic=True."
            )


def _pick(tree, argnums):
    return tree[0] if isinstance(argnums, int) else tree


_DOC = (
    "Jacobian of {{fun}} with respect to positional argument(s) {0}. Takes the same arguments as "
    "{{fun}} but returns the jacobian of the output with respect to the arguments at positions {0}."
)


def jacfwd(fun, argnums: int | Sequence[int] = 0, has_aux=False, holomorphic=False):
    """The Jacobian of `fun`, column by column: efficient for few inputs and many outputs.

    Args:
      fun: a function of arrays; its result may be any tree.
      argnums: the positional argument(s) to differentiate by.
      has_aux: `fun` returns (result, anything); the Jacobian function then returns (Jacobian,
        anything).
      holomorphic: `fun` is complex-differentiable.

    Returns:
      A function of the same arguments. A leaf of the result with shape s and one of the argument
      with shape t give a
      leaf of shape s + t.

    Example:
      >>> shardax.jacfwd(lambda x: x ** 2)(jnp.array([1.0, 2.0]))
      Array([[2., 0.],
             [0., 4.]], dtype=float32)
    """

    @named_like(fun, _DOC.format(argnums))
    def jacobian_function(*args, **kwargs):
        f, dynamic = _partial(fun, args, kwargs, argnums)
        _check("jacfwd", tree_util.tree_leaves(dynamic), holomorphic, False, "input")
        out = linearize(f, *dynamic, has_aux=has_aux)
        columns = vmap(lambda t: _moving(out[0], out[1](*t)), out_axes=-1)(_basis(dynamic))
        example = _pick(dynamic, argnums)
        jacobian = tree_util.tree_map(
            lambda y, column: _weak_like(y, _split(example, column, -1)), out[0], columns
        )
        return (jacobian, out[2]) if has_aux else jacobian

    return jacobian_function


def jacrev(
    fun, argnums: int | Sequence[int] = 0, has_aux=False, holomorphic=False, allow_int=False
):
    """The Jacobian of a function by reverse mode, row by row: for many inputs and few outputs.

    Args:
      fun: a function of arrays that returns an array, or a tree of them.
      argnums: the position(s) of the arguments to differentiate by.
      has_aux: whether `fun` returns (result, other values), which are passed on.
      holomorphic, allow_int: without effect: a promise, or a choice of implementation, that nothing
        makes use of.

    Returns:
      A function of the same arguments. For inputs of shape S and results of shape R it returns an
      array of shape R + S. If there are several, arrays come in trees of trees.

    Example:
      >>> f = lambda x: jnp.array([x[0] * x[1], x[1] ** 2])
      >>> shardax.jacrev(f)(jnp.array([2.0, 3.0]))
      Array([[3., 2.],
             [0., 6.]], dtype=float32)
    """

    @named_like(fun, _DOC.format(argnums))
    def jacobian_function(*args, **kwargs):
        f, dynamic = _partial(fun, args, kwargs, argnums)
        _check("jacrev", tree_util.tree_leaves(dynamic), holomorphic, allow_int, "input")
        out = vjp(f, *dynamic, has_aux=has_aux)
        y, pullback = out[0], out[1]
        _check("jacrev", tree_util.tree_leaves(y), holomorphic, False, "output")
        rows = _pick(vmap(pullback)(_basis(y)), argnums)
        example = _pick(dynamic, argnums)
        by_input = tree_util.tree_map(
            lambda x, row: _weak_like(x, _split(y, row, 0)), example, rows
        )
        jacobian = tree_util.tree_transpose(
            tree_util.tree_structure(example), tree_util.tree_structure(y), by_input
        )
        return (jacobian, out[2]) if has_aux else jacobian

    return jacobian_function


jacobian = jacrev


def hessian(fun, argnums: int | Sequence[int] = 0, has_aux=False, holomorphic=False):
    """The matrix of second derivatives: jacfwd of jacrev.

    Example:
      >>> shardax.hessian(lambda x: (x ** 3).sum())(jnp.array([1.0, 2.0]))
      Array([[ 6.,  0.],
             [ 0., 12.]], dtype=float32)
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)
