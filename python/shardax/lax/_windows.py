"""shardax/lax/_windows.py - reductions over sliding windows.

Sums and extremes are ops. For any other computation a window is taken apart into its places. For
each one, all windows at once are a strided slice of the padded operand.
"""

import itertools
import math
import operator

import numpy as np

import shardax._core as _core
from shardax import tree_util
from shardax._base.arrays import asarray, bind
from shardax.lax._loops import scan

__all__ = ["padtype_to_pads", "reduce_window", "reduce_window_shape_tuple"]


def padtype_to_pads(in_shape, window_shape, window_strides, padding):
    """The padding (low, high) for each dimension that a name stands for.

    Args:
      in_shape, window_shape, window_strides: ints for each dimension.
      padding: "SAME", "SAME_LOWER", "VALID", or the pairs themselves.

    Example:
      >>> lax.padtype_to_pads((4,), (3,), (1,), "SAME")
      [(1, 1)]
    """
    if not isinstance(padding, str):
        return [(int(low), int(high)) for low, high in padding]
    mode = padding.upper()
    if mode not in ("SAME", "SAME_LOWER", "VALID"):
        raise ValueError(f"Unknown padding type: {padding}.")
    if mode == "VALID":
        return [(0, 0)] * len(in_shape)
    totals = [
        max((-(-n // s) - 1) * s + w - n, 0)
        for n, w, s in zip(in_shape, window_shape, window_strides)
    ]
    low = [t // 2 if mode == "SAME" else t - t // 2 for t in totals]
    return [(int(a), int(t - a)) for a, t in zip(low, totals)]


def numbers(values, count):
    return (1,) * count if values is None else tuple(operator.index(v) for v in values)


def dilated(window, dilation):
    return tuple((w - 1) * d + 1 if w else 0 for w, d in zip(window, dilation))


def padded(a, value, pads, dilation):
    low, high = (tuple(p[i] for p in pads) for i in (0, 1))
    if not any(low) and not any(high) and all(d == 1 for d in dilation):
        return a
    return bind(
        "pad",
        (a, _core.convert(asarray(value), a.dtype)),
        low=low,
        high=high,
        interior=tuple(d - 1 for d in dilation),
    )


def window_counts(sizes, window, strides):
    """The number of windows that fit along each dimension."""
    return tuple(max((n - w) // s + 1, 0) for n, w, s in zip(sizes, window, strides))


def _slice_at(a, start, counts, strides):
    """The elements at `start`, an int per dimension, and `strides` apart."""
    limit = tuple(b + (n - 1) * s + 1 if n else b for b, n, s in zip(start, counts, strides))
    return bind("slice", (a,), start_indices=start, limit_indices=limit, strides=strides)


# Longer windows are a loop: the size of the program does not grow with that of the window.
_UNROLLED = 9


def _folded(step, init, operands, window, counts, strides, dilation):
    """step(so far, elements), for every place in the window, the last dimension fastest: the
    elements of all windows there.
    """
    if 0 in counts:
        return init
    if math.prod(window) <= _UNROLLED:
        out = init
        for place in itertools.product(*map(range, window)):
            start = tuple(i * d for i, d in zip(place, dilation))
            out = step(out, [_slice_at(a, start, counts, strides) for a in operands])
        return out
    sizes = [(n - 1) * s + 1 for n, s in zip(counts, strides)]
    starts = np.indices(window, np.int32).reshape(len(window), -1).T * np.int32(dilation)

    def body(so_far, start):
        parts = []
        for a in operands:
            near = bind("dynamic_slice", (a, *start), slice_sizes=tuple(sizes))
            parts.append(_slice_at(near, (0,) * len(sizes), counts, strides))
        return step(so_far, parts), None

    return scan(body, init, starts)[0]


def _check_window(shape, window, strides, base, dilation):
    given = {
        "window_dimensions": window,
        "window_strides": strides,
        "base_dilation": base,
        "window_dilation": dilation,
    }
    for name, values in given.items():
        if len(values) != len(shape):
            raise TypeError(
                f"reduce_window {name} must have the same number of dimensions as the operand, got "
                f"{name}={values} for an operand of shape {tuple(shape)}."
            )
        if any(v < 1 for v in values):
            raise TypeError(
                f"reduce_window {name} must have every element be positive, got {values}."
            )


def _identity(name, dtype):
    """The initial value of a window of an op."""
    kind = np.dtype(dtype).kind
    if name == "add" or kind == "c":
        return 0 if name == "add" else None
    if kind == "b":
        return name == "min"
    if kind in "iu":
        return np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max
    return -np.inf if name == "max" else np.inf


def _monoid(computation, operands, init):
    """The op that reduces windows like that, or None."""
    if len(operands) != 1 or isinstance(init, _core.Tracer):
        return None
    dtype = operands[0].dtype
    for name, op in (("add", "sum"), ("max", "max"), ("min", "min")):
        if computation is getattr(_core.lax, name):
            summed = name == "add" and np.dtype(dtype).kind == "b"
            return None if summed or init != _identity(name, dtype) else f"reduce_window_{op}"
    return None


def reduce_window(
    operand,
    init_value,
    computation,
    window_dimensions,
    window_strides=None,
    padding="VALID",
    base_dilation=None,
    window_dilation=None,
):
    """`computation` over windows.

    Args:
      operand: an array, or a tree of arrays of one shape.
      init_value: what stands beyond the edges, and what each window starts from: a scalar, or a
        tree like operand.
      computation: of two arrays (or trees of them), elementwise.
      window_dimensions, window_strides: an int per dimension; strides of 1 by default.
      padding: "VALID", "SAME", "SAME_LOWER" or (low, high) per dimension.
      base_dilation, window_dilation: an int per dimension, 1 by default.

    Raises:
      TypeError: the numbers do not fit the operand, or are not positive.

    Example:
      >>> lax.reduce_window(jnp.arange(5.0), 0.0, lax.add, (2,))
      Array([1., 3., 5., 7.], dtype=float32)
    """
    leaves, tree = tree_util.tree_flatten(operand)
    operands = [asarray(leaf) for leaf in leaves]
    init_leaves, init_tree = tree_util.tree_flatten(init_value)
    if init_tree != tree:
        raise ValueError(
            "reduce_window init_values must have the same tree structure as the operands: "
            f"{init_tree} vs. {tree}"
        )
    init_shapes = [asarray(i).shape for i in init_leaves]
    if any(init_shapes):
        raise TypeError(
            "reduce_window expected init_values to be scalars but init_values have shapes "
            f"{init_shapes}."
        )
    inits = [_core.convert(asarray(i), a.dtype) for i, a in zip(init_leaves, operands)]
    if not operands:
        raise ValueError("reduce_window must have at least one operand.")
    shape = operands[0].shape
    if any(a.shape != shape for a in operands):
        shapes = ", ".join(str(a.shape) for a in operands)
        raise TypeError(f"reduce_window operands must have equal shapes, got {shapes}.")
    window = numbers(window_dimensions, len(shape))
    strides, base, dilation = (
        numbers(v, len(shape)) for v in (window_strides, base_dilation, window_dilation)
    )
    _check_window(shape, window, strides, base, dilation)
    pads = padtype_to_pads(shape, dilated(window, dilation), strides, padding)
    if op := _monoid(computation, operands, init_leaves[0]):
        out = bind(
            op,
            operands,
            window_dimensions=window,
            window_strides=strides,
            padding=tuple(n for pair in pads for n in pair),
            base_dilation=base,
            window_dilation=dilation,
        )
        return tree_util.tree_unflatten(tree, [out])
    operands = [padded(a, init, pads, base) for a, init in zip(operands, inits)]
    # Places without an element are left out, whatever init is.
    masked = operands[0].shape != shape or any(n for pair in pads for n in pair)
    if masked:
        operands.append(padded(_core.full(shape, 1, np.dtype(bool)), False, pads, base))
    counts = window_counts(operands[0].shape, dilated(window, dilation), strides)

    def step(so_far, parts):
        *parts, inside = parts if masked else (*parts, None)
        combined = computation(
            tree_util.tree_unflatten(tree, so_far), tree_util.tree_unflatten(tree, parts)
        )
        out, out_tree = tree_util.tree_flatten(combined)
        if out_tree != tree:
            raise ValueError(
                "reduce_window output must have the same tree structure as the operands: "
                f"{out_tree} vs. {tree}"
            )
        if masked:
            out = [bind("select_n", (inside, *pair)) for pair in zip(so_far, out)]
        return out

    start = [_core.broadcast_to(init, counts) for init in inits]
    out = _folded(step, start, operands, window, counts, strides, dilation)
    return tree_util.tree_unflatten(tree, out)


def reduce_window_shape_tuple(
    operand_shape,
    window_dimensions,
    window_strides,
    padding,
    base_dilation=None,
    window_dilation=None,
):
    """The shape of reduce_window's result; `padding` is (low, high) per dimension.

    Example:
      >>> lax.reduce_window_shape_tuple((5,), (2,), (1,), ((0, 0),))
      (4,)
    """
    rank = len(operand_shape)
    base, dilation = numbers(base_dilation, rank), numbers(window_dilation, rank)
    sizes = [n + sum(p) for n, p in zip(dilated(operand_shape, base), padding)]
    return window_counts(sizes, dilated(window_dimensions, dilation), window_strides)
