# shardax/numpy/_shaping/pad.py - arrays with margins.
import numpy as np

import shardax._core as _core
from shardax._base.array_functions import broadcast_to, concatenate
from shardax._base.array_functions import where as select
from shardax._base.arrays import asarray, bind, check_arraylike, in_one_program
from shardax.numpy._elementwise.rounding import round
from shardax.numpy._functional import apply_along_axis
from shardax.numpy._indexing.select import take
from shardax.numpy._ranges import linspace
from shardax.numpy._reductions import extremes as _extremes
from shardax.numpy._reductions import statistics as _statistics
from shardax.numpy._reductions.quantiles import median
from shardax.numpy._shaping.rearrange import flip

# The options of each mode.
_OPTIONS = {
    "constant": {"constant_values"},
    "edge": set(),
    "empty": set(),
    "linear_ramp": {"end_values"},
    "maximum": {"stat_length"},
    "mean": {"stat_length"},
    "median": {"stat_length"},
    "minimum": {"stat_length"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "wrap": set(),
}


@in_one_program(
    "pad_width",
    "mode",
    "constant_values",
    "end_values",
    "stat_length",
    "reflect_type",
    at_once=True,
)
def pad(array, pad_width, mode="constant", **kwargs):
    """An array with elements added at the ends of its dimensions.

    Args:
      array: an array.
      pad_width: the number of elements to add. It is an int for all ends, (before, after) for all
        dimensions, or such a pair for each dimension; or a dictionary of dimensions.
      mode: the elements to add. "constant": `constant_values`, 0 unless given. "edge": the
        outermost. "reflect", "symmetric": the mirrored array without or with its edge. "wrap": its
        other end. "linear_ramp": a ramp to `end_values`. "maximum", "mean", "median", "minimum": of
        the outermost `stat_length` elements. "empty": zeros. Or a function of a padded vector, its
        widths, the dimension and `kwargs`.
      **kwargs: `constant_values`, `end_values`, `stat_length`, and `reflect_type` ("even" or
        "odd").

    Returns:
      An array that is larger by the widths.

    Raises:
      ValueError: a width is negative or of a wrong shape.
      NotImplementedError: for an unknown mode.
      TypeError: widths are no integers.

    Example:
      >>> x = jnp.array([1, 2, 3])
      >>> jnp.pad(x, 1)
      Array([0, 1, 2, 3, 0], dtype=int32)
      >>> jnp.pad(x, (2, 1), mode="reflect")
      Array([3, 2, 1, 2, 3, 2], dtype=int32)
      >>> jnp.pad(jnp.ones((1, 2)), ((0, 1), (1, 0)), constant_values=5)
      Array([[5., 1., 1.],
             [5., 5., 5.]], dtype=float32)
    """
    check_arraylike("pad", array)
    if callable(mode):
        return _pad_function(asarray(array), pad_width, mode, kwargs)
    if mode not in _OPTIONS:
        raise NotImplementedError(f"Unimplemented padding mode '{mode}' for np.pad.")
    unknown = set(kwargs) - _OPTIONS[mode]
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    a = asarray(array)
    widths = np.asarray(pad_width)
    if a.ndim == 0 and widths.ndim > 1 and widths.shape[0] > 1:
        raise ValueError(
            f"jnp.pad: an array without dimensions takes no pad_width of shape {widths.shape}."
        )
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
    if mode in ("mean", "maximum", "median", "minimum"):
        return _as_weak_as(a, _pad_statistic(a, widths, mode, kwargs.get("stat_length")))
    if mode == "linear_ramp":
        return _as_weak_as(a, _pad_ramp(a, widths, kwargs.get("end_values", 0)))
    odd = _reflects_oddly(kwargs.get("reflect_type", "even"))
    for d, (low, high) in enumerate(widths):
        if not (low or high):
            continue
        n = a.shape[d]
        index = np.pad(np.arange(n), (low, high), mode=mode)
        if odd:
            a = _pad_oddly(a, d, index, low, n - 1 if mode == "reflect" else n)
        else:
            a = take(a, index, axis=d)
    return a


def _as_weak_as(a, padded):
    """The result, of a type that gives way to others where that of the operand does."""
    if not a.weak_type:
        return padded
    return bind("convert_element_type", (padded,), new_dtype=a.dtype, weak_type=True)


def _reflects_oddly(reflect_type):
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"unsupported reflect_type {reflect_type!r}; it is 'even' or 'odd'.")
    return reflect_type == "odd"


def _pad_oddly(a, d, index, low, period):
    """Reflections that also turn the values: each copy goes on from the edge of the one before.

    `period` is how far one copy reaches.
    """
    n = a.shape[d]
    if n == 1:
        return take(a, index, axis=d)
    first, last = take(a, np.array([0]), axis=d), take(a, np.array([n - 1]), axis=d)
    copies = np.floor_divide(np.arange(len(index)) - low, period)
    turned = copies % 2 == 1
    rise = (copies - turned).reshape([-1 if e == d else 1 for e in range(a.ndim)])
    turned = turned.reshape(rise.shape)
    values = take(a, index, axis=d)
    values = select(turned, 2 * last - values, values)
    return values + (last - first) * asarray(rise, a.dtype)


def _pad_function(a, pad_width, function, options):
    """function(vector, widths, axis, options) of vectors padded with 0, dimension by dimension."""
    widths = np.broadcast_to(np.atleast_1d(np.asarray(pad_width)), (a.ndim, 2)).tolist()
    a = _pad_constant(a, widths, 0)
    for d, pair in enumerate(widths):
        a = apply_along_axis(function, d, a, tuple(pair), d, options)
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
    statistic = {
        "mean": _statistics.mean,
        "maximum": _extremes.max,
        "median": median,
        "minimum": _extremes.min,
    }[mode]
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
    ends = np.broadcast_to(np.asarray(end_values), (a.ndim, 2))
    for d, (low, high) in enumerate(widths):
        ramps = []
        for side, n in ((0, low), (-1, high)):
            edge = [slice(None)] * a.ndim
            edge[d] = side
            inner = a[tuple(edge)]
            end = _core.full(inner.shape, ends[d, side].item(), inner.dtype)
            ramps.append(linspace(end, inner, n, endpoint=False, dtype=a.dtype, axis=d))
        first, last = ramps
        a = concatenate([first, a, flip(last, d)], d)
    return a
