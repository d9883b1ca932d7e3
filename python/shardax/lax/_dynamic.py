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
    """Elements from start indices that may be traced; they are moved so that the slice fits.

    Negative indices count from the end where `allow_negative_indices` (a bool, or one for each
    dimension) lets them; elsewhere they are moved to 0.
    """
    operand = operand_of("dynamic_slice", operand)
    return bind(
        "dynamic_slice",
        (operand, *_starts(operand, start_indices, allow_negative_indices)),
        slice_sizes=_ints(slice_sizes),
    )


@in_one_program("slice_size", "axis", "allow_negative_indices", at_once=True)
def dynamic_slice_in_dim(operand, start_index, slice_size, axis=0, *, allow_negative_indices=True):
    """dynamic_slice along one dimension."""
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
    """One slice along a dimension, whose index may be traced."""
    out = dynamic_slice_in_dim(
        operand, asarray(index), 1, axis, allow_negative_indices=allow_negative_indices
    )
    return out if keepdims else squeeze(out, (axis,))


def dynamic_update_slice(operand, update, start_indices, *, allow_negative_indices=True):
    """`operand` with `update` at start indices, moved so that it fits; negative ones as in
    `dynamic_slice`."""
    operand = operand_of("dynamic_update_slice", operand)
    starts = _starts(operand, start_indices, allow_negative_indices)
    return bind("dynamic_update_slice", (operand, asarray(update), *starts))


@in_one_program("axis", "allow_negative_indices", at_once=True)
def dynamic_update_slice_in_dim(operand, update, start_index, axis, *, allow_negative_indices=True):
    """dynamic_update_slice along one dimension."""
    operand = operand_of("dynamic_update_slice_in_dim", operand)
    start = [0] * operand.ndim
    start[canonical_axis(axis, operand.ndim)] = start_index
    return dynamic_update_slice(
        operand, update, _same_dtype(start), allow_negative_indices=allow_negative_indices
    )


def dynamic_update_index_in_dim(operand, update, index, axis, *, allow_negative_indices=True):
    """`operand` with one slice along a dimension replaced."""
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
      >>> jnp.arange(10)[ds(jnp.int32(4), 2)]
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
      >>> shape_as_value((2, 3))
      Array([2, 3], dtype=int32)
    """
    return asarray(np.array(shape, _core.canonical_dtype(int)))


def dce_sink(val, *, prevent_mlir_dce=False):
    """Says that a value is used, where nothing else does: it needs no computing here.

    `prevent_mlir_dce` and `val` have no effect: the package does without what it steers in JAX.

    Example:
      >>> dce_sink(jnp.ones(3))
    """
