"""shardax/numpy/_window_functions.py - window functions: Bartlett, Hamming, Kaiser and others."""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import bind
from shardax.numpy._creation import ones
from shardax.numpy._elementwise.bessel import i0

_functions = _core.functions


def _places(M):
    """0, 1, ..., M - 1 as floats."""
    dtype = _core.canonical_dtype(float)
    return bind("iota", (), dtype=dtype, shape=(M,), dimension=0)


def _taper(M, weights):
    """weights(n) of the places n; one sample has weight 1."""
    return ones((M,)) if M <= 1 else weights(_places(M))


def _cosine(M, n, times=1):
    return _functions.cos(2 * np.pi * times / (M - 1) * n)


def bartlett(M):
    """Bartlett's window, a triangle: 1 - |2 n / (M - 1) - 1| for n from 0 to M - 1.

    Args:
      M: the number of points, an int.

    Returns:
      A vector of M floats; empty where M <= 0.

    Example:
      >>> jnp.bartlett(3)
      Array([0., 1., 0.], dtype=float32)
    """
    return _taper(M, lambda n: 1 - _functions.abs(2 * n + (1 - M)) / (M - 1))


def blackman(M):
    """Blackman's window: 0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1)).

    Args:
      M: the number of points, an int.

    Returns:
      A vector of M floats; empty where M <= 0.

    Source: Blackman, Tukey, "The Measurement of Power Spectra", 1958.

    Example:
      >>> jnp.blackman(5).round(2)
      Array([-0.  ,  0.34,  1.  ,  0.34, -0.  ], dtype=float32)
    """
    return _taper(M, lambda n: 0.42 - 0.5 * _cosine(M, n) + 0.08 * _cosine(M, n, 2))


def hamming(M):
    """Hamming's window: 0.54 - 0.46 cos(2 pi n / (M - 1)) for n from 0 to M - 1.

    Args:
      M: the number of points, an int.

    Returns:
      A vector of M floats; empty where M <= 0.

    Source: Blackman, Tukey, "The Measurement of Power Spectra", 1958.

    Example:
      >>> jnp.hamming(3).round(2)
      Array([0.08, 1.  , 0.08], dtype=float32)
    """
    return _taper(M, lambda n: 0.54 - 0.46 * _cosine(M, n))


def hanning(M):
    """Hann's window: 0.5 - 0.5 cos(2 pi n / (M - 1)) for n from 0 to M - 1.

    Args:
      M: the number of points, an int.

    Returns:
      A vector of M floats; empty where M <= 0.

    Source: Blackman, Tukey, "The Measurement of Power Spectra", 1958.

    Example:
      >>> jnp.hanning(5).round(2)
      Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _taper(M, lambda n: 0.5 * (1 - _cosine(M, n)))


def kaiser(M, beta):
    """Kaiser's window: I0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / I0(beta), with the Bessel
    function I0.

    Args:
      M: the number of points, an int.
      beta: the shape: 0 is a rectangle, larger ones narrow the window.

    Returns:
      A vector of M floats; empty where M <= 0.

    Source: Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974.

    Example:
      >>> jnp.kaiser(3, 2.0).round(2)
      Array([0.44, 1.  , 0.44], dtype=float32)
    """

    def weights(n):
        half = 0.5 * (M - 1)
        inside = 1 - _functions.square((n - half) / half)
        return i0(beta * _functions.sqrt(where(inside > 0, inside, 0.0))) / i0(beta)

    return _taper(M, weights)
