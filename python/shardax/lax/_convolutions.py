"""shardax/lax/_convolutions.py - convolutions, as products with the places of sliding windows."""

import math
import operator

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind
from shardax.lax._conv_numbers import (
    ConvDimensionNumbers,
    conv_dimension_numbers,
    conv_shape_tuple,
    transpose_padding,
)
from shardax.lax._dot import product
from shardax.lax._windows import dilated, numbers, padded, padtype_to_pads, slices

__all__ = [
    "conv",
    "conv_general_dilated",
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_transpose",
    "conv_with_general_padding",
]


def _check_shapes(lhs, rhs, groups, batch_groups, strides):
    """ValueError unless shapes in canonical order fit together."""
    name = "conv_general_dilated"
    (batch, features), (outputs, inputs) = lhs[:2], rhs[:2]
    for what, count in (("feature_group_count", groups), ("batch_group_count", batch_groups)):
        if count < 1:
            raise ValueError(f"{name} {what} must be a positive integer, got {count}.")
    if groups > 1 and batch_groups > 1:
        raise ValueError(
            "At most one of batch_group_count and feature_group_count may be > 1, got "
            f"batch_group_count={batch_groups} and feature_group_count={groups}"
        )
    if features % groups:
        raise ValueError(
            f"{name} feature_group_count must divide lhs feature dimension size, but {groups} does "
            f"not divide {features}."
        )
    if features // groups != inputs:
        raise ValueError(
            f"{name} lhs feature dimension size divided by feature_group_count must equal the rhs "
            f"input feature dimension size, but {features} // {groups} != {inputs}."
        )
    if batch % batch_groups:
        raise ValueError(
            f"{name} batch_group_count must divide lhs batch dimension size, but {batch_groups} "
            f"does not divide {batch}."
        )
    for what, count in (("feature_group_count", groups), ("batch_group_count", batch_groups)):
        if outputs % count:
            raise ValueError(
                f"{name} rhs output feature dimension size must be a multiple of {what}, but "
                f"{outputs} is not a multiple of {count}."
            )
    if len(strides) != len(rhs) - 2:
        raise ValueError(
            f"{name} window and window_strides must have the same number of dimensions, but got "
            f"{len(rhs) - 2} and {len(strides)}"
        )


def _check_padding(padding, lhs_dilation):
    if isinstance(padding, str):
        if any(d != 1 for d in lhs_dilation):
            raise ValueError(
                "String padding is not implemented for transposed convolution using this op. "
                "Please either exactly specify the required padding or use conv_transpose."
            )
        return
    try:
        good = all(len(pair) == 2 for pair in padding)
    except TypeError:
        good = False
    if not good:
        raise ValueError(
            "padding argument to conv_general_dilated should be a string or a sequence of (low, "
            f"high) pairs, got {padding}"
        )


def _ordered(a, spec):
    """Dimensions in the order of `spec`."""
    return bind("transpose", (a,), permutation=tuple(int(d) for d in spec))


def _placed(a, spec):
    """Dimensions to where `spec` says that they stand."""
    return _ordered(a, np.argsort(spec))


def _places(a, window, strides, padding, base, dilation):
    """For every place in the window, the elements there of all windows; a is (batch, features,
    ...).
    """
    pads = padtype_to_pads(a.shape[2:], dilated(window, dilation), strides, padding)
    a = padded(a, 0, [(0, 0), (0, 0), *pads], (1, 1, *base))
    return list(slices(a, (1, 1, *window), (1, 1, *strides), (1, 1, *dilation)))


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
    ...), or as `dimension_numbers` say.

    Args:
      lhs, rhs: arrays of one dtype and rank.
      window_strides: an int per spatial dimension.
      padding: "SAME", "SAME_LOWER", "VALID" or (low, high) per spatial dimension.
      lhs_dilation, rhs_dilation: an int per spatial dimension: elements are that far apart.
      dimension_numbers: None, three strings or ConvDimensionNumbers.
      feature_group_count: a group of output features sees its own group of input features only.
      batch_group_count: a group of output features sees its own part of the batch only.
      precision, out_sharding: accepted; everything is in full precision.
      preferred_element_type: the result's dtype.

    Raises:
      TypeError, ValueError: shapes, numbers or dtypes do not fit.

    Example:
      >>> lax.conv_general_dilated(jnp.ones((1, 1, 4)), jnp.ones((1, 1, 3)), (1,), "VALID")
      Array([[[3., 3.]]], dtype=float32)
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    if lhs.dtype != rhs.dtype:
        raise TypeError(
            "lax.conv_general_dilated requires arguments to have the same dtypes, got "
            f"{lhs.dtype}, {rhs.dtype}."
        )
    if lhs.ndim != rhs.ndim and isinstance(dimension_numbers, ConvDimensionNumbers):
        raise ValueError(
            "conv_general_dilated lhs and rhs must have the same number of dimensions, but got "
            f"{lhs.shape} and {rhs.shape}"
        )
    spec = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    a, kernel = _ordered(lhs, spec.lhs_spec), _ordered(rhs, spec.rhs_spec)
    count = a.ndim - 2
    strides = tuple(operator.index(s) for s in window_strides)
    base, dilation = numbers(lhs_dilation, count), numbers(rhs_dilation, count)
    groups, batch_groups = operator.index(feature_group_count), operator.index(batch_group_count)
    _check_padding(padding, base)
    _check_shapes(a.shape, kernel.shape, groups, batch_groups, strides)
    if batch_groups > 1:
        # The parts of the batch as groups of features.
        batch = a.shape[0] // batch_groups
        a = a.reshape((batch_groups, batch, *a.shape[1:])).swapaxes(0, 1)
        a = a.reshape((a.shape[0], batch_groups * a.shape[2], *a.shape[3:]))
        groups = batch_groups
    outputs, inputs, *window = kernel.shape
    batch = a.shape[0]
    parts = _places(a, window, strides, padding, base, dilation)
    sizes = (
        parts[0].shape[2:]
        if parts
        else conv_shape_tuple(a.shape, kernel.shape, strides, padding)[2:]
    )
    places = math.prod(window)
    stacked = [p.reshape((batch, groups, 1, inputs, *sizes)) for p in parts]
    if places == 0:
        stacked = [_core.full((batch, groups, 0, inputs, *sizes), 0, a.dtype)]
    a = stacked[0] if len(stacked) == 1 else bind("concatenate", stacked, dimension=2)
    kernel = kernel.reshape((groups, outputs // groups, inputs, places))
    dims = (((2, 3), (3, 2)), ((1,), (0,)))
    out = product(a, kernel, dims, preferred_element_type or lhs.dtype)
    # (groups, batch, ..., outputs per group) to (batch, outputs, ...), and to the order asked for.
    out = _ordered(out, (1, 0, out.ndim - 1, *range(2, out.ndim - 1)))
    return _placed(out.reshape((batch, outputs, *sizes)), spec.out_spec)


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


_TRANSPOSE_NUMBERS = {2: ("NC", "IO", "NC"), 3: ("NHC", "HIO", "NHC")}
_TRANSPOSE_NUMBERS[4] = ("NHWC", "HWIO", "NHWC")
_TRANSPOSE_NUMBERS[5] = ("NHWDC", "HWDIO", "NHWDC")


def conv_transpose(
    lhs,
    rhs,
    strides,
    padding,
    rhs_dilation=None,
    dimension_numbers=None,
    transpose_kernel=False,
    precision=None,
    preferred_element_type=None,
    use_consistent_padding=False,
):
    """The transpose of a convolution ("deconvolution", or fractionally strided convolution).

    Args:
      lhs, rhs: arrays, (batch, ..., feature) and (..., in, out) by default.
      strides: an int per spatial dimension, by which the result is larger than lhs.
      padding: "SAME", "VALID", or (low, high) per spatial dimension of the strided operand.
      rhs_dilation: an int per spatial dimension.
      dimension_numbers: as for conv_general_dilated.
      transpose_kernel: flip the kernel and swap its features, so that the result is that of the
        gradient of a convolution with it.
      use_consistent_padding: pairs are those of the convolution, as the strings are.

    Example:
      >>> lax.conv_transpose(jnp.ones((1, 2, 1)), jnp.ones((2, 1, 1)), (2,), "SAME")[0, :, 0]
      Array([1., 1., 1., 1.], dtype=float32)
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    if dimension_numbers is None:
        if lhs.ndim not in _TRANSPOSE_NUMBERS:
            raise ValueError(
                f"conv_transpose: an operand of {lhs.ndim} dimensions needs dimension_numbers."
            )
        dimension_numbers = _TRANSPOSE_NUMBERS[lhs.ndim]
    spec = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    dilation = numbers(rhs_dilation, rhs.ndim - 2)
    if use_consistent_padding or padding in ("SAME", "VALID"):
        window = dilated([rhs.shape[d] for d in spec.rhs_spec[2:]], dilation)
        each = [padding] * len(window) if isinstance(padding, str) else padding
        padding = [transpose_padding(*sizes) for sizes in zip(window, strides, each)]
    if transpose_kernel:
        rhs = bind("rev", (rhs,), dimensions=tuple(spec.rhs_spec[2:]))
        rhs = rhs.swapaxes(*spec.rhs_spec[:2])
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * (lhs.ndim - 2),
        padding,
        strides,
        dilation,
        spec,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_patches(
    lhs,
    filter_shape,
    window_strides,
    padding,
    lhs_dilation=None,
    rhs_dilation=None,
    dimension_numbers=None,
    precision=None,
    preferred_element_type=None,
):
    """The windows that a convolution sees: features are (input feature, place in the window), the
    last place fastest.

    Example:
      >>> lax.conv_general_dilated_patches(jnp.arange(3.0).reshape(1, 1, 3), (2,), (1,), "VALID")
      Array([[[0., 1.],
              [1., 2.]]], dtype=float32)
    """
    lhs = asarray(lhs)
    window = tuple(operator.index(w) for w in filter_shape)
    spec = conv_dimension_numbers(lhs.shape, (1, 1, *window), dimension_numbers)
    a, count = _ordered(lhs, spec.lhs_spec), len(window)
    base, dilation = numbers(lhs_dilation, count), numbers(rhs_dilation, count)
    _check_padding(padding, base)
    parts = _places(a, window, tuple(window_strides), padding, base, dilation)
    parts = [p.reshape((*p.shape[:2], 1, *p.shape[2:])) for p in parts]
    out = parts[0] if len(parts) == 1 else bind("concatenate", parts, dimension=2)
    out = out.reshape((out.shape[0], out.shape[1] * out.shape[2], *out.shape[3:]))
    if preferred_element_type is not None:
        out = _core.convert(out, _core.dtype_of(preferred_element_type))
    return _placed(out, spec.out_spec)


def conv_general_dilated_local(
    lhs,
    rhs,
    window_strides,
    padding,
    filter_shape,
    lhs_dilation=None,
    rhs_dilation=None,
    dimension_numbers=None,
    precision=None,
):
    """A convolution with a kernel of its own for each place of the result: rhs is (out, in * places
    in the window, ...), where ... are the spatial sizes of the result.

    Example:
      >>> x = jnp.arange(3.0).reshape(1, 1, 3)
      >>> lax.conv_general_dilated_local(x, jnp.ones((1, 2, 2)), (1,), "VALID", (2,))
      Array([[[1., 3.]]], dtype=float32)
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    spec = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    patches = conv_general_dilated_patches(
        lhs,
        filter_shape,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        ConvDimensionNumbers(spec.lhs_spec, spec.rhs_spec, spec.out_spec),
    )
    contract = ((spec.out_spec[1],), (spec.rhs_spec[1],))
    out = product(patches, rhs, (contract, (spec.out_spec[2:], spec.rhs_spec[2:])))
    # Spatial dimensions, batch, outputs.
    count = out.ndim - 2
    return _placed(_ordered(out, (count, count + 1, *range(count))), spec.out_spec)
