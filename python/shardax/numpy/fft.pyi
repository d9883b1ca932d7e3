"""Written by python/stubs.py."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shardax._core import Array
from shardax.typing import ArrayLike
from shardax.typing import DTypeLike

def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along one axis."""
def fft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str | None = None) -> Array:
    """The discrete Fourier transform along two axes."""
def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Any = None) -> Array:
    """The frequencies of a transform, in the order of `jnp.fft.fft`: 0, the positive, the negative ones."""
def fftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str | None = None) -> Array:
    """The discrete Fourier transform along several axes, by default all."""
def fftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """A spectrum with the frequency 0 moved from the start to the middle."""
def hashable_axis(axis: int) -> Array:
    """None, an int, a value that stands for one or a sequence of these: as None, an int or a tuple."""
def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The real spectrum of an array with Hermitian symmetry, of which `a` is the first half."""
def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of the discrete Fourier transform along one axis."""
def ifft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str | None = None) -> Array:
    """The inverse of the discrete Fourier transform along two axes."""
def ifftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str | None = None) -> Array:
    """The inverse of the discrete Fourier transform along several axes, by default all."""
def ifftshift(x: ArrayLike, axes: int | Sequence[int] | None = None) -> Array:
    """A spectrum with the frequency 0 moved back to the start: the inverse of `jnp.fft.fftshift`."""
def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `jnp.fft.hfft`: the first half of an array with Hermitian symmetry."""
def inexact_dtype(dtype: DTypeLike) -> Array:
    """The dtype in which numbers of `dtype` are computed for a result that is no integer. Integers of 64 bits are float64, bool and the other ones float32; without x64 always float32."""
def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The real array whose transform has the given first half along one axis."""
def irfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str | None = None) -> Array:
    """The real array whose transform has the given first half along two axes."""
def irfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str | None = None) -> Array:
    """The real array whose transform has the given first half along several axes, by default all."""
def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The first half of the discrete Fourier transform of a real array along one axis."""
def rfft2(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str | None = None) -> Array:
    """The first half of the discrete Fourier transform of a real array along two axes."""
def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike | None = None, device: Any = None) -> Array:
    """The frequencies of a transform, in the order of `jnp.fft.rfft`: from 0 to the half of 1 / d."""
def rfftn(a: ArrayLike, s: Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str | None = None) -> Array:
    """The first half of the discrete Fourier transform of a real array along several axes, by default all."""
