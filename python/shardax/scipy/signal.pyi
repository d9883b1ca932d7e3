"""Written by python/stubs.py."""

from typing import Any

from shardax.typing import ArrayLike

def averaged(pieces: Any, average: Any) -> Any:
    """The mean or the median along the last axis, if there is one of pieces."""
def convolve(in1: Any, in2: Any, mode: str = 'full', method: str = 'auto', precision: Any = None) -> Any:
    """The convolution of two arrays of one number of dimensions."""
def convolve2d(in1: Any, in2: Any, mode: str = 'full', boundary: str = 'fill', fillvalue: int = 0, precision: Any = None) -> Any:
    """The convolution of two matrices, with zeros around them."""
def correlate(in1: Any, in2: Any, mode: str = 'full', method: str = 'auto', precision: Any = None) -> Any:
    """The cross-correlation of two arrays of one number of dimensions; arguments as of `convolve`."""
def correlate2d(in1: Any, in2: Any, mode: str = 'full', boundary: str = 'fill', fillvalue: int = 0, precision: Any = None) -> Any:
    """The cross-correlation of two matrices, with zeros around them; arguments as of `convolve2d`."""
def csd(x: Any, y: Any, fs: ArrayLike = 1.0, window: str = 'hann', nperseg: Any = None, noverlap: Any = None, nfft: Any = None, detrend: str = 'constant', return_onesided: bool = True, scaling: str = 'density', axis: int = -1, average: str = 'mean') -> Any:
    """The cross spectral density of two signals by Welch's method: (frequencies, density)."""
def detrend(data: Any, axis: int = -1, type: str = 'linear', bp: int = 0, overwrite_data: Any = None) -> Any:
    """A signal less its mean, or less the straight line of least squares, along `axis`."""
def fftconvolve(in1: Any, in2: Any, mode: str = 'full', axes: Any = None) -> Any:
    """The convolution of two arrays by Fourier transforms, which pays for long ones."""
def inexact(*operands: Any) -> Any:
    """Arrays of the inexact dtype that the operands promote to, each of its own shape."""
def istft(Zxx: Any, fs: ArrayLike = 1.0, window: str = 'hann', nperseg: Any = None, noverlap: Any = None, nfft: Any = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1, freq_axis: int = -2) -> Any:
    """The inverse of `stft`: (times, signal), by overlapping the inverse transforms of the pieces."""
def spectra(x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, trend: Any, return_onesided: Any, scaling: Any, axis: int, mode: Any, detrend: Any, boundary: Any = None, padded: bool = False) -> Any:
    """(frequencies, times, spectra of the pieces of x times those of y or itself: time last)."""
def stft(x: Any, fs: ArrayLike = 1.0, window: str = 'hann', nperseg: int = 256, noverlap: Any = None, nfft: Any = None, detrend: bool = False, return_onesided: bool = True, boundary: str = 'zeros', padded: bool = True, axis: int = -1) -> Any:
    """The short-time Fourier transform: spectra of overlapping pieces of a signal."""
def welch(x: Any, fs: ArrayLike = 1.0, window: str = 'hann', nperseg: Any = None, noverlap: Any = None, nfft: Any = None, detrend: str = 'constant', return_onesided: bool = True, scaling: str = 'density', axis: int = -1, average: str = 'mean') -> Any:
    """The power spectral density of a signal by Welch's method: `csd` of it with itself."""
