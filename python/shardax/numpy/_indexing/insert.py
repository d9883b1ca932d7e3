# shardax/numpy/_indexing/insert.py - arrays made longer and shorter: append, delete, insert,
# resize.
import operator

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import broadcast_to, concatenate, moveaxis, where
from shardax._base.arrays import (
    asarray,
    bind,
    canonical_axis,
    check_arraylike,
    in_one_program,
    known,
)
from shardax.numpy._indexing.indices import nonzero
from shardax.numpy._indexing.select import take
from shardax.numpy._shaping.shape import atleast_1d, ravel
from shardax.numpy._sorting import argsort

_functions = _core.functions


def append(arr, values, axis=None):
    """An array with values joined behind it.

    Args:
      arr: an array.
      values: an array of its shape but for `axis`.
      axis: the dimension; None: both are flattened first.

    Example:
      >>> jnp.append(jnp.array([1, 2]), jnp.array([[3], [4]]))
      Array([1, 2, 3, 4], dtype=int32)
    """
    return concatenate([ravel(arr), ravel(values)] if axis is None else [arr, values], axis or 0)


def delete(arr, obj, axis=None, *, assume_unique_indices=False):
    """An array without the slices `obj` along `axis`.

    Args:
      arr: an array.
      obj: a slice, an index, or indices, which must be known while tracing but for
        `assume_unique_indices`. Booleans tell which slices go.
      axis: the dimension; None: the array is flattened first.
      assume_unique_indices: says that no index occurs twice, so that the size of the result is
        known although the indices are not.

    Returns:
      An array of fewer slices along `axis`.

    Example:
      >>> jnp.delete(jnp.arange(5), jnp.array([0, 3]))
      Array([1, 2, 4], dtype=int32)
    """
    check_arraylike("delete", arr, 0 if isinstance(obj, slice) else obj)
    a = asarray(arr)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    size = a.shape[axis]
    if assume_unique_indices and not isinstance(obj, slice):
        gone = ravel(asarray(obj))
        gone = where(gone < 0, gone + size, gone)
        kept = _core.full((size,), True, np.bool_).at[gone].set(False)
        return take(a, nonzero(kept, size=size - gone.shape[0])[0], axis=axis)
    if hasattr(obj, "__jax_array__"):
        obj = obj.__jax_array__()
    if isinstance(obj, slice):
        gone = np.arange(*obj.indices(size))
    else:
        gone = _positions(
            np.asarray(known(obj, "'obj' array argument of jnp.delete()")), size, axis
        )
    gone = np.sort(gone)
    starts, ends = np.append(0, gone + 1), np.append(gone, size)
    kept = starts < ends  # nothing lies between neighbours, or between one and itself
    if np.count_nonzero(kept) <= PIECES:
        stretches = zip(starts[kept].tolist(), ends[kept].tolist(), strict=True)
        return _joined([_part(a, start, end, axis) for start, end in stretches], a, axis)
    mask = _core.full((size,), True, np.bool_).at[gone].set(False)
    return take(a, nonzero(mask, size=int((ends - starts)[kept].sum()))[0], axis=axis)


# Up to so many stretches of an array are copied one by one, more are gathered by their indices.
PIECES = 32


def _positions(obj, size, axis):
    """The positions that an index or a mask of `size` elements names, from 0."""
    if obj.dtype == np.bool_:
        if obj.shape != (size,):
            raise ValueError(
                "delete: a boolean obj must have one dimension and the length of the axis, "
                f"{size}; got shape {obj.shape}."
            )
        return obj.nonzero()[0]
    if obj.dtype.kind not in "iu":
        if obj.size:
            raise IndexError(f"delete: indices must be integers or booleans, got {obj.dtype}.")
        obj = obj.astype(np.int64)
    outside = obj[(obj < -size) | (obj >= size)]
    if outside.size:
        raise IndexError(f"index {outside[0]} is out of bounds for axis {axis} with size {size}")
    obj = obj.astype(np.int64)
    return np.where(obj < 0, obj + size, obj).ravel()


def _part(a, start, end, axis):
    return a[(slice(None),) * axis + (slice(start, end),)]


def _joined(parts, a, axis):
    return concatenate(parts, axis) if parts else _part(a, 0, 0, axis)


def insert(arr, obj, values, axis=None):
    """An array with values put before the indices `obj` along `axis`.

    Args:
      arr: an array.
      obj: a slice, an index, or indices into `arr`.
      values: one for each index, or an array that broadcasts to that; where there is one index, any
        number.
      axis: the dimension; None: the array is flattened first.

    Returns:
      An array of more slices along `axis`.

    Example:
      >>> jnp.insert(jnp.arange(4), jnp.array([3, 1]), jnp.array([10, 11]))
      Array([ 0, 11,  1,  2, 10,  3], dtype=int32)
    """
    check_arraylike("insert", arr, 0 if isinstance(obj, slice) else obj, values)
    a, values = asarray(arr), asarray(values)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    size = a.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(size)[obj]
    index = asarray(obj)
    if index.ndim > 1:
        raise ValueError(f"insert: obj must have at most one dimension, got shape {index.shape}.")
    if values.ndim > a.ndim:
        raise ValueError(f"insert: values of shape {values.shape} do not fit {a.shape}.")
    scalar, index = index.ndim == 0, atleast_1d(index)
    values = values.reshape((1,) * (a.ndim - values.ndim) + values.shape)
    if scalar:  # the values' leading dimension runs along the axis
        values = moveaxis(values, 0, axis)
    count = index.shape[0]
    if count == 1 and values.shape[axis] != 1:
        count = values.shape[axis]
        index = broadcast_to(index, (count,))
    values = broadcast_to(
        _core.convert(values, a.dtype), a.shape[:axis] + (count,) + a.shape[axis + 1 :]
    )
    known_index = _core.concrete_array(index)
    if known_index is not None and count < PIECES:
        return _inserted(a, np.asarray(known_index), values, axis)
    # New elements in the order of their indices; equal ones in the given order.
    index = where(index < 0, index + size, index)
    index = _functions.minimum(_functions.maximum(index, 0), size)
    order = argsort(index, dtype=np.int32)
    new = index[order] + np.arange(count, dtype=np.int32)
    is_new = _core.full((size + count,), False, np.bool_).at[new].set(True)
    older = bind("cumsum", (is_new.astype(np.int32),), axis=0, reverse=False)
    place = np.arange(size + count, dtype=np.int32)
    source = where(is_new, older - 1, count + place - older)
    return take(concatenate([take(values, order, axis=axis), a], axis), source, axis=axis)


def _inserted(a, index, values, axis):
    size = a.shape[axis]
    index = np.clip(np.where(index < 0, index + size, index), 0, size)
    parts, start = [], 0
    for new in np.argsort(index, kind="stable").tolist():
        parts += [_part(a, start, index[new], axis), _part(values, new, new + 1, axis)]
        start = index[new]
    parts = [part for part in [*parts, _part(a, start, size, axis)] if part.shape[axis]]
    return _joined(parts, a, axis)


@in_one_program("new_shape")
def resize(a, new_shape):
    """The elements of an array, repeated as often as needed, in a new shape.

    Args:
      a: an array.
      new_shape: an int or a tuple of ints.

    Returns:
      An array of shape `new_shape`.

    Raises:
      ValueError: a size is negative.

    Example:
      >>> jnp.resize(jnp.array([1, 2, 3]), (2, 4))
      Array([[1, 2, 3, 1],
             [2, 3, 1, 2]], dtype=int32)
    """
    check_arraylike("resize", a)
    a = asarray(a).ravel()
    shape = tuple(new_shape) if np.ndim(new_shape) else (operator.index(new_shape),)
    if any(size < 0 for size in shape):
        raise ValueError(
            f"jnp.resize: all elements of `new_shape` must be non-negative; got {shape}."
        )
    n = int(np.prod(shape))
    if n == 0 or a.size == 0:
        return _core.full(shape, 0, a.dtype)
    return concatenate([a] * -(-n // a.size))[:n].reshape(shape)
