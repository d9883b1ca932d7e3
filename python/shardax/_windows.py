"""shardax/_windows.py - convolutions and reductions over sliding windows.

A window is taken apart into its places: for each one, all windows at once are a strided slice of
the padded operand.
"""

import itertools
import math
import operator
from typing import NamedTuple

import numpy as np

from shardax import _core
from shardax.numpy._common import asarray, bind

__all__ = [
    "ConvDimensionNumbers",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_with_general_padding",
    "padtype_to_pads",
    "reduce_window",
]


class ConvDimensionNumbers(NamedTuple):
    """Where batch, features and spatial dimensions stand: (batch, feature, ...), (out, in, ...),
    (batch, feature, ...).
    """

    lhs_spec: tuple
    rhs_spec: tuple
    out_spec: tuple


def conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers):
    """ConvDimensionNumbers out of None (the first two dimensions), three strings such as ("NHWC",
    "HWIO", "NHWC").
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    rank = len(lhs_shape)
    if rank != len(rhs_shape):
        raise TypeError(
            f"convolution requires lhs and rhs ndim to be equal, got {rank} and {len(rhs_shape)}."
        )
    if dimension_numbers is None:
        return ConvDimensionNumbers(*(tuple(range(rank)),) * 3)
    lhs, rhs, out = dimension_numbers
    for spec, needed in ((lhs, "NC"), (rhs, "OI"), (out, "NC")):
        if len(spec) != rank or len(set(spec)) != rank or not set(needed) <= set(spec):
            raise TypeError(
                f"convolution dimension_numbers {dimension_numbers} do not describe operands of "
                f"rank {rank}."
            )
    spatial = [c for c in rhs if c not in "OI"]

    def places(spec, first, second):
        return (spec.index(first), spec.index(second), *(spec.index(c) for c in spatial))

    return ConvDimensionNumbers(places(lhs, "N", "C"), places(rhs, "O", "I"), places(out, "N", "C"))


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
    return [(a, t - a) for a, t in zip(low, totals)]


def _numbers(values, count):
    return (1,) * count if values is None else tuple(operator.index(v) for v in values)


def _dilated(window, dilation):
    return tuple((w - 1) * d + 1 if w else 0 for w, d in zip(window, dilation))


def _padded(a, value, pads, dilation):
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


def _slices(a, window, strides, dilation):
    """For every place in the window (the last dimension fastest), the elements there of all
    windows.
    """
    counts = [
        max((n - w) // s + 1, 0) for n, w, s in zip(a.shape, _dilated(window, dilation), strides)
    ]
    for place in itertools.product(*(range(w) for w in window)):
        start = tuple(i * d for i, d in zip(place, dilation))
        limit = tuple(b + (n - 1) * s + 1 if n else b for b, n, s in zip(start, counts, strides))
        yield bind("slice", (a,), start_indices=start, limit_indices=limit, strides=tuple(strides))


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
    """`computation` (of two arrays, elementwise) over windows.

    Beyond the edges stands `init_value`.
    """
    operand = asarray(operand)
    window = _numbers(window_dimensions, operand.ndim)
    strides, base, dilation = (
        _numbers(v, operand.ndim) for v in (window_strides, base_dilation, window_dilation)
    )
    if not len(window) == len(strides) == len(base) == len(dilation) == operand.ndim:
        raise ValueError(
            f"reduce_window: an operand of shape {operand.shape} needs {operand.ndim} window "
            "dimensions and strides."
        )
    init = _core.convert(asarray(init_value), operand.dtype)
    pads = padtype_to_pads(
        _dilated(operand.shape, base), _dilated(window, dilation), strides, padding
    )
    out = init
    for part in _slices(_padded(operand, init, pads, base), window, strides, dilation):
        out = computation(_core.broadcast_to(out, part.shape), part)
    return out


def conv_general_dilated(
    lhs,
    rhs,
    window_strides,
    padding,
    lhs_dilation=None,
    rhs_dilation=None,
    dimension_numbers=None,
    feature_group_count=1,
    batch_group_count=1,
    precision=None,
    preferred_element_type=None,
    *,
    out_sharding=None,
):
    """The convolution (without a flip) of lhs (batch, feature, ...) with kernels rhs (out, in,
    ...), or as `dimension_numbers` say; a group of output features sees its own group of input
    features only.
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    if batch_group_count != 1:
        raise NotImplementedError("conv_general_dilated: batch_group_count must be 1.")
    if lhs.dtype != rhs.dtype:
        raise TypeError(
            "lax.conv_general_dilated requires arguments to have the same dtypes, got "
            f"{lhs.dtype}, {rhs.dtype}."
        )
    numbers = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    a = bind("transpose", (lhs,), permutation=tuple(numbers.lhs_spec))
    kernel = bind("transpose", (rhs,), permutation=tuple(numbers.rhs_spec))
    count, groups = a.ndim - 2, operator.index(feature_group_count)
    strides, base, dilation = (
        _numbers(v, count) for v in (window_strides, lhs_dilation, rhs_dilation)
    )
    batch, features = a.shape[:2]
    outputs, inputs, *window = kernel.shape
    if features != inputs * groups or outputs % groups:
        raise ValueError(
            f"conv_general_dilated: {features} lhs features, {inputs} rhs inputs and {outputs} rhs "
            "outputs do not fit "
            f"feature_group_count {groups}."
        )
    pads = padtype_to_pads(a.shape[2:], _dilated(window, dilation), strides, padding)
    a = _padded(a, 0, [(0, 0), (0, 0), *pads], (1, 1, *base))
    parts = list(_slices(a, (1, 1, *window), (1, 1, *strides), (1, 1, *dilation)))
    sizes = parts[0].shape[2:]
    places = math.prod(window)
    stacked = [p.reshape((batch, groups, 1, inputs, *sizes)) for p in parts]
    a = stacked[0] if places == 1 else bind("concatenate", stacked, dimension=2)
    kernel = kernel.reshape((groups, outputs // groups, inputs, places))
    out = bind(
        "dot_general",
        (a, kernel),
        lhs_contract=(2, 3),
        rhs_contract=(3, 2),
        lhs_batch=(1,),
        rhs_batch=(0,),
        preferred_element_type=lhs.dtype
        if preferred_element_type is None
        else _core.dtype_of(preferred_element_type),
    )
    # (groups, batch, ..., outputs per group) to (batch, outputs, ...), and to the order asked for.
    order = (1, 0, out.ndim - 1, *range(2, out.ndim - 1))
    out = bind("transpose", (out,), permutation=order).reshape((batch, outputs, *sizes))
    return bind("transpose", (out,), permutation=tuple(np.argsort(numbers.out_spec).tolist()))


def conv(lhs, rhs, window_strides, padding, precision=None, preferred_element_type=None):
    """The convolution (without a flip) of (batch, feature, ...) with (out, in, ...)."""
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs,
    rhs,
    window_strides,
    padding,
    lhs_dilation,
    rhs_dilation,
    precision=None,
    preferred_element_type=None,
):
    """conv, with dilations."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        preferred_element_type=preferred_element_type,
    )
