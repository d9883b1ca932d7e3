"""shardax/lax/_fft.py - the discrete Fourier transforms of lax."""

import enum

import shardax._core as _core
from shardax._base.arrays import asarray, bind
from shardax.lax._layout import _ints

__all__ = ["FftType", "fft"]


class FftType(enum.IntEnum):
    """The kinds of Fourier transforms: FFT and IFFT of complex arrays, RFFT and IRFFT of real ones.

    Example:
      >>> lax.fft(jnp.array([1.0, 0.0]), lax.FftType.RFFT, (2,))
      Array([1.+0.j, 1.+0.j], dtype=complex64)
    """

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x, fft_type, fft_lengths):
    """The discrete Fourier transform over the last dimensions.

    Args:
      x: an array, complex (RFFT: real).
      fft_type: an FftType or its name. RFFT keeps the first half of the spectrum along the last
        dimension, n // 2 + 1 elements, which IRFFT takes.
      fft_lengths: the sizes of the transformed dimensions, those of the real array.

    Raises:
      ValueError: x does not end in these dimensions, or is complex for RFFT.

    Example:
      >>> lax.fft(jnp.array([1.0, 0.0, 0.0]), "rfft", (3,))
      Array([1.+0.j, 1.+0.j], dtype=complex64)
    """
    if isinstance(fft_type, str):
        if fft_type.upper() not in FftType.__members__:
            raise ValueError(f"Unknown FFT type '{fft_type}'")
        fft_type = FftType[fft_type.upper()]
    elif not isinstance(fft_type, FftType):
        raise TypeError(f"Unknown FFT type value '{fft_type}'")
    x = asarray(x)
    wide = x.dtype.itemsize == (16 if x.dtype.kind == "c" else 8)
    if fft_type is not FftType.RFFT:
        x = _core.convert(x, _core.canonical_dtype("complex128" if wide else "complex64"))
    elif x.dtype.kind == "c":
        raise ValueError("only real valued inputs supported for rfft")
    elif x.dtype.kind in "biu":
        x = _core.convert(x, _core.canonical_dtype("float64" if wide else "float32"))
    if len(fft_lengths) == 0:
        return x
    return bind("fft", (x,), fft_type=int(fft_type), fft_lengths=_ints(fft_lengths))
