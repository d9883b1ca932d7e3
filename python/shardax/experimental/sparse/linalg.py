"""shardax.experimental.sparse.linalg - the largest eigenvalues of operators, and solutions."""

import numpy as np

from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import static_jit
from shardax.experimental.sparse._base import JAXSparse
from shardax.experimental.sparse.csr import CSR

__all__ = ["lobpcg_standard", "spsolve"]


def _times(a, b):
    return jnp.matmul(a, b, precision="highest")


def _orthonormal(vectors):
    """An orthonormal basis of the columns' span, the columns that add nothing to it zero.

    Stathopoulos and Wu, A block orthogonalization procedure (2002), twice.
    """
    eps = jnp.finfo(vectors.dtype).eps
    for _ in range(2):
        length = jnp.linalg.norm(vectors, axis=0)
        vectors = vectors / jnp.where(length > 0, length, 1)
        sizes, turn = jnp.linalg.eigh(_times(vectors.T, vectors))
        keep = sizes > eps * vectors.shape[0] * sizes[-1]
        scale = jnp.where(keep, lax.rsqrt(jnp.where(keep, sizes, 1)), 0)
        vectors = _times(vectors, turn * scale)
    return vectors


def _outside(basis, vectors):
    """An orthonormal basis of the part of the columns' span that an orthonormal `basis` lacks."""
    length = jnp.linalg.norm(vectors, axis=0)
    vectors = vectors / jnp.where(length > 0, length, 1)
    for _ in range(2):
        vectors = vectors - _times(basis, _times(basis.T, vectors))
    vectors = _orthonormal(vectors)
    vectors = vectors - _times(basis, _times(basis.T, vectors))
    length = jnp.linalg.norm(vectors, axis=0)
    return jnp.where(length > 0.5, vectors / jnp.where(length > 0, length, 1), 0)


def _check(A, X):
    n, k = X.shape
    if k == 0:
        raise ValueError(f"must have search dim > 0, got {k}")
    if k * 5 >= n:
        raise ValueError(f"expected search dim * 5 < matrix dim (got {k * 5}, {n})")
    image = A(jnp.zeros((n, 1), X.dtype))
    if image.dtype != X.dtype:
        raise ValueError(f"A, X must have same dtypes (were {image.dtype}, {X.dtype})")
    if image.shape != (n, 1):
        raise ValueError(f"A must be ({n}, {n}) matrix A, got output {image.shape}")


def _iterate(A, X, m, tol):
    n, k = X.shape
    tol = float(jnp.finfo(X.dtype).eps) if tol is None else tol

    def residual(X, theta):
        image = A(X)
        return image, image - theta * X

    def goes_on(state):
        *_, converged, i = state
        return (i < m) & (converged < k)

    def step(state):
        X, P, R, _, _, i = state
        R = _outside(jnp.concatenate([X, P], 1), R)
        basis = jnp.concatenate([X, P, R], 1)
        projected = _times(basis.T, A(basis))
        projected = (projected + projected.T) / 2
        # Columns that are zero come last.
        least = -2 * jnp.linalg.norm(projected) - 1
        missing = jnp.linalg.norm(basis, axis=0) == 0
        projected = projected + jnp.diag(jnp.where(missing, least, 0))
        theta, turn = jnp.linalg.eigh(projected)
        theta, turn = theta[::-1][:k], turn[:, ::-1][:, :k]
        P = _times(basis[:, k:], turn[k:])
        X = _times(basis, turn)
        X = X / jnp.linalg.norm(X, axis=0)
        image, R = residual(X, theta)
        most = 10 * n * tol * (jnp.linalg.norm(image, axis=0) + theta)
        converged = (jnp.linalg.norm(R, axis=0) < most).sum()
        return X, _outside(X, P), R, theta, converged, i + 1

    X = _orthonormal(X)
    theta = (X * A(X)).sum(0)
    _, R = residual(X, theta)
    state = (X, jnp.zeros_like(X), R, theta, jnp.zeros((), int), 0)
    X, _, _, theta, _, i = lax.while_loop(goes_on, step, state)
    return theta, X, i


@static_jit("m")
def _iterate_matrix(A, X, m, tol):
    return _iterate(lambda x: _times(A, x), X, m, tol)


def lobpcg_standard(A, X, m=100, tol=None):
    """The largest eigenvalues and their eigenvectors, by locally optimal block conjugate gradients.

    Args:
      A: a symmetric matrix (n, n), dense or sparse, or a function of (n, any) arrays.
      X: (n, k), where to begin; its columns are independent, and 5 k < n.
      m: the most steps.
      tol: it ends where the residual of each pair is below tol * 10 n times its size (None: the
        dtype's epsilon).

    Returns:
      (eigenvalues (k,), eigenvectors (n, k), the number of steps).

    Raises:
      ValueError: k is 0 or too large, or shapes or dtypes do not go together.

    Source: Knyazev, Toward the optimal preconditioned eigensolver, 2001, without a preconditioner.

    Example:
      >>> from shardax.experimental.sparse import linalg
      >>> A = jnp.diag(jnp.arange(1.0, 21.0))
      >>> theta, U, steps = linalg.lobpcg_standard(A, random.normal(random.key(0), (20, 2)))
      >>> theta.round(2), U.shape
      (Array([20., 19.], dtype=float32), (20, 2))
    """
    X = jnp.asarray(X)
    if isinstance(A, JAXSparse) or callable(A):
        function = A if callable(A) else (lambda x: A @ x)
        _check(function, X)
        return _iterate(function, X, m, tol)
    A = jnp.asarray(A)
    _check(lambda x: A @ x, X)
    return _iterate_matrix(A, X, m, tol)


def spsolve(data, indices, indptr, b, tol=1e-6, reorder=1):
    """The solution x of A x = b for a square A given by its rows, as `CSR` is; solved densely.

    Args:
      data, indices, indptr: those of `CSR`: (nse,), (nse,) and (n + 1,).
      b: a vector (n,).
      tol: without effect; the solution is exact up to rounding.
      reorder: 1 to 4, without effect, since all elements are kept.

    Raises:
      ValueError: for another `reorder`.

    Example:
      >>> from shardax.experimental.sparse import CSR, linalg
      >>> A = CSR.fromdense(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
      >>> linalg.spsolve(A.data, A.indices, A.indptr, jnp.array([2.0, 2.0]))
      Array([1. , 0.5], dtype=float32)
    """
    if reorder not in (1, 2, 3, 4):
        raise ValueError(f"{reorder=} not valid, must be one of [1, 2, 3, 4]")
    n = np.shape(b)[0]
    return jnp.linalg.solve(CSR((data, indices, indptr), shape=(n, n)).todense(), b)
