# shardax/numpy/_pad.py - arrays with margins.
import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    bind,
    check_arraylike,
)
from shardax.numpy._join import concatenate
from shardax.numpy._rearrange import flip
from shardax.numpy._shape import broadcast_to


def pad(array, pad_width, mode="constant", **kwargs):
    """Elements added at the ends of dimensions: constants, edges, reflections or a repetition."""
    check_arraylike("pad", array)
    a = asarray(array)
    widths = np.asarray(pad_width)
    widths = (
        np.broadcast_to(widths if widths.ndim else widths[None], (a.ndim, 2)).tolist()
        if a.ndim
        else []
    )
    if any(w < 0 for pair in widths for w in pair):
        raise ValueError("index can't contain negative values")
    if mode == "constant":
        value = kwargs.get("constant_values", 0)
        values = np.ndim(value)
        if values:
            ends = np.broadcast_to(np.asarray(value), (a.ndim, 2))
            for d, (low, high) in enumerate(widths):
                for side, n in ((0, low), (1, high)):
                    config = [(0, 0)] * a.ndim
                    config[d] = (n, 0) if side == 0 else (0, n)
                    a = _pad_constant(a, config, ends[d, side])
            return a
        return _pad_constant(a, widths, value)
    if mode == "empty":
        return _pad_constant(a, widths, 0)
    from shardax.numpy._select import take

    if mode in ("mean", "maximum", "minimum"):
        return _pad_statistic(a, widths, mode, kwargs.get("stat_length"))
    if mode == "linear_ramp":
        return _pad_ramp(a, widths, kwargs.get("end_values", 0))
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise NotImplementedError(f"Unimplemented padding mode '{mode}' for np.pad.")
    for d, (low, high) in enumerate(widths):
        if low or high:
            a = take(a, np.pad(np.arange(a.shape[d]), (low, high), mode=mode), axis=d)
    return a


def _pad_constant(a, widths, value):
    return bind(
        "pad",
        (a, _core.convert(asarray(value), a.dtype)),
        low=tuple(w[0] for w in widths),
        high=tuple(w[1] for w in widths),
        interior=(0,) * a.ndim,
    )


def _pad_statistic(a, widths, mode, stat_length):
    """Before (behind) each dimension, a statistic of its first (last) `stat_length` elements."""
    from shardax.numpy import _reductions, _statistics
    from shardax.numpy._rounding import round

    statistic = {"mean": _statistics.mean, "maximum": _reductions.max, "minimum": _reductions.min}
    statistic = statistic[mode]
    lengths = (
        np.broadcast_to(np.asarray(stat_length), (a.ndim, 2)).tolist()
        if stat_length is not None
        else None
    )
    for d, pair in enumerate(widths):
        n, ends = a.shape[d], []
        for side, width in enumerate(pair):
            count = n if lengths is None else min(lengths[d][side], n)
            part = [slice(None)] * a.ndim
            part[d] = slice(0, count) if side == 0 else slice(n - count, n)
            value = statistic(a[tuple(part)], axis=d, keepdims=True)
            value = round(value) if a.dtype.kind in "iu" else value
            ends.append(
                broadcast_to(
                    _core.convert(value, a.dtype), a.shape[:d] + (width,) + a.shape[d + 1 :]
                )
            )
        a = concatenate([ends[0], a, ends[1]], d)
    return a


def _pad_ramp(a, widths, end_values):
    """Elements that run evenly from the edges to `end_values`."""
    from shardax.numpy._creation import linspace

    ends = np.broadcast_to(np.asarray(end_values), (a.ndim, 2))
    for d, (low, high) in enumerate(widths):
        edge = [slice(None)] * a.ndim
        edge[d] = 0
        first = linspace(ends[d, 0], a[tuple(edge)], low, endpoint=False, dtype=a.dtype, axis=d)
        edge[d] = -1
        last = linspace(ends[d, 1], a[tuple(edge)], high, endpoint=False, dtype=a.dtype, axis=d)
        a = concatenate([first, a, flip(last, d)], d)
    return a
