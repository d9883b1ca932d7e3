"""shardax/lax/_windows.py - reductions over sliding windows.

A window is taken apart into its places: for each one, all windows at once are a strided slice of
the padded operand.
"""

import itertools
import operator

import shardax._core as _core
from shardax import tree_util
from shardax._base.arrays import asarray, bind

__all__ = ["padtype_to_pads", "reduce_window", "reduce_window_shape_tuple"]


def padtype_to_pads(in_shape, window_shape, window_strides, padding):
    """(low, high) padding for each dimension, out of "SAME", "SAME_LOWER", "VALID" or the pairs
    themselves.
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
    """How many windows fit along each dimension."""
    return tuple(max((n - w) // s + 1, 0) for n, w, s in zip(sizes, window, strides))


def slices(a, window, strides, dilation):
    """For every place in the window (the last dimension fastest), the elements there of all
    windows.
    """
    counts = window_counts(a.shape, dilated(window, dilation), strides)
    for place in itertools.product(*(range(w) for w in window)):
        start = tuple(i * d if n else 0 for i, d, n in zip(place, dilation, counts))
        limit = tuple(b + (n - 1) * s + 1 if n else 0 for b, n, s in zip(start, counts, strides))
        yield bind("slice", (a,), start_indices=start, limit_indices=limit, strides=tuple(strides))


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
    pads = padtype_to_pads(dilated(shape, base), dilated(window, dilation), strides, padding)
    places = [
        slices(padded(a, init, pads, base), window, strides, dilation)
        for a, init in zip(operands, inits)
    ]
    out = inits
    for parts in zip(*places):
        so_far = [_core.broadcast_to(value, part.shape) for value, part in zip(out, parts)]
        combined = computation(
            tree_util.tree_unflatten(tree, so_far), tree_util.tree_unflatten(tree, parts)
        )
        out, out_tree = tree_util.tree_flatten(combined)
        if out_tree != tree:
            raise ValueError(
                "reduce_window output must have the same tree structure as the operands: "
                f"{out_tree} vs. {tree}"
            )
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
