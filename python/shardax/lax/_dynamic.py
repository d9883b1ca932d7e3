# shardax/lax/_dynamic.py - slices at positions that may be traced.
import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind, canonical_axis
from shardax.lax._layout import _ints, expand_dims, squeeze


def _starts(operand, indices):
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
    return [_from_start(asarray(i), n) for i, n in zip(indices, operand.shape)]


def _from_start(i, n):
    """The index `i` of a dimension of size `n`, which counts from the end where it is negative."""
    if i.dtype.kind == "u" or (_core.is_concrete(i) and int(_core.concrete_array(i)) >= 0):
        return i
    negative = _core.functions.less(i, 0)
    return bind("select_n", (negative, i, _core.functions.add(i, np.asarray(n, i.dtype))))


def dynamic_slice(operand, start_indices, slice_sizes):
    """Elements from start indices that may be traced; they are moved so that the slice fits."""
    operand = asarray(operand)
    return bind(
        "dynamic_slice",
        (operand, *_starts(operand, start_indices)),
        slice_sizes=_ints(slice_sizes),
    )


def dynamic_slice_in_dim(operand, start_index, slice_size, axis=0):
    """dynamic_slice along one dimension."""
    operand = asarray(operand)
    axis = canonical_axis(axis, operand.ndim)
    start, size = [0] * operand.ndim, list(operand.shape)
    start[axis], size[axis] = start_index, slice_size
    return dynamic_slice(operand, _same_dtype(start), size)


def _same_dtype(indices):
    dtype = next((i.dtype for i in indices if hasattr(i, "dtype")), np.dtype("int32"))
    return [
        i if hasattr(i, "dtype") and i.dtype == dtype else asarray(i).astype(dtype) for i in indices
    ]


def dynamic_index_in_dim(operand, index, axis=0, keepdims=True):
    """One slice along a dimension, whose index may be traced."""
    out = dynamic_slice_in_dim(operand, index, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def dynamic_update_slice(operand, update, start_indices):
    """`operand` with `update` at start indices, moved so that it fits."""
    operand = asarray(operand)
    return bind(
        "dynamic_update_slice", (operand, asarray(update), *_starts(operand, start_indices))
    )


def dynamic_update_slice_in_dim(operand, update, start_index, axis):
    """dynamic_update_slice along one dimension."""
    operand = asarray(operand)
    start = [0] * operand.ndim
    start[canonical_axis(axis, operand.ndim)] = start_index
    return dynamic_update_slice(operand, update, _same_dtype(start))


def dynamic_update_index_in_dim(operand, update, index, axis):
    """`operand` with one slice along a dimension replaced."""
    operand, update = asarray(operand), asarray(update)
    axis = canonical_axis(axis, operand.ndim)
    if update.ndim != operand.ndim:
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(operand, update, index, axis)
