"""shardax/numpy/_shape.py - shapes: reshape, transpose, new and dropped dimensions."""

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
    """All arguments, broadcast to their common shape."""
    return list(_core.broadcast_arrays(*args))


def reshape(a, shape, order="C", *, copy=None, out_sharding=None):
    """The same elements in another shape; one size may be -1.

    `order` "F" counts the first index fastest. NumPy's arrays stay NumPy's, within jit too. The
    result is another array, whatever `copy` is.

    Example:
      >>> reshape(asarray([0, 1, 2]), (1, 3))
      Array([[0, 1, 2]], dtype=int32)
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
    """The elements as one dimension."""
    check_arraylike("ravel", a)
    if order == "K":
        raise NotImplementedError("Ravel not implemented for order='K'.")
    if order == "C":
        return asarray(a).ravel()
    return _reshaped(a, (-1,), order)


def transpose(a, axes=None):
    """Dimensions reversed, or in the order `axes`."""
    check_arraylike("transpose", a)
    a = asarray(a)
    if axes is None:
        return a.T
    return bind("transpose", (a,), permutation=tuple(canonical_axis(d, a.ndim) for d in axes))


def permute_dims(a, /, axes):
    """Dimensions in the order `axes`: `transpose` in the words of the array API standard."""
    return transpose(a, axes)


def matrix_transpose(x, /):
    """The last two dimensions swapped."""
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(
            f"x must be at least two-dimensional for matrix_transpose; got ndim={x.ndim}"
        )
    return swapaxes(x, -1, -2)


def swapaxes(a, axis1, axis2):
    """Two dimensions exchanged."""
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
    """Dimension `axis` moved to stand before `start`."""
    check_arraylike("rollaxis", a)
    a = asarray(a)
    axis = canonical_axis(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    return moveaxis(a, axis, start - 1 if start > axis else start)


def squeeze(a, axis=None):
    """Without dimensions of size 1: all of them, or those in `axis`."""
    check_arraylike("squeeze", a)
    a = asarray(a)
    if axis is None:
        axes = tuple(d for d, n in enumerate(a.shape) if n == 1)
    else:
        axes = canonical_axes(axis, a.ndim)
    return bind("squeeze", (a,), dimensions=axes) if axes else another(a)


def atleast_1d(*arys):
    """At least one dimension."""
    check_arraylike("atleast_1d", *arys)
    out = [another(a) if (a := asarray(x)).ndim >= 1 else a.reshape((1,)) for x in arys]
    return out[0] if len(out) == 1 else out


def atleast_2d(*arys):
    """At least two dimensions; vectors become rows."""
    check_arraylike("atleast_2d", *arys)
    out = [another(a) if (a := asarray(x)).ndim >= 2 else a.reshape((1, -1)) for x in arys]
    return out[0] if len(out) == 1 else out


def atleast_3d(*arys):
    """At least three dimensions."""
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
    """The shape of an array or nested sequence."""
    return _shape_of("shape", a)


def ndim(a):
    """The number of dimensions."""
    return len(_shape_of("ndim", a))


def size(a, axis=None):
    """The number of elements, or the size along `axis` (an int or a tuple)."""
    extents = _shape_of("size", a)
    if axis is None:
        return math.prod(extents)
    if isinstance(axis, (tuple, list)) and len({d % len(extents) for d in axis}) < len(axis):
        raise ValueError(f"repeated axis: {axis}")
    return math.prod(extents[d] for d in canonical_axes(axis, len(extents)))
