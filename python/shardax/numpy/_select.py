# shardax/numpy/_select.py - elements by their positions.

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax._base.arrays import (
    asarray,
    bind,
    canonical_axis,
    check_arraylike,
    in_one_program,
    known,
    refuse_out,
)
from shardax.numpy._rounding import clip

_functions = _core.functions


def choose(a, choices, out=None, mode="raise"):
    """choices[a], elementwise.

    `mode` says what becomes of indices out of bounds: "raise" (which needs their values), "wrap"
    or "clip".
    """
    refuse_out("choose", out)
    a = asarray(a)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode={mode!r} not understood. Must be 'raise', 'wrap', or 'clip'")
    if mode == "raise":
        known(
            a,
            "The error occurred because jnp.choose was jit-compiled with mode='raise'. Use "
            "mode='wrap' or mode='clip' instead.",
            "",
        )
        if not bool(((a >= 0) & (a < len(choices))).all()):
            raise ValueError("invalid entry in choice array")
    return _chosen(a, choices, wraps=mode == "wrap")


@in_one_program("wraps", at_once=True)
def _chosen(a, choices, *, wraps):
    dtype = _core.result_type(*choices)[0]
    choices = [_core.convert(asarray(c), dtype) for c in choices]
    shape = _core.broadcast_shapes(a.shape, *(c.shape for c in choices))
    a = _core.broadcast_to(a.astype(np.int32), shape)
    if wraps:
        a = _functions.remainder(a, len(choices))
    return bind("select_n", (a, *(_core.broadcast_to(c, shape) for c in choices)))


@in_one_program("axis", "out", "mode", "unique_indices", "indices_are_sorted", "fill_value")
def take(
    a,
    indices,
    axis=None,
    out=None,
    mode=None,
    unique_indices=False,
    indices_are_sorted=False,
    fill_value=None,
):
    """Slices of `a` along `axis` (None: of the flattened array). Beyond the end: NaN or the extreme
    value ("fill"), the nearest ("clip") or counted on from the start ("wrap"); negative indices
    count from the end. `unique_indices` and `indices_are_sorted` are promises, as in `at[].get`.

    Raises:
      NotImplementedError: for `out`.
      ValueError: for another `mode`, or indices that are no integers.
    """
    refuse_out("take", out)
    if mode not in _TAKE_MODES:
        raise ValueError(f"Invalid mode '{mode}' for np.take; expected one of {_TAKE_MODES}.")
    check_arraylike("take", a, indices)
    a, indices = asarray(a), asarray(indices)
    if indices.dtype.kind not in "iu":
        raise ValueError("indices must have an integer type")
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    if not a.shape[axis] and 0 not in indices.shape:
        raise IndexError("Cannot do a non-empty jnp.take() from an empty axis.")
    if mode == "wrap":
        indices = _functions.remainder(indices, a.shape[axis])
    if mode == "clip":
        indices = clip(indices, 0, a.shape[axis] - 1)
    at = a.at[(slice(None),) * axis + (indices,)]
    return at.get(
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode="fill" if mode in (None, "fill") else "promise_in_bounds",
        fill_value=fill_value,
    )


_TAKE_MODES = (None, "fill", "clip", "wrap", "promise_in_bounds")


_PROMISES = ("promise_in_bounds", lax.GatherScatterMode.PROMISE_IN_BOUNDS)


@in_one_program("axis", "mode", "fill_value", "wrap_negative_indices")
def take_along_axis(
    arr, indices, axis=-1, mode=None, fill_value=None, *, wrap_negative_indices=None
):
    """arr[..., indices[..., i, ...], ...]: elements along `axis`, chosen for each position of the
    other dimensions.

    Negative indices count from the end unless `wrap_negative_indices` is False, or it is not given
    and `mode` is "promise_in_bounds": then they are out of bounds. `mode` says what these give:
    "fill" (NaN, or the extreme value), "clip".
    """
    check_arraylike("take_along_axis", arr, indices)
    if wrap_negative_indices is None and mode in _PROMISES:
        wrap_negative_indices = False
    arr, indices = asarray(arr), asarray(indices)
    if axis is None:
        arr, axis = arr.reshape((-1,)), 0
    if indices.dtype.kind not in "iu":
        raise TypeError(f"take_along_axis indices must be of integer type, got {indices.dtype}")
    if arr.ndim != indices.ndim:
        raise ValueError(
            "indices and arr must have the same number of dimensions; "
            f"{indices.ndim} vs. {arr.ndim}"
        )
    axis = canonical_axis(axis, arr.ndim)
    n = arr.shape[axis]
    kept = [d for d in range(arr.ndim) if d == axis or indices.shape[d] != 1]
    whole = all(arr.shape[d] in (1, indices.shape[d]) for d in kept if d != axis)
    if mode == "one_hot" or n == 0 or not whole:
        return _take_at_all_positions(arr, indices, axis, mode, fill_value, wrap_negative_indices)
    if indices.dtype.itemsize < 4:
        indices = indices.astype("int32")
    if wrap_negative_indices is not False and indices.dtype.kind == "i":
        indices = lax.select(indices < 0, indices + indices.dtype.type(n), indices)
    # Along dimensions that only the indices have, they choose from the same elements.
    lone = [d for d in kept if d != axis and arr.shape[d] == 1]
    there = [d for d in range(arr.ndim) if d not in lone]
    paired = [d for d in kept if d != axis and d not in lone]
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(d for d in range(arr.ndim) if d not in kept),
        collapsed_slice_dims=(there.index(axis),),
        start_index_map=(there.index(axis),),
        operand_batching_dims=tuple(there.index(d) for d in paired),
        start_indices_batching_dims=tuple(kept.index(d) for d in paired),
    )
    return lax.gather(
        arr.reshape([arr.shape[d] for d in there]),
        indices.reshape([*(indices.shape[d] for d in kept), 1]),
        numbers,
        [1 if d in kept else arr.shape[d] for d in there],
        mode=mode or "fill",
        fill_value=fill_value,
    )


def _take_at_all_positions(arr, indices, axis, mode, fill_value, wrap_negative_indices):
    """By an index for each dimension."""
    index = []
    for d in range(arr.ndim):
        if d == axis:
            index.append(indices)
        elif indices.shape[d] == 1 and arr.shape[d] != 1:
            index.append(
                np.arange(arr.shape[d]).reshape([-1 if e == d else 1 for e in range(arr.ndim)])
            )
        else:
            n = indices.shape[d]
            place = np.arange(n) if arr.shape[d] != 1 else np.zeros(n, int)
            index.append(place.reshape([-1 if e == d else 1 for e in range(arr.ndim)]))
    return arr.at[tuple(index)].get(
        mode=mode or "fill",
        fill_value=fill_value,
        wrap_negative_indices=wrap_negative_indices is not False,
    )
