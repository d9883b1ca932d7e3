"""shardax.numpy.fft - discrete Fourier transforms, as in numpy.fft.

`n` or `s` are the sizes along the transformed axes: arrays are cut or padded with zeros. `norm` is
"backward" (inverse transforms divide by the number of elements), "ortho" (both by its root) or
"forward" (forward ones divide).
"""

import math
import operator

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import (
    asarray,
    canonical_axis,
    check_arraylike,
    hashable_axis,
    inexact_dtype,
    static_jit,
)
from shardax._base.arrays import in_one_program as _in_one_program

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def _resized(a, axis, size):
    """Cut, or padded with zeros, along an axis."""
    if a.shape[axis] > size:
        return lax.slice_in_dim(a, 0, size, axis=axis)
    if a.shape[axis] == size:
        return a
    pads = [(0, size - a.shape[axis] if d == axis else 0, 0) for d in range(a.ndim)]
    return lax.pad(a, jnp.zeros((), a.dtype), pads)


def _axes(name, a, s, axes):
    if axes is None:
        count = a.ndim if s is None else len(s)
        axes = range(a.ndim - count, a.ndim)
    given, axes = axes, tuple(canonical_axis(d, a.ndim) for d in axes)
    if s is not None and len(s) != len(axes):
        raise ValueError(f"Shape and axes have different lengths: s={tuple(s)}, axes={axes}.")
    if len(set(axes)) != len(axes):
        raise ValueError(f"jax.numpy.fft.{name} does not support repeated axes. Got axes {given}.")
    return axes


def _transform(name, kind, a, s, axes, norm):
    full_name = f"jax.numpy.fft.{name}"
    check_arraylike(full_name, a)
    a = asarray(a)
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    axes = _axes(name, a, s, axes)
    if not axes:
        return lax.fft(a, kind, ())
    if s is not None:
        sizes = [operator.index(n) for n in s]
    else:
        sizes = [a.shape[d] for d in axes]
        if kind == "irfft":
            sizes[-1] = max(0, 2 * (sizes[-1] - 1))
    if kind == "irfft" and s is None and sizes[-1] == 0:  # of one element or none
        shape = a.shape[: axes[-1]] + (0,) + a.shape[axes[-1] + 1 :]
        wide = a.dtype.itemsize >= 8 and a.dtype != jnp.complex64
        return jnp.zeros(shape, jnp.float64 if wide else jnp.float32)
    if s is None and a.size == 0 and kind in ("fft", "ifft"):
        return lax.fft(a, kind, ())
    if s is None and a.size == 0 and sizes[-1] > 0:
        half = sizes[-1] // 2 + 1 if kind == "rfft" else sizes[-1]
        a = _resized(a, axes[-1], half)
        return lax.fft(a, "fft", ()) if kind == "rfft" else jnp.real(lax.fft(a, "fft", ()))
    if any(n < 1 for n in sizes):
        what = f"s = {tuple(sizes)}" if s is not None else f"an array of shape {a.shape}"
        raise ValueError(f"{full_name} needs positive sizes along its axes, got {what}.")
    if kind == "rfft" and a.dtype.kind == "c":
        raise ValueError(f"{full_name} only takes real arrays, got {a.dtype}.")
    for d, (axis, size) in enumerate(zip(axes, sizes)):
        half = kind == "irfft" and d == len(axes) - 1
        a = _resized(a, axis, size // 2 + 1 if half else size)
    last = tuple(range(a.ndim - len(axes), a.ndim))
    out = lax.fft(jnp.moveaxis(a, axes, last), kind, sizes)
    out = jnp.moveaxis(out, last, axes)
    inverse = kind in ("ifft", "irfft")
    scale = {"ortho": 0.5, "forward": 1.0}.get(norm, 0.0)
    if scale:
        count = math.prod(sizes) ** scale
        out = out * (count if inverse else 1 / count)
    return out


def _along(name, kind, a, n, axis, norm):
    if isinstance(axis, (list, tuple)):
        raise ValueError(
            f"jax.numpy.fft.{name} does not support multiple axes. Please use "
            f"jax.numpy.fft.{name}n. Got axis = {axis!r}."
        )
    axes = None if axis is None else (axis,)
    return _transform(name, kind, a, None if n is None else (n,), axes, norm)


# For each kind of transform: the choice of a size, the result, examples along one and two axes.
_HALF = {
    **dict.fromkeys(("fft", "ifft", "rfft"), ""),
    "irfft": "\n        None: 2 (m - 1) along the last axis for m elements.",
}
_RESULTS = {
    "fft": "Complex numbers, with these sizes.",
    "ifft": "Complex numbers, with these sizes.",
    "rfft": "Complex numbers, with size n // 2 + 1 along the last axis.",
    "irfft": "Floats, with these sizes.",
}
_VECTOR = "jnp.array([1.0, 2.0, 3.0, 4.0]))"
_EXAMPLES = {
    "fft": (
        f"{_VECTOR}\n      Array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)",
        "jnp.ones((2, 2))).real\n      Array([[4., 0.],\n             [0., 0.]], dtype=float32)",
    ),
    "ifft": (
        "jnp.array([4.0, 0.0, 0.0, 0.0])).real\n      Array([1., 1., 1., 1.], dtype=float32)",
        "jnp.ones((2, 2))).real\n      Array([[1., 0.],\n             [0., 0.]], dtype=float32)",
    ),
    "rfft": (
        f"{_VECTOR}\n      Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)",
        "jnp.ones((2, 2))).real\n      Array([[4., 0.],\n             [0., 0.]], dtype=float32)",
    ),
    "irfft": (
        "jnp.array([4.0, 0.0, 0.0]))\n      Array([1., 1., 1., 1.], dtype=float32)",
        "jnp.ones((2, 2)))\n      Array([[1., 0.],\n             [0., 0.]], dtype=float32)",
    ),
}


def _one(name, kind, what):
    def transform(a, n=None, axis=-1, norm=None):
        return _along(name, kind, a, n, axis, norm)

    return _named(transform, name, kind, f"{what} along one axis.", "n", "axis")


def _two(name, kind, what):
    def transform(a, s=None, axes=(-2, -1), norm=None):
        if len(axes) != 2:
            raise ValueError(f"jax.numpy.fft.{name} only supports 2 axes. Got axes = {axes!r}.")
        return _transform(name, kind, a, s, axes, norm)

    return _named(transform, name, kind, f"{what} along two axes.", "s", "axes")


def _many(name, kind, what):
    def transform(a, s=None, axes=None, norm=None):
        return _transform(name, kind, a, s, axes, norm)

    return _named(transform, name, kind, f"{what} along several axes, by default all.", "s", "axes")


def _named(function, name, kind, doc, *statics):
    function.__name__ = function.__qualname__ = name
    numbers = "real numbers" if kind == "rfft" else "numbers"
    sizes = "n: the size" if "n" in statics else "s: the sizes"
    axes = "axis: the dimension" if "axis" in statics else "axes: the dimensions"
    function.__doc__ = f"""{doc}

    Args:
      a: an array of {numbers}.
      {sizes} of the transform; elements beyond are left out, missing ones are 0.{_HALF[kind]}
      {axes}, negative from the end.
      norm: the factor: "backward" (None), 1 / n of the inverse; "ortho", 1 / sqrt(n) of both;
        "forward", 1 / n of the transform.

    Returns:
      {_RESULTS[kind]}

    Raises:
      ValueError: axes repeat, sizes are not positive, or `norm` is unknown.

    Source: Cooley, Tukey, "An algorithm for the machine calculation of complex Fourier series",
    1965.

    Example:
      >>> jnp.fft.{name}({_EXAMPLES[kind][0 if name == kind else 1]}
    """
    return _in_one_program(*statics, "norm", at_once=True)(function)


_KINDS = {
    "fft": "The discrete Fourier transform",
    "ifft": "The inverse of the discrete Fourier transform",
    "rfft": "The first half of the discrete Fourier transform of a real array",
    "irfft": "The real array whose transform has the given first half",
}

fft, ifft, rfft, irfft = (_one(k, k, what) for k, what in _KINDS.items())
fft2, ifft2, rfft2, irfft2 = (_two(k + "2", k, what) for k, what in _KINDS.items())
fftn, ifftn, rfftn, irfftn = (_many(k + "n", k, what) for k, what in _KINDS.items())


def _other_way(norm):
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


@_in_one_program("n", "axis", "norm", at_once=True)
def hfft(a, n=None, axis=-1, norm=None):
    """The real spectrum of an array with Hermitian symmetry, of which `a` is the first half.

    Args:
      a: an array of numbers.
      n: the size of the result along `axis`; None: 2 (m - 1) for m elements.
      axis: the dimension.
      norm: as in `jnp.fft.fft`.

    Returns:
      Floats, with size `n` along `axis`.

    Example:
      >>> jnp.fft.hfft(jnp.array([1.0, 2.0, 3.0]))
      Array([ 8., -2.,  0., -2.], dtype=float32)
    """
    return _along("hfft", "irfft", jnp.conj(a), n, axis, _other_way(norm))


@_in_one_program("n", "axis", "norm", at_once=True)
def ihfft(a, n=None, axis=-1, norm=None):
    """The inverse of `jnp.fft.hfft`: the first half of an array with Hermitian symmetry.

    Args:
      a: an array of real numbers.
      n: elements beyond it are left out, missing ones are 0; None: the size of `a`.
      axis: the dimension.
      norm: as in `jnp.fft.fft`.

    Returns:
      Complex numbers, with size n // 2 + 1 along `axis`.

    Example:
      >>> jnp.fft.ihfft(jnp.array([8.0, -2.0, 0.0, -2.0]))
      Array([1.-0.j, 2.-0.j, 3.-0.j], dtype=complex64)
    """
    return jnp.conj(_along("ihfft", "rfft", a, n, axis, _other_way(norm)))


@static_jit("n", "half", "dtype")
def _multiples(d, n, half, dtype):
    """0, 1, ... over n d; beyond the middle negative, or with `half` only as far as it."""
    i = jnp.arange(n // 2 + 1 if half else n)
    return ((i if half else jnp.where(i > (n - 1) // 2, i - n, i)) / (n * d)).astype(dtype)


def _frequencies(name, n, d, half, dtype, device):
    if isinstance(n, (list, tuple)):
        raise ValueError(
            f"The n argument of jax.numpy.fft.{name} only takes an int. Got n = {list(n)}."
        )
    if isinstance(d, (list, tuple)):
        raise ValueError(
            f"The d argument of jax.numpy.fft.{name} only takes a single value. Got d = {list(d)}."
        )
    n = operator.index(n)
    dtype = np.dtype(_core.canonical_dtype(float) if dtype is None else _core.dtype_of(dtype))
    dtype = inexact_dtype(dtype) if half else dtype
    return jnp.asarray(_multiples(d, n=n, half=half, dtype=dtype), device=device)


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of a transform, in the order of `jnp.fft.fft`: 0, the positive, the negative
    ones.

    Args:
      n: the number of samples.
      d: their distance.
      dtype: of the result; None: float32.
      device: a device or sharding for the array.

    Returns:
      A vector of `n` floats, in cycles per unit of `d`.

    Example:
      >>> jnp.fft.fftfreq(4)
      Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    return _frequencies("fftfreq", n, d, False, dtype, device)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of a transform, in the order of `jnp.fft.rfft`: from 0 to the half of 1 / d.

    Args:
      n: the number of samples.
      d: their distance.
      dtype: of the result; None: float32.
      device: a device or sharding for the array.

    Returns:
      A vector of n // 2 + 1 floats.

    Example:
      >>> jnp.fft.rfftfreq(4)
      Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    return _frequencies("rfftfreq", n, d, True, dtype, device)


def _shifted(x, axes, sign):
    x = asarray(x)
    if axes is None:
        axes = tuple(range(x.ndim))
    axes = hashable_axis(axes)
    axes = axes if isinstance(axes, tuple) else (axes,)
    halves = tuple(sign * (x.shape[d] // 2) for d in axes)
    return jnp.roll(x, halves, axes)


def fftshift(x, axes=None):
    """A spectrum with the frequency 0 moved from the start to the middle.

    Args:
      x: an array.
      axes: the dimension(s), an int or a tuple; None: all.

    Example:
      >>> jnp.fft.fftshift(jnp.fft.fftfreq(4))
      Array([-0.5 , -0.25,  0.  ,  0.25], dtype=float32)
    """
    return _shifted(x, axes, 1)


def ifftshift(x, axes=None):
    """A spectrum with the frequency 0 moved back to the start: the inverse of `jnp.fft.fftshift`.

    Args:
      x: an array.
      axes: the dimension(s), an int or a tuple; None: all.

    Example:
      >>> jnp.fft.ifftshift(jnp.array([-0.5, -0.25, 0.0, 0.25]))
      Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    return _shifted(x, axes, -1)
