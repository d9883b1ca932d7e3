# shardax/numpy/_counting.py - counts and histograms.
import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    check_arraylike,
)
from shardax.numpy._indices import _known
from shardax.numpy._rounding import clip
from shardax.numpy._sorting import searchsorted
from shardax.numpy._where import where

_functions = _core.functions


def bincount(x, weights=None, minlength=0, *, length=None):
    """How often each non-negative integer occurs, or the sum of its weights."""
    check_arraylike("bincount", x)
    x = asarray(x)
    if x.dtype.kind not in "biu":
        raise TypeError(f"x argument to bincount must have an integer type; got {x.dtype}")
    if x.ndim != 1:
        raise ValueError("only 1-dimensional input supported.")
    if length is None:
        known = _known(x, "bincount", "pass length=...")
        length = max(int(known.max()) + 1 if known.size else 0, minlength)
    weights = np.int32(1) if weights is None else asarray(weights)
    zero = _core.broadcast_to(asarray(np.zeros((), weights.dtype)), (length,))
    return zero.at[clip(x, 0)].add(weights, mode="drop")


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of equal bins over the range of `a`."""
    from shardax.numpy._creation import linspace

    if not isinstance(bins, int):
        return asarray(bins)
    a = asarray(a).ravel()
    if range is None:
        low, high = (a.min(), a.max()) if a.size else (0.0, 1.0)
    else:
        low, high = range
    low, high = _core.promote("inexact", low, high)
    same = _functions.equal(low, high)
    return linspace(where(same, low - 0.5, low), where(same, high + 0.5, high), bins + 1)


def histogram(a, bins=10, range=None, weights=None, density=None):
    """(counts per bin, edges)."""
    check_arraylike("histogram", a)
    a = asarray(a).ravel()
    edges = histogram_bin_edges(a, bins, range, weights)
    weights = (
        _core.broadcast_to(asarray(1.0), a.shape) if weights is None else asarray(weights).ravel()
    )
    n = edges.shape[0] - 1
    place = searchsorted(edges, a, side="right")
    place = where(_functions.equal(a, edges[-1]), n, place)
    counts = bincount(place, weights, length=n + 1)[1:]
    if density:
        width = edges[1:] - edges[:-1]
        counts = counts / width / counts.sum()
    return counts, edges
