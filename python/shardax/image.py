"""shardax.image - images of other sizes: resize, and scale and translate.

Each dimension is resampled by a matrix of weights. A kernel says how much an input pixel counts for
an output pixel by their distance; where the image shrinks, antialiasing widens the kernel.
"""

import enum
import math
import operator

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import asarray, canonical_axis

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]


class ResizeMethod(enum.Enum):
    """The interpolation of pixels: NEAREST, LINEAR, LANCZOS3, LANCZOS5, CUBIC, or such a name as
    text.

    Example:
      >>> shardax.image.resize(jnp.array([[0.0, 2.0]]), (1, 3), shardax.image.ResizeMethod.LINEAR)
      Array([[0., 1., 2.]], dtype=float32)
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s):
        """The method of a name: "linear", "cubic" ...; ValueError for others."""
        if s not in _NAMES:
            raise ValueError(f'Unknown resize method "{s}"')
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "area": ResizeMethod.AREA,
    **dict.fromkeys(["linear", "bilinear", "trilinear", "triangle"], ResizeMethod.LINEAR),
    **dict.fromkeys(["cubic", "bicubic", "tricubic"], ResizeMethod.CUBIC),
    **dict.fromkeys(["cubic-pytorch", "bicubic-pytorch"], ResizeMethod.CUBIC_PYTORCH),
}


# ---- kernels, functions of a distance ------------------------------------------------------------


def _triangle(x):
    return jnp.maximum(1 - x, 0)


def _cubic(a):
    """Keys' cubic convolution; its slope at distance 1 is a."""

    def kernel(x):
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return jnp.where(x < 1, near, jnp.where(x < 2, far, 0))

    return kernel


def _lanczos(radius):
    def kernel(x):
        close = x <= 1e-3  # sin(x) / x is 1 there
        y = math.pi * jnp.where(close, 1, x)
        window = radius * jnp.sin(y) * jnp.sin(y / radius) / (y * y)
        return jnp.where(x > radius, 0, jnp.where(close, 1, window))

    return kernel


_KERNELS = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.CUBIC: _cubic(-0.5),
    ResizeMethod.CUBIC_PYTORCH: _cubic(-0.75),
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
}
_CUBIC_RADIUS = 2
_LEAST_WEIGHT = 1000 * float(np.finfo(np.float32).eps)


# ---- weights -------------------------------------------------------------------------------------


def _weights(size, wanted, scale, translation, method, antialias):
    """(size, wanted): the weight of each input pixel for each output pixel."""
    dtype = scale.dtype
    step = 1 / scale  # of output pixels, in input pixels
    outputs = lax.iota(dtype, wanted)
    center = (outputs + 0.5) * step - translation * step - 0.5
    pixels = lax.iota(dtype, size)[:, None]
    if method is ResizeMethod.AREA:
        left = outputs * step - translation * step
        weights = jnp.minimum(left + step, pixels + 1) - jnp.maximum(left, pixels)
        weights = jnp.maximum(weights, 0)
    elif method is ResizeMethod.CUBIC_PYTORCH and not antialias:
        return _normalised(_edge_padded(size, wanted, center, _KERNELS[method]))
    else:
        if method is ResizeMethod.CUBIC_PYTORCH:
            method = ResizeMethod.CUBIC
        width = jnp.maximum(step, 1) if antialias else 1
        weights = _KERNELS[method](jnp.abs(center - pixels) / width)
    inside = (center >= -0.5) & (center <= size - 0.5)
    return jnp.where(inside, _normalised(weights), 0)


def _edge_padded(size, wanted, center, kernel):
    """The weights of an image whose edge pixels go on outside."""
    around = lax.iota(center.dtype, size + 2 * _CUBIC_RADIUS)[:, None] - _CUBIC_RADIUS
    weights = kernel(jnp.abs(center - around))
    rows = jnp.clip(
        lax.iota(np.dtype("int32"), size + 2 * _CUBIC_RADIUS) - _CUBIC_RADIUS, 0, size - 1
    )
    return jnp.zeros((size, wanted), center.dtype).at[rows].add(weights)


def _normalised(weights):
    total = weights.sum(axis=0, keepdims=True)
    counts = jnp.abs(total) > _LEAST_WEIGHT
    return jnp.where(counts, weights / jnp.where(total != 0, total, 1), 0)


def _resample(x, shape, dims, scales, translations, method, antialias, precision):
    for d, scale, translation in zip(dims, scales, translations):
        weights = _weights(x.shape[d], shape[d], scale, translation, method, antialias)
        x = jnp.tensordot(x, weights.astype(x.dtype), axes=(d, 0), precision=precision)
        x = jnp.moveaxis(x, -1, d)
    return x


def _checked(name, image, shape, method):
    image = _core.promote("inexact", image)[0]
    shape = _sizes(shape)
    if len(shape) != image.ndim:
        raise ValueError(
            f"{name}: shape must have length equal to the number of dimensions of x;  {shape} vs "
            f"{image.shape}"
        )
    return image, shape, _method(method)


def _sizes(shape):
    try:
        return tuple(operator.index(n) for n in shape)
    except TypeError:
        raise TypeError(
            f"Shapes must be 1D sequences of concrete values of integer type, got {shape}."
        ) from None


def _method(method):
    return ResizeMethod.from_string(method) if isinstance(method, str) else method


def resize(image, shape, method, antialias=True, precision=lax.Precision.HIGHEST):
    """An image in another shape.

    Args:
      image: an array; integers become floats, except by the method "nearest".
      shape: the new shape, of as many dimensions.
      method: "nearest", "linear" (as "bilinear", "trilinear", "triangle"), "cubic" (as "bicubic",
        "tricubic"), "lanczos3", "lanczos5", "cubic-pytorch", "area", or a ResizeMethod.
      antialias: whether shrinking averages over the pixels that fall together.
      precision: that of the products.

    Raises:
      ValueError: for an unknown method or a shape of another length.

    >>> shardax.image.resize(jnp.array([[0.0, 1.0]]), (1, 4), "linear")
    Array([[0.  , 0.25, 0.75, 1.  ]], dtype=float32)
    """
    if _method(method) is ResizeMethod.NEAREST:
        return _nearest(asarray(image), _sizes(shape))
    image, shape, method = _checked("resize", image, shape, method)
    dims = [d for d in range(image.ndim) if image.shape[d] != shape[d]]
    real = image.real.dtype
    scales = [asarray(np.asarray(_ratio(shape[d], image.shape[d]), real)) for d in dims]
    zero = asarray(np.zeros((), real))
    return _resample(image, shape, dims, scales, [zero] * len(dims), method, antialias, precision)


def _ratio(wanted, size):
    if wanted == 0:
        return 1.0
    if size == 0:
        raise ZeroDivisionError("resize: a dimension without elements has no pixels to take")
    return wanted / size


def _nearest(image, shape):
    if len(shape) != image.ndim:
        raise ValueError(
            "shape must have length equal to the number of dimensions of x;  "
            f"{shape} vs {image.shape}"
        )
    for d, (size, wanted) in enumerate(zip(image.shape, shape)):
        if size == wanted:
            continue
        _ratio(wanted, size)
        places = np.floor((np.arange(wanted, dtype=np.float32) + 0.5) * size / max(wanted, 1))
        image = jnp.take(image, places.astype(np.int32), axis=d)
    return image


def scale_and_translate(
    image,
    shape,
    spatial_dims,
    scale,
    translation,
    method,
    antialias=True,
    precision=lax.Precision.HIGHEST,
):
    """An image of `shape` whose pixel at x is that of `image` at (x - translation) / scale.

    Args:
      image: an array; integers become floats.
      shape: the shape of the result; dimensions that are not in `spatial_dims` keep their size.
      spatial_dims: the dimensions that are scaled and translated.
      scale, translation: a number for each of them; they can be differentiated.
      method, antialias, precision: as for `resize`, without "nearest".

    Raises:
      ValueError: for "nearest", an unknown method or a shape of another length.

    >>> x = jnp.array([1.0, 2.0, 3.0])
    >>> shardax.image.scale_and_translate(x, (3,), (0,), jnp.ones(1), jnp.ones(1), "linear")
    Array([0., 1., 2.], dtype=float32)
    """
    if _method(method) is ResizeMethod.NEAREST:
        raise ValueError(
            "Nearest neighbor resampling is not currently supported for scale_and_translate."
        )
    image, shape, method = _checked("scale_and_translate", image, shape, method)
    scale, translation = _core.promote("inexact", scale, translation)
    dims = [canonical_axis(d, image.ndim) for d in spatial_dims]
    parts = [[x[i] for i in range(len(dims))] for x in (scale, translation)]
    return _resample(image, shape, dims, *parts, method, antialias, precision)
