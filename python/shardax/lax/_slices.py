# shardax/lax/_slices.py - slices with bounds that are known.

import operator

import numpy as np

import shardax._core as _core
from shardax._base.arrays import bind, canonical_axis, operand_of, static_jit
from shardax.errors import ShardingTypeError
from shardax.lax._layout import _ints, squeeze

slice_type = slice


def slice(operand, start_indices, limit_indices, strides=None):
    """The elements of an array from start to limit indices, in steps.

    With strides, an array that is split over a mesh stays so if that comes out even.

    Args:
      operand: an array.
      start_indices, limit_indices: an int for each dimension; the limit lies behind the last
        element.
      strides: an int > 0 for each dimension; None: 1.

    Returns:
      An array with ceil((limit - start) / stride) elements along each dimension.

    Raises:
      TypeError: indices do not fit the shape, or a stride is not positive.

    Example:
      >>> lax.slice(jnp.arange(12).reshape(3, 4), (0, 1), (3, 4), (2, 1))
      Array([[ 1,  2,  3],
             [ 9, 10, 11]], dtype=int32)
    """
    operand = operand_of("slice", operand)
    start, limit = _ints(start_indices), _ints(limit_indices)
    if strides is None:
        return _sliced(operand, start, limit, (1,) * operand.ndim)
    placed = isinstance(operand, _core.Array) and _core.get_sharding(operand) is not None
    return (_sliced_in_program if placed else _sliced)(operand, start, limit, _ints(strides))


def _sliced(operand, start, limit, strides):
    return bind("slice", (operand,), start_indices=start, limit_indices=limit, strides=strides)


_sliced_in_program = static_jit("start", "limit", "strides", inline=True)(_sliced)


def slice_in_dim(operand, start_index, limit_index, stride=1, axis=0):
    """The elements from start to limit along one dimension.

    Args:
      operand: an array.
      start_index, limit_index: ints, negative from the end, or None for the ends.
      stride: an int > 0.
      axis: the dimension.

    Example:
      >>> lax.slice_in_dim(jnp.arange(6), 1, -1, stride=2)
      Array([1, 3], dtype=int32)
    """
    operand = operand_of("slice_in_dim", operand)
    axis = canonical_axis(axis, operand.ndim)
    n = operand.shape[axis]
    low = 0 if start_index is None else start_index + n if start_index < 0 else start_index
    high = n if limit_index is None else limit_index + n if limit_index < 0 else limit_index
    start, limit, step = [0] * operand.ndim, list(operand.shape), [1] * operand.ndim
    start[axis], limit[axis], step[axis] = low, high, stride
    return slice(operand, start, limit, step)


def index_in_dim(operand, index, axis=0, keepdims=True):
    """One slice of an array along a dimension.

    Args:
      operand: an array.
      index: an int, negative from the end.
      axis: the dimension.
      keepdims: whether it stays, with size 1.

    Raises:
      IndexError: `index` is out of bounds.

    Example:
      >>> lax.index_in_dim(jnp.array([[1, 2], [3, 4]]), 1, keepdims=False)
      Array([3, 4], dtype=int32)
    """
    operand = operand_of("index_in_dim", operand)
    axis = canonical_axis(axis, operand.ndim)
    n = operand.shape[axis]
    index = operator.index(index)
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
    index %= n
    out = slice_in_dim(operand, index, index + 1, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def split(operand, sizes, axis=0):
    """Parts of those sizes along a dimension.

    Raises:
      ValueError: a size is negative, or the sum is not that of the dimension.

    Example:
      >>> lax.split(jnp.arange(3), (1, 2))
      [Array([0], dtype=int32), Array([1, 2], dtype=int32)]
    """
    operand, sizes = operand_of("split", operand), _ints(sizes)
    axis = canonical_axis(axis, operand.ndim)
    if any(n < 0 for n in sizes):
        raise ValueError(f"Sizes passed to split must be nonnegative, got {list(sizes)}")
    if sum(sizes) != operand.shape[axis]:
        raise ValueError(
            f"Sum of sizes {sum(sizes)} must be equal to dimension {axis} of the operand shape "
            f"{list(operand.shape)}"
        )
    edges = np.cumsum([0, *sizes]).tolist()
    try:
        return [slice_in_dim(operand, a, b, 1, axis) for a, b in zip(edges[:-1], edges[1:])]
    except ShardingTypeError as e:
        raise ShardingTypeError(str(e).replace("slicing", "split", 1)) from None
