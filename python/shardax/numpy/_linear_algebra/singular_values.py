"""shardax/numpy/_linear_algebra/singular_values.py - ranks, condition numbers, pseudo-inverses,
least squares."""

import functools

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where as _where
from shardax._base.arrays import asarray, check_arraylike, in_one_program, static_jit
from shardax._transform.custom.jvp import custom_jvp
from shardax.dtypes import finfo
from shardax.lax._linear_solve import adjoint as _adjoint
from shardax.lax._linear_solve import matmul as _matmul
from shardax.lax._linear_solve import promoted as _promoted
from shardax.numpy import _creation
from shardax.numpy._linear_algebra.decompositions import svd, svdvals
from shardax.numpy._linear_algebra.equations import inv
from shardax.numpy._linear_algebra.norms import norm
from shardax.numpy._reductions import extremes as _extremes
from shardax.numpy._reductions import reductions as _reductions

_functions = _core.functions

__all__ = ["cond", "lstsq", "matrix_rank", "pinv"]


@in_one_program("hermitian", at_once=True)
def pinv(a, rtol=None, hermitian=False, *, rcond=None):
    """The pseudo-inverse (Moore and Penrose) of matrices, out of their singular value
    decomposition.

    Args:
      a: floats or complex numbers of shape (..., M, N).
      rtol: singular values up to rtol times the largest one count as 0; None: 10 max(M, N) eps. A
        number, or one for each matrix.
      hermitian: says that `a` is Hermitian; it is then decomposed by eigh.
      rcond: the older name of `rtol`.

    Returns:
      An array of shape (..., N, M).

    Source: Golub, Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
      problems whose variables separate", 1973, for the derivative.

    Example:
      >>> jnp.linalg.pinv(jnp.array([[2.0], [0.0]]))
      Array([[0.5, 0. ]], dtype=float32)
    """
    if rcond is not None:
        if rtol is not None:
            raise ValueError("pinv: only one of rtol and rcond may be specified.")
        rtol = rcond
    (a,) = _promoted("jnp.linalg.pinv", a)
    m, n = a.shape[-2:]
    if rtol is None:
        rtol = 10.0 * max(m, n) * float(finfo(a.dtype).eps)
    dtype = _functions.real(a).dtype
    return _pinv(bool(hermitian), asarray(rtol).astype(dtype), a)


@functools.partial(custom_jvp, nondiff_argnums=(0,))
@static_jit("hermitian")
def _pinv(hermitian, rtol, a):
    if 0 in a.shape[-2:]:
        return _creation.zeros(a.mT.shape, a.dtype)
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    kept = s > rtol[..., None] * s[..., :1]
    inverse = _where(kept, 1 / _where(kept, s, 1), 0).astype(a.dtype)
    return _matmul(_adjoint(vh), inverse[..., None] * _adjoint(u))


@_pinv.defjvp
def _pinv_jvp(hermitian, primals, tangents):
    """Products are taken in an order in which none is larger than a, or than the square of its
    smaller dimension."""
    (rtol, a), (_, da) = primals, tangents
    p = _pinv(hermitian, rtol, a)
    if hermitian:
        a, da = (a + _adjoint(a)) / 2, (da + _adjoint(da)) / 2
    p_star, da_star = _adjoint(p), _adjoint(da)
    if a.shape[-2] >= a.shape[-1]:
        s = _matmul(_matmul(p, p_star), da_star)
        t = _matmul(_matmul(da_star, p_star), p)
        moved = s - _matmul(_matmul(s, a), p) - _matmul(_matmul(p, da), p)
        return p, moved + t - _matmul(_matmul(p, a), t)
    s = _matmul(p, _matmul(p_star, da_star))
    t = _matmul(da_star, _matmul(p_star, p))
    moved = s - _matmul(s, _matmul(a, p)) - _matmul(p, _matmul(da, p))
    return p, moved + t - _matmul(p, _matmul(a, t))


@static_jit("hermitian")
def matrix_rank(M, rtol=None, *, hermitian=False, tol=None):
    """The rank of matrices: the number of singular values above a bound.

    Args:
      M: floats or complex numbers of shape (..., M, N); of a vector, the rank is whether it is not
        zero.
      rtol: the bound over the largest singular value; None: max(M, N) eps.
      hermitian: says that `M` is Hermitian.
      tol: the older name of `rtol`.

    Returns:
      int32 of shape (...).

    Example:
      >>> jnp.linalg.matrix_rank(jnp.ones((2, 2)))
      Array(1, dtype=int32)
    """
    if tol is not None:
        if rtol is not None:
            raise ValueError("matrix_rank: only one of tol or rtol may be specified.")
        rtol = tol
    (a,) = _promoted("jnp.linalg.matrix_rank", M)
    if a.ndim < 2:
        return _reductions.any(a != 0).astype(np.int32)
    s = svd(a, full_matrices=False, compute_uv=False, hermitian=hermitian)
    if rtol is None:
        largest = _extremes.max(s, -1, keepdims=True, initial=0)
        limit = largest * s.dtype.type(max(a.shape[-2:]) * finfo(s.dtype).eps)
    else:
        limit = asarray(rtol)[..., None]
    return _reductions.sum(s > limit, -1)


@static_jit("p")
def cond(x, p=None):
    """The condition number of matrices; infinite for singular ones.

    Args:
      x: floats or complex numbers of shape (..., M, N).
      p: None or 2: the largest singular value over the smallest; -2: the inverse of that; otherwise
        norm(x, p) * norm(inv(x), p).

    Returns:
      Floats of shape (...).

    Raises:
      ValueError: `x` is empty, has fewer than two dimensions, or is not square where its inverse is
        needed.

    Example:
      >>> jnp.linalg.cond(jnp.diag(jnp.array([1.0, 4.0])))
      Array(4., dtype=float32)
    """
    check_arraylike("cond", x)
    arr = asarray(x)
    if arr.ndim < 2:
        raise ValueError(f"jnp.linalg.cond: input array must be at least 2D; got {arr.shape=}")
    if 0 in arr.shape[-2:]:
        raise ValueError(f"jnp.linalg.cond: input array must not be empty; got {arr.shape=}")
    if p in (None, 2, -2):
        s = svdvals(arr)
        if p != -2:
            return s[..., 0] / s[..., -1]
        out = s[..., -1] / s[..., 0]
    else:
        if arr.shape[-2] != arr.shape[-1]:
            raise ValueError(f"jnp.linalg.cond: for {p=}, array must be square; got {arr.shape=}")
        out = norm(arr, p, (-2, -1)) * norm(inv(arr), p, (-2, -1))
    given = _reductions.any(_functions.isnan(arr), (-2, -1))
    lost = _functions.logical_and(_functions.isnan(out), _functions.logical_not(given))
    return _where(lost, np.inf, out)


def lstsq(a, b, rcond=None, *, numpy_resid=False):
    """The solution of a linear system by least squares: x that minimizes |a x - b|, and among those
    |x|.

    Args:
      a: a matrix (M, N).
      b: (M,), or (M, K) for K systems.
      rcond: singular values below rcond times the largest one count as 0; None: max(M, N) eps;
        negative: eps.
      numpy_resid: no residuals where the rank is below N or M <= N, as in NumPy; `a` must not be
        traced then.

    Returns:
      (x, squared residuals, rank, singular values), x of shape (N,) or (N, K).

    Raises:
      TypeError, ValueError: shapes do not fit.

    Example:
      >>> x, residuals, rank, s = jnp.linalg.lstsq(jnp.array([[1.0], [1.0]]), jnp.array([1.0, 3.0]))
      >>> x.round(3), residuals.round(3), rank
      (Array([2.], dtype=float32), Array([2.], dtype=float32), Array(1, dtype=int32))
    """
    a, b = _promoted("jnp.linalg.lstsq", a, b)
    if not a.shape or not b.shape or a.shape[0] != b.shape[0]:
        raise ValueError("Leading dimensions of input arrays must match")
    if a.ndim != 2:
        raise TypeError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim not in (1, 2):
        raise TypeError(f"{b.ndim}-dimensional array given. Array must be one or two-dimensional")
    x, residuals, rank, s = _lstsq(a, b, rcond)
    if numpy_resid and (a.shape[0] <= a.shape[1] or int(rank) < a.shape[1]):
        residuals = _creation.zeros((0,), residuals.dtype)
    return x, residuals, rank, s


@static_jit()
def _lstsq(a, b, rcond):
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    real = _functions.real(a).dtype
    if a.size == 0:
        x, s = _creation.zeros((a.shape[1], b.shape[1]), a.dtype), _creation.zeros((0,), a.dtype)
        rank = _reductions.sum(s != 0)
    else:
        eps = float(finfo(real).eps)
        if rcond is None:
            rcond = eps * max(a.shape)
        else:
            rcond = _where(asarray(rcond) < 0, eps, rcond)
        u, s, vh = svd(a, full_matrices=False)
        kept = _functions.logical_and(s > 0, s >= asarray(rcond).astype(real) * s[0])
        rank = _reductions.sum(kept)
        inverse = _where(kept, 1 / _where(kept, s, 1), 0).astype(a.dtype)
        x = _matmul(_adjoint(vh), inverse[:, None] * _matmul(_adjoint(u), b))
    rest = b - _matmul(a, x)
    residuals = _reductions.sum(_functions.real(rest * _functions.conj(rest)), 0)
    return x[:, 0] if vector else x, residuals, rank, s
