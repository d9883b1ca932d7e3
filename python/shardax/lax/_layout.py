# shardax/lax/_layout.py - ops that arrange elements, and constants.
import operator

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import expand_dims as _expand_dims
from shardax._base.array_functions import tile as _tile
from shardax._base.array_functions import unstacked
from shardax._base.arrays import asarray, bind, canonical_axis, operand_of
from shardax._devices.full_like import full as _full
from shardax._devices.full_like import full_like as _full_like
from shardax._devices.out_sharding import keeps_sums, takes_out_sharding


def _ints(values):
    return tuple(operator.index(v) for v in values)


@takes_out_sharding
def broadcast(operand, sizes, *, out_sharding=None):
    """An array repeated along new leading dimensions.

    Args:
      operand: an array or number.
      sizes: the sizes of the new dimensions.
      out_sharding: how the result is split, in the explicit mode of meshes.

    Returns:
      An array of shape (*sizes, *operand.shape); no element is copied.

    Example:
      >>> lax.broadcast(jnp.array([1, 2]), (2,))
      Array([[1, 2],
             [1, 2]], dtype=int32)
    """
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
    """An array repeated to a shape, each of its dimensions in a given place.

    Args:
      operand: an array or number.
      shape: the shape of the result.
      broadcast_dimensions: ascending ints: dimension i of the operand becomes dimension
        broadcast_dimensions[i], of the same size, or has size 1 and is repeated.
      out_sharding: how the result is split, in the explicit mode of meshes.

    Raises:
      TypeError: sizes do not fit.

    Example:
      >>> lax.broadcast_in_dim(jnp.array([1, 2]), (2, 3), (0,))
      Array([[1, 1, 1],
             [2, 2, 2]], dtype=int32)
    """
    return bind(
        "broadcast_in_dim",
        (operand_of("broadcast_in_dim", operand),),
        shape=_ints(shape),
        broadcast_dimensions=_ints(broadcast_dimensions),
    )


def broadcast_to_rank(x, rank):
    """An array with leading dimensions of size 1 up to a number of dimensions.

    Example:
      >>> lax.broadcast_to_rank(jnp.zeros(3), 3).shape
      (1, 1, 3)
    """
    x = operand_of("broadcast_to_rank", x)
    return expand_dims(x, range(rank - x.ndim)) if x.ndim < rank else x


def broadcast_like(arr, like_arr):
    """An array repeated to the shape of another one.

    Example:
      >>> lax.broadcast_like(jnp.array([1, 2, 3]), jnp.zeros((2, 3)))
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
    """The elements of an array in another shape.

    Args:
      operand: an array.
      new_sizes: a sequence of ints with as many elements.
      dimensions: None, or the order in which the dimensions of `operand` are read, a permutation.
      out_sharding: how the result is split, in the explicit mode of meshes.

    Raises:
      TypeError: sizes do not fit.

    Example:
      >>> lax.reshape(jnp.arange(6), (2, 3))
      Array([[0, 1, 2],
             [3, 4, 5]], dtype=int32)
    """
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
    """The dimensions of an array in another order.

    Args:
      operand: an array.
      permutation: dimension i of the result is permutation[i] of the operand.

    Returns:
      A view of the elements.

    Raises:
      TypeError: `permutation` is none of the dimensions.

    Example:
      >>> lax.transpose(jnp.array([[1, 2, 3], [4, 5, 6]]), (1, 0))
      Array([[1, 4],
             [2, 5],
             [3, 6]], dtype=int32)
    """
    operand, permutation = operand_of("transpose", operand), _ints(permutation)
    if permutation == tuple(range(operand.ndim)):
        return operand
    return bind("transpose", (operand,), permutation=permutation)


def expand_dims(array, dimensions):
    """An array with new dimensions of size 1 at those positions of the result.

    Example:
      >>> lax.expand_dims(jnp.zeros(3), (0, 2)).shape
      (1, 3, 1)
    """
    return _expand_dims(array, tuple(dimensions))


def squeeze(array, dimensions):
    """An array without some dimensions of size 1.

    Args:
      array: an array.
      dimensions: the dimensions, a sequence of ints.

    Raises:
      ValueError: a dimension has another size.

    Example:
      >>> lax.squeeze(jnp.zeros((1, 3)), (0,)).shape
      (3,)
    """
    array = asarray(array)
    axes = tuple(sorted(canonical_axis(d, array.ndim) for d in dimensions))
    if len(set(axes)) != len(axes):
        raise ValueError(f"dimensions are not unique: {tuple(dimensions)}")
    return bind("squeeze", (array,), dimensions=axes) if axes else array


def collapse(operand, start_dimension, stop_dimension=None):
    """An array whose dimensions from start to stop are joined to one.

    Args:
      operand: an array.
      start_dimension, stop_dimension: the first dimension, and the one behind the last; None: all
        that follow.

    Example:
      >>> lax.collapse(jnp.zeros((2, 3, 4)), 1, 3).shape
      (2, 12)
    """
    operand = operand_of("collapse", operand)
    stop = operand.ndim if stop_dimension is None else stop_dimension
    low, high, _ = slice(start_dimension, stop).indices(operand.ndim)
    return operand.reshape(operand.shape[:low] + (-1,) + operand.shape[high:])


def rev(operand, dimensions):
    """The elements of an array in reverse order along some dimensions, a sequence of ints.

    Example:
      >>> lax.rev(jnp.array([[1, 2], [3, 4]]), (0,))
      Array([[3, 4],
             [1, 2]], dtype=int32)
    """
    operand = operand_of("rev", operand)
    return bind(
        "rev", (operand,), dimensions=tuple(canonical_axis(d, operand.ndim) for d in dimensions)
    )


def concatenate(operands, dimension):
    """Arrays joined along a dimension.

    Args:
      operands: a sequence of arrays of one dtype and, but for the dimension, one shape.
      dimension: an int.

    Raises:
      ValueError: there is no array.
      TypeError: dtypes or shapes differ.

    Example:
      >>> lax.concatenate([jnp.array([1, 2]), jnp.array([3])], 0)
      Array([1, 2, 3], dtype=int32)
    """
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
    """An array with elements added at its ends and between its elements.

    Args:
      operand: an array.
      padding_value: a scalar of its dtype.
      padding_config: (low, high, interior) for each dimension: elements in front, behind, and
        between neighbours; negative ones in front and behind remove elements.

    Raises:
      TypeError: dtypes differ.
      ValueError: `padding_config` does not fit the dimensions.

    Example:
      >>> lax.pad(jnp.array([1, 2, 3]), 0, ((1, 2, 1),))
      Array([0, 1, 0, 2, 0, 3, 0, 0], dtype=int32)
      >>> lax.pad(jnp.array([1, 2, 3]), 0, ((-1, 0, 0),))
      Array([2, 3], dtype=int32)
    """
    operand = operand_of("pad", operand)
    value = (
        _core.convert(asarray(padding_value), operand.dtype)
        if isinstance(padding_value, (int, float))
        else asarray(padding_value)
    )
    low, high, interior = (tuple(int(c[i]) for c in padding_config) for i in range(3))
    return bind("pad", (operand, value), low=low, high=high, interior=interior)


def iota(dtype, size):
    """The vector 0, 1, ..., size - 1 of a dtype.

    Example:
      >>> lax.iota(jnp.float32, 3)
      Array([0., 1., 2.], dtype=float32)
    """
    return broadcasted_iota(dtype, (size,), 0)


@takes_out_sharding
def broadcasted_iota(dtype, shape, dimension, *, out_sharding=None):
    """An array of a shape that counts 0, 1, ... along one dimension.

    Args:
      dtype: of the result.
      shape: its shape.
      dimension: the dimension.
      out_sharding: how the result is split, in the explicit mode of meshes.

    Example:
      >>> lax.broadcasted_iota(jnp.int32, (2, 3), 1)
      Array([[0, 1, 2],
             [0, 1, 2]], dtype=int32)
    """
    shape = _ints(shape)
    return bind(
        "iota",
        (),
        dtype=_core.requested_dtype(dtype, "iota"),
        shape=shape,
        dimension=canonical_axis(dimension, len(shape)),
    )


def full(shape, fill_value, dtype=None, *, sharding=None):
    """An array that repeats one number; memory holds one element.

    Args:
      shape: the shape of the result.
      fill_value: a scalar.
      dtype: of the result; None: that of `fill_value`.
      sharding: of the result.

    Raises:
      TypeError: `fill_value` is no scalar.

    Example:
      >>> lax.full((2, 2), 7)
      Array([[7, 7],
             [7, 7]], dtype=int32, weak_type=True)
    """
    _check_scalar("full", fill_value)
    return _full(shape, fill_value, dtype, device=sharding)


def full_like(x, fill_value, dtype=None, shape=None, sharding=None):
    """An array of another one's shape and dtype that repeats one number.

    Args:
      x: an array, or what has a shape and a dtype.
      fill_value: a scalar.
      dtype, shape, sharding: of the result, where they differ from those of `x`.

    Example:
      >>> lax.full_like(jnp.array([1.0, 2.0]), 7)
      Array([7., 7.], dtype=float32)
    """
    _check_scalar("full_like", fill_value)
    return _full_like(x, fill_value, dtype, shape, device=sharding)


def _check_scalar(name, fill_value):
    if np.shape(fill_value):
        raise TypeError(
            f"{name} must be called with scalar fill_value, got fill_value.shape "
            f"{np.shape(fill_value)}; jnp.{name} broadcasts it."
        )


def tile(operand, reps):
    """An array repeated as a whole along each of its dimensions.

    Args:
      operand: an array.
      reps: an int for each dimension.

    Example:
      >>> lax.tile(jnp.array([[1, 2]]), (2, 2))
      Array([[1, 2, 1, 2],
             [1, 2, 1, 2]], dtype=int32)
    """
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
