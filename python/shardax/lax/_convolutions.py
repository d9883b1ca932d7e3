"""shardax/lax/_convolutions.py - the spellings of conv_general_dilated."""

import math
import operator

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind, in_one_program
from shardax._devices.out_sharding import takes_out_sharding
from shardax.lax._conv_numbers import (
    ConvDimensionNumbers,
    conv_dimension_numbers,
    transpose_padding,
)
from shardax.lax._dot import canonical_precision, precision_text, preferred_dtype, product
from shardax.lax._layout import _ints, broadcasted_iota
from shardax.lax._windows import dilated, numbers, padtype_to_pads

__all__ = [
    "conv",
    "conv_general_dilated",
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_transpose",
    "conv_with_general_padding",
]


def _pairs(padding, lhs, rhs, spec, strides, lhs_dilation, rhs_dilation):
    """(low, high) per spatial dimension, out of what conv_general_dilated takes."""
    if isinstance(padding, str):
        if any(d != 1 for d in lhs_dilation):
            raise ValueError(
                "String padding is not implemented for transposed convolution using this op. "
                "Please either exactly specify the required padding or use conv_transpose."
            )
        sizes, window = (
            [shape[d] for d in dims[2:]]
            for shape, dims in ((lhs.shape, spec.lhs_spec), (rhs.shape, spec.rhs_spec))
        )
        return padtype_to_pads(sizes, dilated(window, rhs_dilation), strides, padding)
    try:
        return [(operator.index(low), operator.index(high)) for low, high in padding]
    except (TypeError, ValueError):
        raise ValueError(
            "padding argument to conv_general_dilated should be a string or a sequence of (low, "
            f"high) pairs, got {padding}"
        ) from None


def _ordered(a, spec):
    """Dimensions in the order of `spec`."""
    return bind("transpose", (a,), permutation=tuple(int(d) for d in spec))


def _placed(a, spec):
    """Dimensions to where `spec` says that they stand."""
    return _ordered(a, np.argsort(spec))


@takes_out_sharding
@in_one_program(
    "window_strides",
    "padding",
    "lhs_dilation",
    "rhs_dilation",
    "dimension_numbers",
    "feature_group_count",
    "batch_group_count",
    "precision",
    "preferred_element_type",
    at_once=True,
)
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
      precision: everything is in full precision. Kernels of 3 x 3 with 16 features and more go by
        Winograd's minimal filtering (Lavin and Gray 2016). Its rounding is that of the sum, but
        relative to the largest of the 4 x 4 places that a tile of 2 x 2 outputs sees. An infinite
        place makes NaN of the tile; with HIGHEST they are the sums themselves.
      out_sharding: how the result is split over the mesh, where operands leave that open.
      preferred_element_type: the result's dtype.

    Raises:
      TypeError, ValueError: shapes, numbers or dtypes do not fit.

    Example:
      >>> lax.conv_general_dilated(jnp.ones((1, 1, 4)), jnp.ones((1, 1, 3)), (1,), "VALID")
      Array([[[3., 3.]]], dtype=float32)
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    spec = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    count = max(len(spec.rhs_spec) - 2, 0)
    strides = _ints(window_strides)
    base, dilation = numbers(lhs_dilation, count), numbers(rhs_dilation, count)
    preferred = preferred_dtype(preferred_element_type)
    if preferred is not None and np.dtype(lhs.dtype).kind in "iu" and preferred.kind == "f":
        lhs, rhs = _core.convert(lhs, preferred), _core.convert(rhs, preferred)
    pairs = _pairs(padding, lhs, rhs, spec, strides, base, dilation)
    return bind(
        "conv_general_dilated",
        (lhs, rhs),
        window_strides=strides,
        padding=tuple(n for pair in pairs for n in pair),
        lhs_dilation=base,
        rhs_dilation=dilation,
        lhs_spec=_ints(spec.lhs_spec),
        rhs_spec=_ints(spec.rhs_spec),
        out_spec=_ints(spec.out_spec),
        feature_group_count=operator.index(feature_group_count),
        batch_group_count=operator.index(batch_group_count),
        precision=precision_text(canonical_precision(precision)),
        preferred_element_type=preferred,
    )


def conv(lhs, rhs, window_strides, padding, precision=None, preferred_element_type=None):
    """The convolution (without a flip) of arrays (batch, feature, ...) with kernels (out, in, ...).

    Args:
      lhs, rhs: arrays of one dtype and rank.
      window_strides: an int for each spatial dimension.
      padding: "SAME", "SAME_LOWER" or "VALID".
      precision, preferred_element_type: as in `lax.conv_general_dilated`.

    Returns:
      An array (batch, out, ...).

    Example:
      >>> lax.conv(jnp.ones((1, 1, 4)), jnp.ones((1, 1, 3)), (1,), "SAME")
      Array([[[2., 3., 3., 2.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
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
    """The convolution of `lax.conv`, with dilations and with any padding.

    Args:
      lhs, rhs: arrays of one dtype and rank.
      window_strides: an int for each spatial dimension.
      padding: a string as in `lax.conv`, or (low, high) for each spatial dimension.
      lhs_dilation, rhs_dilation: None, or an int for each spatial dimension.
      precision, preferred_element_type: as in `lax.conv_general_dilated`.

    Example:
      >>> x, kernel = jnp.ones((1, 1, 4)), jnp.ones((1, 1, 2))
      >>> lax.conv_with_general_padding(x, kernel, (1,), ((0, 0),), None, (2,))
      Array([[[2., 2.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
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
        precision=precision,
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
    window = _ints(filter_shape)
    spec = conv_dimension_numbers(lhs.shape, (1, 1, *window), dimension_numbers)
    features, places = lhs.shape[spec.lhs_spec[1]], math.prod(window)
    # A group of its own for each feature, of kernels that have a one at a place each.
    rows, columns = (broadcasted_iota(np.int32, (places, places), d) for d in (0, 1))
    kernel = _core.convert(bind("eq", (rows, columns)), lhs.dtype).reshape((places, 1, *window))
    kernel = bind("concatenate", (kernel,) * features, dimension=0)
    return conv_general_dilated(
        lhs,
        _placed(kernel, spec.rhs_spec),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        spec,
        feature_group_count=features,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


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
    """A convolution with a kernel of its own for each place of the result. rhs is (out, in * places
    in the window, ...), with the spatial sizes of the result for "...".

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
        precision,
    )
    contract = ((spec.out_spec[1],), (spec.rhs_spec[1],))
    batch = (spec.out_spec[2:], spec.rhs_spec[2:])
    out = product(patches, rhs, (contract, batch), precision=precision)
    # Spatial dimensions, batch, outputs.
    count = out.ndim - 2
    return _placed(_ordered(out, (count, count + 1, *range(count))), spec.out_spec)
