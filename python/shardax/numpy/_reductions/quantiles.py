# shardax/numpy/_reductions/quantiles.py - quantiles, percentiles and medians.
import numpy as np

import shardax._core as _core
from shardax._base.array_functions import moveaxis, where
from shardax._base.arrays import asarray, canonical_axes, check_arraylike, in_one_program
from shardax._devices.out_sharding import split_so
from shardax.numpy._indexing.select import take, take_along_axis
from shardax.numpy._reductions.cumulative import cumsum
from shardax.numpy._reductions.reductions import _count, all, any, sum
from shardax.numpy._sorting import argsort, sort

_functions = _core.functions


_METHODS = {
    "linear": lambda low, high, part: low + (high - low) * part,
    "lower": lambda low, high, part: low,
    "higher": lambda low, high, part: high,
    "midpoint": lambda low, high, part: (low + high) * 0.5,
}


def _refuse_writes(function, out, overwrite_input):
    """ValueError where a result or intermediate values would be written into the user's arrays."""
    if out is not None or overwrite_input:
        raise ValueError(
            f"shardax.numpy.{function} does not support overwrite_input=True or out != None: "
            "arrays are immutable. Use the result."
        )


@in_one_program("axis", "out", "overwrite_input", "method", "keepdims")
def quantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """The q-th quantiles of elements over `axis`; NaN where an element is NaN.

    Args:
      a: an array of any shape, of real numbers.
      q: numbers from 0 to 1, of any shape.
      axis: the dimension, an int or a tuple of them; None: all.
      out, overwrite_input: must be None and False.
      method: the value between two elements: "linear", "lower", "higher", "midpoint" or "nearest";
        "inverted_cdf" with weights.
      keepdims: whether reduced dimensions stay, with size 1.
      weights: an array of the shape of `a` or of its axis: how much elements count.

    Returns:
      Floats of shape q.shape + the shape of `a` without the dimensions in `axis`.

    Raises:
      ValueError: for `out`, `overwrite_input=True` or an unknown method.
      NotImplementedError: for weights with another method than "inverted_cdf".

    Example:
      >>> x = jnp.array([[1.0, 2.0, 3.0], [10.0, 20.0, 40.0]])
      >>> jnp.quantile(x, 0.5, axis=1)
      Array([ 2., 20.], dtype=float32)
      >>> jnp.quantile(x, jnp.array([0.25, 1.0]), axis=1)
      Array([[ 1.5, 15. ],
             [ 3. , 40. ]], dtype=float32)
    """
    _refuse_writes("quantile", out, overwrite_input)
    check_arraylike("quantile", a, q)
    return _quantile(a, q, axis, method, keepdims, skip_nan=False, weights=weights)


@in_one_program("axis", "out", "overwrite_input", "method", "keepdims")
def nanquantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """The q-th quantiles of elements over `axis` other than NaN; NaN where all are NaN.

    Arguments and errors are those of `jnp.quantile`.

    Example:
      >>> jnp.nanquantile(jnp.array([1.0, jnp.nan, 3.0]), 0.5)
      Array(2., dtype=float32)
    """
    _refuse_writes("nanquantile", out, overwrite_input)
    check_arraylike("nanquantile", a, q)
    return _quantile(a, q, axis, method, keepdims, skip_nan=True, weights=weights)


def _numbers(a, q):
    """`a` and q as floats; results have the dtype of `a`, places that of q."""
    a, q = (_core.promote("inexact", x)[0] for x in (a, q))
    if a.dtype.kind == "c":
        raise ValueError(
            "quantile does not support complex input, as the operation is poorly defined."
        )
    return a, q


def _weighted_quantile(a, q, axis, method, keepdims, weights, skip_nan):
    """The first element, in order, up to which the weights add up to the share q of them all."""
    if method != "inverted_cdf":
        raise NotImplementedError(
            f"{method} doesn't support weights. Only method 'inverted_cdf' supports weights."
        )
    a, q = _numbers(a, q)
    check_arraylike("quantile", weights)
    weights = asarray(weights)
    axes = canonical_axes(axis, a.ndim)
    if weights.ndim == 1 and len(axes) == 1 and a.ndim > 1:
        if weights.shape[0] != a.shape[axes[0]]:
            raise ValueError("Length of weights not consistent with specified axis.")
        weights = weights.reshape((-1,) + (1,) * (a.ndim - 1 - axes[0]))
    elif weights.ndim and weights.shape != a.shape:
        raise ValueError(f"weights of shape {weights.shape} do not fit an array of {a.shape}.")
    shape = a.shape
    weights = _core.broadcast_to(weights.astype(a.dtype), shape)
    isnan = _functions.isnan(a)
    if skip_nan:
        weights = where(isnan, np.zeros((), a.dtype), weights)

    def lines(x):
        x = moveaxis(x, axes, tuple(range(x.ndim - len(axes), x.ndim)))
        return x.reshape((*x.shape[: x.ndim - len(axes)], -1))

    a, weights, isnan = lines(a), lines(weights), lines(isnan)
    order = argsort(a, axis=-1)
    ordered = take_along_axis(a, order, axis=-1)
    reached = cumsum(take_along_axis(weights, order, axis=-1), axis=-1)
    wanted = _core.convert(q, a.dtype).reshape((-1,) + (1,) * reached.ndim) * reached[..., -1:]
    place = sum(reached < wanted, -1, dtype=np.int32)
    place = _functions.minimum(place, np.int32(a.shape[-1] - 1))
    out = take_along_axis(ordered[None], place[..., None], axis=-1)[..., 0]
    missing = all(isnan, axis=-1) if skip_nan else any(isnan, axis=-1)
    out = where(missing, out.dtype.type(np.nan), out)
    kept = tuple(1 if d in axes else m for d, m in enumerate(shape)) if keepdims else out.shape[1:]
    return out.reshape(q.shape + kept)


def _quantile(a, q, axis, method, keepdims, skip_nan, weights=None):
    if method == "inverted_cdf" or weights is not None:
        weights = np.float32(1) if weights is None else weights
        return _weighted_quantile(a, q, axis, method, keepdims, weights, skip_nan)
    if method not in _METHODS and method != "nearest":
        raise ValueError(
            "method can only be 'linear', 'lower', 'higher', 'midpoint', 'nearest', or "
            "'inverted_cdf'"
        )
    a, q = _numbers(a, q)
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
    if skip_nan:
        # NaN are sorted last, so that each row counts its own number of elements.
        left = sum(_functions.logical_not(isnan), -1, keepdims=True, dtype=np.int32)
        last = _functions.maximum(_functions.subtract(left, np.int32(1)), np.int32(0))
        missing = all(isnan, axis=-1)
    else:
        last = np.int32(n - 1)
        missing = any(isnan, axis=-1)
    place = q.reshape((-1,)) * _core.convert(asarray(last), q.dtype)
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
        wide = a.dtype if a.dtype.itemsize > q.dtype.itemsize else q.dtype
        ends = (_core.convert(v, wide) for v in (low_value, high_value, part))
        out = _core.convert(_METHODS[method](*ends), a.dtype)
    out = where(missing[..., None], out.dtype.type(np.nan), out)
    out = moveaxis(out, -1, 0)
    kept = tuple(1 if d in axes else m for d, m in enumerate(shape)) if keepdims else out.shape[1:]
    return out.reshape(q.shape + kept)


def _share(percent):
    number = isinstance(percent, (int, float))
    return _functions.divide(percent if number else _core.promote("inexact", percent)[0], 100)


def percentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    out_sharding=None,
):
    """The q-th percentiles of elements over `axis`: `jnp.quantile` with q from 0 to 100.

    Other arguments and errors are those of `jnp.quantile`.

    Args:
      q: numbers from 0 to 100, of any shape.
      out_sharding: a sharding of the result, if it is given.

    Example:
      >>> jnp.percentile(jnp.array([1.0, 2.0, 3.0, 4.0, 5.0]), 75)
      Array(4., dtype=float32)
    """
    q = _share(q)

    def found():
        return quantile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights)

    return found() if out_sharding is None else split_so(out_sharding, "percentile", found)


def nanpercentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """The q-th percentiles of elements over `axis` other than NaN: `jnp.nanquantile` with q from 0
    to 100.

    Example:
      >>> jnp.nanpercentile(jnp.array([1.0, jnp.nan, 3.0]), 50)
      Array(2., dtype=float32)
    """
    q = _share(q)
    return nanquantile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of elements over `axis`: the middle one, or the mean of the middle two.

    Args:
      a: an array of any shape, of real numbers.
      axis: the dimension, an int or a tuple of them; None: all.
      out, overwrite_input: must be None and False.
      keepdims: whether reduced dimensions stay, with size 1.

    Returns:
      Floats in the shape of `a` without the dimensions in `axis`; NaN where an element is NaN.

    Example:
      >>> jnp.median(jnp.array([[1.0, 9.0, 2.0], [4.0, 4.0, 8.0]]), axis=1)
      Array([2., 4.], dtype=float32)
    """
    check_arraylike("median", a)
    return quantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of elements over `axis` other than NaN; NaN where all are NaN.

    Arguments are those of `jnp.median`.

    Example:
      >>> jnp.nanmedian(jnp.array([1.0, jnp.nan, 3.0]))
      Array(2., dtype=float32)
    """
    check_arraylike("nanmedian", a)
    return nanquantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)
