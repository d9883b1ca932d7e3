"""shardax/numpy/_linear_algebra/matrices.py - matrices by their diagonals: made, taken, and cut
off at one."""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import moveaxis, where
from shardax._base.arrays import asarray, bind, canonical_axis, check_arraylike, in_one_program
from shardax._devices.full_like import placed, shape_tuple
from shardax.lax._layout import pad
from shardax.numpy._creation import _dtype, zeros, zeros_like

_functions = _core.functions


def _places(rows, columns, k):
    """For each element of a matrix, the column where its row meets diagonal k, and its column."""
    if any(isinstance(n, int) and n < 0 for n in (rows, columns)):
        raise ValueError(f"negative dimensions are not allowed, got {rows} and {columns}")
    shape = shape_tuple((rows, rows if columns is None else columns))
    _core.broadcast_to(np.int32(0), shape)  # raises where the elements cannot be counted
    row, column = (
        bind("iota", (), dtype=np.dtype("int32"), shape=sizes, dimension=d)
        for d, sizes in enumerate(((shape[0], 1), (1, shape[1])))
    )
    if isinstance(k, int):  # a diagonal outside, however far
        k = min(max(k, -shape[0]), shape[1])
    return _functions.add(row, k), column


@in_one_program("N", "M", "k", "dtype", at_once=True)
def eye(N, M=None, k=0, dtype=None, *, device=None):
    """A matrix with ones on one diagonal and zeros elsewhere.

    Args:
      N, M: the numbers of rows and columns; M is N unless given.
      k: the diagonal: 0 is the main one, positive ones lie above it.
      dtype: of the result; None: float32.
      device: a device or sharding for the array.

    Returns:
      An array of shape (N, M).

    Raises:
      ValueError: a size is negative.

    Example:
      >>> jnp.eye(2)
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
      >>> jnp.eye(2, 3, k=1, dtype=int)
      Array([[0, 1, 0],
             [0, 0, 1]], dtype=int32)
    """
    rows, columns = _places(N, M, k)
    dtype = _dtype(dtype, _core.canonical_dtype(float), "eye")
    return placed(_core.convert(_functions.equal(rows, columns), dtype), device)


def identity(n, dtype=None):
    """The identity matrix of shape (n, n), float32 unless `dtype` is given.

    Example:
      >>> jnp.identity(2, dtype=int)
      Array([[1, 0],
             [0, 1]], dtype=int32)
    """
    return eye(n, dtype=dtype)


@in_one_program("N", "M", "k", "dtype", at_once=True)
def tri(N, M=None, k=0, dtype=None):
    """A matrix with ones at and below a diagonal and zeros above it.

    Args:
      N, M: the numbers of rows and columns; M is N unless given.
      k: the diagonal: 0 is the main one, positive ones lie above it.
      dtype: of the result; None: float32.

    Returns:
      An array of shape (N, M).

    Example:
      >>> jnp.tri(3, dtype=int)
      Array([[1, 0, 0],
             [1, 1, 0],
             [1, 1, 1]], dtype=int32)
    """
    rows, columns = _places(N, M, k)
    dtype = _dtype(dtype, _core.canonical_dtype(float), "tri")
    return _core.convert(_functions.greater_equal(rows, columns), dtype)


@in_one_program("k")
def diag(v, k=0):
    """A matrix with a vector on its diagonal, or the diagonal of a matrix.

    Args:
      v: a vector of N elements, or a matrix.
      k: the diagonal: 0 is the main one, positive ones lie above it.

    Returns:
      For a vector, a matrix of shape (N + abs(k), N + abs(k)); for a matrix, a vector.

    Raises:
      ValueError: `v` is neither a vector nor a matrix.

    Example:
      >>> jnp.diag(jnp.array([1, 2]))
      Array([[1, 0],
             [0, 2]], dtype=int32)
      >>> jnp.diag(jnp.array([[1, 2], [3, 4]]), k=1)
      Array([2], dtype=int32)
    """
    check_arraylike("diag", v)
    v = asarray(v)
    if v.ndim == 1:
        n, side = v.shape[0], v.shape[0] + abs(k)
        if n == 0:
            return zeros((side, side), v.dtype)
        # Row after row, its elements are a row and one apart.
        first = k if k > 0 else -k * side
        behind = side * side - first - (n - 1) * (side + 1) - 1
        return pad(v, v.dtype.type(0), ((first, behind, side),)).reshape((side, side))
    if v.ndim == 2:
        return diagonal(v, k)
    raise ValueError("diag input must be 1d or 2d")


@in_one_program("offset", "axis1", "axis2")
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals of matrices that lie in two dimensions of an array.

    Args:
      a: an array of two dimensions or more.
      offset: the diagonal: 0 is the main one, positive ones lie above it.
      axis1, axis2: the dimensions of rows and columns.

    Returns:
      An array without those two dimensions and with the diagonal as a new last one.

    Raises:
      ValueError: `a` has fewer than two dimensions, or the two are the same.

    Example:
      >>> jnp.diagonal(jnp.array([[1, 2], [3, 4]]))
      Array([1, 4], dtype=int32)
      >>> jnp.diagonal(jnp.zeros((2, 5, 5))).shape
      (5, 2)
    """
    check_arraylike("diagonal", a)
    a = asarray(a)
    axis1, axis2 = canonical_axis(axis1, a.ndim), canonical_axis(axis2, a.ndim)
    a = moveaxis(a, (axis1, axis2), (-2, -1))
    rows = max(0, min(a.shape[-2] + min(offset, 0), a.shape[-1] - max(offset, 0)))
    i = np.arange(rows)
    return a[..., i - min(offset, 0), i + max(offset, 0)]


@in_one_program("k")
def diagflat(v, k=0):
    """A matrix with the elements of the flattened array on diagonal `k`.

    Example:
      >>> jnp.diagflat(jnp.array([[1, 2]]), k=1)
      Array([[0, 1, 0],
             [0, 0, 2],
             [0, 0, 0]], dtype=int32)
    """
    check_arraylike("diagflat", v)
    return diag(asarray(v).ravel(), k)


@in_one_program("k")
def tril(m, k=0):
    """The lower triangle of matrices: elements above a diagonal are set to 0.

    Args:
      m: an array of shape (..., M, N).
      k: the diagonal: 0 is the main one, positive ones lie above it.

    Returns:
      An array of the shape and dtype of `m`.

    Raises:
      ValueError: `m` has fewer than two dimensions.

    Example:
      >>> jnp.tril(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 0],
             [3, 4]], dtype=int32)
    """
    check_arraylike("tril", m)
    m = asarray(m)
    if m.ndim < 2:
        raise ValueError("Argument to jax.numpy.tril must be at least 2D")
    return where(tri(m.shape[-2], m.shape[-1], k=k, dtype=bool), m, zeros_like(m))


@in_one_program("k")
def triu(m, k=0):
    """The upper triangle of matrices: elements below a diagonal are set to 0.

    Args:
      m: an array of shape (..., M, N).
      k: the diagonal: 0 is the main one, positive ones lie above it.

    Returns:
      An array of the shape and dtype of `m`.

    Raises:
      ValueError: `m` has fewer than two dimensions.

    Example:
      >>> jnp.triu(jnp.array([[1, 2], [3, 4]]), k=1)
      Array([[0, 2],
             [0, 0]], dtype=int32)
    """
    check_arraylike("triu", m)
    m = asarray(m)
    if m.ndim < 2:
        raise ValueError("Argument to jax.numpy.triu must be at least 2D")
    return where(tri(m.shape[-2], m.shape[-1], k=k - 1, dtype=bool), zeros_like(m), m)
