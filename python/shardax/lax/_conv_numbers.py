"""shardax/lax/_conv_numbers.py - dimension numbers, padding and shapes of convolutions."""

from typing import NamedTuple

import numpy as np

from shardax.lax._windows import padtype_to_pads, window_counts

__all__ = [
    "ConvDimensionNumbers",
    "ConvGeneralDilatedDimensionNumbers",
    "conv_dimension_numbers",
    "conv_general_permutations",
    "conv_general_shape_tuple",
    "conv_shape_tuple",
    "conv_transpose_shape_tuple",
]


class ConvDimensionNumbers(NamedTuple):
    """The places of batch, features and spatial dimensions in a convolution's operands and result.

    Attributes:
      lhs_spec: (batch, feature, ...) of the operand.
      rhs_spec: (out, in, ...) of the kernels.
      out_spec: (batch, feature, ...) of the result.

    Example:
      >>> lax.conv_dimension_numbers((1, 4, 2), (3, 2, 5), ("NHC", "HIO", "NHC")).lhs_spec
      (0, 2, 1)
    """

    lhs_spec: tuple
    rhs_spec: tuple
    out_spec: tuple


# The dimension_numbers of conv_general_dilated.
ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | ConvDimensionNumbers | None


def conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers):
    """ConvDimensionNumbers out of None (the first two dimensions) or three strings such as
    ("NHWC", "HWIO", "NHWC").

    `rhs_shape` has no effect: the result does not depend on it; the signature is that of a
    protocol.

    Example:
      >>> lax.conv_dimension_numbers((1, 4, 2), (3, 2, 5), ("NHC", "HIO", "NHC")).out_spec
      (0, 2, 1)
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
    what = "convolution dimension_numbers"
    if not isinstance(dimension_numbers, (list, tuple)):
        raise TypeError(f"{what} must be tuple/list or None, got {type(dimension_numbers)}.")
    if len(dimension_numbers) != 3:
        raise TypeError(f"{what} list/tuple must be length 3, got {len(dimension_numbers)}.")
    if not all(isinstance(spec, str) for spec in dimension_numbers):
        kinds = tuple(type(spec) for spec in dimension_numbers)
        raise TypeError(f"{what} elements must be strings, got {kinds}.")
    for i, spec in enumerate(dimension_numbers):
        if len(spec) != rank:
            raise TypeError(
                f"{what}[{i}] must have len equal to the ndim of lhs and rhs, got {len(spec)} for "
                f"lhs and rhs shapes {tuple(lhs_shape)} and {tuple(rhs_shape)}."
            )
    return ConvDimensionNumbers(*conv_general_permutations(dimension_numbers))


def conv_general_permutations(dimension_numbers):
    """For each of three strings such as ("NHWC", "HWIO", "NHWC"), the permutation to the order of
    ConvDimensionNumbers. This is N C (of the second, O I), then spatial dimensions as the second
    has them.

    Example:
      >>> lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))
      ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    pairs = ("NC", "OI", "NC")
    what = "convolution dimension_numbers"
    for i, (spec, (first, second)) in enumerate(zip(dimension_numbers, pairs)):
        if not spec.count(first) == spec.count(second) == 1:
            raise TypeError(
                f"{what}[{i}] must contain the characters '{first}' and '{second}' exactly once, "
                f"got {spec}."
            )
        if len(set(spec)) != len(spec):
            raise TypeError(f"{what}[{i}] cannot have duplicate characters, got {spec}.")
    sets = [set(spec) - set(pair) for spec, pair in zip(dimension_numbers, pairs)]
    if not sets[0] == sets[1] == sets[2]:
        raise TypeError(
            f"{what} elements must each have the same set of spatial characters, got "
            f"{dimension_numbers}."
        )
    spatial = [c for c in dimension_numbers[1] if c not in "OI"]
    return tuple(
        tuple(spec.index(c) for c in (*pair, *spatial))
        for spec, pair in zip(dimension_numbers, pairs)
    )


def transpose_padding(size, stride, padding):
    """(low, high) for a dimension of conv_transpose; `size` is that of the kernel."""
    if padding == "SAME":
        total = size + stride - 2
        low = size - 1 if stride > size - 1 else -(-total // 2)
    elif padding == "VALID":
        total = size + stride - 2 + max(size - stride, 0)
        low = size - 1
    elif isinstance(padding, tuple):
        low, high = (size - p - 1 for p in padding)
        return low, high
    else:
        raise ValueError(f"Invalid padding mode: {padding}")
    return low, total - low


def conv_shape_tuple(lhs_shape, rhs_shape, strides, pads, batch_group_count=1):
    """The shape of a convolution of shapes (batch, feature, ...) and (out, in, ...).

    Example:
      >>> lax.conv_shape_tuple((1, 2, 5), (4, 2, 3), (1,), "VALID")
      (1, 4, 3)
    """
    count = len(lhs_shape) - 2
    pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    if len(pads) != count:
        raise TypeError(
            f"Wrong number of explicit pads for convolution: expected {count}, got {len(pads)}."
        )
    sizes = [n + low + high for n, (low, high) in zip(lhs_shape[2:], pads)]
    if any(n < 0 for n in sizes):
        raise ValueError(
            "Negative padding is larger than the size of the corresponding dimension: got "
            f"padding={pads} for lhs_shape[2:]={tuple(lhs_shape[2:])}"
        )
    batch = lhs_shape[0] // batch_group_count
    return (batch, rhs_shape[0], *window_counts(sizes, rhs_shape[2:], strides))


def _in_canonical_order(shape, permutation):
    return tuple(shape[d] for d in permutation)


def conv_general_shape_tuple(lhs_shape, rhs_shape, window_strides, padding, dimension_numbers):
    """The shape of a convolution, with dimension_numbers as strings.

    Example:
      >>> lax.conv_general_shape_tuple((1, 5, 2), (3, 2, 4), (1,), "SAME", ("NHC", "HIO", "NHC"))
      (1, 5, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    shape = conv_shape_tuple(
        _in_canonical_order(lhs_shape, lhs),
        _in_canonical_order(rhs_shape, rhs),
        window_strides,
        padding,
    )
    return _in_canonical_order(shape, np.argsort(out))


def conv_transpose_shape_tuple(lhs_shape, rhs_shape, window_strides, padding, dimension_numbers):
    """The shape of conv_transpose, with dimension_numbers as strings.

    Example:
      >>> numbers = ("NHC", "HIO", "NHC")
      >>> lax.conv_transpose_shape_tuple((1, 2, 1), (2, 1, 1), (2,), "SAME", numbers)
      (1, 4, 1)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    lhs, rhs = _in_canonical_order(lhs_shape, lhs), _in_canonical_order(rhs_shape, rhs)
    if isinstance(padding, str):
        padding = [transpose_padding(k, s, padding) for k, s in zip(rhs[2:], window_strides)]
    sizes = [
        (n - 1) * s - k + 2 + low + high
        for n, k, s, (low, high) in zip(lhs[2:], rhs[2:], window_strides, padding)
    ]
    return _in_canonical_order((lhs[0], rhs[0], *sizes), np.argsort(out))
