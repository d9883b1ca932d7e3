"""shardax.scipy.signal - convolutions, correlations and trends of signals."""

import math
import operator

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import (
    asarray,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    in_one_program,
)
from shardax.scipy._promote import inexact
from shardax.scipy._spectral import averaged, istft, spectra

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "detrend",
    "fftconvolve",
    "istft",
    "stft",
    "welch",
]


def _same_rank(name, in1, in2):
    in1, in2 = asarray(in1), asarray(in2)
    if in1.ndim != in2.ndim:
        raise ValueError(
            f"{name}: in1 and in2 must have the same number of dimensions, got {in1.ndim} and "
            f"{in2.ndim}."
        )
    return in1, in2


def _contains(a, b):
    return all(m >= n for m, n in zip(a.shape, b.shape))


def _kept(mode, full, in1, in2, axes=None):
    """The middle of a full convolution over `axes` (None: all) that `mode` keeps."""
    if mode == "full":
        return full
    if mode == "same":
        shape = in1.shape
    elif mode == "valid":
        shape = [abs(m - n) + 1 for m, n in zip(in1.shape, in2.shape)]
    else:
        raise ValueError("mode must be one of ['full', 'same', 'valid']")
    if axes is not None:
        shape = [k if d in axes else n for d, (n, k) in enumerate(zip(full.shape, shape))]
    starts = [(n - k) // 2 for n, k in zip(full.shape, shape)]
    return full[tuple(slice(s, s + k) for s, k in zip(starts, shape))]


def _convolve(name, in1, in2, mode, precision):
    check_arraylike(name, in1, in2)
    in1, in2 = _same_rank(name, in1, in2)
    if mode not in ("full", "same", "valid"):
        raise ValueError("mode must be one of ['full', 'same', 'valid']")
    if in1.size == 0 or in2.size == 0:
        raise ValueError(f"{name}: zero-size arrays not supported in convolutions.")
    if mode == "valid" and not (_contains(in1, in2) or _contains(in2, in1)):
        raise ValueError("For 'valid' mode, One input must be smaller than the other in every")
    x, kernel = inexact(in1, in2)
    if x.dtype.itemsize < 4:
        x, kernel = x.astype(np.float32), kernel.astype(np.float32)
    if in1.ndim == 0:
        return x * kernel
    padding = [(n - 1, n - 1) for n in kernel.shape]
    full = lax.conv_general_dilated(
        x[None, None],
        lax.rev(kernel, tuple(range(kernel.ndim)))[None, None],
        window_strides=(1,) * x.ndim,
        padding=padding,
        precision=precision,
    )[0, 0]
    return _kept(mode, full, in1, in2)


@in_one_program("mode", "method", "precision", at_once=True)
def convolve(in1, in2, mode="full", method="auto", precision=None):
    """The convolution of two arrays of one number of dimensions.

    Args:
      in1, in2: the arrays.
      mode: "full", "same" (the shape of `in1`) or "valid" (complete overlaps only).
      method: "direct", "fft", or "auto", which is "direct".
      precision: that of the products.

    Raises:
      ValueError: for another mode or method, or different numbers of dimensions.

    Example:
      >>> shardax.scipy.signal.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 1.0]))
      Array([1., 3., 5., 3.], dtype=float32)
    """
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    if method not in ("direct", "auto"):
        raise ValueError(f"Got {method=}; expected 'auto', 'fft', or 'direct'.")
    return _convolve("convolve", in1, in2, mode, precision)


@in_one_program("mode", "method", "precision", at_once=True)
def correlate(in1, in2, mode="full", method="auto", precision=None):
    """The cross-correlation of two arrays of one number of dimensions; arguments as of `convolve`.

    Example:
      >>> shardax.scipy.signal.correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 1.0]))
      Array([1., 2., 3., 0.], dtype=float32)
    """
    check_arraylike("correlate", in1, in2)
    in2 = jnp.flip(jnp.conj(asarray(in2)))
    return convolve(in1, in2, mode, method, precision)


def _planar(name, in1, in2, boundary, fillvalue):
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError(f"{name} only supports boundary='fill', fillvalue=0")
    if np.ndim(in1) != 2 or np.ndim(in2) != 2:
        raise ValueError(f"{name} only supports 2-dimensional inputs.")


@in_one_program("mode", "boundary", "fillvalue", "precision", at_once=True)
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The convolution of two matrices, with zeros around them.

    Args:
      in1, in2: matrices.
      mode: "full", "same" or "valid", as in `convolve`.
      boundary, fillvalue: must be "fill" and 0.
      precision: that of the products.

    Example:
      >>> shardax.scipy.signal.convolve2d(jnp.eye(2), jnp.ones((2, 2)))
      Array([[1., 1., 0.],
             [1., 2., 1.],
             [0., 1., 1.]], dtype=float32)
    """
    _planar("convolve2d", in1, in2, boundary, fillvalue)
    return _convolve("convolve2d", in1, in2, mode, precision)


@in_one_program("mode", "boundary", "fillvalue", "precision", at_once=True)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The cross-correlation of two matrices, with zeros around them; arguments as of `convolve2d`.

    Example:
      >>> shardax.scipy.signal.correlate2d(jnp.eye(2), jnp.ones((2, 2)), mode="valid")
      Array([[2.]], dtype=float32)
    """
    check_arraylike("correlate2d", in1, in2)
    in1, in2 = asarray(in1), asarray(in2)
    _planar("correlate2d", in1, in2, boundary, fillvalue)
    if mode == "valid" and in1.size < in2.size:
        # SciPy exchanges the operands, and with them which one is conjugated.
        return jnp.conj(correlate(in1, in2, mode, precision=precision))
    if mode != "same":
        return correlate(in1, in2, mode, precision=precision)
    # For a window of even size, the middle is on the other side than that of `correlate`.
    turned = _convolve("correlate2d", jnp.flip(in1), jnp.conj(in2), mode, precision)
    return jnp.flip(turned)


@in_one_program("mode", "axes", at_once=True)
def fftconvolve(in1, in2, mode="full", axes=None):
    """The convolution of two arrays by Fourier transforms, which pays for long ones.

    Args:
      in1, in2: arrays of one number of dimensions.
      mode: "full", "same" or "valid", as in `convolve`.
      axes: the dimensions; None: all. The others have the same sizes, or broadcast.

    Example:
      >>> x, kernel = jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 1.0])
      >>> shardax.scipy.signal.fftconvolve(x, kernel).round(3)
      Array([1., 3., 5., 3.], dtype=float32)
    """
    check_arraylike("fftconvolve", in1, in2)
    in1, in2 = _same_rank("fftconvolve", in1, in2)
    if mode not in ("full", "same", "valid"):
        raise ValueError("mode must be one of ['full', 'same', 'valid']")
    in1, in2 = (_core.promote("inexact", x)[0] for x in (in1, in2))
    axes = canonical_axes(axis=axes, ndim=in1.ndim)
    mapped = [d for d in range(in1.ndim) if d not in axes]
    if any(in1.shape[d] != in2.shape[d] for d in mapped):
        raise ValueError(f"mapped axes must have same shape; got {in1.shape=} {in2.shape=} {axes=}")
    if not axes:
        return in1 * in2
    sizes = [in1.shape[d] + in2.shape[d] - 1 for d in axes]
    fast = [_fast_size(n) for n in sizes]
    is_complex = jnp.iscomplexobj(in1) or jnp.iscomplexobj(in2)
    forward, back = (jnp.fft.fftn, jnp.fft.ifftn) if is_complex else (jnp.fft.rfftn, jnp.fft.irfftn)
    spectrum = forward(in1, fast, axes) * forward(in2, fast, axes)
    full = back(spectrum, fast, axes)
    cut = [slice(None)] * full.ndim
    for d, n in zip(axes, sizes):
        cut[d] = slice(0, n)
    full = full[tuple(cut)]
    return _kept(mode, full, in1, in2, axes)


def _fast_size(n):
    """The least size of n or more without prime factors above 5."""
    best = 1 << max(n - 1, 0).bit_length()
    for fives in range(math.ceil(math.log(max(n, 1), 5)) + 1):
        for threes in range(math.ceil(math.log(max(n, 1), 3)) + 1):
            odd = 5**fives * 3**threes
            best = min(best, odd << max(-(-n // odd) - 1, 0).bit_length())
    return best


def detrend(data, axis=-1, type="linear", bp=0, overwrite_data=None):
    """A signal less its mean, or less the straight line of least squares, along `axis`.

    Args:
      data: the signal, an array.
      axis: the dimension.
      type: "constant" or "linear".
      bp: indices at which stretches begin, each of which has a line of its own.
      overwrite_data: must be None.

    Example:
      >>> shardax.scipy.signal.detrend(jnp.array([1.0, 2.0, 3.5, 4.0])).round(2)
      Array([-0.05, -0.1 ,  0.35, -0.2 ], dtype=float32)
    """
    check_arraylike("detrend", data)
    if overwrite_data is not None:
        raise NotImplementedError("overwrite_data argument not implemented.")
    if type not in ("constant", "linear"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    data = _core.promote("inexact", data)[0]
    if type == "constant":
        return data - data.mean(axis, keepdims=True)
    axis = canonical_axis(axis, data.ndim)
    n = data.shape[axis]
    points = np.atleast_1d(np.asarray(bp))
    points = sorted({0, n, *(operator.index(p) for p in points)})
    if any(p > n for p in points):
        raise ValueError(
            "Breakpoints must be non-negative and less than length of data along given axis."
        )
    lines = jnp.moveaxis(data, axis, 0)
    parts = []
    for start, end in zip(points, points[1:]):
        part = lines[start:end]
        x = (np.arange(1, end - start + 1) / (end - start)).reshape((-1,) + (1,) * (part.ndim - 1))
        x = x.astype(part.real.dtype)
        x = x - x.mean()
        slope = (x * part).sum(0) / max(float((x * x).sum()), np.finfo(np.float32).tiny)
        parts.append(part - part.mean(0) - x * slope)
    return jnp.moveaxis(jnp.concatenate(parts), 0, axis)


def stft(
    x,
    fs=1.0,
    window="hann",
    nperseg=256,
    noverlap=None,
    nfft=None,
    detrend=False,
    return_onesided=True,
    boundary="zeros",
    padded=True,
    axis=-1,
):
    """The short-time Fourier transform: spectra of overlapping pieces of a signal.

    Args:
      x: the signal, along `axis`.
      fs: samples per unit of time.
      window: a name, (name, parameters), or an array that each piece is multiplied by.
      nperseg, noverlap: how long pieces are and overlap (None: by half).
      nfft: pieces are filled with zeros to this size.
      detrend: False, "constant", "linear" or a function of the pieces.
      return_onesided: of a real signal, only the frequencies that are not negative.
      boundary: how the ends are extended: None, "zeros", "even", "odd", "constant".
      padded: whether the end is filled so that all samples are in pieces.
      axis: the dimension of time.

    Returns:
      (frequencies, times, spectra); the spectra have frequencies along `axis` and times last.

    Example:
      >>> f, t, spectra = shardax.scipy.signal.stft(jnp.ones(64), nperseg=16)
      >>> f.shape, t.shape, spectra.shape
      ((9,), (9,), (9, 9))
    """
    return spectra(
        x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, "spectrum", axis,
        "stft", _detrend, boundary, padded,
    )  # fmt: skip


def csd(
    x,
    y,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    """The cross spectral density of two signals by Welch's method: (frequencies, density).

    Args:
      x, y: the signals, along `axis`; y = None means x.
      scaling: "density" or "spectrum".
      average: "mean" or "median" over pieces.
      fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis: as in `stft`.

    Source: Welch, "The use of the fast Fourier transform for the estimation of power spectra",
      1967.

    Example:
      >>> x = jnp.sin(jnp.arange(64.0))
      >>> f, density = shardax.scipy.signal.csd(x, x, nperseg=16)
      >>> f.shape, density.shape
      ((9,), (9,))
    """
    freqs, _, pieces = spectra(
        x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, "psd",
        _detrend,
    )  # fmt: skip
    if y is not None:
        pieces = pieces + 0j
    return freqs, averaged(pieces, average)


def welch(
    x,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    detrend="constant",
    return_onesided=True,
    scaling="density",
    axis=-1,
    average="mean",
):
    """The power spectral density of a signal by Welch's method: `csd` of it with itself.

    Example:
      >>> x = jnp.sin(2 * jnp.pi * 0.25 * jnp.arange(64.0))
      >>> f, power = shardax.scipy.signal.welch(x, nperseg=16)
      >>> f[power.argmax()]
      Array(0.25, dtype=float32)
    """
    options = (fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis)
    freqs, power = csd(x, None, *options, average)
    return freqs, power.real


_detrend = detrend
