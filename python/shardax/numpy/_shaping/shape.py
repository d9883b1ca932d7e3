"""shardax/numpy/_shaping/shape.py - shapes: reshape, transpose, new and dropped dimensions."""

import math
import warnings

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import expand_dims, moveaxis
from shardax._base.arrays import (
    another,
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    shape_of,
)
from shardax._devices.out_sharding import keeps_sums, takes_out_sharding


def broadcast_arrays(*args):
    """Arrays repeated along dimensions so that all have one shape.

    Args:
      *args: arrays or numbers whose shapes broadcast.

    Returns:
      A list of arrays of the common shape; each keeps its dtype. No element is copied.

    Raises:
      ValueError: shapes do not broadcast.

    Example:
      >>> jnp.broadcast_arrays(jnp.array([1, 2]), jnp.array([[3], [4]]))
      [Array([[1, 2],
             [1, 2]], dtype=int32), Array([[3, 3],
             [4, 4]], dtype=int32)]
    """
    return list(_core.broadcast_arrays(*args))


def reshape(a, shape, order="C", *, copy=None, out_sharding=None):
    """The elements of an array in another shape.

    Args:
      a: an array of any shape and dtype. NumPy's arrays stay NumPy's where they need no copy.
      shape: an int or a tuple of ints with as many elements as `a`; one size may be -1, and follows
        from the others.
      order: "C": the last index varies fastest; "F": the first one does.
      copy: without effect: the result is another array, which may share memory.
      out_sharding: a sharding in the explicit mode of meshes.

    Returns:
      An array of shape `shape`.

    Raises:
      TypeError: sizes do not fit.
      NotImplementedError: for order "A".

    Example:
      >>> x = jnp.arange(6)
      >>> jnp.reshape(x, (2, 3))
      Array([[0, 1, 2],
             [3, 4, 5]], dtype=int32)
      >>> jnp.reshape(x, (2, -1), order="F")
      Array([[0, 2, 4],
             [1, 3, 5]], dtype=int32)
    """
    check_arraylike("reshape", a)
    if out_sharding is None and isinstance(a, (np.ndarray, np.generic)):
        return a.reshape(shape, order=order)
    return _reshaped(a, shape, order, out_sharding=out_sharding)


def _reshaped(a, shape, order):
    a = asarray(a)
    if order == "F":
        dims = shape if isinstance(shape, (tuple, list)) else (shape,)
        return a.T.reshape(tuple(dims)[::-1]).T
    if order == "A":
        raise NotImplementedError(
            "np.reshape order=A is not implemented. Use 'C' or 'F'; memory does not show."
        )
    if order != "C":
        raise ValueError(f"Unexpected value for 'order' argument: {order}.")
    return a.reshape(shape)


_reshaped.__name__ = "reshape"  # in messages
_reshaped = takes_out_sharding(_reshaped, check=keeps_sums)


@takes_out_sharding(check=keeps_sums)
def ravel(a, order="C", *, out_sharding=None):
    """The elements of an array as a vector.

    Args:
      a: an array of any shape.
      order: "C": the last index varies fastest; "F": the first one does.
      out_sharding: a sharding in the explicit mode of meshes.

    Returns:
      A vector of a.size elements.

    Example:
      >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]), order="F")
      Array([1, 3, 2, 4], dtype=int32)
    """
    check_arraylike("ravel", a)
    if order == "K":
        raise NotImplementedError("Ravel not implemented for order='K'.")
    if order == "C":
        return asarray(a).ravel()
    return _reshaped(a, (-1,), order)


def transpose(a, axes=None):
    """The dimensions of an array in another order.

    Args:
      a: an array of any shape.
      axes: a permutation of the dimensions: dimension i of the result is axes[i] of `a`. None:
        reversed.

    Returns:
      A view of the elements, of the permuted shape.

    Raises:
      TypeError: `axes` is no permutation.

    Example:
      >>> jnp.transpose(jnp.array([[1, 2, 3], [4, 5, 6]]))
      Array([[1, 4],
             [2, 5],
             [3, 6]], dtype=int32)
      >>> jnp.transpose(jnp.zeros((2, 3, 4)), (1, 0, 2)).shape
      (3, 2, 4)
    """
    check_arraylike("transpose", a)
    a = asarray(a)
    if axes is None:
        return a.T
    return bind("transpose", (a,), permutation=tuple(canonical_axis(d, a.ndim) for d in axes))


def permute_dims(a, /, axes):
    """The dimensions of an array in the order `axes`: `jnp.transpose` in the array API standard.

    Example:
      >>> jnp.permute_dims(jnp.zeros((2, 3, 4)), (2, 0, 1)).shape
      (4, 2, 3)
    """
    return transpose(a, axes)


def matrix_transpose(x, /):
    """The transposed matrices of a stack: the last two dimensions exchanged.

    Args:
      x: an array of shape (..., M, N).

    Returns:
      An array of shape (..., N, M).

    Raises:
      ValueError: `x` has fewer than two dimensions.

    Example:
      >>> jnp.matrix_transpose(jnp.array([[[1, 2], [3, 4]]]))
      Array([[[1, 3],
              [2, 4]]], dtype=int32)
    """
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(
            f"x must be at least two-dimensional for matrix_transpose; got ndim={x.ndim}"
        )
    return swapaxes(x, -1, -2)


def swapaxes(a, axis1, axis2):
    """Two dimensions of an array exchanged.

    Args:
      a: an array.
      axis1, axis2: the dimensions, negative from the end.

    Returns:
      A view of the elements.

    Raises:
      IndexError: a dimension is out of bounds.

    Example:
      >>> jnp.swapaxes(jnp.zeros((2, 3, 4)), 0, -1).shape
      (4, 3, 2)
    """
    check_arraylike("swapaxes", a)
    a = asarray(a)
    order = list(range(a.ndim))
    for axis in (axis1, axis2):
        if not -a.ndim <= axis < a.ndim:
            raise IndexError(
                f"swapaxes: axis {axis} is out of bounds for array of dimension {a.ndim}"
            )
    i, j = canonical_axis(axis1, a.ndim), canonical_axis(axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return transpose(a, order)


def rollaxis(a, axis, start=0):
    """Dimension `axis` moved in front of dimension `start`; `jnp.moveaxis` is clearer.

    Example:
      >>> jnp.rollaxis(jnp.zeros((2, 3, 4)), 2).shape
      (4, 2, 3)
    """
    check_arraylike("rollaxis", a)
    a = asarray(a)
    axis = canonical_axis(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    return moveaxis(a, axis, start - 1 if start > axis else start)


def squeeze(a, axis=None):
    """An array without dimensions of size 1.

    Args:
      a: an array.
      axis: the dimension(s) to leave out, an int or a tuple; None: all that have size 1.

    Returns:
      A view of the elements.

    Raises:
      ValueError: a dimension in `axis` has another size than 1.

    Example:
      >>> x = jnp.zeros((1, 3, 1))
      >>> jnp.squeeze(x).shape, jnp.squeeze(x, axis=0).shape
      ((3,), (3, 1))
    """
    check_arraylike("squeeze", a)
    a = asarray(a)
    if axis is None:
        axes = tuple(d for d, n in enumerate(a.shape) if n == 1)
    else:
        axes = canonical_axes(axis, a.ndim)
    return bind("squeeze", (a,), dimensions=axes) if axes else another(a)


def atleast_1d(*arys):
    """Arrays with one dimension at least: scalars become vectors of one element.

    Args:
      *arys: arrays or numbers.

    Returns:
      The array, or a list of them for several arguments.

    Example:
      >>> jnp.atleast_1d(1.0, jnp.array([2, 3]))
      [Array([1.], dtype=float32, weak_type=True), Array([2, 3], dtype=int32)]
    """
    check_arraylike("atleast_1d", *arys)
    out = [another(a) if (a := asarray(x)).ndim >= 1 else a.reshape((1,)) for x in arys]
    return out[0] if len(out) == 1 else out


def atleast_2d(*arys):
    """Arrays with two dimensions at least: vectors become rows of a matrix.

    Args:
      *arys: arrays or numbers.

    Returns:
      The array, or a list of them for several arguments.

    Example:
      >>> jnp.atleast_2d(jnp.array([2, 3]))
      Array([[2, 3]], dtype=int32)
    """
    check_arraylike("atleast_2d", *arys)
    out = [another(a) if (a := asarray(x)).ndim >= 2 else a.reshape((1, -1)) for x in arys]
    return out[0] if len(out) == 1 else out


def atleast_3d(*arys):
    """Arrays with three dimensions at least.

    Vectors of N elements get shape (1, N, 1), matrices of shape (M, N) get (M, N, 1).

    Args:
      *arys: arrays or numbers.

    Returns:
      The array, or a list of them for several arguments.

    Example:
      >>> jnp.atleast_3d(jnp.array([2, 3])).shape
      (1, 2, 1)
    """
    check_arraylike("atleast_3d", *arys)

    def one(a):
        if a.ndim >= 3:
            return another(a)
        return expand_dims(a, 2) if a.ndim == 2 else a.reshape((1, -1, 1))

    out = [one(asarray(x)) for x in arys]
    return out[0] if len(out) == 1 else out


def _shape_of(name, a):
    if isinstance(a, (list, tuple)):
        warnings.warn(
            f"{name} requires ndarray or scalar arguments, got {type(a)}; give jnp.array of it.",
            DeprecationWarning,
            stacklevel=3,
        )
    return shape_of(a)


def shape(a):
    """The shape of an array or of nested sequences, a tuple of ints.

    Example:
      >>> jnp.shape(jnp.zeros((2, 3))), jnp.shape(1.0)
      ((2, 3), ())
    """
    return _shape_of("shape", a)


def ndim(a):
    """The number of dimensions of an array or of nested sequences, an int.

    Example:
      >>> jnp.ndim(jnp.zeros((2, 3))), jnp.ndim(1.0)
      (2, 0)
    """
    return len(_shape_of("ndim", a))


def size(a, axis=None):
    """The number of elements of an array, or its size along `axis`, an int.

    Args:
      a: an array or nested sequences.
      axis: an int or a tuple of ints; None: all dimensions.

    Example:
      >>> x = jnp.zeros((2, 3))
      >>> jnp.size(x), jnp.size(x, axis=1)
      (6, 3)
    """
    extents = _shape_of("size", a)
    if axis is None:
        return math.prod(extents)
    if isinstance(axis, (tuple, list)) and len({d % len(extents) for d in axis}) < len(axis):
        raise ValueError(f"repeated axis: {axis}")
    return math.prod(extents[d] for d in canonical_axes(axis, len(extents)))
