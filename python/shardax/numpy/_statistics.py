# shardax/numpy/_statistics.py - means, averages and variances.
import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    static_jit,
)
from shardax.numpy._reductions import _count, _inexact, _keep, sum

_functions = _core.functions


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    """The mean over `axis`; of integers, float32. 16-bit floats are added up in float32."""
    check_arraylike("mean", a)
    a, dtype = _inexact(asarray(a), dtype)
    axes = canonical_axes(axis, a.ndim)
    if where is not None:
        total = sum(a, axis, keepdims=keepdims, where=where)
        count = sum(_core.broadcast_to(asarray(where), a.shape), axis, keepdims=keepdims)
        return _functions.divide(total, count).astype(dtype)
    if dtype.itemsize == 2:
        wide = _core.convert(a, np.dtype("float32"))
        total = bind("reduce_sum", (wide,), axes=axes) if axes else wide
        out = _core.convert(_functions.divide(total, float(_count(a, axes))), dtype)
        return _keep(out, a.shape, axes, keepdims)
    total = bind("reduce_sum", (a,), axes=axes) if axes else a
    count = _count(a, axes)
    out = _functions.divide(total, np.asarray(count, dtype) if dtype.kind == "c" else float(count))
    out = _core.convert(out, dtype)
    return _keep(out, a.shape, axes, keepdims)


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    """The mean weighted by `weights`."""
    a = asarray(a)
    if weights is None:
        out = mean(a, axis, keepdims=keepdims)
        total = _core.broadcast_to(
            asarray(float(_count(a, canonical_axes(axis, a.ndim)))), out.shape
        )
        return (out, total) if returned else out
    weights = asarray(weights)
    if a.shape != weights.shape:
        if axis is None:
            raise ValueError("Axis must be specified when shapes of a and weights differ.")
        axes = [
            canonical_axis(d, a.ndim)
            for d in (axis if isinstance(axis, (tuple, list)) else (axis,))
        ]
        if weights.shape != tuple(a.shape[d] for d in axes):
            raise ValueError(
                "Shape of weights must be consistent with shape of a along specified axis."
            )
        weights = bind("transpose", (weights,), permutation=tuple(np.argsort(axes).tolist()))
        weights = weights.reshape(tuple(n if d in axes else 1 for d, n in enumerate(a.shape)))
    a, weights = _core.promote("inexact", a, weights)
    total = sum(_core.broadcast_to(weights, a.shape), axis, keepdims=keepdims)
    out = _functions.divide(sum(_functions.multiply(a, weights), axis, keepdims=keepdims), total)
    return (out, total) if returned else out


@static_jit("axis", "ddof", "keepdims")
def _var(a, axis, ddof, keepdims):
    axes = canonical_axes(axis, a.ndim)
    centered = _functions.subtract(a, mean(a, axes, keepdims=True))
    total = sum(_squared_size(centered), axes, keepdims=keepdims)
    count = _count(a, axes) - ddof
    count = count if count > 0 else np.nan
    return _core.convert(_functions.divide(total, np.asarray(count, total.dtype)), total.dtype)


def _squared_size(a):
    """|a|^2, real."""
    if a.dtype.kind == "c":
        return _functions.real(_functions.multiply(a, _functions.conj(a)))
    return _functions.square(a)


def var(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=None,
    mean=None,
    correction=None,
):
    """The variance over `axis`: mean squared distance from the mean, over (n - ddof)."""
    check_arraylike("var", a)
    a, dtype = _inexact(asarray(a), dtype)
    ddof = ddof if correction is None else correction
    if where is not None:
        middle = globals()["mean"](a, axis, keepdims=True, where=where)
        square = _squared_size(_functions.subtract(a, middle))
        count = sum(_core.broadcast_to(asarray(where), a.shape), axis, keepdims=keepdims)
        total = sum(square, axis, keepdims=keepdims, where=where)
        count = _functions.subtract(count, ddof)
        positive = _functions.greater(count, 0)
        return bind(
            "select_n", (positive, _core.full(total.shape, np.nan, total.dtype), total / count)
        )
    wide = _core.convert(a, np.dtype("float32")) if dtype.itemsize == 2 else a
    axis = tuple(axis) if isinstance(axis, list) else axis
    out = _var(wide, axis=axis, ddof=ddof, keepdims=keepdims)
    return _core.convert(out, dtype) if dtype.itemsize == 2 else out


def std(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=None,
    mean=None,
    correction=None,
):
    """The standard deviation: the square root of var."""
    return _functions.sqrt(
        var(a, axis, dtype, None, ddof, keepdims, where=where, correction=correction)
    )
