"""shardax/numpy/_linear_algebra/decompositions.py - decompositions of stacks of matrices."""

from typing import NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.arrays import static_jit
from shardax._core import Array
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
    """The Cholesky factor of matrices: the lower triangular L with L L* = a.

    Args:
      a: Hermitian positive definite matrices, floats or complex numbers of shape (..., N, N).
      upper: whether to return U = L*, with U* U = a.
      symmetrize_input: whether `a` is replaced by (a + a*) / 2; the lower triangle alone is read
        otherwise.

    Returns:
      An array of the shape of `a`; NaN for matrices that are not positive definite.

    Raises:
      ValueError: matrices are not square.

    Example:
      >>> jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
      Array([[2., 0.],
             [1., 1.]], dtype=float32)
    """
    (a,) = _promoted("jnp.linalg.cholesky", a)
    low = _lax.cholesky(a, symmetrize_input=symmetrize_input)
    return _adjoint(low) if upper else low


class QRResult(NamedTuple):
    """A named tuple: the orthogonal factor Q and the upper triangular factor R.

    Example:
      >>> jnp.linalg.qr(jnp.eye(2)).R.shape
      (2, 2)
    """

    Q: Array
    R: Array


@static_jit("mode")
def qr(a, mode="reduced"):
    """The QR decomposition of matrices: q r = a, with q orthogonal and r upper triangular.

    Args:
      a: floats or complex numbers of shape (..., M, N); K is min(M, N).
      mode: "reduced": q (..., M, K) and r (..., K, N); "complete": q (..., M, M) and r (..., M, N);
        "r": r alone. "raw": (h, taus), the reflectors of which q is made, transposed, and their
        factors.

    Returns:
      A named tuple (Q, R), or the arrays that `mode` says.

    Raises:
      ValueError: for another mode.

    Example:
      >>> a = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
      >>> q, r = jnp.linalg.qr(a)
      >>> q.shape, r.shape, jnp.allclose(q @ r, a, atol=1e-5)
      ((3, 2), (2, 2), Array(True, dtype=bool))
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
    """A named tuple: left singular vectors U in columns, singular values S, right ones Vh in rows.

    Example:
      >>> jnp.linalg.svd(jnp.eye(2)).S
      Array([1., 1.], dtype=float32)
    """

    U: Array
    S: Array
    Vh: Array


@static_jit("full_matrices", "compute_uv", "hermitian", "subset_by_index")
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, subset_by_index=None):
    """The singular value decomposition of matrices: u diag(s) v* = a.

    Args:
      a: floats or complex numbers of shape (..., M, N); K is min(M, N).
      full_matrices: whether u and v* are square; they have K columns and rows otherwise.
      compute_uv: whether to return u and v*, or s alone.
      hermitian: says that `a` is Hermitian; it is then decomposed by eigh.
      subset_by_index: None or (0, K).

    Returns:
      A named tuple (U, S, Vh) of shapes (..., M, M), (..., K), (..., N, N), or (..., M, K), (...,
      K), (..., K, N); s is real and descending. Or s.

    Raises:
      NotImplementedError: for another `subset_by_index`.

    Example:
      >>> jnp.linalg.svd(jnp.diag(jnp.array([1.0, 2.0])), compute_uv=False)
      Array([2., 1.], dtype=float32)
      >>> u, s, vh = jnp.linalg.svd(jnp.ones((4, 2)), full_matrices=False)
      >>> u.shape, s.shape, vh.shape
      ((4, 2), (2,), (2, 2))
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
    """The singular values of matrices, descending.

    Args:
      x: floats or complex numbers of shape (..., M, N).

    Returns:
      Floats of shape (..., min(M, N)).

    Example:
      >>> jnp.linalg.svdvals(jnp.diag(jnp.array([1.0, 2.0])))
      Array([2., 1.], dtype=float32)
    """
    return svd(x, compute_uv=False)


class EighResult(NamedTuple):
    """A named tuple: eigenvalues, and eigenvectors in columns.

    Example:
      >>> jnp.linalg.eigh(jnp.eye(2)).eigenvalues
      Array([1., 1.], dtype=float32)
    """

    eigenvalues: Array
    eigenvectors: Array


def _hermitian(name, a, UPLO):
    """(the operand, whether its lower triangle is read)"""
    (a,) = _promoted(f"jnp.linalg.{name}", a)
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {UPLO}")
    return a, UPLO != "U"


@static_jit("UPLO", "symmetrize_input")
def eigh(a, UPLO=None, symmetrize_input=True):
    """The eigenvalues and eigenvectors of Hermitian matrices: a v = v diag(w).

    Args:
      a: Hermitian matrices, floats or complex numbers of shape (..., N, N).
      UPLO: the triangle that is read where `symmetrize_input` is False: "L" (None) or "U".
      symmetrize_input: whether `a` is replaced by (a + a*) / 2.

    Returns:
      A named tuple: eigenvalues (..., N), real and ascending, and eigenvectors (..., N, N) in
      columns.

    Raises:
      ValueError: for another `UPLO`, or matrices that are not square.

    Example:
      >>> w, v = jnp.linalg.eigh(jnp.array([[2.0, 1.0], [1.0, 2.0]]))
      >>> w.round(3)
      Array([1., 3.], dtype=float32)
    """
    a, lower = _hermitian("eigh", a, UPLO)
    v, w = _lax.eigh(a, lower=lower, symmetrize_input=symmetrize_input)
    return EighResult(w, v)


@static_jit("UPLO", "symmetrize_input")
def eigvalsh(a, UPLO="L", *, symmetrize_input=True):
    """The eigenvalues of Hermitian matrices, ascending; arguments are those of `jnp.linalg.eigh`.

    Example:
      >>> jnp.linalg.eigvalsh(jnp.array([[2.0, 1.0], [1.0, 2.0]])).round(3)
      Array([1., 3.], dtype=float32)
    """
    a, lower = _hermitian("eigvalsh", a, UPLO)
    return hermitian_eigenvalues(a, lower, symmetrize_input)


class EigResult(NamedTuple):
    """A named tuple: eigenvalues, and eigenvectors in columns.

    Example:
      >>> jnp.linalg.eig(jnp.eye(2)).eigenvalues
      Array([1.+0.j, 1.+0.j], dtype=complex64)
    """

    eigenvalues: Array
    eigenvectors: Array


def eig(a):
    """The eigenvalues and eigenvectors of square matrices: a v = v diag(w).

    Eigenvalues have derivatives; of eigenvectors see `lax.linalg.eig`.

    Args:
      a: floats or complex numbers of shape (..., N, N).

    Returns:
      A named tuple: eigenvalues (..., N) and eigenvectors (..., N, N) in columns, complex.

    Raises:
      ValueError: matrices are not square.

    Example:
      >>> jnp.linalg.eig(jnp.array([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
      Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    (a,) = _promoted("jnp.linalg.eig", a)
    return EigResult(*_lax.eig(a, compute_left_eigenvectors=False))


def eigvals(a):
    """The eigenvalues of square matrices, complex.

    Args:
      a: floats or complex numbers of shape (..., N, N).

    Returns:
      Complex numbers of shape (..., N).

    Example:
      >>> jnp.linalg.eigvals(jnp.diag(jnp.array([1.0, 2.0])))
      Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    (a,) = _promoted("jnp.linalg.eigvals", a)
    return _lax.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]
