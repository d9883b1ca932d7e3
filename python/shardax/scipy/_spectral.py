"""shardax/scipy/_spectral.py - spectra of signals, piece by piece: stft, istft, csd, welch.

Welch, The use of fast Fourier transform for the estimation of power spectra (1967).
"""

import operator
import warnings

import numpy as np

from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import canonical_axis, check_arraylike
from shardax._transform.avals import concrete_or_error
from shardax.scipy._promote import inexact
from shardax.scipy._windows import get_window


def _complex_of(dtype):
    return np.dtype(np.complex128 if dtype in (np.float64, np.complex128) else np.complex64)


def _frames(x, size, step):
    """The pieces of the last axis that begin every `step`: (..., pieces, size)."""
    count = (x.shape[-1] - size) // step + 1
    index = np.arange(count)[:, None] * step + np.arange(size)
    return x[..., index]


def _overlap_add(pieces, step):
    """The sum of pieces (..., n, size), each `step` after the one before."""
    *batch, n, size = pieces.shape
    index = np.arange(n)[:, None] * step + np.arange(size)
    out = jnp.zeros((*batch, step * (n - 1) + size), pieces.dtype)
    return out.at[..., index].add(pieces)


def _odd_extension(x, n):
    left = 2 * x[..., :1] - jnp.flip(x[..., 1 : n + 1], -1)
    right = 2 * x[..., -1:] - jnp.flip(x[..., -n - 1 : -1], -1)
    return jnp.concatenate([left, x, right], -1)


def _padded(mode):
    return lambda x, n: jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(n, n)], mode)


_BOUNDARIES = {
    "even": _padded("reflect"),
    "odd": _odd_extension,
    "constant": _padded("edge"),
    "zeros": _padded("constant"),
    None: lambda x, n: x,
}


def _window_and_size(window, nperseg, length, dtype):
    if isinstance(window, (str, tuple)):
        size = length if nperseg is None else nperseg
        if size > length:
            warnings.warn(
                f"nperseg={size} is greater than input_length={length}, using nperseg={length}",
                stacklevel=4,
            )
            size = length
        return get_window(window, size).astype(dtype), size
    window = jnp.asarray(window, dtype)
    if window.ndim != 1:
        raise ValueError("window must be 1-D")
    if length < window.size:
        raise ValueError("window is longer than input signal")
    if nperseg is not None and nperseg != window.size:
        raise ValueError("value specified for nperseg is different from length of window")
    return window, window.size


def _static(value, default, name):
    return default if value is None else concrete_or_error(int, value, name)


def _operands(x, y, axis):
    """x and y (or None) of one dtype with time last, and the shape of the result without pieces."""
    if y is None:
        check_arraylike("spectral_helper", x)
        (x,) = inexact(x)
        return jnp.moveaxis(x, axis, -1), None
    check_arraylike("spectral_helper", x, y)
    x, y = inexact(x, y)
    if x.ndim != y.ndim:
        raise ValueError(f"two-arguments must have the same rank ({x.ndim} vs {y.ndim}).")
    x, y = jnp.moveaxis(x, axis, -1), jnp.moveaxis(y, axis, -1)
    try:
        np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    except ValueError as error:
        raise ValueError("x and y cannot be broadcast together.") from error
    return x, y


def _lengthened(x, size):
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, size - x.shape[-1])])


def _detrender(detrend, trend, axis):
    if isinstance(trend, str):
        return lambda d: detrend(d, type=trend, axis=-1)
    if callable(trend):
        if axis == -1:
            return trend
        return lambda d: jnp.moveaxis(trend(jnp.moveaxis(d, axis, -1)), -1, axis)
    if trend:
        raise ValueError(f"Unsupported detrend type: {trend}")
    return lambda d: d


def spectra(
    x, y, fs, window, nperseg, noverlap, nfft, trend, return_onesided, scaling, axis, mode, detrend,
    boundary=None, padded=False,
):  # fmt: skip
    """(frequencies, times, spectra of the pieces of x times those of y or itself: time last)."""
    if boundary not in _BOUNDARIES:
        raise ValueError(
            f"Unknown boundary option '{boundary}', must be one of: {list(_BOUNDARIES)}"
        )
    axis = concrete_or_error(operator.index, axis, "axis of windowed-FFT")
    axis = canonical_axis(axis, np.ndim(x))
    x, y = _operands(x, y, axis)
    nperseg = _static(nperseg, None, "nperseg of windowed-FFT")
    if nperseg is not None and nperseg < 1:
        raise ValueError("nperseg must be a positive integer")
    win, nperseg = _window_and_size(window, nperseg, x.shape[-1], x.dtype)
    noverlap = _static(noverlap, nperseg // 2, "noverlap of windowed-FFT")
    nfft = _static(nfft, nperseg, "nfft of windowed-FFT")
    out = _complex_of(x.dtype)
    real = np.finfo(out).dtype
    if x.size == 0 or (y is not None and y.size == 0):
        shape = x.shape
        if y is not None:
            outer = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
            shape = (*outer, min(x.shape[-1], y.shape[-1]))
        empty = jnp.moveaxis(jnp.zeros(shape, out), -1, axis)
        return empty.real, empty.real, empty
    if y is not None:
        length = max(x.shape[-1], y.shape[-1])
        x, y = _lengthened(x, length), _lengthened(y, length)
    if nfft < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    if noverlap >= nperseg:
        raise ValueError("noverlap must be less than nperseg.")
    step = nperseg - noverlap
    if boundary == "odd" and nperseg // 2 > x.shape[-1] - 1:
        raise ValueError(
            f"The extension length n ({nperseg // 2}) is too big. It must not exceed "
            f"x.shape[axis]-1, which is {x.shape[-1] - 1}."
        )

    def prepared(v):
        v = _BOUNDARIES[boundary](v, nperseg // 2)
        more = (-(v.shape[-1] - nperseg) % step) % nperseg if padded else 0
        return _lengthened(v, v.shape[-1] + more)

    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {scaling}")
    scale = 1 / (fs * (win * win).sum()) if scaling == "density" else 1 / win.sum() ** 2
    two_sided = not return_onesided
    if return_onesided and (jnp.iscomplexobj(x) or jnp.iscomplexobj(y)):
        warnings.warn("Input data is complex, switching to return_onesided=False", stacklevel=3)
        two_sided = True
    without_trend = _detrender(detrend, trend, axis if axis != x.ndim - 1 else -1)
    transform = jnp.fft.fft if two_sided else jnp.fft.rfft

    def transformed(v):
        return transform(win * without_trend(_frames(prepared(v), nperseg, step)), n=nfft)

    result = transformed(x)
    if mode == "psd":
        result = jnp.conj(result) * (result if y is None else transformed(y))
    result = result * (jnp.sqrt(scale) if mode == "stft" else scale)
    if not two_sided and mode == "psd":
        result = result.at[..., 1 : None if nfft % 2 else -1].multiply(2)
    length = prepared(x).shape[-1]
    times = jnp.arange(nperseg / 2, length - nperseg / 2 + 1, step, dtype=real) / fs
    if boundary is not None:
        times = times - nperseg / 2 / fs
    freqs = (jnp.fft.fftfreq if two_sided else jnp.fft.rfftfreq)(nfft, 1 / fs, dtype=real)
    result = result.astype(out)
    if y is None and mode != "stft":
        result = result.real
    # (..., pieces, frequencies): frequencies go where time was, pieces last.
    return freqs, times, jnp.moveaxis(result, -1, axis)


def _median_bias(n):
    """The mean of the median of n exponential variables (Allen and others, 2012, appendix B)."""
    k = np.arange(2.0, n, 2)
    return 1 + float((1 / (k + 1) - 1 / k).sum())


def averaged(pieces, average):
    """The mean or the median along the last axis, if there is one of pieces."""
    if pieces.ndim < 2 or pieces.size == 0:
        return pieces
    if pieces.shape[-1] == 1:
        return pieces[..., 0]
    if average == "mean":
        return pieces.mean(-1)
    if average != "median":
        raise ValueError(f'average must be "median" or "mean", got {average}')

    def middle(v):
        return jnp.median(v, -1)

    if jnp.iscomplexobj(pieces):
        middles = lax.complex(middle(pieces.real), middle(pieces.imag))
    else:
        middles = middle(pieces)
    return middles / _median_bias(pieces.shape[-1])


def istft(
    Zxx,
    fs=1.0,
    window="hann",
    nperseg=None,
    noverlap=None,
    nfft=None,
    input_onesided=True,
    boundary=True,
    time_axis=-1,
    freq_axis=-2,
):
    """The inverse of `stft`: (times, signal), by overlapping the inverse transforms of the pieces.

    Args:
      Zxx: the spectra, an array of two dimensions or more.
      fs, window, nperseg, noverlap, nfft: those of `stft`.
      input_onesided: whether `Zxx` holds the frequencies that are not negative.
      boundary: whether the signal was extended at its ends.
      time_axis, freq_axis: the dimensions of `Zxx`.

    Example:
      >>> _, _, spectra = shardax.scipy.signal.stft(jnp.arange(64.0), nperseg=16)
      >>> shardax.scipy.signal.istft(spectra, nperseg=16)[1][:4].round(2)
      Array([0., 1., 2., 3.], dtype=float32)
    """
    check_arraylike("istft", Zxx)
    Zxx = jnp.asarray(Zxx)
    if Zxx.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    freq_axis, time_axis = (canonical_axis(a, Zxx.ndim) for a in (freq_axis, time_axis))
    if freq_axis == time_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    Zxx = Zxx.astype(_complex_of(Zxx.dtype))
    default = 2 * (Zxx.shape[freq_axis] - 1) if input_onesided else Zxx.shape[freq_axis]
    size = concrete_or_error(int, nperseg or default, "nperseg: segment length of STFT")
    if size < 1:
        raise ValueError("nperseg must be a positive integer")
    odd = input_onesided and size == default + 1
    length = _static(nfft, default + odd, "nfft of STFT")
    if length < size:
        raise ValueError(f"FFT length ({length}) must be longer than nperseg ({size}).")
    overlap = concrete_or_error(int, noverlap or size // 2, "noverlap of STFT")
    if overlap >= size:
        raise ValueError("noverlap must be less than nperseg.")
    pieces = jnp.moveaxis(Zxx, (time_axis, freq_axis), (-2, -1))
    pieces = (jnp.fft.irfft if input_onesided else jnp.fft.ifft)(pieces, n=length)[..., :size]
    if isinstance(window, (str, tuple)):
        win = get_window(window, size).astype(pieces.dtype)
    else:
        win = jnp.asarray(window)
        if win.ndim != 1:
            raise ValueError("window must be 1-D")
        if win.shape[0] != size:
            raise ValueError(f"window must have length of {size}")
    step = size - overlap
    x = _overlap_add(pieces * win.sum() * win, step)
    norm = _overlap_add(jnp.broadcast_to(win * win, pieces.shape[-2:]), step)
    if boundary:
        kept = slice(size // 2, -(size // 2) or None)
        x, norm = x[..., kept], norm[kept]
    x = x / jnp.where(norm.real > 1e-10, norm, 1)
    if x.ndim > 1 and time_axis != Zxx.ndim - 1:
        x = jnp.moveaxis(x, -1, time_axis - (freq_axis < time_axis))
    return jnp.arange(x.shape[0], dtype=np.finfo(x.dtype).dtype) / fs, x
