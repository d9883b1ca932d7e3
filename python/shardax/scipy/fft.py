"""shardax.scipy.fft - discrete cosine transforms.

Makhoul, A fast cosine transform in one and two dimensions (1980): by real transforms.
"""

import operator

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import canonical_axes, canonical_axis, check_arraylike, in_one_program

__all__ = ["dct", "dctn", "idct", "idctn"]


def _checked(name, x, type, norm):
    check_arraylike(name, x)
    if type != 2:
        raise NotImplementedError("Only DCT type 2 is implemented.")
    if norm not in (None, "backward", "ortho"):
        raise ValueError(f"jax.scipy.fft.{name}: {norm=!r} is not implemented")
    x = jnp.asarray(x)
    return (
        x.astype(np.float32)
        if x.dtype.itemsize == 2 and jnp.isdtype(x.dtype, "real floating")
        else x
    )


def _padded(x, sizes):
    """x cut or filled with zeros to sizes[axis] along some axes."""
    x = x[tuple(slice(0, sizes.get(axis, n)) for axis, n in enumerate(x.shape))]
    widths = [(0, sizes.get(axis, n) - n) for axis, n in enumerate(x.shape)]
    return jnp.pad(x, widths) if any(w for _, w in widths) else x


def _turns(n, dtype):
    """e^(-i pi k / (2 n)) for k = 0 ... n / 2."""
    angle = np.arange(n // 2 + 1) * (np.pi / (2 * n))
    return jnp.asarray(np.cos(angle) - 1j * np.sin(angle), dtype)


def _scales(n, dtype):
    """The divisor of the orthonormal transform."""
    scales = np.full(n, np.sqrt(2 * n))
    scales[:1] = np.sqrt(4 * n)
    return jnp.asarray(scales, dtype)


def _last_axis(function, x, axis):
    return jnp.moveaxis(function(jnp.moveaxis(x, axis, -1)), -1, axis)


def _cosine(x, ortho):
    n = x.shape[-1]
    v = jnp.concatenate([x[..., ::2], jnp.flip(x[..., 1::2], -1)], -1)
    spectrum = jnp.fft.rfft(v)
    spectrum = 2 * spectrum * _turns(n, spectrum.dtype)
    rest = jnp.flip(-spectrum.imag[..., 1 : (n + 1) // 2], -1)
    out = jnp.concatenate([spectrum.real, rest], -1)
    return out / _scales(n, out.dtype) if ortho else out


def _inverse_cosine(x, ortho):
    n = x.shape[-1]
    if ortho:
        x = x * _scales(n, x.dtype)
    mirror = jnp.concatenate([jnp.zeros_like(x[..., :1]), jnp.flip(x[..., 1:], -1)], -1)
    half = slice(0, n // 2 + 1)
    spectrum = lax.complex(x[..., half], -mirror[..., half])
    v = jnp.fft.irfft(spectrum / (2 * _turns(n, spectrum.dtype)), n)
    evens, odds = v[..., : (n + 1) // 2], jnp.flip(v[..., (n + 1) // 2 :], -1)
    odds = jnp.pad(odds, [(0, 0)] * (x.ndim - 1) + [(0, n % 2)])
    return jnp.stack([evens, odds], -1).reshape(*x.shape[:-1], -1)[..., :n]


def _along(name, function, x, axes, norm):
    for axis in axes:
        if not x.shape[axis]:
            raise ValueError(
                f"jax.scipy.fft.{name} needs elements along its axes; axis {axis} of shape "
                f"{x.shape} has none."
            )
    if jnp.iscomplexobj(x):
        return lax.complex(
            _along(name, function, x.real, axes, norm), _along(name, function, x.imag, axes, norm)
        )
    x = _core.promote("inexact", x)[0]
    for axis in axes:
        if not x.size:
            break  # another axis has no elements: there is nothing to transform
        x = _last_axis(lambda v: function(v, norm == "ortho"), x, axis)
    return x


@in_one_program("type", "n", "axis", "norm")
def dct(x, type=2, n=None, axis=-1, norm=None):
    """The discrete cosine transform: 2 times the sum over j of x[j] cos(pi k (2 j + 1) / (2 n)).

    Args:
      x: an array of real numbers; of a complex one the parts are transformed.
      type: 2, the one that is available.
      n: elements beyond it are left out, missing ones are 0; None: the size of `x`.
      axis: the dimension.
      norm: None or "backward" (as above), or "ortho" (orthonormal).

    Raises:
      NotImplementedError: for another type.

    Source: Makhoul, "A fast cosine transform in one and two dimensions", 1980.

    Example:
      >>> shardax.scipy.fft.dct(jnp.array([1.0, 2.0, 4.0])).round(3)
      Array([14.   , -5.196,  1.   ], dtype=float32)
    """
    x = _checked("dct", x, type, norm)
    axis = canonical_axis(axis, x.ndim)
    return _along("dct", _cosine, x if n is None else _padded(x, {axis: n}), [axis], norm)


@in_one_program("type", "n", "axis", "norm")
def idct(x, type=2, n=None, axis=-1, norm=None):
    """The inverse of `dct`, with the same arguments.

    Example:
      >>> x = shardax.scipy.fft.dct(jnp.array([1.0, 2.0, 4.0]))
      >>> shardax.scipy.fft.idct(x).round(3)
      Array([1., 2., 4.], dtype=float32)
    """
    x = _checked("idct", x, type, norm)
    axis = canonical_axis(axis, x.ndim)
    return _along("idct", _inverse_cosine, x if n is None else _padded(x, {axis: n}), [axis], norm)


def _axes_and_sizes(x, s, axes):
    if s is not None:
        s = [operator.index(v) for v in s] if np.iterable(s) else [operator.index(s)]
        if len(s) > x.ndim:
            raise ValueError(f"s must have at most x.ndim ({x.ndim}) elements, got {len(s)}")
    if axes is None and s is not None:
        axes = range(x.ndim - len(s), x.ndim)
    axes = canonical_axes(axis=axes if axes is None else tuple(np.atleast_1d(axes)), ndim=x.ndim)
    return axes, {} if s is None else dict(zip(axes, s))


@in_one_program("type", "s", "axes", "norm")
def dctn(x, type=2, s=None, axes=None, norm=None):
    """The discrete cosine transform along several dimensions.

    Args:
      x: an array of numbers.
      type: 2, the one that is available.
      s: the sizes, as `n` of `dct`.
      axes: the dimensions; None: all, or the last ones for which sizes are given.
      norm: None, "backward" or "ortho".

    Example:
      >>> shardax.scipy.fft.dctn(jnp.ones((2, 2))).round(3)
      Array([[16.,  0.],
             [ 0.,  0.]], dtype=float32)
    """
    x = _checked("dctn", x, type, norm)
    axes, sizes = _axes_and_sizes(x, s, axes)
    return _along("dctn", _cosine, _padded(x, sizes), axes, norm)


@in_one_program("type", "s", "axes", "norm")
def idctn(x, type=2, s=None, axes=None, norm=None):
    """The inverse of `dctn`, with the same arguments.

    Example:
      >>> shardax.scipy.fft.idctn(shardax.scipy.fft.dctn(jnp.ones((2, 2)))).round(3)
      Array([[1., 1.],
             [1., 1.]], dtype=float32)
    """
    x = _checked("idctn", x, type, norm)
    axes, sizes = _axes_and_sizes(x, s, axes)
    return _along("idctn", _inverse_cosine, _padded(x, sizes), axes, norm)
