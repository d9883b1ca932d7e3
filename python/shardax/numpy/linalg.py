"""shardax/numpy/linalg.py - norms, powers, inverses and decompositions of matrices."""

from typing import Any, NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind, canonical_axis, check_arraylike
from shardax._base.compositions import expand_dims as _expand_dims
from shardax._base.compositions import moveaxis as _moveaxis
from shardax._base.compositions import where as _where
from shardax.dtypes import finfo as _finfo
from shardax.lax import _decompositions
from shardax.lax._solves import custom_linear_solve as _custom_linear_solve
from shardax.numpy import (
    _creation,
    _matrices,
    _products,
    _reductions,
    _shape,
)
from shardax.numpy._chains import multi_dot as multi_dot

_functions = _core.functions
matmul, outer, tensordot, cross = (
    _products.matmul,
    _products.outer,
    _products.tensordot,
    _products.cross,
)
vecdot, matrix_transpose = _products.vecdot, _shape.matrix_transpose


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors (default: Euclidean) or matrices (default: Frobenius) along `axis`.

    Vectors: ord 0, inf, -inf or any number. Matrices: 'fro', inf, -inf, 1, -1, and of the singular
    values 'nuc' (their sum), 2 (the largest) and -2 (the smallest).
    """
    check_arraylike("jnp.linalg.norm", x)
    x = _core.promote("inexact", x)[0]
    ndim = x.ndim
    if axis is None:
        if ord is None:
            return _functions.sqrt(
                _reductions.sum(_functions.real(x * _functions.conj(x)), None, keepdims=keepdims)
            )
        axis = tuple(range(ndim))
    axis = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axis = tuple(canonical_axis(a, ndim) for a in axis)
    if len(axis) == 1:
        return _vector(x, 2 if ord is None else ord, axis[0], keepdims)
    if len(axis) == 2:
        return _matrix(x, ord, axis, keepdims)
    raise ValueError(f"Invalid axis values ({axis}) for jnp.linalg.norm.")


def _vector(x, ord, axis, keepdims):
    size = _functions.abs(x)
    if ord == 2:
        return _functions.sqrt(
            _reductions.sum(_functions.real(x * _functions.conj(x)), axis, keepdims=keepdims)
        )
    if ord == np.inf:
        return _reductions.max(size, axis, keepdims=keepdims)
    if ord == -np.inf:
        return _reductions.min(size, axis, keepdims=keepdims)
    if ord == 0:
        return _reductions.sum(
            _functions.not_equal(x, 0), axis, dtype=size.dtype, keepdims=keepdims
        )
    if ord == 1:
        return _reductions.sum(size, axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid order '{ord}' for vector norm.")
    return _functions.power(_reductions.sum(size**ord, axis, keepdims=keepdims), 1.0 / ord)


def _matrix(x, ord, axis, keepdims):
    row, column = axis
    if ord is None or ord in ("f", "fro"):
        return _functions.sqrt(
            _reductions.sum(_functions.real(x * _functions.conj(x)), axis, keepdims=keepdims)
        )
    size = _functions.abs(x)
    table = {
        1: (row, column, _reductions.max),
        -1: (row, column, _reductions.min),
        np.inf: (column, row, _reductions.max),
        -np.inf: (column, row, _reductions.min),
    }
    of_singular_values = {
        "nuc": _reductions.sum,
        2: _reductions.max,
        -2: _reductions.min,
    }
    if ord in of_singular_values:
        out = of_singular_values[ord](svdvals(_moveaxis(x, axis, (-2, -1))), -1)
        return _expand_dims(out, sorted(axis)) if keepdims else out
    if ord not in table:
        raise ValueError(f"Invalid order '{ord}' for matrix norm.")
    summed, chosen, extremum = table[ord]
    return (
        _shape.squeeze(
            extremum(_reductions.sum(size, summed, keepdims=True), chosen, keepdims=True), axis
        )
        if not keepdims
        else extremum(_reductions.sum(size, summed, keepdims=True), chosen, keepdims=True)
    )


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of vectors along `axis` (None: all elements)."""
    x = _core.promote("inexact", x)[0]
    if axis is None:
        out = _vector(x.reshape((-1,)), ord, 0, False)
        return out.reshape((1,) * x.ndim) if keepdims else out
    return norm(x, ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of matrices in the last two dimensions."""
    return norm(x, ord, (-2, -1), keepdims)


def matrix_power(a, n):
    """A square matrix (n < 0: its inverse) multiplied with itself."""
    a = asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise TypeError(f"Last 2 dimensions of the array must be square, got shape {a.shape}")
    if n < 0:
        a, n = inv(a), -n
    out = None
    while n:
        if n & 1:
            out = a if out is None else matmul(out, a)
        n >>= 1
        a = matmul(a, a) if n else a
    return (
        _core.broadcast_to(_matrices.eye(a.shape[-1], dtype=a.dtype), a.shape)
        if out is None
        else out
    )


def trace(x, /, *, offset=0, dtype=None):
    """The sums along diagonals of the matrices in the last two dimensions."""
    return _products.trace(x, offset, -2, -1, dtype)


def diagonal(x, /, *, offset=0):
    """Diagonals of the matrices in the last two dimensions."""
    return _matrices.diagonal(x, offset, -2, -1)


# ---- equations and decompositions ---------------------------------------------------------------


def solve(a, b):
    """x with a x = b, for (..., n, n) and (..., n, m) or one vector (n,)."""
    a, b = _decompositions.matrices("solve", a, b, square=True)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if b.shape[-2] != a.shape[-1]:
        raise ValueError(f"solve: the shapes {a.shape} and {b.shape} do not fit together.")
    x = _decompositions.over_batches(_solved, a, b)
    return x[..., 0] if vector else x


def _solved(a, b):
    """`solve` of matrices. Derivatives are further solves: the result is linear in b."""
    return _custom_linear_solve(
        lambda x: matmul(a, x),
        b,
        lambda _, b: _decompositions.eliminated(a, b)[0],
        lambda _, b: _decompositions.eliminated(a.T, b)[0],
    )


def inv(a):
    """The inverse of (..., n, n)."""
    (a,) = _decompositions.matrices("inv", a, square=True)
    return solve(a, _matrices.eye(a.shape[-1], dtype=a.dtype))


def _pivots(name, a):
    (a,) = _decompositions.matrices(name, a, square=True)

    def one(m):
        return _decompositions.eliminated(
            m, _creation.zeros((m.shape[0], 0), m.dtype), singular=True
        )[1:]

    return _decompositions.over_batches(one, a)


def det(a):
    """The determinant of (..., n, n)."""
    pivots, sign = _pivots("det", a)
    return sign * _reductions.prod(pivots, -1)


class SlogdetResult(NamedTuple):
    """The sign (or phase) of a determinant, and the logarithm of its size."""

    sign: Any
    logabsdet: Any


def slogdet(a, *, method=None):
    """(sign, log of the size) of the determinant of (..., n, n)."""
    pivots, sign = _pivots("slogdet", a)
    size = _functions.abs(pivots)
    phase = _functions.sign(pivots)
    return SlogdetResult(
        sign * _reductions.prod(phase, -1), _reductions.sum(_functions.log(size), -1)
    )


def cholesky(a, *, upper=False, symmetrize_input=True):
    """The lower triangular L with L L* = a (`upper`: U with U* U = a), for Hermitian positive
    definite (..., n, n).
    """
    (a,) = _decompositions.matrices("cholesky", a, square=True)
    a = (a + _decompositions.adjoint(a)) / 2 if symmetrize_input else a
    low = bind("cholesky", (a,))
    return _decompositions.adjoint(low) if upper else low


class QRResult(NamedTuple):
    """An orthogonal and an upper triangular factor."""

    Q: Any
    R: Any


def qr(a, mode="reduced"):
    """(q, r) with q r = a, q orthogonal and r upper triangular; mode "r": r alone.

    "complete": a square q.
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    q, r = _decompositions.qr(a, mode == "complete")
    return r if mode == "r" else QRResult(q, r)


class SVDResult(NamedTuple):
    """Left singular vectors in columns, singular values, right ones in rows."""

    U: Any
    S: Any
    Vh: Any


def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, subset_by_index=None):
    """(u, s, v*) with u diag(s) v* = a and s descending; compute_uv=False: s alone."""
    if subset_by_index is not None:
        raise NotImplementedError("subset_by_index is not supported.")
    u, s, vh = _decompositions.svd(a, full_matrices)
    return SVDResult(u, s, vh) if compute_uv else s


def svdvals(x, /):
    """The singular values, descending."""
    return svd(x, compute_uv=False)


class EighResult(NamedTuple):
    """Eigenvalues, and eigenvectors in columns."""

    eigenvalues: Any
    eigenvectors: Any


def eigh(a, UPLO=None, symmetrize_input=True):
    """(eigenvalues ascending, eigenvectors in columns) of Hermitian (..., n, n)."""
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {UPLO}")
    return EighResult(*_decompositions.eigh(a, symmetrize_input))


def eigvalsh(a, UPLO="L", *, symmetrize_input=True):
    """The eigenvalues of Hermitian (..., n, n), ascending."""
    return eigh(a, UPLO, symmetrize_input)[0]


def _tolerance(a, factor=1.0):
    return factor * max(a.shape[-2:]) * float(_finfo(a.dtype).eps)


def pinv(a, rtol=None, hermitian=False, *, rcond=None):
    """The pseudo-inverse: singular values up to rtol times the largest one count as 0."""
    (a,) = _decompositions.matrices("pinv", a)
    rtol = rcond if rtol is None else rtol
    rtol = _tolerance(a, 10.0) if rtol is None else rtol
    u, s, vh = svd(a, full_matrices=False)
    kept = s > asarray(rtol)[..., None] * s[..., :1]
    inverse = _where(kept, 1 / _where(kept, s, 1), 0).astype(a.dtype)
    return matmul(_decompositions.adjoint(vh), inverse[..., None] * _decompositions.adjoint(u))


def matrix_rank(M, rtol=None, *, tol=None, hermitian=False):
    """How many singular values exceed rtol times the largest one; of a vector, whether it is not
    zero. `hermitian` says that the matrices are."""
    if np.ndim(M) < 2:
        return _reductions.any(asarray(M) != 0).astype(np.int32)
    (a,) = _decompositions.matrices("matrix_rank", M)
    s = svd(a, compute_uv=False)
    limit = (
        s[..., :1] * (_tolerance(a) if rtol is None else asarray(rtol)[..., None])
        if tol is None
        else tol
    )
    return _reductions.sum(s > limit, -1)


def cond(x, p=None):
    """The condition number: of the singular values, or norm(x, p) * norm(inv(x), p)."""
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return norm(x, p, (-2, -1)) * norm(inv(x), p, (-2, -1))


def lstsq(a, b, rcond=None, *, numpy_resid=False):
    """(x that minimizes |a x - b|, squared residuals, rank, singular values) for (m, n) and (m,) or
    (m, k).
    """
    a, b = _decompositions.matrices("lstsq", a, b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(f"lstsq: the shapes {a.shape} and {b.shape} do not fit together.")
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    u, s, vh = svd(a, full_matrices=False)
    kept = s >= s[:1] * (_tolerance(a) if rcond is None else rcond)
    inverse = _where(kept, 1 / _where(kept, s, 1), 0).astype(a.dtype)
    x = matmul(
        _decompositions.adjoint(vh), inverse[:, None] * matmul(_decompositions.adjoint(u), b)
    )
    rest = _reductions.sum(_functions.square(_functions.abs(b - matmul(a, x))), 0)
    return x[:, 0] if vector else x, rest, _reductions.sum(kept), s


def tensorinv(a, ind=2):
    """The inverse of tensordot(a, x, ind) as a function of x.

    Args:
      a: prod(a.shape[:ind]) == prod(a.shape[ind:]).
      ind: how many dimensions belong to the result.

    Returns:
      a.shape[ind:] + a.shape[:ind].
    """
    check_arraylike("tensorinv", a)
    a = asarray(a)
    if ind <= 0:
        raise ValueError(f"ind must be a positive integer; got {ind}.")
    rows, columns = a.shape[:ind], a.shape[ind:]
    if np.prod(rows) != np.prod(columns):
        raise ValueError(
            "tensorinv is only possible when the product of the first `ind` dimensions equals "
            f"that of the others; got shape {a.shape} with ind={ind}."
        )
    return inv(a.reshape((int(np.prod(rows)), -1))).reshape(columns + rows)


def tensorsolve(a, b, axes=None):
    """x with tensordot(a, x, x.ndim) = b.

    Args:
      a: b.shape + x.shape, with as many elements in both.
      b: any shape.
      axes: dimensions of `a` that are moved to its end first.
    """
    check_arraylike("tensorsolve", a, b)
    a, b = asarray(a), asarray(b)
    if axes is not None:
        axes = [canonical_axis(d, a.ndim) for d in axes]
        a = _shape.transpose(a, [d for d in range(a.ndim) if d not in axes] + axes)
    shape = a.shape[b.ndim :]
    if a.shape[: b.ndim] != b.shape or np.prod(shape) != b.size:
        raise ValueError(
            f"tensorsolve: after moving axes to end, leading dimensions of a must match b, and the "
            f"others have as many elements: got a.shape={a.shape}, b.shape={b.shape}."
        )
    return solve(a.reshape((b.size, b.size)), b.ravel()).reshape(shape)
