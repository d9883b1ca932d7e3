"""shardax/_base/array_functions.py - compositions on the core alone, out of which the layers above
make theirs: elements of one array or another, dimensions moved and added, arrays joined."""

import operator

import numpy as np

import shardax._core as _core
from shardax._base.arrays import (
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    hashable_axis,
    in_one_program,
    is_split,
    refuse_out,
    result_type,
    shape_of,
    static_jit,
)
from shardax.errors import ShardingTypeError

broadcast_to = _core.broadcast_to
_functions = _core.functions


# ---- choice --------------------------------------------------------------------------------------


def select(condition, x, y):
    """Elements of x where the boolean condition holds, else of y; promoted and broadcast."""
    dtype, weak = _core.result_type(x, y)
    x, y = (_core.convert(asarray(v), dtype, weak) for v in (x, y))
    shape = _core.broadcast_shapes(condition.shape, x.shape, y.shape)
    condition, x, y = (
        a if a.shape == shape else _core.broadcast_to(a, shape) for a in (condition, x, y)
    )
    return bind("select_n", (condition, y, x))


@static_jit()
def _where(condition, x, y):
    return select(condition, x, y)


def where(condition, x, y):
    """x where the condition holds (is not 0), else y: one call of a program in programs."""
    check_arraylike("where", condition, x, y)
    condition = asarray(condition)
    if condition.dtype != np.bool_:
        condition = _functions.not_equal(condition, condition.dtype.type(0))
    return _where(condition, x, y)


# ---- dimensions ----------------------------------------------------------------------------------


def broadcast_shapes(*shapes):
    """The shape to which all shapes broadcast; an integer stands for the shape of a vector.

    Args:
      *shapes: tuples of ints, or ints.

    Returns:
      A tuple of ints.

    Raises:
      TypeError: a shape is no sequence of integers from 0 on.
      ValueError: shapes do not broadcast.

    Example:
      >>> jnp.broadcast_shapes((2, 1), (3,))
      (2, 3)
    """
    known = []
    for shape in shapes:
        shape = shape if np.ndim(shape) else (shape,)
        try:
            known.append(tuple(map(operator.index, shape)))
        except TypeError:
            raise TypeError(
                f"Shapes must be 1D sequences of concrete values of integer type, got {shape}."
            ) from None
        if any(n < 0 for n in known[-1]):
            raise TypeError(
                "Only non-negative indices are allowed when broadcasting static shapes, but got "
                f"shape {known[-1]}."
            )
    return _core.broadcast_shapes(*known)


def expand_dims(a, axis):
    """An array with new dimensions of size 1.

    Args:
      a: an array.
      axis: the position(s) of the new dimensions in the result, an int or a tuple.

    Returns:
      A view of the elements, of a.ndim + len(axis) dimensions.

    Raises:
      ValueError: a position is out of bounds or occurs twice.

    Example:
      >>> jnp.expand_dims(jnp.zeros(3), (0, 2)).shape
      (1, 3, 1)
    """
    check_arraylike("expand_dims", a)
    a = asarray(a)
    if type(axis) is not tuple:
        axis = hashable_axis(axis)
        axis = axis if type(axis) is tuple else (axis,)
    ndim = a.ndim + len(axis)
    if len(axis) == 1 and type(axis[0]) is int and -ndim <= axis[0] < ndim:
        at, old = axis[0] % ndim, a.shape
        kept = (*range(at), *range(at + 1, ndim))
        shape = (*old[:at], 1, *old[at:])
        return bind("broadcast_in_dim", (a,), shape=shape, broadcast_dimensions=kept)
    if len({d % ndim for d in axis}) < len(axis) and all(-ndim <= d < ndim for d in axis):
        raise ValueError(f"repeated axis in lax.expand_dims: {tuple(axis)}")
    axes = canonical_axes(tuple(axis), ndim)
    sizes = iter(a.shape)
    shape = tuple(1 if d in axes else next(sizes) for d in range(ndim))
    kept = tuple(d for d in range(ndim) if d not in axes)
    return bind("broadcast_in_dim", (a,), shape=shape, broadcast_dimensions=kept)


def moveaxis(a, source, destination):
    """Dimensions moved to other positions; the others keep their order.

    Args:
      a: an array.
      source: the dimension(s) to move, an int or a sequence of ints.
      destination: their positions in the result.

    Returns:
      A view of the elements.

    Raises:
      ValueError: the two differ in length, or a dimension is out of bounds.

    Example:
      >>> jnp.moveaxis(jnp.zeros((2, 3, 4)), 0, -1).shape
      (3, 4, 2)
    """
    check_arraylike("moveaxis", a)
    a = asarray(a)
    source = [source] if type(source) is int or np.ndim(source) == 0 else list(source)
    one = type(destination) is int or np.ndim(destination) == 0
    destination = [destination] if one else list(destination)
    if len(source) != len(destination):
        raise ValueError(f"Inconsistent number of elements: {len(source)} vs {len(destination)}")
    source = [canonical_axis(s, a.ndim) for s in source]
    destination = [canonical_axis(d, a.ndim) for d in destination]
    order = [d for d in range(a.ndim) if d not in source]
    for to, from_ in sorted(zip(destination, source)):
        order.insert(to, from_)
    return a if order == list(range(a.ndim)) else bind("transpose", (a,), permutation=tuple(order))


@in_one_program("reps", at_once=True)
def tile(A, reps):
    """An array repeated as a whole along each dimension.

    Args:
      A: an array.
      reps: how often it is repeated, an int or one for each dimension. Dimensions of size 1 are
        added in front where either has fewer.

    Returns:
      An array of shape (size * repetitions) in each dimension.

    Example:
      >>> jnp.tile(jnp.array([1, 2]), 2)
      Array([1, 2, 1, 2], dtype=int32)
      >>> jnp.tile(jnp.array([1, 2]), (2, 1))
      Array([[1, 2],
             [1, 2]], dtype=int32)
    """
    check_arraylike("tile", A)
    A = asarray(A)
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    ndim = max(A.ndim, len(reps))
    A = A.reshape((1,) * (ndim - A.ndim) + A.shape)
    reps = (1,) * (ndim - len(reps)) + reps
    for d, r in enumerate(reps):
        if r != 1 and is_split(A, d):
            raise ShardingTypeError(
                f"tile: dimension {d} cannot be sharded where tiling is non-trivial: got "
                f"{_core.api.typeof(A)} and reps={reps}. Reshard it so that no mesh axis splits "
                "that dimension."
            )
    between = tuple(n for r, s in zip(reps, A.shape) for n in (r, s))
    kept = tuple(range(1, 2 * ndim, 2))
    wide = bind("broadcast_in_dim", (A,), shape=between, broadcast_dimensions=kept)
    return wide.reshape(tuple(r * s for r, s in zip(reps, A.shape)))


def eye(rows, columns, k, dtype):
    """(rows, columns) of `dtype`, with ones on diagonal k."""
    row, column = (
        bind("iota", (), dtype=np.dtype("int32"), shape=(rows, columns), dimension=d)
        for d in (0, 1)
    )
    return _core.convert(_functions.equal(_functions.add(row, k), column), dtype)


# ---- joining -------------------------------------------------------------------------------------


def sequence(name, arrays):
    """The arrays of a sequence, or the slices of one array, as a list."""
    if isinstance(arrays, (np.ndarray, _core.Array)):
        if arrays.ndim == 0:
            raise TypeError(f"{name}: expected a sequence of arrays, got one of shape ().")
        return [arrays[i] for i in range(arrays.shape[0])]
    arrays = list(arrays)
    if not arrays:
        raise ValueError(f"Need at least one array to {name}.")
    check_arraylike(name, *arrays)
    return arrays


@in_one_program("axis", "dtype", at_once=True)
def concatenate(arrays, axis=0, dtype=None):
    """Arrays joined along an existing dimension.

    Args:
      arrays: a sequence of arrays (or one, whose slices they are), of one shape but for `axis`.
      axis: the dimension; None: arrays are flattened first.
      dtype: of the result; None: the dtype to which all promote.

    Returns:
      An array; its size along `axis` is the sum of theirs.

    Raises:
      ValueError: there is no array, or `axis` is out of bounds.
      TypeError: shapes do not fit.

    Example:
      >>> x, y = jnp.array([[1, 2]]), jnp.array([[3, 4]])
      >>> jnp.concatenate([x, y])
      Array([[1, 2],
             [3, 4]], dtype=int32)
      >>> jnp.concatenate([x, y], axis=1)
      Array([[1, 2, 3, 4]], dtype=int32)
    """
    arrays = [asarray(a) for a in sequence("concatenate", arrays)]
    if axis is None:
        arrays, axis = [a.reshape((-1,)) for a in arrays], 0
    if arrays[0].ndim == 0:
        raise ValueError("Zero-dimensional arrays cannot be concatenated.")
    if len({a.ndim for a in arrays}) > 1:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise TypeError(
            f"Cannot concatenate arrays with different numbers of dimensions: got {shapes}."
        )
    axis = canonical_axis(axis, arrays[0].ndim)
    weak = dtype is None and all(a.weak_type for a in arrays)
    dtype = result_type(*arrays) if dtype is None else _core.requested_dtype(dtype, "concatenate")
    arrays = [_core.convert(a, dtype, weak) for a in arrays]
    return arrays[0] if len(arrays) == 1 else bind("concatenate", arrays, dimension=axis)


def stack(arrays, axis=0, out=None, dtype=None):
    """Arrays of one shape joined along a new dimension.

    The same array n times is kept once; slices that lie evenly in one array are not copied.

    Args:
      arrays: a sequence of arrays, or one, whose slices they are.
      axis: the position of the new dimension in the result.
      out: must be None.
      dtype: of the result; None: the dtype to which all promote.

    Returns:
      An array with one dimension more.

    Raises:
      ValueError: there is no array, or shapes differ.

    Example:
      >>> x, y = jnp.array([1, 2]), jnp.array([3, 4])
      >>> jnp.stack([x, y])
      Array([[1, 2],
             [3, 4]], dtype=int32)
      >>> jnp.stack([x, y], axis=1)
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    refuse_out("stack", out)
    arrays = sequence("stack", arrays)
    view = _core.stacked_view(arrays) if dtype is None else None
    if view is not None:
        return moveaxis(view, 0, canonical_axis(axis, view.ndim))
    if all(a is arrays[0] for a in arrays) and dtype is None:
        first = asarray(arrays[0])
        axis = canonical_axis(axis, first.ndim + 1)
        shape = first.shape[:axis] + (len(arrays),) + first.shape[axis:]
        kept = tuple(d for d in range(len(shape)) if d != axis)
        return bind("broadcast_in_dim", (first,), shape=shape, broadcast_dimensions=kept)
    return _stack(arrays, axis=axis, dtype=dtype)


def unstacked(x, axis):
    """The slices of an array along a dimension, a tuple; those of a known array are views."""
    if isinstance(x, _core.Tracer):
        out = bind("unstack", (x,), axis=axis)
        return (out,) if isinstance(out, _core.Array) else tuple(out)  # one result is no list
    x = moveaxis(x, axis, 0)
    return tuple(x[i] for i in range(x.shape[0]))


@in_one_program("axis", "dtype", at_once=True)
def _stack(arrays, axis, dtype):
    shapes = {shape_of(a) for a in arrays}
    if len(shapes) > 1:
        raise ValueError("All input arrays must have the same shape.")
    arrays = [asarray(a) for a in arrays]
    axis = canonical_axis(axis, arrays[0].ndim + 1)
    weak = all(a.weak_type for a in arrays) and dtype is None
    wanted = result_type(*arrays) if dtype is None else _core.requested_dtype(dtype, "stack")
    return bind("stack", [_core.convert(a, wanted, weak) for a in arrays], axis=axis)
