"""shardax.scipy.linalg - systems of equations and decompositions."""

from shardax import lax
from shardax import numpy as jnp
from shardax.lax import _decompositions

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "det",
    "eigh",
    "expm",
    "inv",
    "polar",
    "qr",
    "solve",
    "solve_triangular",
    "svd",
    "toeplitz",
]


def det(a, overwrite_a=False, check_finite=True):
    """The determinant of (..., n, n)."""
    return jnp.linalg.det(a)


def inv(a, overwrite_a=False, check_finite=True):
    """The inverse of (..., n, n)."""
    return jnp.linalg.inv(a)


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The upper triangular U with U* U = a (`lower`: L with L L* = a)."""
    return jnp.linalg.cholesky(a, upper=not lower)


def solve(
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    debug=False,
    check_finite=True,
    assume_a="gen",
):
    """x with a x = b."""
    return jnp.linalg.solve(a, b)


def solve_triangular(
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,
    debug=None,
    check_finite=True,
):
    """x with a x = b, for a triangular (..., n, n).

    Trans 1 or "T" and 2 or "C" transpose a first.
    """
    a, b = _decompositions.matrices("solve_triangular", a, b, square=True)
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"Invalid 'trans' value {trans}")
    vector = b.ndim == 1
    b = b[:, None] if vector else b

    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = lax.linalg.triangular_solve(
        jnp.broadcast_to(a, batch + a.shape[-2:]),
        jnp.broadcast_to(b, batch + b.shape[-2:]),
        left_side=True,
        lower=bool(lower),
        transpose_a=trans not in (0, "N"),
        conjugate_a=trans in (2, "C"),
        unit_diagonal=bool(unit_diagonal),
    )
    return x[..., 0] if vector else x


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """(q, r) with q r = a; mode "full", "economic" or "r"."""
    if pivoting:
        raise NotImplementedError("qr: pivoting is not supported.")
    if mode == "r":
        return (jnp.linalg.qr(a, "r"),)
    return tuple(jnp.linalg.qr(a, "reduced" if mode == "economic" else "complete"))


def svd(
    a,
    full_matrices=True,
    compute_uv=True,
    overwrite_a=False,
    check_finite=True,
    lapack_driver="gesdd",
):
    """(u, s, v*) with u diag(s) v* = a."""
    out = jnp.linalg.svd(a, full_matrices, compute_uv)
    return tuple(out) if compute_uv else out


def eigh(
    a,
    b=None,
    lower=True,
    eigvals_only=False,
    overwrite_a=False,
    overwrite_b=False,
    turbo=True,
    eigvals=None,
    type=1,
    check_finite=True,
):
    """(eigenvalues ascending, eigenvectors in columns) of Hermitian matrices."""
    if type != 1:
        raise NotImplementedError("Only the type=1 case of eigh is implemented.")
    if b is not None or eigvals is not None:
        raise NotImplementedError("eigh: b and eigvals are not supported.")
    out = jnp.linalg.eigh(a, "L" if lower else "U")
    return out[0] if eigvals_only else tuple(out)


def block_diag(*arrs):
    """A matrix with these blocks along its diagonal; vectors are rows.

    >>> block_diag(jnp.array([[1]]), jnp.array([2, 3]))
    Array([[1, 0, 0],
           [0, 2, 3]], dtype=int32)
    """
    blocks = [jnp.atleast_2d(a) for a in arrs] or [jnp.zeros((1, 0))]
    wrong = [i for i, b in enumerate(blocks) if b.ndim > 2]
    if wrong:
        raise ValueError(
            f"Arguments to jax.scipy.linalg.block_diag must have at most 2 dimensions, got "
            f"{blocks[wrong[0]].ndim} at position {wrong[0]}."
        )
    dtype = jnp.result_type(*blocks)
    width = sum(b.shape[1] for b in blocks)
    rows, left = [], 0
    for b in blocks:
        right = width - left - b.shape[1]
        rows.append(jnp.pad(b.astype(dtype), ((0, 0), (left, right))))
        left += b.shape[1]
    return jnp.concatenate(rows)


def toeplitz(c, r=None):
    """The matrix (..., n, m) with first column `c`, first row `r` (without its first element) and
    constant diagonals; without `r`, the row is conj(c).
    """
    c = jnp.atleast_1d(jnp.asarray(c))
    r = jnp.conj(c) if r is None else jnp.atleast_1d(jnp.asarray(r))
    batch = jnp.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    c, r = (jnp.broadcast_to(x, batch + x.shape[-1:]) for x in (c, r))
    n, m = c.shape[-1], r.shape[-1]
    if not n or not m:
        return jnp.zeros((*batch, n, m), jnp.result_type(c, r))
    line = jnp.concatenate([jnp.flip(c, -1), r[..., 1:]], axis=-1)
    place = jnp.arange(m)[None, :] - jnp.arange(n)[:, None] + n - 1
    return jnp.take(line, place, axis=-1)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """(the Cholesky factor of a, `lower`), for `cho_solve`."""
    return cholesky(a, lower), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """x with a x = b, out of what `cho_factor` gives of a."""
    c, lower = c_and_lower
    y = solve_triangular(c, b, trans=0 if lower else 2, lower=lower)
    return solve_triangular(c, y, trans=2 if lower else 0, lower=lower)


# Pade's approximation of exp of degree 13, for matrices of norm up to the bound (Higham, "The
# scaling and squaring method for the matrix exponential revisited", 2005).
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


def expm(A, *, upper_triangular=False, max_squarings=16):
    """The exponential of square matrices (..., n, n), by scaling and squaring; NaN where more than
    `max_squarings` would be needed.

    >>> expm(jnp.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    A = jnp.asarray(A)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"Expected A to be a (batched) square matrix, got {A.shape=}.")
    A = A if jnp.issubdtype(A.dtype, jnp.inexact) else A.astype(float)
    single = A.real.dtype == jnp.float32
    coefficients, bound = (_PADE_7, 3.925724783138660) if single else (_PADE, 5.371920351148152)
    size = jnp.abs(A).sum(-2).max(-1)
    squarings = jnp.maximum(0, jnp.ceil(jnp.log2(size / bound)))
    A = A / (2**squarings).astype(A.dtype)[..., None, None]
    identity = jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)
    square = A @ A
    power, even, odd = identity, jnp.zeros_like(A), jnp.zeros_like(A)
    for k in range(0, len(coefficients), 2):
        even = even + coefficients[k] * power
        odd = odd + coefficients[k + 1] * power
        power = power @ square
    odd = A @ odd
    result = jnp.linalg.solve(even - odd, even + odd)

    def squared(i, x):
        return jnp.where((i < squarings)[..., None, None], x @ x, x)

    result = lax.fori_loop(0, max_squarings, squared, result)
    if upper_triangular:
        result = jnp.triu(result)
    return jnp.where((squarings > max_squarings)[..., None, None], jnp.nan, result)


def polar(a, side="right", *, method="qdwh", eps=None, max_iterations=None):
    """(u, p) with a = u p ("right") or a = p u ("left"), u unitary and p positive semidefinite."""
    if side not in ("right", "left"):
        raise ValueError(f"Invalid argument for `side`: {side}. Should be 'right' or 'left'.")
    u, s, vh = jnp.linalg.svd(jnp.asarray(a), full_matrices=False)
    unitary = u @ vh
    s = s.astype(u.dtype)
    if side == "right":
        return unitary, (vh.mT.conj() * s[..., None, :]) @ vh
    return unitary, (u * s[..., None, :]) @ u.mT.conj()
