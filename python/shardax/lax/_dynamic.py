# shardax/lax/_dynamic.py - slices at positions that may be traced.
import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind, canonical_axis, in_one_program, operand_of
from shardax.lax._layout import _ints, expand_dims, iota, squeeze


def _starts(operand, indices, negative):
    if isinstance(indices, (_core.Array, np.ndarray)):
        if indices.shape != (operand.ndim,):
            raise ValueError(
                "Length of slice indices must match number of operand dimensions: indices of shape "
                f"{indices.shape} for an operand of shape {operand.shape}"
            )
        indices = [indices[i] for i in range(operand.ndim)]
    if len(indices) != operand.ndim:
        raise ValueError(
            "Length of slice indices must match number of operand dimensions "
            f"({len(indices)} vs {operand.shape})"
        )
    each = [negative] * operand.ndim if isinstance(negative, bool) else list(negative)
    if len(each) != operand.ndim:
        raise ValueError(
            f"allow_negative_indices has {len(each)} entries for {operand.ndim} dimensions; give "
            "one for each, or a bool."
        )
    return [
        _from_start(asarray(i), n) if wraps else _plain(i, n)
        for i, n, wraps in zip(indices, operand.shape, each)
    ]


def _plain(i, n):
    """The index `i`, which does not count from the end."""
    if isinstance(i, (int, np.integer)) and i < 0:
        raise ValueError(
            f"Index {i} is out of bounds for dimension {n} if allow_negative_indices=False"
        )
    return asarray(i)


def _from_start(i, n):
    """The index `i` of a dimension of size `n`, which counts from the end where it is negative."""
    if i.dtype.kind == "u" or (_core.is_concrete(i) and int(_core.concrete_array(i)) >= 0):
        return i
    negative = _core.functions.less(i, 0)
    return bind("select_n", (negative, i, _core.functions.add(i, np.asarray(n, i.dtype))))


def dynamic_slice(operand, start_indices, slice_sizes, *, allow_negative_indices=True):
    """A part of an array whose start may be traced, and whose size is known.

    A start beyond the bounds is moved so that the part fits.

    Args:
      operand: an array.
      start_indices: integers, one for each dimension, in a sequence or a vector.
      slice_sizes: an int for each dimension.
      allow_negative_indices: whether negative starts count from the end, for all or for each
        dimension; they are moved to 0 otherwise.

    Returns:
      An array of shape `slice_sizes`.

    Raises:
      TypeError: indices or sizes do not fit the dimensions.

    Example:
      >>> x = jnp.arange(12).reshape(3, 4)
      >>> lax.dynamic_slice(x, (1, 1), (2, 2))
      Array([[ 5,  6],
             [ 9, 10]], dtype=int32)
      >>> shardax.jit(lambda i: lax.dynamic_slice(x, (i, 0), (1, 4)))(9)
      Array([[ 8,  9, 10, 11]], dtype=int32)
    """
    operand = operand_of("dynamic_slice", operand)
    return bind(
        "dynamic_slice",
        (operand, *_starts(operand, start_indices, allow_negative_indices)),
        slice_sizes=_ints(slice_sizes),
    )


@in_one_program("slice_size", "axis", "allow_negative_indices", at_once=True)
def dynamic_slice_in_dim(operand, start_index, slice_size, axis=0, *, allow_negative_indices=True):
    """A part of an array along one dimension, whose start may be traced.

    Args:
      operand: an array.
      start_index: an integer; moved so that the part fits.
      slice_size: an int.
      axis: the dimension.
      allow_negative_indices: whether a negative start counts from the end.

    Example:
      >>> lax.dynamic_slice_in_dim(jnp.arange(5), 2, 2)
      Array([2, 3], dtype=int32)
    """
    operand = operand_of("dynamic_slice_in_dim", operand)
    axis = canonical_axis(axis, operand.ndim)
    start, size = [0] * operand.ndim, list(operand.shape)
    start[axis], size[axis] = start_index, slice_size
    return dynamic_slice(
        operand, _same_dtype(start), size, allow_negative_indices=allow_negative_indices
    )


def _same_dtype(indices):
    """Indices of one dtype, where one of them has one; Python's stay as they are."""
    if not any(hasattr(i, "dtype") for i in indices):
        return indices
    dtype = next((i.dtype for i in indices if hasattr(i, "dtype")), np.dtype("int32"))
    return [
        i if hasattr(i, "dtype") and i.dtype == dtype else asarray(i).astype(dtype) for i in indices
    ]


@in_one_program("axis", "keepdims", "allow_negative_indices", at_once=True)
def dynamic_index_in_dim(operand, index, axis=0, keepdims=True, *, allow_negative_indices=True):
    """One slice of an array along a dimension, whose index may be traced.

    Args:
      operand: an array.
      index: an integer; moved into the bounds.
      axis: the dimension.
      keepdims: whether it stays, with size 1.
      allow_negative_indices: whether a negative index counts from the end.

    Example:
      >>> lax.dynamic_index_in_dim(jnp.array([[1, 2], [3, 4]]), 1, keepdims=False)
      Array([3, 4], dtype=int32)
    """
    out = dynamic_slice_in_dim(
        operand, asarray(index), 1, axis, allow_negative_indices=allow_negative_indices
    )
    return out if keepdims else squeeze(out, (axis,))


def dynamic_update_slice(operand, update, start_indices, *, allow_negative_indices=True):
    """An array with a part replaced, whose start may be traced.

    A start beyond the bounds is moved so that the part fits.

    Args:
      operand: an array.
      update: an array of its dtype, not larger in any dimension.
      start_indices: integers, one for each dimension, in a sequence or a vector.
      allow_negative_indices: as in `lax.dynamic_slice`.

    Returns:
      An array of the shape of `operand`.

    Raises:
      TypeError: dtypes or sizes do not fit.

    Example:
      >>> lax.dynamic_update_slice(jnp.zeros(5), jnp.ones(2), (3,))
      Array([0., 0., 0., 1., 1.], dtype=float32)
    """
    operand = operand_of("dynamic_update_slice", operand)
    starts = _starts(operand, start_indices, allow_negative_indices)
    return bind("dynamic_update_slice", (operand, asarray(update), *starts))


@in_one_program("axis", "allow_negative_indices", at_once=True)
def dynamic_update_slice_in_dim(operand, update, start_index, axis, *, allow_negative_indices=True):
    """An array with a part along one dimension replaced, whose start may be traced.

    Args:
      operand, update: arrays of one dtype.
      start_index: an integer; moved so that the part fits.
      axis: the dimension.
      allow_negative_indices: whether a negative start counts from the end.

    Example:
      >>> lax.dynamic_update_slice_in_dim(jnp.zeros(5), jnp.ones(2), 3, axis=0)
      Array([0., 0., 0., 1., 1.], dtype=float32)
    """
    operand = operand_of("dynamic_update_slice_in_dim", operand)
    start = [0] * operand.ndim
    start[canonical_axis(axis, operand.ndim)] = start_index
    return dynamic_update_slice(
        operand, update, _same_dtype(start), allow_negative_indices=allow_negative_indices
    )


def dynamic_update_index_in_dim(operand, update, index, axis, *, allow_negative_indices=True):
    """An array with one slice along a dimension replaced, whose index may be traced.

    Args:
      operand: an array.
      update: the slice, with the dimension (of size 1) or without it.
      index: an integer; moved into the bounds.
      axis: the dimension.
      allow_negative_indices: whether a negative index counts from the end.

    Example:
      >>> lax.dynamic_update_index_in_dim(jnp.zeros((2, 2)), jnp.array([1.0, 2.0]), 1, axis=0)
      Array([[0., 0.],
             [1., 2.]], dtype=float32)
    """
    operand, update = operand_of("dynamic_update_index_in_dim", operand), asarray(update)
    axis = canonical_axis(axis, operand.ndim)
    if update.ndim != operand.ndim:
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(
        operand, update, index, axis, allow_negative_indices=allow_negative_indices
    )


def ds(start, size=None, stride=None):
    """An index for `size` elements from `start` on, of which `start` may be traced.

    Args:
      start: an int or integer scalar; None for everything. Without `size` it is the size.
      size: an int.
      stride: an int, 1 unless given.

    Raises:
      ValueError: where `size` or `stride` is no int.

    Example:
      >>> jnp.arange(10)[shardax.ds(jnp.int32(4), 2)]
      Array([4, 5], dtype=int32)
    """
    if start is None:
        return slice(None)
    stride = 1 if stride is None else stride
    if not isinstance(stride, int):
        raise ValueError(f"ds: the stride must be a static int, got {stride!r}.")
    if size is None:
        start, size = 0, start
    if not isinstance(size, (int, np.integer)):
        raise ValueError(f"ds: the size must be a static int, got {size!r}.")
    if isinstance(start, (int, np.integer)):
        return slice(start, start + size * stride, stride)
    return asarray(start) + stride * iota("int32", size)


def shape_as_value(shape):
    """The sizes of a shape as an integer array.

    Example:
      >>> lax.shape_as_value((2, 3))
      Array([2, 3], dtype=int32)
    """
    return asarray(np.array(shape, _core.canonical_dtype(int)))


def dce_sink(val, *, prevent_mlir_dce=False):
    """Marks a value as used, where nothing else uses it; it needs no computing here.

    `prevent_mlir_dce` and `val` have no effect: the package does without what it steers in JAX.

    Example:
      >>> lax.dce_sink(jnp.ones(3))
    """
