"""shardax/numpy/_shaping/trim.py - arrays without the zeros at their ends."""

import numpy as np

import shardax._core as _core
from shardax._base.arrays import (
    asarray,
    canonical_axes,
    check_arraylike,
    known,
)

_functions = _core.functions


def trim_zeros(filt, trim="fb", axis=None):
    """An array without the zeros at its ends.

    Slices of which every element is 0 are left out.

    Args:
      filt: an array.
      trim: "f" for the front, "b" for the back, "fb" for both.
      axis: the dimension(s); None: all.

    Raises:
      ConcretizationTypeError: while tracing: the values decide the size.

    Example:
      >>> jnp.trim_zeros(jnp.array([0, 1, 0, 2, 0]))
      Array([1, 0, 2], dtype=int32)
    """
    check_arraylike("trim_zeros", filt)
    filt = asarray(filt)
    known(filt, "How much jnp.trim_zeros() removes depends on its argument `filt`.", "")
    if filt.ndim == 0:
        return filt
    places = np.asarray(_functions.not_equal(filt, filt.dtype.type(0))).nonzero()
    window = [slice(None)] * filt.ndim
    for d in canonical_axes(axis, filt.ndim):
        if not len(places[d]):
            window[d] = slice(0, 0)
            continue
        start = int(places[d].min()) if "f" in trim else 0
        window[d] = slice(start, int(places[d].max()) + 1 if "b" in trim else filt.shape[d])
    return filt[tuple(window)]
