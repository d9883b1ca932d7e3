"""shardax/numpy/_reductions.py - sums, extrema, moments and what is made of them."""

import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    result_type,
    static_jit,
)

_functions = _core.functions


def _keep(result, shape, axes, keepdims):
    if not keepdims:
        return result
    return result.reshape(tuple(1 if d in axes else n for d, n in enumerate(shape)))


def _masked(a, where, fill):
    if where is None:
        return a
    from shardax.numpy._where import where as select

    return select(where, a, a.dtype.type(fill) if not isinstance(fill, str) else fill)


def _reduce(
    op,
    name,
    a,
    axis,
    keepdims,
    dtype=None,
    widen=False,
    where=None,
    fill=0,
    initial=None,
    combine=None,
):
    check_arraylike(name, a)
    a = asarray(a)
    if dtype is not None:
        a = a.astype(dtype)
    elif widen:
        a = _widened(a)
    a = _masked(a, where, fill)
    axes = canonical_axes(axis, a.ndim)
    out = bind(op, (a,), axes=axes) if axes else a
    if initial is not None:
        out = combine(out, _core.convert(asarray(initial), a.dtype))
    return _keep(_strong(out), a.shape, axes, keepdims)


def _strong(a):
    """`a`, no longer weakly typed: reductions fix the dtype of what they return."""
    return _core.convert(a, a.dtype) if a.weak_type else a


def _widened(a):
    """Sums of bool and small integers are of the default integer type."""
    kind = a.dtype.kind
    if kind == "b":
        return _core.convert(a, _core.canonical_dtype(int))
    if kind == "i" and a.dtype.itemsize < np.dtype(_core.canonical_dtype(int)).itemsize:
        return _core.convert(a, _core.canonical_dtype(int))
    if kind == "u" and a.dtype.itemsize < np.dtype(_core.canonical_dtype(int)).itemsize:
        return _core.convert(a, _core.canonical_dtype(np.uint64))
    return a


def sum(
    a,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=None,
    promote_integers=True,
):
    """The sum over `axis` (None: all; an int; a tuple). Small integers and bool add up as int32.

    >>> sum(arange(4))
    Array(6, dtype=int32)
    """
    return _reduce(
        "reduce_sum",
        "sum",
        a,
        axis,
        keepdims,
        dtype,
        promote_integers,
        where,
        0,
        initial,
        _functions.add,
    )


def prod(
    a,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=None,
    promote_integers=True,
):
    """The product over `axis`."""
    return _reduce(
        "reduce_prod",
        "prod",
        a,
        axis,
        keepdims,
        dtype,
        promote_integers,
        where,
        1,
        initial,
        _functions.multiply,
    )


def _extremum(op, name, a, axis, keepdims, initial, where, combine):
    check_arraylike(name, a)
    a = asarray(a)
    axes = canonical_axes(axis, a.ndim)
    if initial is None:
        if where is not None:
            raise ValueError(
                f"reduction operation {name} does not have an identity, so to use a where mask one has to specify 'initial'"
            )
        if 0 in [a.shape[d] for d in axes]:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    out = (
        bind(op, (_masked(a, where, initial) if where is not None else a,), axes=axes)
        if axes
        else a
    )
    if initial is not None:
        out = combine(out, _core.convert(asarray(initial), a.dtype))
    return _keep(_strong(out), a.shape, axes, keepdims)


def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The maximum over `axis`; NaN where there is one."""
    return _extremum("reduce_max", "max", a, axis, keepdims, initial, where, _functions.maximum)


def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The minimum over `axis`; NaN where there is one."""
    return _extremum("reduce_min", "min", a, axis, keepdims, initial, where, _functions.minimum)


amax, amin = max, min


def _truth(op, name, a, axis, keepdims, where, fill):
    check_arraylike(name, a)
    a = asarray(a)
    a = a if a.dtype == np.bool_ else _functions.not_equal(a, a.dtype.type(0))
    a = _masked(a, where, fill)
    axes = canonical_axes(axis, a.ndim)
    return _keep(_strong(bind(op, (a,), axes=axes) if axes else a), a.shape, axes, keepdims)


def all(a, axis=None, out=None, keepdims=False, *, where=None):
    """Whether all elements along `axis` are true."""
    return _truth("reduce_and", "all", a, axis, keepdims, where, True)


def any(a, axis=None, out=None, keepdims=False, *, where=None):
    """Whether any element along `axis` is true."""
    return _truth("reduce_or", "any", a, axis, keepdims, where, False)


def _count(a, axes):
    n = 1
    for d in axes:
        n *= a.shape[d]
    return n


def _inexact(a, dtype):
    """`a` in the dtype in which a mean is computed, and that of the result."""
    if dtype is not None:
        dtype = _core.requested_dtype(dtype, "mean")
        return a.astype(dtype), dtype
    if a.dtype.kind in "biu":
        dtype = _core.canonical_dtype(float)
        return _core.convert(a, dtype), dtype
    return _strong(a), a.dtype


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


def ptp(a, axis=None, out=None, keepdims=False):
    """max - min over `axis`."""
    return _functions.subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


def count_nonzero(a, axis=None, keepdims=False):
    """How many elements along `axis` are not zero, int32."""
    check_arraylike("count_nonzero", a)
    a = asarray(a)
    return sum(
        _functions.not_equal(a, a.dtype.type(0)),
        axis,
        dtype=_core.canonical_dtype(int),
        keepdims=keepdims,
    )


def _arg(op, name, a, axis, keepdims):
    check_arraylike(name, a)
    a = asarray(a)
    if axis is None:
        flat = a.reshape((-1,))
        if flat.shape[0] == 0:
            raise ValueError(f"attempt to get {name} of an empty sequence")
        out = bind(op, (flat,), axes=(0,), index_dtype=_core.canonical_dtype(int))
        return out.reshape((1,) * a.ndim) if keepdims else out
    axis = canonical_axis(axis, a.ndim)
    if a.shape[axis] == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    out = bind(op, (a,), axes=(axis,), index_dtype=_core.canonical_dtype(int))
    return _keep(out, a.shape, (axis,), keepdims)


def argmax(a, axis=None, out=None, keepdims=None):
    """The index of the first maximum (or NaN) along `axis` (None: in the flattened array), int32 (int64 under x64)."""
    return _arg("argmax", "argmax", a, axis, bool(keepdims))


def argmin(a, axis=None, out=None, keepdims=None):
    """The index of the first minimum (or NaN) along `axis` (None: in the flattened array), int32 (int64 under x64)."""
    return _arg("argmin", "argmin", a, axis, bool(keepdims))


def _cumulative(op, name, a, axis, dtype, widen):
    check_arraylike(name, a)
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    if dtype is not None:
        a = a.astype(dtype)
    elif widen:
        a = _widened(a)
    elif a.dtype == np.bool_:
        a = _core.convert(a, _core.canonical_dtype(int))
    return _strong(bind(op, (a,), axis=axis, reverse=False))


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along `axis` (None: of the flattened array)."""
    return _cumulative("cumsum", "cumsum", a, axis, dtype, False)


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along `axis` (None: of the flattened array)."""
    return _cumulative("cumprod", "cumprod", a, axis, dtype, False)


def _cumulative_with_initial(op, name, x, axis, dtype, include_initial, initial):
    from shardax.numpy._shape import concatenate

    check_arraylike(name, x)
    x = asarray(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(
                f"The input array has rank {x.ndim}, however axis was not set to an explicit value."
            )
        axis = 0
    axis = canonical_axis(axis, x.ndim)
    out = _cumulative(op, name, x, axis, dtype, True)
    if not include_initial:
        return out
    first = _core.full(x.shape[:axis] + (1,) + x.shape[axis + 1 :], initial, out.dtype)
    return concatenate([first, out], axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums along `axis`, behind a 0 where `include_initial`; small integers add up as int32."""
    return _cumulative_with_initial("cumsum", "cumulative_sum", x, axis, dtype, include_initial, 0)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products along `axis`, behind a 1 where `include_initial`; small integers multiply as int32."""
    return _cumulative_with_initial(
        "cumprod", "cumulative_prod", x, axis, dtype, include_initial, 1
    )


def _without_nan(name, a, fill):
    """The operand with `fill` in place of NaN."""
    from shardax.numpy._where import where

    check_arraylike(name, a)
    a = asarray(a)
    if a.dtype.kind not in "fcV":
        return a
    return where(_functions.isnan(a), a.dtype.type(fill), a)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """sum, without NaN."""
    return sum(
        _without_nan("nansum", a, 0), axis, dtype, keepdims=keepdims, initial=initial, where=where
    )


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """prod, without NaN."""
    return prod(
        _without_nan("nanprod", a, 1), axis, dtype, keepdims=keepdims, initial=initial, where=where
    )


def nancumsum(a, axis=None, dtype=None, out=None):
    """cumsum, with NaN counted as 0."""
    return cumsum(_without_nan("nancumsum", a, 0), axis, dtype)


def nancumprod(a, axis=None, dtype=None, out=None):
    """cumprod, with NaN counted as 1."""
    return cumprod(_without_nan("nancumprod", a, 1), axis, dtype)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """max, without NaN; NaN where there is nothing else."""
    return _nan_extremum("nanmax", max, -np.inf, a, axis, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """min, without NaN; NaN where there is nothing else."""
    return _nan_extremum("nanmin", min, np.inf, a, axis, keepdims, initial, where)


def _nan_extremum(name, extremum, fill, a, axis, keepdims, initial, where):
    from shardax.numpy._where import where as select

    check_arraylike(name, a)
    a = asarray(a)
    if a.dtype.kind not in "fcV":
        return extremum(a, axis, None, keepdims, initial, where)
    out = extremum(_without_nan(name, a, fill), axis, None, keepdims, initial, where)
    if initial is not None:
        return out
    return select(all(_functions.isnan(a), axis, keepdims=keepdims), out.dtype.type(np.nan), out)


def nanargmax(a, axis=None, out=None, keepdims=None):
    """argmax, without NaN; -1 where there is nothing else."""
    return _nan_arg("nanargmax", argmax, -np.inf, a, axis, bool(keepdims))


def nanargmin(a, axis=None, out=None, keepdims=None):
    """argmin, without NaN; -1 where there is nothing else."""
    return _nan_arg("nanargmin", argmin, np.inf, a, axis, bool(keepdims))


def _nan_arg(name, arg, fill, a, axis, keepdims):
    from shardax.numpy._where import where

    check_arraylike(name, a)
    a = asarray(a)
    if a.dtype.kind not in "fcV":
        return arg(a, axis, keepdims=keepdims)
    out = arg(_without_nan(name, a, fill), axis, keepdims=keepdims)
    return where(all(_functions.isnan(a), axis, keepdims=keepdims), -1, out)


def _present(a, axis, keepdims, where):
    """How many elements along `axis` are neither NaN nor masked out, int32."""
    found = _functions.logical_not(_functions.isnan(a))
    return sum(found, axis, dtype=np.int32, keepdims=keepdims, where=where)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    """mean, without NaN."""
    check_arraylike("nanmean", a)
    a = asarray(a)
    if a.dtype.kind not in "fcV":
        return mean(a, axis, dtype, keepdims=keepdims, where=where)
    total = nansum(a, axis, dtype, keepdims=keepdims, where=where)
    return _functions.divide(total, _core.convert(_present(a, axis, keepdims, where), total.dtype))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None):
    """var, without NaN; NaN where no more than `ddof` elements are left."""
    from shardax.numpy._where import where as select

    check_arraylike("nanvar", a)
    a, dtype = _inexact(asarray(a), dtype)
    wide = _core.convert(a, np.dtype("float32")) if dtype.itemsize == 2 else a
    isnan = _functions.isnan(wide)
    middle = nanmean(wide, axis, keepdims=True, where=where)
    centered = select(isnan, wide.dtype.type(0), _functions.subtract(wide, middle))
    square = _squared_size(centered)
    total = sum(square, axis, keepdims=keepdims, where=where)
    divisor = _functions.subtract(_present(wide, axis, keepdims, where), ddof)
    out = _functions.divide(total, _core.convert(divisor, total.dtype))
    out = select(_functions.less_equal(divisor, 0), out.dtype.type(np.nan), out)
    return _core.convert(out, dtype) if dtype.itemsize == 2 else out


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None):
    """std, without NaN."""
    check_arraylike("nanstd", a)
    return _functions.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where))


_METHODS = {
    "linear": lambda low, high, part: low + (high - low) * part,
    "lower": lambda low, high, part: low,
    "higher": lambda low, high, part: high,
    "midpoint": lambda low, high, part: (low + high) * 0.5,
}


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """The q-th quantiles (0 <= q <= 1) along `axis`, between neighbours by `method`; NaN where there is one."""
    check_arraylike("quantile", a, q)
    return _quantile(a, q, axis, method, keepdims, skip_nan=False)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """quantile, without NaN; NaN where there is nothing else."""
    check_arraylike("nanquantile", a, q)
    return _quantile(a, q, axis, method, keepdims, skip_nan=True)


def _quantile(a, q, axis, method, keepdims, skip_nan):
    from shardax.numpy._select import take, take_along_axis
    from shardax.numpy._shape import moveaxis
    from shardax.numpy._sorting import sort
    from shardax.numpy._where import where

    if method not in _METHODS and method != "nearest":
        raise ValueError("method can only be 'linear', 'lower', 'higher', 'midpoint', or 'nearest'")
    a, q = asarray(a), asarray(q)
    if a.dtype.kind == "c":
        raise ValueError(
            "quantile does not support complex input, as the operation is poorly defined."
        )
    dtype = result_type(a, q)
    a = _core.convert(a, dtype if dtype.kind in "fV" else _core.canonical_dtype(float))
    shape = a.shape
    axes = canonical_axes(axis, a.ndim)
    a = moveaxis(a, axes, tuple(range(a.ndim - len(axes), a.ndim)))
    a = a.reshape((*a.shape[: a.ndim - len(axes)], _count(a, range(a.ndim - len(axes), a.ndim))))
    n = a.shape[-1]
    if n == 0 and 0 not in a.shape[:-1]:
        raise TypeError(
            f"quantile: shape {shape} has no elements along axis {axis}; at least one is needed."
        )
    ordered = sort(a, axis=-1)
    isnan = _functions.isnan(a)
    q = _core.convert(q, a.dtype)
    if skip_nan:
        # NaN are sorted last, so that each row counts its own number of elements.
        left = sum(_functions.logical_not(isnan), -1, keepdims=True, dtype=np.int32)
        last = _functions.maximum(_functions.subtract(left, np.int32(1)), np.int32(0))
        missing = all(isnan, axis=-1)
    else:
        last = np.int32(n - 1)
        missing = any(isnan, axis=-1)
    place = q.reshape((-1,)) * _core.convert(asarray(last), a.dtype)
    low = _functions.floor(place)
    part = place - low
    i, j = (
        _functions.minimum(_functions.maximum(_core.convert(x, np.int32), np.int32(0)), last)
        for x in (low, _functions.ceil(place))
    )
    pick = take_along_axis if skip_nan else take
    low_value, high_value = pick(ordered, i, axis=-1), pick(ordered, j, axis=-1)
    if method == "nearest":
        out = where(_functions.less_equal(part, 0.5), low_value, high_value)
    else:
        out = _METHODS[method](low_value, high_value, part)
    out = where(missing[..., None], out.dtype.type(np.nan), out)
    out = moveaxis(out, -1, 0)
    kept = tuple(1 if d in axes else m for d, m in enumerate(shape)) if keepdims else out.shape[1:]
    return out.reshape(q.shape + kept)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """quantile, with q in percent."""
    q = _core.promote("inexact", q)[0] if not isinstance(q, (int, float)) else q
    return quantile(a, _functions.divide(q, 100), axis, out, overwrite_input, method, keepdims)


def nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False
):
    """nanquantile, with q in percent."""
    q = _core.promote("inexact", q)[0] if not isinstance(q, (int, float)) else q
    return nanquantile(a, _functions.divide(q, 100), axis, out, overwrite_input, method, keepdims)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element along `axis`, or the mean of the middle two."""
    check_arraylike("median", a)
    return quantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """median, without NaN."""
    check_arraylike("nanmedian", a)
    return nanquantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)
