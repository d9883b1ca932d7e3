"""shardax.scipy.linalg - systems of equations and decompositions."""

from shardax import lax
from shardax import numpy as jnp
from shardax.numpy import _decompositions
from shardax.numpy.linalg import det, inv

__all__ = ["cholesky", "det", "eigh", "inv", "qr", "solve", "solve_triangular", "svd"]


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
):
    """(eigenvalues ascending, eigenvectors in columns) of Hermitian matrices."""
    if b is not None or eigvals is not None:
        raise NotImplementedError("eigh: b and eigvals are not supported.")
    out = jnp.linalg.eigh(a, "L" if lower else "U")
    return out[0] if eigvals_only else tuple(out)
