"""shardax/numpy/_linear_algebra/determinants.py - determinants, and their derivatives also where
they are 0."""

from typing import NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import bind, static_jit
from shardax._core import Array
from shardax._transform.custom.jvp import custom_jvp
from shardax.lax import _linear_solve
from shardax.lax._linear_solve import promoted
from shardax.lax.linalg import geqrf
from shardax.numpy._linear_algebra import matrices as _matrices
from shardax.numpy._reductions import reductions as _reductions

_functions = _core.functions

__all__ = ["SlogdetResult", "det", "slogdet"]


class SlogdetResult(NamedTuple):
    """A named tuple: the sign (or phase) of a determinant, and the logarithm of its size.

    Example:
      >>> jnp.linalg.slogdet(jnp.eye(2)).sign
      Array(1., dtype=float32)
    """

    sign: Array
    logabsdet: Array


def _square(name, a):
    (a,) = promoted(f"jnp.linalg.{name}", a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Argument to {name}() must have shape [..., n, n], got {a.shape}")
    return a


def _diagonal(a):
    return _matrices.diagonal(a, 0, -2, -1)


def _trace(a):
    return _reductions.sum(_diagonal(a), -1)


def _swap_sign(pivots, dtype):
    """1 for an even number of swaps of rows, else -1."""
    own = np.arange(pivots.shape[-1], dtype=np.int32)
    odd = _reductions.sum((pivots != own).astype(np.int32), -1, dtype=np.int32) % 2 == 1
    return where(odd, dtype.type(-1), dtype.type(1))


def _small(a):
    """The determinants of (..., 1, 1), (..., 2, 2) and (..., 3, 3), multiplied out."""
    if a.shape[-1] == 1:
        return a[..., 0, 0]
    if a.shape[-1] == 2:
        return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
    terms = [
        a[..., 0, i] * (a[..., 1, j] * a[..., 2, k] - a[..., 1, k] * a[..., 2, j])
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ]
    return terms[0] + terms[1] + terms[2]


def _size(x):
    """|x|; NaN of complex numbers that are, of which abs may be infinite."""
    size = _functions.abs(x)
    return where(x != x, np.nan, size) if x.dtype.kind == "c" else size


def _of_diagonal(diagonal, pivots):
    signs = _reductions.prod(_functions.sign(diagonal), -1)
    log = _reductions.sum(_functions.log(_size(diagonal)), -1)
    return signs * _swap_sign(pivots, diagonal.dtype), log


@custom_jvp
def _sign_and_log(a):
    if a.shape[-1] in (1, 2):
        found = _small(a)
        return _functions.sign(found), _functions.log(_size(found))
    return _of_diagonal(*bind("lu_diagonal", (a,)))


@custom_jvp
def _sign_and_log_by_lu(a):
    """The same of a decomposition that a derivative needs as well."""
    if a.shape[-1] in (1, 2):
        return _sign_and_log(a)
    lu, pivots, _ = bind("lu", (a,))
    return _of_diagonal(_diagonal(lu), pivots)


@_sign_and_log_by_lu.defjvp
@_sign_and_log.defjvp
def _sign_and_log_jvp(primals, tangents):
    (a,), (da,) = primals, tangents
    sign, log = _sign_and_log_by_lu(a)
    change = _trace(_linear_solve.solve(a, da))
    if a.dtype.kind != "c":
        return (sign, log), (_functions.multiply(sign, 0), change)
    moved = _functions.real(change)
    return (sign, log), ((change - moved.astype(change.dtype)) * sign, moved)


@custom_jvp
def _sign_and_log_by_qr(a):
    n = a.shape[-1]
    r, taus = geqrf(a)
    diagonal = _diagonal(r)
    log = _reductions.sum(_functions.log(_functions.abs(diagonal)), -1)
    reflected = where(taus[..., : max(n - 1, 0)] != 0, a.dtype.type(-1), a.dtype.type(1))
    sign = _reductions.prod(_functions.sign(diagonal), -1) * _reductions.prod(reflected, -1)
    return sign, log


_sign_and_log_by_qr.defjvp(_sign_and_log_jvp)


@static_jit("method")
def slogdet(a, *, method=None):
    """The sign and the logarithm of the size of determinants, which do not overflow.

    Args:
      a: floats or complex numbers of shape (..., N, N).
      method: "lu" (None), or "qr" for real matrices.

    Returns:
      A named tuple: sign (or phase) and logabsdet, of shape (...); (0, -inf) where the determinant
      is 0.

    Raises:
      ValueError: matrices are not square.

    Example:
      >>> jnp.linalg.slogdet(jnp.diag(jnp.array([1.0, -1.0])))
      SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """
    a = _square("slogdet", a)
    if method in (None, "lu"):
        return SlogdetResult(*_sign_and_log(a))
    if method != "qr":
        raise ValueError(
            f"Unknown slogdet method '{method}'. Supported methods are 'lu' (`None`), and 'qr'."
        )
    if a.dtype.kind == "c":
        raise NotImplementedError("slogdet method='qr' not implemented for complex inputs")
    return SlogdetResult(*_sign_and_log_by_qr(a))


def _cofactor_solve(a, b):
    """(det(a), det(a) a^-1 b), the latter, the adjugate of a times b, also where a pivot of a is 0.

    The last pivot is replaced by 1 / (the product of the others). Solving then multiplies the last
    row by the missing factor of the determinant; the other rows are multiplied by it. 0 where two
    pivots are 0.
    """
    n = a.shape[-1]
    if n == 0:
        return _det(a), b
    lu, pivots, permutation = bind("lu", (a,))
    partial = bind("cumprod", (_diagonal(lu),), axis=a.ndim - 2, reverse=False)
    partial = partial * _swap_sign(pivots, a.dtype)[..., None]
    last = np.zeros((n, n), bool)
    last[-1, -1] = True
    others = partial[..., -2]
    singular = _reductions.any(_diagonal(lu)[..., :-1] == 0, -1)[..., None, None]
    replaced = where(last, 1 / others[..., None, None], lu)
    replaced = where(singular, _matrices.eye(n, dtype=a.dtype), replaced)
    x = _linear_solve.triangular_solve(
        replaced, _linear_solve.rows_in_order(b, permutation), True, True, False, False, True
    )
    bottom = np.arange(n)[:, None] == n - 1
    x = where(bottom, x, x * partial[..., -1, None, None])
    x = _linear_solve.triangular_solve(replaced, x, True, False, False, False, False)
    return partial[..., -1], where(singular, a.dtype.type(0), x)


@custom_jvp
def _det(a):
    sign, log = _sign_and_log(a)
    return sign * _functions.exp(log).astype(sign.dtype)


@_det.defjvp
def _det_jvp(primals, tangents):
    (a,), (da,) = primals, tangents
    found, moved = _cofactor_solve(a, da)
    return found, _trace(moved)


@static_jit()
def det(a):
    """The determinants of square matrices.

    Args:
      a: floats or complex numbers of shape (..., N, N).

    Returns:
      Numbers of shape (...); 1 for N = 0.

    Raises:
      ValueError: matrices are not square.

    Example:
      >>> jnp.linalg.det(jnp.array([[1.0, 2.0], [3.0, 4.0]])).round(3)
      Array(-2., dtype=float32)
    """
    a = _square("det", a)
    return _small(a) if a.shape[-1] in (1, 2, 3) else _det(a)
