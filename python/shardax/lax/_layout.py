# shardax/lax/_layout.py - ops that arrange elements, and constants.
import operator

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import expand_dims as _expand_dims
from shardax._base.array_functions import tile as _tile
from shardax._base.array_functions import unstacked
from shardax._base.arrays import asarray, bind, canonical_axis, operand_of, static_jit
from shardax._devices.full_like import full as _full
from shardax._devices.full_like import full_like as _full_like
from shardax._devices.out_sharding import keeps_sums, takes_out_sharding
from shardax.errors import ShardingTypeError


def _ints(values):
    return tuple(operator.index(v) for v in values)


@takes_out_sharding
def broadcast(operand, sizes, *, out_sharding=None):
    """New leading dimensions of those sizes, repeating the operand."""
    operand = operand_of("broadcast", operand)
    sizes = _ints(sizes)
    if not sizes:
        return operand
    kept = tuple(range(len(sizes), len(sizes) + operand.ndim))
    return bind(
        "broadcast_in_dim", (operand,), shape=sizes + operand.shape, broadcast_dimensions=kept
    )


@takes_out_sharding
def broadcast_in_dim(operand, shape, broadcast_dimensions, *, out_sharding=None):
    """Dimension i of the operand becomes dimension broadcast_dimensions[i] of `shape`."""
    return bind(
        "broadcast_in_dim",
        (operand_of("broadcast_in_dim", operand),),
        shape=_ints(shape),
        broadcast_dimensions=_ints(broadcast_dimensions),
    )


def broadcast_to_rank(x, rank):
    """Leading dimensions of size 1 up to that rank."""
    x = operand_of("broadcast_to_rank", x)
    return expand_dims(x, range(rank - x.ndim)) if x.ndim < rank else x


def broadcast_like(arr, like_arr):
    """`arr` repeated to the shape of `like_arr`.

    Example:
      >>> broadcast_like(jnp.array([1, 2, 3]), jnp.zeros((2, 3)))
      Array([[1, 2, 3],
             [1, 2, 3]], dtype=int32)
    """
    arr, like_arr = operand_of("broadcast_like", arr), operand_of("broadcast_like", like_arr)
    out = _core.broadcast_to(arr, like_arr.shape)
    known = _core.get_type_sharding(like_arr)
    if known is None:
        return out
    _check_broadcast(arr, like_arr)
    return _core.with_sharding(out, known)


def _check_broadcast(arr, like):
    """ValueError where a dimension of `arr` is split otherwise than that of `like`."""
    types = [_core.api.typeof(x).asked_split for x in (arr, like)]
    own, other = (split or () for split in types)
    for axes, wanted in zip(reversed(own), reversed(other)):
        if axes and axes != wanted:
            raise ValueError(
                f"Incompatible shardings for broadcasting: {_core.api.typeof(arr)} and "
                f"{_core.api.typeof(like)}. Bring one to the other's with shardax.reshard."
            )


@takes_out_sharding(check=keeps_sums)
def reshape(operand, new_sizes, dimensions=None, *, out_sharding=None):
    """The same elements in another shape (after a transposition to `dimensions`)."""
    operand = operand_of("reshape", operand)
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    try:
        new_sizes = _ints(new_sizes)
    except TypeError:
        raise TypeError(
            f"Shapes must be 1D sequences of concrete values of integer type, got {new_sizes}."
        ) from None
    return bind("reshape", (operand,), new_sizes=new_sizes)


def transpose(operand, permutation):
    """Dimensions in another order."""
    operand, permutation = operand_of("transpose", operand), _ints(permutation)
    if permutation == tuple(range(operand.ndim)):
        return operand
    return bind("transpose", (operand,), permutation=permutation)


def expand_dims(array, dimensions):
    """New dimensions of size 1 at those positions of the result."""
    return _expand_dims(array, tuple(dimensions))


def squeeze(array, dimensions):
    """Without those dimensions, whose sizes are 1."""
    array = asarray(array)
    axes = tuple(sorted(canonical_axis(d, array.ndim) for d in dimensions))
    if len(set(axes)) != len(axes):
        raise ValueError(f"dimensions are not unique: {tuple(dimensions)}")
    return bind("squeeze", (array,), dimensions=axes) if axes else array


def collapse(operand, start_dimension, stop_dimension=None):
    """Dimensions from start to stop as one."""
    operand = operand_of("collapse", operand)
    stop = operand.ndim if stop_dimension is None else stop_dimension
    low, high, _ = slice_type(start_dimension, stop).indices(operand.ndim)
    return operand.reshape(operand.shape[:low] + (-1,) + operand.shape[high:])


slice_type = slice


def slice(operand, start_indices, limit_indices, strides=None):
    """The elements from start to limit, in steps of `strides`. Where these are given, an array that
    is split over a mesh stays so if that comes out even."""
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
    """A range along one dimension."""
    operand = operand_of("slice_in_dim", operand)
    axis = canonical_axis(axis, operand.ndim)
    n = operand.shape[axis]
    low = 0 if start_index is None else start_index + n if start_index < 0 else start_index
    high = n if limit_index is None else limit_index + n if limit_index < 0 else limit_index
    start, limit, step = [0] * operand.ndim, list(operand.shape), [1] * operand.ndim
    start[axis], limit[axis], step[axis] = low, high, stride
    return slice(operand, start, limit, step)


def index_in_dim(operand, index, axis=0, keepdims=True):
    """One slice along a dimension."""
    operand = operand_of("index_in_dim", operand)
    axis = canonical_axis(axis, operand.ndim)
    n = operand.shape[axis]
    index = operator.index(index)
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
    index %= n
    out = slice_in_dim(operand, index, index + 1, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def rev(operand, dimensions):
    """Elements in reverse order along dimensions."""
    operand = operand_of("rev", operand)
    return bind(
        "rev", (operand,), dimensions=tuple(canonical_axis(d, operand.ndim) for d in dimensions)
    )


def concatenate(operands, dimension):
    """Arrays joined along a dimension."""
    operands = [operand_of("concatenate", o) for o in operands]
    if not operands:
        raise ValueError("concatenate requires a non-empty sequences of arrays")
    if len({o.dtype for o in operands}) > 1:
        raise TypeError(
            "lax.concatenate requires arguments to have the same dtypes, got "
            + ", ".join(str(o.dtype) for o in operands)
            + ". (Tip: jnp.concatenate is a similar function that does automatic type promotion on "
            "inputs)."
        )
    return (
        operands[0]
        if len(operands) == 1
        else bind("concatenate", operands, dimension=operator.index(dimension))
    )


def pad(operand, padding_value, padding_config):
    """(low, high, interior) elements of `padding_value` per dimension; negative ones remove."""
    operand = operand_of("pad", operand)
    value = (
        _core.convert(asarray(padding_value), operand.dtype)
        if isinstance(padding_value, (int, float))
        else asarray(padding_value)
    )
    low, high, interior = (tuple(int(c[i]) for c in padding_config) for i in range(3))
    return bind("pad", (operand, value), low=low, high=high, interior=interior)


def iota(dtype, size):
    """0, 1, ..., size - 1."""
    return broadcasted_iota(dtype, (size,), 0)


@takes_out_sharding
def broadcasted_iota(dtype, shape, dimension, *, out_sharding=None):
    """0, 1, ... along one dimension of a shape."""
    shape = _ints(shape)
    return bind(
        "iota",
        (),
        dtype=_core.requested_dtype(dtype, "iota"),
        shape=shape,
        dimension=canonical_axis(dimension, len(shape)),
    )


def full(shape, fill_value, dtype=None, *, sharding=None):
    """One element, repeated."""
    return _full(shape, fill_value, dtype, device=sharding)


def full_like(x, fill_value, dtype=None, shape=None, sharding=None):
    """One element, repeated in the shape of `x`."""
    return _full_like(x, fill_value, dtype, shape, device=sharding)


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


def tile(operand, reps):
    """The operand repeated along each dimension."""
    return _tile(operand, reps)


def stack(operands, axis=0):
    """Arrays of one shape along a new dimension.

    Example:
      >>> lax.stack([jnp.arange(2), jnp.arange(2)], axis=1)
      Array([[0, 0],
             [1, 1]], dtype=int32)
    """
    operands = [operand_of("stack", x) for x in operands]
    if not operands:
        raise ValueError("stack requires a non-empty sequence of arrays.")
    shapes = {x.shape for x in operands}
    if len(shapes) > 1:
        raise TypeError(
            f"All input arrays to stack must have the same shape, got {sorted(shapes)}."
        )
    axis = canonical_axis(axis, operands[0].ndim + 1)
    return bind("stack", operands, axis=axis)


def unstack(x, axis=0):
    """The slices of an array along a dimension, a tuple.

    Example:
      >>> lax.unstack(jnp.arange(2))
      (Array(0, dtype=int32), Array(1, dtype=int32))
    """
    x = operand_of("unstack", x)
    if x.ndim == 0:
        raise ValueError("unstack requires an array of one or more dimensions, got a scalar.")
    axis = canonical_axis(axis, x.ndim)
    return unstacked(x, axis)


@takes_out_sharding
def empty(shape, dtype, *, out_sharding=None):
    """An array whose elements are not to be relied on (here: zeros).

    Example:
      >>> lax.empty((2,), jnp.float32).shape
      (2,)
    """
    return full(shape, 0, dtype)
