"""shardax/numpy/_deprecated.py - names that programs of earlier years use."""

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, refuse_out
from shardax.numpy import _calculus, _sets, _sorting
from shardax.numpy._elementwise import rounding as _rounding
from shardax.numpy._reductions import cumulative as _cumulative
from shardax.numpy._reductions import reductions as _reductions
from shardax.numpy._shaping import join as _join

NINF, NZERO, PZERO = -np.inf, -0.0, 0.0
DeviceArray = _core.Array
alltrue, sometrue = _reductions.all, _reductions.any
product, cumproduct = _reductions.prod, _cumulative.cumprod
round_, row_stack, trapz = _rounding.round, _join.vstack, _calculus.trapezoid


def fix(x, out=None):
    """The integer next to a number towards zero, as floats: `jnp.trunc`.

    Example:
      >>> jnp.fix(jnp.array([-1.7, 1.7]))
      Array([-1.,  1.], dtype=float32)
    """
    refuse_out("fix", out)
    return _core.functions.trunc(x)


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """True for each element of the flattened `ar1` that is in `ar2`; `jnp.isin` keeps the shape.

    Example:
      >>> jnp.in1d(jnp.array([[1, 2]]), jnp.array([2, 3]))
      Array([False,  True], dtype=bool)
    """
    return _sets.isin(asarray(ar1).ravel(), ar2, assume_unique=assume_unique, invert=invert)


def msort(a):
    """Elements sorted along the first dimension.

    Example:
      >>> jnp.msort(jnp.array([[2, 1], [1, 3]]))
      Array([[1, 1],
             [2, 3]], dtype=int32)
    """
    return _sorting.sort(a, axis=0)
