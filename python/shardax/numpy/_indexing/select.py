# shardax/numpy/_indexing/select.py - elements by their positions.

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
from shardax.numpy._elementwise.rounding import clip

_functions = _core.functions


def choose(a, choices, out=None, mode="raise"):
    """For each index the element of that choice: choices[a[i]][i].

    Args:
      a: integers that say which choice.
      choices: a sequence of arrays that broadcast with `a`, or an array of them.
      out: must be None.
      mode: what becomes of indices out of bounds: "raise" (which needs their values), "wrap" or
        "clip".

    Returns:
      An array of the broadcast shape.

    Raises:
      ValueError: an index is out of bounds, or for another mode.

    Example:
      >>> jnp.choose(jnp.array([0, 1, 0]), [jnp.array([1, 2, 3]), jnp.array([10, 20, 30])])
      Array([ 1, 20,  3], dtype=int32)
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
    """The slices of an array at indices along `axis`.

    Args:
      a: an array.
      indices: integers of any shape, negative from the end.
      axis: the dimension; None: the array is flattened first.
      out: must be None.
      mode: what indices out of bounds give: "fill" or None: NaN, or the smallest integer (unsigned:
        the largest, booleans: True); "clip": the nearest; "wrap": those counted on from the start.
      unique_indices, indices_are_sorted: promises, as in `at[].get`.
      fill_value: what "fill" gives.

    Returns:
      An array in which the dimensions of `indices` stand in the place of `axis`.

    Raises:
      NotImplementedError: for `out`.
      ValueError: for another mode, or indices that are no integers.

    Example:
      >>> x = jnp.array([[1, 2, 3], [4, 5, 6]])
      >>> jnp.take(x, jnp.array([2, 0]), axis=1)
      Array([[3, 1],
             [6, 4]], dtype=int32)
      >>> jnp.take(jnp.array([1.0, 2.0]), jnp.array([0, 5]))
      Array([ 1., nan], dtype=float32)
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
    """Elements along `axis` chosen for each position of the others: arr[..., indices[..., i, ...],
    ...].

    Args:
      arr: an array.
      indices: integers, in a shape that broadcasts with that of `arr` but for `axis`.
      axis: the dimension; None: `arr` is flattened first.
      mode: what indices out of bounds give: "fill" or None: NaN or the extreme value; "clip": the
        nearest; "promise_in_bounds".
      fill_value: what "fill" gives.
      wrap_negative_indices: whether negative ones count from the end; None: but for mode
        "promise_in_bounds".

    Returns:
      An array with the size of `indices` along `axis`.

    Raises:
      TypeError: indices are no integers.
      ValueError: the numbers of dimensions differ.

    Example:
      >>> x = jnp.array([[30, 10, 20], [5, 6, 4]])
      >>> jnp.take_along_axis(x, jnp.argsort(x), axis=1)
      Array([[10, 20, 30],
             [ 4,  5,  6]], dtype=int32)
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
