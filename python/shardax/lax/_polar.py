"""shardax/lax/_polar.py - the polar decomposition by Halley's iteration with dynamic weights.

Source: Nakatsukasa, Bai, Gygi, "Optimizing Halley's iteration for computing the matrix polar
decomposition", 2010.
"""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import concatenate, eye, where
from shardax._base.arrays import asarray, bind, known, static_jit
from shardax.dtypes import finfo
from shardax.lax._linear_solve import adjoint, matmul, triangular_solve
from shardax.lax._loops import while_loop
from shardax.lax._reductions import reduce_max, reduce_sum

_functions = _core.functions

__all__ = ["qdwh"]

# Weights up to this one keep I + c u* u well conditioned, so that its Cholesky factor will do.
_CHOLESKY_WEIGHT = 100


def _weights(eps, most):
    """The weights (a, b, c) of the steps that take a lower bound of the singular values from eps to
    1, at most so many.
    """
    low, steps = eps, []
    while low + 5 * eps < 1 and len(steps) < most:
        square = low * low
        d = (4 * (1 / square - 1) / square) ** (1 / 3)
        root = (1 + d) ** 0.5
        a = root + (2 - d + 2 * (2 - square) / (square * root)) ** 0.5
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        low = low * (a + b * square) / (1 + c * square)
        steps.append((a, b, c))
    return steps


def _identity(u):
    return eye(u.shape[1], u.shape[1], 0, u.dtype)


def _step(u, a, b, c):
    """u (a + b u* u) (1 + c u* u)^-1."""
    rest = b / c
    if c > _CHOLESKY_WEIGHT:
        tall = concatenate([c**0.5 * u, _identity(u)])
        q, _ = bind("qr", (tall,), pivoting=False, full_matrices=False, use_magma=None)
        m = u.shape[0]
        return rest * u + (a - rest) / c**0.5 * matmul(q[:m], adjoint(q[m:]))
    factor = bind("cholesky", (_identity(u) + c * matmul(adjoint(u), u),))
    x = triangular_solve(factor, u, False, True, True, True, False)
    x = triangular_solve(factor, x, False, True, False, False, False)
    return rest * u + (a - rest) * x


def _size(x):
    return _functions.sqrt(reduce_sum(_functions.square(_functions.abs(x)), range(x.ndim)))


@static_jit("max_iterations", "eps")
def _qdwh(x, max_iterations, eps):
    eps = float(finfo(x.dtype).eps) if eps is None else float(eps)
    size = _functions.abs(x)
    bound = _functions.sqrt(reduce_max(reduce_sum(size, (0,)), (0,))) * _functions.sqrt(
        reduce_max(reduce_sum(size, (1,)), (0,))
    )
    bound = where(bound == 0, 1, bound)
    u = x / bound.astype(x.dtype)
    enough = (5 * eps) ** (1 / 3)
    weights = _weights(eps, max_iterations)
    moves = asarray(True)
    for a, b, c in weights:
        new = _step(u, a, b, c)
        moves = _size(new - u) > enough
        u = new

    def more(state):
        count, _, moves = state
        return _functions.logical_and(moves, count < max_iterations)

    def step(state):
        count, u, _ = state
        new = _step(u, 3.0, 1.0, 3.0)  # the weights' limit
        return count + 1, new, _size(new - u) > enough

    count, u, moves = while_loop(more, step, (asarray(len(weights), np.int32), u, moves))
    u = 1.5 * u - 0.5 * matmul(u, matmul(adjoint(u), u))  # a step of Newton and Schulz
    h = matmul(adjoint(u), x)
    return u, (h + adjoint(h)) / 2, count, _functions.logical_not(moves)


def qdwh(x, *, is_hermitian=False, max_iterations=None, eps=None, dynamic_shape=None):
    """(u, h, iterations, whether they converged) with u h = x, u* u = 1 and h Hermitian positive
    semidefinite.

    Args:
      x: (m, n) with m >= n.
      is_hermitian: not used.
      max_iterations: 10 where it is None.
      eps: the precision of the result; that of the dtype where it is None.
      dynamic_shape: (m, n), beyond which x counts as 0.

    Raises:
      ValueError: m < n.

    Example:
      >>> u, h, _, _ = lax.linalg.qdwh(jnp.array([[0.0, 2.0], [2.0, 0.0]]))
      >>> h.round(3)
      Array([[2., 0.],
             [0., 2.]], dtype=float32)
    """
    known(is_hermitian, "The `is_hermitian` argument must be statically specified to use `qdwh`.")
    x = asarray(x)
    if x.ndim != 2 or x.shape[0] < x.shape[1]:
        raise ValueError("The input matrix of shape M x N must have M >= N.")
    if dynamic_shape is not None:
        rows, columns = (
            bind("iota", (), dtype=np.dtype("int32"), shape=x.shape, dimension=d) for d in (0, 1)
        )
        inside = _functions.logical_and(rows < dynamic_shape[0], columns < dynamic_shape[1])
        x = where(inside, x, 0)
    return _qdwh(x, 10 if max_iterations is None else int(max_iterations), eps)
