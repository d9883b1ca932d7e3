"""shardax/numpy/_indexing/index_tricks.py - mgrid, r_, s_ and indices of triangles."""

import functools
import operator

import numpy as np

from shardax._base.array_functions import concatenate, expand_dims, stack
from shardax._base.arrays import asarray, check_arraylike, known, shape_of
from shardax.numpy._creation import array, ones
from shardax.numpy._indexing.indices import diag_indices, nonzero
from shardax.numpy._linear_algebra.matrices import tri
from shardax.numpy._ranges import arange, linspace, meshgrid
from shardax.numpy._shaping.shape import atleast_1d

index_exp = np.index_exp
s_ = np.s_


def _range(name, entry):
    """The numbers of a slice: start:stop:step, or start:stop:nj for n numbers with both ends."""
    start, stop, step = (
        known(getattr(entry, bound), f"slice {bound} of jnp.{name}")
        for bound in ("start", "stop", "step")
    )
    start = 0 if start is None else start
    if isinstance(step, complex):
        return linspace(start, stop, int(abs(step)))
    if stop is None:
        start, stop = 0, start
    return arange(start, stop, 1 if step is None else step)


class _Grid:
    """Coordinates of a grid, written as slices.

    Args of the index: a slice per dimension, start:stop:step, or start:stop:nj for n points with
    both ends.
    """

    def __init__(self, name, sparse):
        self._name = name
        self._sparse = sparse

    def __repr__(self):
        return f"<jax.numpy.{self._name}>"

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _range(self._name, key)
        lines = [_range(self._name, entry) for entry in key]
        # Returns an axis that counts and one that measures, whichever promotion is otherwise
        # allowed.
        exact = [line.dtype for line in lines]
        joined = functools.reduce(_joined, exact) if exact else None
        lines = [line.astype(joined) for line in lines]
        grids = meshgrid(*lines, indexing="ij", sparse=self._sparse)
        return grids if self._sparse else stack(grids) if grids else array([], dtype=int)


def _joined(a, b):
    """The dtype of coordinates of two dtypes, one of integers at most."""
    if a == b or b.kind == "i":
        return a
    return b if a.kind == "i" else np.promote_types(a, b)


mgrid = _Grid("mgrid", sparse=False)
ogrid = _Grid("ogrid", sparse=True)


class _Joined:
    """Arrays joined along an axis, written as an index: slices stand for ranges.

    A string in front says how, as "axis,ndmin,place". The axis is the one to join along, ndmin the
    rank that all arrays are brought to, and their own dimensions begin at place. "r" and "c" make
    the result a matrix of one row or column.
    """

    def __init__(self, name, axis, ndmin, place):
        self._name = name
        self._defaults = [axis, ndmin, place]

    def __repr__(self):
        return f"<jax.numpy.{self._name}>"

    def _directive(self, text):
        try:
            given = [int(part) for part in text.split(",")]
        except ValueError:
            given = []
        if not 1 <= len(given) <= 3:
            raise ValueError(
                f"could not understand directive {text!r} of jnp.{self._name}: it is 'r', 'c' or "
                "up to three integers, as in '0,2,1'."
            )
        return given + self._defaults[len(given) :]

    def __getitem__(self, key):
        entries = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, place = self._defaults
        text = entries.pop(0) if entries and isinstance(entries[0], str) else None
        matrix = text if text in ("r", "c") else None
        if text and not matrix:
            axis, ndmin, place = self._directive(text)
        parts = []
        for entry in entries:
            if isinstance(entry, str):
                raise ValueError("string directive must be placed at the beginning")
            value = _range(self._name, entry) if isinstance(entry, slice) else asarray(entry)
            parts.append(_raised(atleast_1d(value), value.ndim, ndmin, place))
        out = concatenate(parts, axis)
        if matrix and out.ndim == 1:
            return out[None, :] if matrix == "r" else out[:, None]
        return out


def _raised(value, own, ndmin, place):
    """`value` with at least `ndmin` dimensions, its `own` ones starting at `place`."""
    missing = ndmin - value.ndim
    if missing <= 0:
        return value
    first = place if place >= 0 else place + ndmin - own + 1
    first = min(max(first, 0), missing)
    kept = range(first, first + value.ndim)
    return expand_dims(value, tuple(d for d in range(ndmin) if d not in kept))


r_ = _Joined("r_", 0, 1, -1)
c_ = _Joined("c_", -1, 2, 0)


def diag_indices_from(arr):
    """The indices of the main diagonal of an array whose dimensions are of one size.

    Args:
      arr: an array of two dimensions or more.

    Returns:
      A tuple of int32 vectors, one for each dimension.

    Raises:
      ValueError: sizes differ, or there is one dimension only.

    Example:
      >>> jnp.diag_indices_from(jnp.ones((2, 2)))
      (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    check_arraylike("diag_indices_from", arr)
    shape = shape_of(arr)
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(shape)) > 1:
        raise ValueError(f"All dimensions of input must be of equal length, got {shape}.")
    return diag_indices(shape[0], ndim=len(shape))


def _matrix_shape(arr):
    shape = shape_of(arr)
    if len(shape) != 2:
        raise ValueError("Only 2-D inputs are accepted")
    return shape


def _below(rows, columns, k):
    """The number of elements of an (rows, columns) matrix at and below diagonal k."""

    def steps(n):  # those of rows that see 1, 2, ... n columns, at most all
        short = min(max(n, 0), columns)
        return short * (short + 1) // 2 + max(n - columns, 0) * columns

    return steps(rows + k) - steps(k)


def _sizes(name, n, k, m):
    n, k = (known(v, f"It is an argument of jnp.{name}.") for v in (n, k))
    n, k = operator.index(n), operator.index(k)
    return n, k, n if m is None else operator.index(m)


def tril_indices(n, k=0, m=None):
    """The indices of the lower triangle of an (n, m) matrix, at and below diagonal `k`.

    Args:
      n, m: the numbers of rows and columns; m is n unless given.
      k: the diagonal: 0 is the main one, positive ones lie above it.

    Returns:
      (rows, columns), two int32 vectors.

    Example:
      >>> jnp.tril_indices(2)
      (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    n, k, m = _sizes("tril_indices", n, k, m)
    return nonzero(tri(n, m, k, bool), size=_below(n, m, k))


def triu_indices(n, k=0, m=None):
    """The indices of the upper triangle of an (n, m) matrix, at and above diagonal `k`.

    Args:
      n, m: the numbers of rows and columns; m is n unless given.
      k: the diagonal: 0 is the main one, positive ones lie above it.

    Returns:
      (rows, columns), two int32 vectors.

    Example:
      >>> jnp.triu_indices(2)
      (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    n, k, m = _sizes("triu_indices", n, k, m)
    return nonzero(~tri(n, m, k - 1, bool), size=n * m - _below(n, m, k - 1))


def tril_indices_from(arr, k=0):
    """The indices of the lower triangle of a matrix: `jnp.tril_indices` for its shape.

    Example:
      >>> x = jnp.array([[1, 2], [3, 4]])
      >>> x[jnp.tril_indices_from(x)]
      Array([1, 3, 4], dtype=int32)
    """
    rows, columns = _matrix_shape(arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr, k=0):
    """The indices of the upper triangle of a matrix: `jnp.triu_indices` for its shape.

    Example:
      >>> x = jnp.array([[1, 2], [3, 4]])
      >>> x[jnp.triu_indices_from(x)]
      Array([1, 2, 4], dtype=int32)
    """
    rows, columns = _matrix_shape(arr)
    return triu_indices(rows, k, columns)


def mask_indices(n, mask_func, k=0, *, size=None):
    """The indices of an (n, n) matrix where mask_func(ones((n, n)), k) is not 0.

    Args:
      n: the size of the matrix.
      mask_func: a function of a matrix and `k`: `jnp.triu` or `jnp.tril`, say.
      k: passed on to it.
      size: how many indices to return, needed within jit.

    Returns:
      (rows, columns), two int32 vectors.

    Example:
      >>> jnp.mask_indices(2, jnp.triu)
      (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return nonzero(mask_func(ones((n, n)), k), size=size)
