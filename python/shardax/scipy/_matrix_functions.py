"""shardax/scipy/_matrix_functions.py - functions of matrices, and Sylvester's equation."""

import functools

from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import bind, in_one_program
from shardax._transform.derivatives import jvp
from shardax.scipy._promote import inexact

__all__ = [
    "expm",
    "expm_frechet",
    "funm",
    "polar",
    "rsf2csf",
    "solve_sylvester",
    "sqrtm",
]


def _complex(a):
    """The same numbers as complex ones of their precision."""
    return a.astype(jnp.complex128 if a.real.dtype == jnp.float64 else jnp.complex64)


def _adjoint(a):
    return a.mT.conj()


def _check_square(a):
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Expected A to be a (batched) square matrix, got A.shape={a.shape}.")


# ---- the exponential ----------------------------------------------------------------------------

# Pade's approximation of exp of degree 13, for matrices of norm up to the bound.
_PADE = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)
# In float32 a degree of 7 is enough for its bound.
_PADE_7 = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)


@in_one_program("upper_triangular", "max_squarings")
def expm(A, *, upper_triangular=False, max_squarings=16):
    """The exponential of square matrices (..., n, n), by scaling and squaring; NaN where more than
    `max_squarings` would be needed.

    Source: Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.

    >>> shardax.scipy.linalg.expm(jnp.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    (A,) = inexact(A)
    _check_square(A)
    if not A.shape[-1]:
        return A
    single = A.real.dtype == jnp.float32
    coefficients, bound = (_PADE_7, 3.925724783138660) if single else (_PADE, 5.371920351148152)
    size = jnp.abs(A).sum(-2).max(-1)
    squarings = jnp.ceil(jnp.log2(jnp.maximum(size / bound, 1)))  # no infinity on the way
    A = A / (2**squarings).astype(A.dtype)[..., None, None]
    identity = jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)
    square = A @ A
    even, odd, power = coefficients[0] * identity, coefficients[1] * identity, square
    for k in range(2, len(coefficients), 2):
        even = even + coefficients[k] * power
        odd = odd + coefficients[k + 1] * power
        if k + 2 < len(coefficients):
            power = power @ square
    odd = A @ odd
    if upper_triangular:
        result = lax.linalg.triangular_solve(even - odd, even + odd, left_side=True)
    else:
        result = jnp.linalg.solve(even - odd, even + odd)

    def squared(i, x):
        left = (i < squarings)[..., None, None]
        return lax.cond(left.any(), lambda x: jnp.where(left, x @ x, x), lambda x: x, x)

    result = lax.fori_loop(0, max_squarings, squared, result)
    return jnp.where((squarings > max_squarings)[..., None, None], jnp.nan, result)


def expm_frechet(A, E, *, method=None, compute_expm=True):
    """(expm(A), its derivative in the direction E), for (..., n, n); compute_expm=False: the
    derivative alone.

    `method` has no effect: one algorithm computes the result, as exactly as the dtype allows.

    >>> shardax.scipy.linalg.expm_frechet(jnp.zeros((1, 1)), jnp.ones((1, 1)))
    (Array([[1.]], dtype=float32), Array([[1.]], dtype=float32))
    """
    A, E = inexact(A, E)
    for name, a in (("A", A), ("E", E)):
        if a.ndim < 2 or a.shape[-2] != a.shape[-1]:
            raise ValueError(
                f"expected {name} to be a (batched) square matrix, got {name}.shape={a.shape}"
            )
    if A.shape != E.shape:
        raise ValueError(
            f"expected A and E to be the same shape, got A.shape={A.shape} E.shape={E.shape}"
        )
    value, moved = jvp(expm, (A,), (E,))
    return (value, moved) if compute_expm else moved


# ---- by Schur's decomposition -------------------------------------------------------------------


def rsf2csf(T, Z, check_finite=True):
    """The complex Schur form and vectors (T, Z) out of the real ones (..., n, n): rotations make
    the blocks of size 2 triangular.

    `check_finite` has no effect: values are not known while a program is traced, and NaN gives NaN.

    Source: Golub, Van Loan, Matrix Computations, section 7.4.

    >>> t, z = shardax.scipy.linalg.rsf2csf(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), jnp.eye(2))
    >>> jnp.abs(jnp.diagonal(t)).round(3)
    Array([1., 1.], dtype=float32)
    """
    T, Z = jnp.asarray(T), jnp.asarray(Z)
    for name, a in (("T", T), ("Z", Z)):
        if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
            raise ValueError(f"Input '{name}' must be square.")
    if T.shape[-1] != Z.shape[-1]:
        raise ValueError(f"Input array shapes must match: Z: {Z.shape} vs. T: {T.shape}")
    return jnp.vectorize(_complex_form, signature="(n,n),(n,n)->(n,n),(n,n)")(T, Z)


def _complex_form(T, Z):
    T, Z = (_complex(a) for a in inexact(T, Z))
    n = T.shape[0]
    eps = jnp.finfo(T.dtype).eps
    places = jnp.arange(n)

    def eigenvalue(block):
        """One of a block, less its last element."""
        half = (block[0, 0] - block[1, 1]) / 2
        root = jnp.sqrt(half * half + block[0, 1] * block[1, 0])
        return jnp.where(jnp.abs(half + root) >= jnp.abs(half - root), half + root, half - root)

    def rotated(m, T, Z):
        block = lax.dynamic_slice(T, (m - 1, m - 1), (2, 2))
        mu, below = eigenvalue(block), block[1, 0]
        size = jnp.hypot(jnp.abs(mu), jnp.abs(below)).astype(T.dtype)
        c, s = mu / size, below / size
        g = jnp.stack([jnp.stack([c.conj(), s]), jnp.stack([-s, c])])
        rows = lax.dynamic_slice_in_dim(T, m - 1, 2, 0)
        rows = jnp.where(places >= m - 1, g @ rows, rows)
        T = lax.dynamic_update_slice_in_dim(T, rows, m - 1, 0)
        columns = lax.dynamic_slice_in_dim(T, m - 1, 2, 1)
        columns = jnp.where((places < m + 1)[:, None], columns @ _adjoint(g), columns)
        T = lax.dynamic_update_slice_in_dim(T, columns, m - 1, 1)
        columns = lax.dynamic_slice_in_dim(Z, m - 1, 2, 1) @ _adjoint(g)
        return T, lax.dynamic_update_slice_in_dim(Z, columns, m - 1, 1)

    def step(i, state):
        T, Z = state
        m = n - i
        size = jnp.abs(T[m - 1, m - 1]) + jnp.abs(T[m, m])
        full = jnp.abs(T[m, m - 1]) > eps * size
        T, Z = lax.cond(full, rotated, lambda m, T, Z: (T, Z), m, T, Z)
        return T.at[m, m - 1].set(0), Z

    return lax.fori_loop(1, n, step, (T, Z)) if n > 1 else (T, Z)


def _column(a, j):
    return lax.dynamic_index_in_dim(a, j, 1, keepdims=False)


@in_one_program("blocksize")
def sqrtm(A, blocksize=1):
    """The principal square root of (n, n), complex.

    Source: Bjorck, Hammarling, "A Schur method for the square root of a matrix", 1983.

    Raises:
      NotImplementedError: blocksize is not 1.

    >>> shardax.scipy.linalg.sqrtm(jnp.diag(jnp.array([4.0, 9.0]))).real
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    if blocksize > 1:
        raise NotImplementedError("Blocked version is not implemented yet.")
    (A,) = inexact(A)
    T, Z = lax.linalg.schur(A)
    T, Z = (T, Z) if jnp.iscomplexobj(A) else _complex_form(T, Z)
    return Z @ bind("triangular_root", (T,)) @ _adjoint(Z)


def funm(A, func, disp=True):
    """func of (n, n), complex: `func` takes the eigenvalues as a vector; by Parlett's recurrence,
    so that they have to differ.

    Args:
      disp: false: (the result, an estimate of its error).

    Source: Golub, Van Loan, Matrix Computations, algorithm 9.1.1.

    >>> shardax.scipy.linalg.funm(jnp.diag(jnp.array([1.0, 2.0])), jnp.square).real
    Array([[1., 0.],
           [0., 4.]], dtype=float32)
    """
    (A,) = inexact(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("expected square array_like input")
    n = A.shape[0]
    T, Z = lax.linalg.schur(A)
    T, Z = (T, Z) if jnp.iscomplexobj(A) else _complex_form(T, Z)
    diagonal = jnp.diagonal(T)
    gaps = diagonal[None, :] - diagonal[:, None]
    places = jnp.arange(n)
    distance = places[None, :] - places[:, None]

    def step(p, F):
        here = distance == p
        commutator = T @ F - F @ T
        return jnp.where(here, commutator / jnp.where(gaps == 0, 1, gaps), F)

    F = lax.fori_loop(1, n, step, jnp.diag(func(diagonal)).astype(T.dtype))
    result = Z @ F @ _adjoint(Z)
    if disp:
        return result
    eps = jnp.finfo(T.dtype).eps
    upper = distance > 0
    smallest = jnp.min(jnp.where(upper, jnp.abs(gaps), jnp.inf), initial=jnp.abs(T[0, 0]))
    smallest = jnp.where(smallest == 0, eps, smallest)
    size = jnp.abs(jnp.where(upper, T, 0)).sum(0).max()
    error = jnp.minimum(1, jnp.maximum(eps, eps / smallest * size))
    return result, jnp.where(jnp.isfinite(result).all(), error, jnp.inf)


def _sylvester_by_schur(A, B, C):
    """A solution by R y + y S = F, for upper triangular R and S. Column j of y solves
    (R + S[j, j]) x = F[:, j] - y S[:, j]. See Bartels, Stewart, "Solution of the matrix equation
    AX + XB = C", 1972.
    """
    (R, U), (S, V) = (lax.linalg.schur(_complex(a)) for a in (A, B))
    F = _adjoint(U) @ C.astype(R.dtype) @ V
    places, identity = jnp.arange(S.shape[0]), jnp.eye(R.shape[0], dtype=R.dtype)

    def step(j, y):
        known = _column(F, j) - y @ jnp.where(places < j, _column(S, j), 0)
        x = lax.linalg.triangular_solve(R + S[j, j] * identity, known, left_side=True)
        return jnp.where(places[None, :] == j, x[:, None], y)

    Y = lax.fori_loop(0, S.shape[0], step, jnp.zeros_like(F))
    return U @ Y @ _adjoint(V), jnp.diagonal(R), jnp.diagonal(S)


def _sylvester_by_eigenvectors(A, B, C):
    (a, U), (b, V) = jnp.linalg.eig(A), jnp.linalg.eig(B)
    F = jnp.linalg.solve(U, C.astype(a.dtype) @ V)
    Y = F / (a[:, None] + b[None, :])
    return U @ Y @ jnp.linalg.inv(V), a, b


def solve_sylvester(A, B, C, *, method="schur", tol=1e-8):
    """x with A x + x B = C, for (..., m, m), (..., n, n) and (..., m, n); NaN where an eigenvalue
    of A and one of B have a sum smaller than `tol`.

    Args:
      method: "schur", or "eigen", which needs linearly independent eigenvectors.

    >>> shardax.scipy.linalg.solve_sylvester(jnp.eye(2), jnp.eye(2), 2 * jnp.ones((2, 2)))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    A, B, C = inexact(A, B, C)
    m, n = C.shape[-2:]
    if A.shape[-2:] != (m, m) or B.shape[-2:] != (n, n):
        raise ValueError(
            f"Incompatible shapes for Sylvester equation:\nA: {A.shape}\nB: {B.shape}\nC: {C.shape}"
        )
    methods = {"schur": _sylvester_by_schur, "eigen": _sylvester_by_eigenvectors}
    if method not in methods:
        raise ValueError(
            f'Unrecognized method {method}. The two valid methods are either "schur" or "eigen".'
        )

    def solved(A, B, C):
        x, a, b = methods[method](A, B, C)
        singular = (jnp.abs(a[:, None] + b[None, :]) < tol).any()
        x = x if jnp.iscomplexobj(C) else x.real
        return jnp.where(singular, jnp.nan, x)

    return jnp.vectorize(solved, signature="(m,m),(n,n),(m,n)->(m,n)")(A, B, C)


# ---- polar --------------------------------------------------------------------------------------


@in_one_program("side", "method", "eps", "max_iterations", at_once=True)
def polar(a, side="right", *, method="qdwh", eps=None, max_iterations=None):
    """(u, p) with a = u p ("right") or a = p u ("left"), for (..., m, n), u with orthonormal rows
    or columns and p positive semidefinite.

    Args:
      method: "qdwh", Halley's iteration, for m >= n on the right and m < n on the left; or "svd".
      eps, max_iterations: of the iteration.

    >>> u, p = shardax.scipy.linalg.polar(jnp.array([[0.0, 2.0], [1.0, 0.0]]), method="svd")
    >>> p.round(3)
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    (a,) = inexact(a)
    if a.ndim < 2:
        raise ValueError("The input `a` must be at least a 2-D array.")
    if side not in ("right", "left"):
        raise ValueError("The argument `side` must be either 'right' or 'left'.")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"Unknown polar decomposition method {method}.")
    m, n = a.shape[-2:]
    if method == "qdwh" and (side == "right") != (m >= n):
        raise NotImplementedError(
            "method='qdwh' only supports mxn matrices where m < n where side='right' and m >= n "
            f"side='left', got {a.shape} with {side=}"
        )
    if method == "svd":
        u, s, vh = lax.linalg.svd(a, full_matrices=False)
        s = s.astype(u.dtype)[..., None, :]
        p = (_adjoint(vh) * s) @ vh if side == "right" else (u * s) @ _adjoint(u)
        return u @ vh, p
    iterate = functools.partial(lax.linalg.qdwh, eps=eps, max_iterations=max_iterations)

    def one(a):
        if side == "right":
            return iterate(a)[:2]
        u, p, _, _ = iterate(_adjoint(a))
        return _adjoint(u), _adjoint(p)

    shape = "(n,n)" if side == "right" else "(m,m)"
    return jnp.vectorize(one, signature=f"(m,n)->(m,n),{shape}")(a)
