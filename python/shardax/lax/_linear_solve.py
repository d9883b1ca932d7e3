"""shardax/lax/_linear_solve.py - linear systems, and helpers for stacks of matrices."""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import asarray, bind, check_arraylike, inexact_dtype, static_jit
from shardax._devices.full_like import full_like
from shardax.lax._dot import dot_general
from shardax.lax._elementwise import stop_gradient
from shardax.lax._solves import custom_linear_solve

_functions = _core.functions

__all__ = [
    "adjoint",
    "broadcast_stacks",
    "lu_solve",
    "matmul",
    "promoted",
    "rows_in_order",
    "solve",
    "symmetrized",
    "triangle",
    "triangular_solve",
]


def promoted(name, *args):
    """The operands as arrays of one inexact dtype; TypeError in JAX's words where one is none."""
    check_arraylike(name, *args)
    if len(args) == 1:
        return _core.promote("inexact", *args)
    dtype = inexact_dtype(_core.result_type(*args)[0])
    return tuple(_core.convert(asarray(a), dtype) for a in args)


def adjoint(a):
    """The conjugate transpose of matrices."""
    return _functions.conj(a.mT) if a.dtype.kind == "c" else a.mT


def symmetrized(x):
    """The Hermitian part of matrices; others than square ones stay, for the op to refuse."""
    return (x + adjoint(x)) * 0.5 if x.ndim >= 2 and x.shape[-2] == x.shape[-1] else x


def matmul(a, b):
    """The product of stacks of matrices of one shape, without promotion."""
    stack = tuple(range(a.ndim - 2))
    return dot_general(a, b, (((a.ndim - 1,), (b.ndim - 2,)), (stack, stack)))


def triangle(a, lower, offset=0):
    """`a` where row - column is at least `offset` (lower) or at most -offset (upper), else 0."""
    row, column = (
        bind("iota", (), dtype=np.dtype("int32"), shape=a.shape[-2:], dimension=d) for d in (0, 1)
    )
    inside = row >= column + offset if lower else column >= row + offset
    return where(_core.broadcast_to(inside, a.shape), a, full_like(a, 0))


def broadcast_stacks(*arrays):
    """Matrices whose stacks, the dimensions before the last two, repeat to one shape."""
    stack = _core.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    return [_core.broadcast_to(a, stack + a.shape[-2:]) for a in arrays]


def rows_in_order(x, order):
    """Rows of stacked matrices in the order of stacked indices."""
    stack = tuple(range(x.ndim - 2))
    sizes = (1,) * (x.ndim - 1) + x.shape[-1:]
    return bind(
        "gather",
        (x, order[..., None]),
        offset_dims=(x.ndim - 1,),
        collapsed_slice_dims=(x.ndim - 2,),
        start_index_map=(x.ndim - 2,),
        operand_batching_dims=stack,
        start_indices_batching_dims=stack,
        slice_sizes=sizes,
        mode="promise_in_bounds",
        fill_value=None,
        indices_are_sorted=False,
        unique_indices=True,
    )


def triangular_solve(a, b, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    """The op, of stacks of one shape."""
    return bind(
        "triangular_solve",
        (a, b),
        left_side=left_side,
        lower=lower,
        transpose_a=transpose_a,
        conjugate_a=conjugate_a and a.dtype.kind == "c",
        unit_diagonal=unit_diagonal,
    )


def lu_solve(lu, permutation, b, trans=0):
    """x with a x = b (`trans` 0), a^T x = b (1) or a^* x = b (2), out of lu(a), for stacks of
    matrices of one shape.
    """
    conjugate = trans == 2
    if trans == 0:
        x = triangular_solve(lu, rows_in_order(b, permutation), True, True, False, False, True)
        return triangular_solve(lu, x, True, False, False, False, False)
    x = triangular_solve(lu, b, True, False, True, conjugate, False)
    x = triangular_solve(lu, x, True, True, True, conjugate, True)
    return rows_in_order(x, _inverse_order(permutation))


def _inverse_order(permutation):
    places = bind(
        "iota", (), dtype=np.dtype("int32"), shape=permutation.shape, dimension=permutation.ndim - 1
    )
    operands = (permutation, places)
    return bind("sort", operands, dimension=permutation.ndim - 1, is_stable=True, num_keys=1)[1]


@static_jit()
def solve(a, b):
    """x with a x = b, for stacks of matrices (..., n, n) and (..., n, m), which broadcast.

    It is differentiated as a linear system: all further solves use one decomposition.
    """
    a, b = broadcast_stacks(a, b)
    lu, _, permutation = bind("lu", (stop_gradient(a),))
    return custom_linear_solve(
        lambda x: matmul(a, x),
        b,
        lambda _, b: lu_solve(lu, permutation, b),
        lambda _, b: lu_solve(lu, permutation, b, 1),
    )
