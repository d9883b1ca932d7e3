"""shardax.scipy.sparse.linalg - iterative solvers of linear systems."""

from shardax import lax
from shardax import numpy as jnp
from shardax.tree_util import tree_leaves, tree_map, tree_structure

__all__ = ["cg"]


def _operator(name, a):
    if callable(a):
        return a
    a = jnp.asarray(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"{name} must be a square matrix, but has shape: {a.shape}")
    return lambda x: a @ x


def _inner(x, y):
    """The real part of the inner product of two trees."""
    return sum(
        jnp.vdot(u, v, precision="highest").real for u, v in zip(tree_leaves(x), tree_leaves(y))
    )


def _plus(x, factor, y):
    return tree_map(lambda u, v: u + factor.astype(v.dtype) * v, x, y)


def _conjugate_gradients(A, b, x0, tol, atol, maxiter, M):
    enough = jnp.maximum(tol**2 * _inner(b, b), atol**2)

    def goes_on(state):
        _, r, _, _, k = state
        return (_inner(r, r) > enough) & (k < maxiter)

    def step(state):
        x, r, size, p, k = state
        image = A(p)
        along = size / _inner(p, image)
        x, r = _plus(x, along, p), _plus(r, -along, image)
        z = M(r)
        next_size = _inner(r, z)
        return x, r, next_size, _plus(z, next_size / size, p), k + 1

    r = tree_map(jnp.subtract, b, A(x0))
    z = M(r)
    return lax.while_loop(goes_on, step, (x0, r, _inner(r, z), z, 0))[0]


def cg(A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter=None, M=None):
    """(x, None) with A(x) = b, by conjugate gradients; derivatives are those of the solution.

    Args:
      A: a matrix or a linear function of trees like `b`, hermitian and positive definite.
      b: an array or a tree of arrays.
      x0: where to begin; zeros where it is None.
      tol, atol: it ends where the residual's norm is at most max(tol * norm(b), atol),
      maxiter: or after so many steps (None: ten times the number of unknowns).
      M: an approximation of A's inverse, as A is given.

    Raises:
      ValueError: where `x0` and `b` differ in structure or shapes, or A is no square matrix.

    >>> cg(jnp.diag(jnp.array([1.0, 2.0])), jnp.array([1.0, 4.0]))[0]
    Array([1., 2.], dtype=float32)
    """
    A = _operator("A", A)
    M = (lambda x: x) if M is None else _operator("M", M)
    b = tree_map(lambda u: jnp.asarray(u) + jnp.zeros((), jnp.float32), b)
    x0 = tree_map(jnp.zeros_like, b) if x0 is None else tree_map(jnp.asarray, x0)
    if tree_structure(x0) != tree_structure(b):
        raise ValueError(
            "x0 and b must have matching tree structure: "
            f"{tree_structure(x0)} vs {tree_structure(b)}"
        )
    shapes = [[u.shape for u in tree_leaves(t)] for t in (x0, b)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"arrays in x0 and b must have matching shapes: {shapes[0]} vs {shapes[1]}"
        )
    x0 = tree_map(lambda u, v: u.astype(v.dtype), x0, b)
    if maxiter is None:
        maxiter = 10 * sum(u.size for u in tree_leaves(b))

    def solve(matvec, rhs):
        return _conjugate_gradients(matvec, rhs, x0, tol, atol, maxiter, M)

    x = lax.custom_linear_solve(A, b, solve=solve, transpose_solve=solve, symmetric=True)
    return x, None
