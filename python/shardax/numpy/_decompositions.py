"""shardax/numpy/_decompositions.py - decompositions of stacks of matrices."""

from typing import Any, NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.arrays import static_jit
from shardax.lax import _linear_solve
from shardax.lax import linalg as _lax
from shardax.lax._eigen import hermitian_eigenvalues
from shardax.lax._layout import rev as _rev
from shardax.lax._linear_solve import adjoint as _adjoint
from shardax.lax._linear_solve import promoted as _promoted
from shardax.lax._reductions import sort as _sort

_functions = _core.functions


@static_jit("upper", "symmetrize_input")
def cholesky(a, *, upper=False, symmetrize_input=True):
    """The lower triangular L with L L* = a (`upper`: U with U* U = a), for Hermitian positive
    definite (..., n, n); NaN for others. Where `symmetrize_input` is false, the lower triangle
    alone is read.

    >>> cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    (a,) = _promoted("jnp.linalg.cholesky", a)
    low = _lax.cholesky(a, symmetrize_input=symmetrize_input)
    return _adjoint(low) if upper else low


class QRResult(NamedTuple):
    """An orthogonal and an upper triangular factor."""

    Q: Any
    R: Any


@static_jit("mode")
def qr(a, mode="reduced"):
    """(q, r) with q r = a, q orthogonal and r upper triangular.

    Args:
      mode: "reduced"; "complete" for a square q; "r" for r alone; "raw" for (h, taus), the
        reflectors of which q is made, transposed, and their factors.

    >>> q, r = qr(jnp.ones((3, 2)))
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    (a,) = _promoted("jnp.linalg.qr", a)
    if mode == "raw":
        h, taus = _lax.geqrf(a)
        return QRResult(h.mT, taus)
    if mode not in ("reduced", "complete", "r", "full"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    q, r = _lax.qr(a, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


class SVDResult(NamedTuple):
    """Left singular vectors in columns, singular values, right ones in rows."""

    U: Any
    S: Any
    Vh: Any


@static_jit("full_matrices", "compute_uv", "hermitian", "subset_by_index")
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, subset_by_index=None):
    """(u, s, v*) with u diag(s) v* = a and s descending; compute_uv=False: s alone.

    Args:
      full_matrices: square u and v*.
      hermitian: a is; it is then decomposed by eigh.
      subset_by_index: None or (0, min(m, n)).

    >>> svd(jnp.diag(jnp.array([1.0, 2.0])), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    (a,) = _promoted("jnp.linalg.svd", a)
    if not hermitian:
        out = _lax.svd(
            a,
            full_matrices=full_matrices,
            compute_uv=compute_uv,
            subset_by_index=subset_by_index,
        )
        return SVDResult(*out) if compute_uv else out
    if not compute_uv and subset_by_index is None:
        size = _functions.abs(hermitian_eigenvalues(a))
        return _rev(_sort(size, dimension=size.ndim - 1), (size.ndim - 1,))
    v, w = _lax.eigh(a, subset_by_index=subset_by_index)
    size, last = _functions.abs(w), w.ndim - 1
    places = _core.bind("iota", (), dtype=np.dtype("int32"), shape=size.shape, dimension=last)
    ordered = _sort((size, places, _functions.sign(w)), dimension=last, num_keys=1)
    s, order, sign = (_rev(x, (last,)) for x in ordered)
    u = _linear_solve.rows_in_order(v.mT, order).mT
    return SVDResult(u, s, _adjoint(u * sign[..., None, :].astype(u.dtype)))


def svdvals(x, /):
    """The singular values, descending.

    >>> svdvals(jnp.diag(jnp.array([1.0, 2.0])))
    Array([2., 1.], dtype=float32)
    """
    return svd(x, compute_uv=False)


class EighResult(NamedTuple):
    """Eigenvalues, and eigenvectors in columns."""

    eigenvalues: Any
    eigenvectors: Any


def _hermitian(name, a, UPLO):
    """(the operand, whether its lower triangle is read)"""
    (a,) = _promoted(f"jnp.linalg.{name}", a)
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {UPLO}")
    return a, UPLO != "U"


@static_jit("UPLO", "symmetrize_input")
def eigh(a, UPLO=None, symmetrize_input=True):
    """(eigenvalues ascending, eigenvectors in columns) of Hermitian (..., n, n).

    Args:
      UPLO: the triangle that is read where `symmetrize_input` is false: "L" (None) or "U".
      symmetrize_input: a is replaced by (a + a*) / 2.

    >>> eigh(jnp.diag(jnp.array([2.0, 1.0]))).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    a, lower = _hermitian("eigh", a, UPLO)
    v, w = _lax.eigh(a, lower=lower, symmetrize_input=symmetrize_input)
    return EighResult(w, v)


@static_jit("UPLO", "symmetrize_input")
def eigvalsh(a, UPLO="L", *, symmetrize_input=True):
    """The eigenvalues of Hermitian (..., n, n), ascending; arguments are those of eigh."""
    a, lower = _hermitian("eigvalsh", a, UPLO)
    return hermitian_eigenvalues(a, lower, symmetrize_input)


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors in columns."""

    eigenvalues: Any
    eigenvectors: Any


def eig(a):
    """(eigenvalues, eigenvectors in columns) of (..., n, n), complex. Eigenvalues have derivatives;
    of eigenvectors see lax.linalg.eig.

    >>> eig(jnp.array([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    (a,) = _promoted("jnp.linalg.eig", a)
    return EigResult(*_lax.eig(a, compute_left_eigenvectors=False))


def eigvals(a):
    """The eigenvalues of (..., n, n), complex.

    >>> eigvals(jnp.diag(jnp.array([1.0, 2.0])))
    Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    (a,) = _promoted("jnp.linalg.eigvals", a)
    return _lax.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]
