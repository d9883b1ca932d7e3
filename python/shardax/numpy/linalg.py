"""shardax/numpy/linalg.py - norms and powers of matrices."""

import numpy as np

from shardax import _core
from shardax.numpy import _products, _reductions, _select, _shape
from shardax.numpy._common import asarray, canonical_axis, check_arraylike

_functions = _core.functions
matmul, outer, tensordot, cross, trace = _products.matmul, _products.outer, _products.tensordot, _products.cross, _products.trace
vecdot, matrix_transpose = _products.vecdot, _shape.matrix_transpose


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors (default: Euclidean) or matrices (default: Frobenius) along `axis`.

    Vectors: ord 0, inf, -inf or any number. Matrices: 'fro', inf, -inf, 1, -1.
    """
    check_arraylike("jnp.linalg.norm", x)
    x = _core.promote("inexact", x)[0]
    ndim = x.ndim
    if axis is None:
        if ord is None:
            return _functions.sqrt(_reductions.sum(_functions.real(x * _functions.conj(x)), None, keepdims=keepdims))
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
        return _functions.sqrt(_reductions.sum(_functions.real(x * _functions.conj(x)), axis, keepdims=keepdims))
    if ord == np.inf:
        return _reductions.max(size, axis, keepdims=keepdims)
    if ord == -np.inf:
        return _reductions.min(size, axis, keepdims=keepdims)
    if ord == 0:
        return _reductions.sum(_functions.not_equal(x, 0), axis, dtype=size.dtype, keepdims=keepdims)
    if ord == 1:
        return _reductions.sum(size, axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid order '{ord}' for vector norm.")
    return _functions.power(_reductions.sum(size**ord, axis, keepdims=keepdims), 1.0 / ord)


def _matrix(x, ord, axis, keepdims):
    row, column = axis
    if ord is None or ord in ("f", "fro"):
        return _functions.sqrt(_reductions.sum(_functions.real(x * _functions.conj(x)), axis, keepdims=keepdims))
    size = _functions.abs(x)
    table = {1: (row, column, _reductions.max), -1: (row, column, _reductions.min),
             np.inf: (column, row, _reductions.max), -np.inf: (column, row, _reductions.min)}
    if ord not in table:
        raise ValueError(f"Invalid order '{ord}' for matrix norm.")
    summed, chosen, extremum = table[ord]
    return _shape.squeeze(extremum(_reductions.sum(size, summed, keepdims=True), chosen, keepdims=True), axis) if not keepdims else extremum(
        _reductions.sum(size, summed, keepdims=True), chosen, keepdims=True)


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
    """A square matrix multiplied with itself, n >= 0 times."""
    a = asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise TypeError(f"Last 2 dimensions of the array must be square, got shape {a.shape}")
    from shardax.numpy._creation import eye

    if n < 0:
        raise NotImplementedError("matrix_power: negative powers need a matrix inverse, which is not available.")
    out = None
    while n:
        if n & 1:
            out = a if out is None else matmul(out, a)
        n >>= 1
        a = matmul(a, a) if n else a
    return _core.broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape) if out is None else out


def multi_dot(arrays, *, precision=None):
    """The product of several matrices."""
    out = arrays[0]
    for a in arrays[1:]:
        out = _products.dot(out, a)
    return out


def diagonal(x, /, *, offset=0):
    """Diagonals of the matrices in the last two dimensions."""
    from shardax.numpy._creation import diagonal as _diagonal

    return _diagonal(x, offset, -2, -1)
