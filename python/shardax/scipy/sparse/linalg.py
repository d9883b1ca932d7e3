"""shardax.scipy.sparse.linalg - iterative solvers of linear systems."""

import operator
from functools import partial

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax.flatten_util import ravel_pytree
from shardax.tree_util import tree_leaves, tree_map, tree_structure

__all__ = ["bicgstab", "cg", "gmres"]


def _operator(a):
    """The linear function of a matrix, of an object with `@`, or of a function."""
    if callable(a):
        return a
    if not hasattr(a, "__matmul__"):
        raise TypeError(f"linear operator must be either a function or ndarray: {a}")
    if hasattr(a, "shape") and (len(a.shape) != 2 or a.shape[0] != a.shape[1]):
        raise ValueError(f"linear operator must be a square matrix, but has shape: {a.shape}")
    if hasattr(a, "__array__"):
        return partial(jnp.matmul, a, precision="highest")
    return partial(operator.matmul, a)


def _identity(x):
    return x


def _vdot(x, y):
    """The inner product of two trees."""
    return sum(jnp.vdot(u, v, precision="highest") for u, v in zip(tree_leaves(x), tree_leaves(y)))


def _square(x):
    return _vdot(x, x).real


def _plus(x, factor, y):
    def leaf(u, v):
        return u + (factor if factor.dtype == v.dtype else factor.astype(v.dtype)) * v

    return tree_map(leaf, x, y)


def _minus(x, y):
    return tree_map(jnp.subtract, x, y)


def _system(A, b, x0, maxiter, M):
    """The arguments of the solvers, checked: (A, b, x0, maxiter, M)."""
    A = _operator(A)
    M = _identity if M is None else _operator(M)
    b = tree_map(lambda u: _core.promote("inexact", u)[0], b)
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
    x0 = tree_map(lambda u, v: u if u.dtype == v.dtype else u.astype(v.dtype), x0, b)
    if maxiter is None:
        maxiter = 10 * sum(u.size for u in tree_leaves(b))
    return A, b, x0, maxiter, M


# ---- conjugate gradients -----------------------------------------------------------------------


def _conjugate_gradients(A, b, x0, tol, atol, maxiter, M):
    enough = jnp.maximum(tol**2 * _square(b), atol**2)

    def goes_on(state):
        _, r, size, _, k = state
        return ((size if M is _identity else _square(r)) > enough) & (k < maxiter)

    def step(state):
        x, r, size, p, k = state
        image = A(p)
        along = size / _vdot(p, image)
        x, r = _plus(x, along, p), _plus(r, -along, image)
        z = M(r)
        next_size = _vdot(r, z).real
        return x, r, next_size, _plus(z, next_size / size, p), k + 1

    r = _minus(b, A(x0))
    z = M(r)
    return lax.while_loop(goes_on, step, (x0, r, _vdot(r, z).real, z, 0))[0]


def cg(A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter=None, M=None):
    """(x, None) with A(x) = b, by conjugate gradients; derivatives are those of the solution.

    Args:
      A: a matrix, an object with `@` or a linear function of trees like `b`, hermitian and positive
        definite.
      b: an array or a tree of arrays.
      x0: where to begin; zeros where it is None.
      tol, atol: it ends where the residual's norm is at most max(tol * norm(b), atol),
      maxiter: or after so many steps (None: ten times the number of unknowns).
      M: an approximation of A's inverse, as A is given.

    Raises:
      ValueError: where `x0` and `b` differ in structure or shapes, or A is no square matrix.
      TypeError: A is none of these.

    >>> shardax.scipy.sparse.linalg.cg(jnp.diag(jnp.array([1.0, 2.0])), jnp.array([1.0, 4.0]))[0]
    Array([1., 2.], dtype=float32)
    """
    A, b, x0, maxiter, M = _system(A, b, x0, maxiter, M)

    def solve(matvec, rhs):
        return _conjugate_gradients(matvec, rhs, x0, tol, atol, maxiter, M)

    # A hermitian matrix that is complex is not its own transpose.
    real = not any(jnp.iscomplexobj(u) for u in tree_leaves(b))
    x = lax.custom_linear_solve(A, b, solve=solve, transpose_solve=solve, symmetric=real)
    return x, None


# ---- stabilized biconjugate gradients ------------------------------------------------------------


def _biconjugate_gradients(A, b, x0, tol, atol, maxiter, M):
    """Van der Vorst, Bi-CGSTAB (1992)."""
    enough = jnp.maximum(tol**2 * _square(b), atol**2)

    def goes_on(state):
        _, r, *_, k = state
        return (_square(r) > enough) & (k < maxiter) & (k >= 0)

    def step(state):
        x, r, shadow, alpha, omega, rho, p, q, k = state
        next_rho = _vdot(shadow, r)
        beta = next_rho / rho * alpha / omega
        p = _plus(r, beta, _plus(p, -omega, q))
        along = M(p)
        q = A(along)
        alpha = next_rho / _vdot(shadow, q)
        s = _plus(r, -alpha, q)
        across = M(s)
        t = A(across)
        done = _square(s) < enough
        omega = jnp.where(done, 0, _vdot(t, s) / jnp.where(done, 1, _vdot(t, t)))
        x = _plus(_plus(x, alpha, along), omega, across)
        r = _plus(s, -omega, t)
        # Negative counts end it: it broke down.
        k = jnp.where(next_rho == 0, -10, jnp.where(~done & (omega * alpha == 0), -11, k + 1))
        return x, r, shadow, alpha, omega, next_rho, p, q, k

    r = _minus(b, A(x0))
    one = jnp.ones_like(_vdot(b, b))
    state = (x0, r, r, one, one, one, r, r, 0)
    return lax.while_loop(goes_on, step, state)[0]


def bicgstab(A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter=None, M=None):
    """(x, None) with A(x) = b, by stabilized biconjugate gradients, for any square A.

    The arguments are those of `cg`; A need not be hermitian.

    >>> a = jnp.array([[1.0, 1.0], [0.0, 2.0]])
    >>> shardax.scipy.sparse.linalg.bicgstab(a, jnp.array([3.0, 4.0]))[0].round(3)
    Array([1., 2.], dtype=float32)
    """
    A, b, x0, maxiter, M = _system(A, b, x0, maxiter, M)

    def solve(matvec, rhs):
        return _biconjugate_gradients(matvec, rhs, x0, tol, atol, maxiter, M)

    return lax.custom_linear_solve(A, b, solve=solve, transpose_solve=solve), None


# ---- generalized minimal residuals ---------------------------------------------------------------


def _orthogonalized(basis, w):
    """(w less its parts along the rows of `basis`, these parts), by Gram and Schmidt, twice."""
    parts = 0
    for _ in range(2):
        share = jnp.matmul(jnp.conj(basis), w, precision="highest")
        w = w - jnp.matmul(share, basis, precision="highest")
        parts = parts + share
    return w, parts


def _restart(A, x, residual, enough, size):
    """The best x in the space of `size` images of the residual, by Arnoldi and rotations of Givens.

    Saad and Schultz, GMRES (1986).
    """
    n, dtype = residual.size, residual.dtype
    length = jnp.linalg.norm(residual)

    def goes_on(state):
        *_, k, error = state
        return (k < size) & (error > enough)

    def step(state):
        basis, upper, turns, k, _ = state
        w, parts = _orthogonalized(basis, A(basis[k]))
        rest = jnp.linalg.norm(w)
        tiny = rest <= jnp.finfo(dtype).eps * jnp.linalg.norm(parts)
        basis = basis.at[k + 1].set(jnp.where(tiny, 0, w / jnp.where(tiny, 1, rest)))
        column = turns @ parts.at[k + 1].add(jnp.where(tiny, 0, rest).astype(dtype))
        a, b = column[k], column[k + 1]
        r = jnp.hypot(jnp.abs(a), jnp.abs(b))
        safe = jnp.where(r == 0, 1, r)
        turn = jnp.array([[jnp.conj(a), jnp.conj(b)], [-b, a]]) / safe
        rows = lax.dynamic_slice_in_dim(turns, k, 2)
        turns = lax.dynamic_update_slice_in_dim(turns, turn @ rows, k, 0)
        place = jnp.arange(size)
        column = jnp.where(place < k, column[:-1], jnp.where(place == k, safe.astype(dtype), 0))
        return basis, upper.at[:, k].set(column), turns, k + 1, length * jnp.abs(turns[k + 1, 0])

    basis = jnp.zeros((size + 1, n), dtype).at[0].set(residual / jnp.where(length > 0, length, 1))
    state = (basis, jnp.eye(size, dtype=dtype), jnp.eye(size + 1, dtype=dtype), 0, length)
    basis, upper, turns, k, _ = lax.while_loop(goes_on, step, state)
    rhs = jnp.where(jnp.arange(size) < k, length * turns[:-1, 0], 0)
    weights = lax.linalg.triangular_solve(upper, rhs[:, None], left_side=True)[:, 0]
    return x + jnp.matmul(weights, basis[:-1], precision="highest")


def gmres(
    A,
    b,
    x0=None,
    *,
    tol=1e-5,
    atol=0.0,
    restart=20,
    maxiter=None,
    M=None,
    solve_method="batched",
):
    """(x, info) with A(x) = b, by generalized minimal residuals, for any square A.

    Args:
      restart: the number of vectors that are kept before it begins again at the best x so far.
      maxiter: how often it may begin (None: ten times the number of unknowns).
      solve_method: "incremental" or "batched", which are the same here.
      The others are those of `cg`; A need not be hermitian.

    Returns:
      x, and 0, or -1 where it failed (NaN).

    >>> a = jnp.array([[1.0, 1.0], [0.0, 2.0]])
    >>> shardax.scipy.sparse.linalg.gmres(a, jnp.array([3.0, 4.0]))[0].round(3)
    Array([1., 2.], dtype=float32)
    """
    if solve_method not in ("incremental", "batched"):
        raise ValueError(
            f"invalid solve_method {solve_method}, must be either 'incremental' or 'batched'"
        )
    A, b, x0, maxiter, M = _system(A, b, x0, maxiter, M)
    start, unravel = ravel_pytree(x0)
    size = min(restart, start.size)

    def length(tree):
        return jnp.sqrt(_square(tree))

    enough = jnp.maximum(tol * length(b), atol)
    enough_within = length(M(b)) * jnp.minimum(1, enough / jnp.where(enough > 0, length(b), 1))

    def solve(matvec, rhs):
        def residual(x):
            return ravel_pytree(M(_minus(rhs, matvec(unravel(x)))))[0]

        def image(v):
            return ravel_pytree(M(matvec(unravel(v))))[0]

        def goes_on(state):
            _, r, k = state
            return (k < maxiter) & (jnp.linalg.norm(r) > enough)

        def step(state):
            x, r, k = state
            x = _restart(image, x, r, enough_within, size)
            return x, residual(x), k + 1

        return unravel(lax.while_loop(goes_on, step, (start, residual(start), 0))[0])

    x = lax.custom_linear_solve(A, b, solve=solve, transpose_solve=solve)
    x = tree_map(lambda leaf, like: _core.convert(leaf, leaf.dtype, like.weak_type), x, b)
    return x, jnp.where(jnp.isnan(length(x)), -1, 0)
