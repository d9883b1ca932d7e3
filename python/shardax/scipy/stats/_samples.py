# shardax/scipy/stats/_samples.py - statistics of samples: ranks, modes, errors of means.
from typing import NamedTuple

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._base.arrays import asarray, canonical_axis, check_arraylike, in_one_program
from shardax._transform.pmap_vmap import vmap


class ModeResult(NamedTuple):
    """The most frequent values, and how often they occur."""

    mode: object
    count: object


def _lines(name, a, axis, nan_policy):
    """`a` as an array of which `axis` is one; NotImplementedError where NaN are to be left out."""
    check_arraylike(name, a)
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError(
            f"Illegal nan_policy value {nan_policy!r}; expected one of {{'propagate', 'omit', "
            "'raise'}"
        )
    if nan_policy != "propagate":
        raise NotImplementedError(f"Logic for `nan_policy` of {nan_policy} is not implemented")
    a = asarray(a)
    if axis is None:
        return a.reshape(-1), 0
    a = jnp.atleast_1d(a) if axis in (0, -1) else a
    return a, canonical_axis(axis, a.ndim)


@in_one_program("axis", "nan_policy", "keepdims")
def mode(a, axis=0, nan_policy="propagate", keepdims=False):
    """The most frequent value along `axis` (None: of all), the least of several, and its count.

    >>> shardax.scipy.stats.mode(jnp.array([3, 1, 1, 3]))
    ModeResult(mode=Array(1, dtype=int32), count=Array(2, dtype=int32))
    """
    whole = np.ndim(a)
    x, place = _lines("mode", a, axis, nan_policy)
    if x.shape[place] == 0:
        out = x.shape[:place] + (1,) * keepdims + x.shape[place + 1 :]
        dtype = _core.canonical_dtype(float)
        return ModeResult(jnp.full(out, np.nan, dtype), jnp.zeros(out, dtype))

    def of_line(line):
        ordered = jnp.sort(line)
        before, after = ordered[:-1], ordered[1:]
        new = (after != before) & ~(jnp.isnan(after) & jnp.isnan(before))
        place = jnp.arange(line.shape[0], dtype=_core.canonical_dtype(int))
        start = lax.cummax(jnp.where(jnp.pad(new, (1, 0)), place, 0))
        lengths = place - start + 1
        best = jnp.argmax(lengths)
        return ordered[start[best]], lengths[best]

    lines = jnp.moveaxis(x, place, -1)
    shape = lines.shape[:-1]
    values, counts = vmap(of_line)(lines.reshape(-1, lines.shape[-1]))
    values, counts = values.reshape(shape), counts.reshape(shape)
    if keepdims:
        kept = (1,) * whole if axis is None else x.shape[:place] + (1,) + x.shape[place + 1 :]
        values, counts = values.reshape(kept), counts.reshape(kept)
    return ModeResult(values, counts)


@in_one_program("method", "axis", "nan_policy")
def rankdata(a, method="average", *, axis=None, nan_policy="propagate"):
    """The rank of each element along `axis` (None: among all), from 1 on.

    Equal elements get the "average", "min" or "max" of their ranks, all the next whole one
    ("dense"), or each its own, in their order ("ordinal"). All along an axis with NaN are NaN.

    >>> shardax.scipy.stats.rankdata(jnp.array([10.0, 30.0, 10.0]))
    Array([1.5, 3. , 1.5], dtype=float32)
    """
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f"unknown method '{method}'")
    x, place = _lines("rankdata", a, axis, nan_policy)

    def of_line(line):
        if method == "ordinal":
            return jnp.argsort(jnp.argsort(line)) + 1
        ordered = jnp.sort(line)
        low = jnp.searchsorted(ordered, line, side="left") + 1
        if method == "min":
            return low
        if method == "dense":
            new = jnp.concatenate([jnp.ones(1, bool), ordered[1:] != ordered[:-1]])
            return jnp.cumsum(new)[low - 1]
        high = jnp.searchsorted(ordered, line, side="right")
        if method == "max":
            return high
        return (low + high) / 2

    if not x.size:
        return x.astype(_core.canonical_dtype(float))
    lines = jnp.moveaxis(x, place, -1)
    ranks = vmap(of_line)(lines.reshape(-1, lines.shape[-1])).reshape(lines.shape)
    ranks = ranks.astype(_core.canonical_dtype(float))
    ranks = jnp.where(jnp.isnan(lines).any(-1, keepdims=True), jnp.nan, ranks)
    return jnp.moveaxis(ranks, -1, place)


def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    """The standard error of the mean along `axis`: the standard deviation over sqrt(n).

    Args:
      a: an array of numbers.
      axis: the dimension; None: all elements.
      ddof: the number subtracted from n in the variance.
      nan_policy: "propagate" or "omit".
      keepdims: whether the dimension stays, with size 1.

    Example:
      >>> shardax.scipy.stats.sem(jnp.array([1.0, 2.0, 3.0, 6.0])).round(3)
      Array(1.08, dtype=float32)
    """
    check_arraylike("sem", a)
    if nan_policy not in ("propagate", "omit"):
        raise ValueError(f"{nan_policy} is not supported")
    a = asarray(a)
    if nan_policy == "omit":
        count = (~jnp.isnan(a)).sum(axis=axis, keepdims=keepdims)
        deviation = jnp.nanstd(a, axis, ddof=ddof, keepdims=keepdims)
        return deviation / jnp.sqrt(count.astype(deviation.dtype))
    count = a.size if axis is None else a.shape[canonical_axis(axis, a.ndim)]
    return jnp.std(a, axis, ddof=ddof, keepdims=keepdims) / float(np.sqrt(count))
