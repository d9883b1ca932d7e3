# shardax/numpy/_reductions/statistics.py - means, averages and variances.
import numpy as np

import shardax._core as _core
from shardax._base.arrays import (
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    in_one_program,
    inexact_dtype,
    refuse_out,
    result_type,
    static_axis,
    static_jit,
)
from shardax.numpy._reductions.reductions import _check_options, _count, _inexact, _keep, sum

_functions = _core.functions


@static_axis("dtype", "keepdims")
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    """The mean of elements over `axis`.

    Floats of 16 bits are added up in float32 and rounded once.

    Args:
      a: an array of any shape, of numbers or booleans.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      dtype: of the computation and the result. None: that of `a`, or float32 for integers and
        booleans (float64 under x64 for 64 bits).
      out: must be None.
      keepdims: whether reduced dimensions stay, with size 1.
      where: a boolean array that broadcasts to the shape of `a`: elements that count.

    Returns:
      The shape of `a` without the dimensions in `axis`. The mean of no elements is NaN.

    Raises:
      ValueError: an axis is out of bounds, or `where` is not boolean.

    Example:
      >>> x = jnp.array([[1, 2], [3, 6]])
      >>> jnp.mean(x)
      Array(3., dtype=float32)
      >>> jnp.mean(x, axis=0)
      Array([2., 4.], dtype=float32)
      >>> jnp.mean(x, axis=1, where=x < 6)
      Array([1.5, 3. ], dtype=float32)
    """
    refuse_out("mean", out)
    check_arraylike("mean", a)
    _check_options("mean", where, None)
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


@in_one_program("axis", "returned", "keepdims", at_once=True)
def average(a, axis=None, weights=None, returned=False, keepdims=False):
    """The mean of elements over `axis`, weighted by `weights`: sum(a * weights) / sum(weights).

    Args:
      a: an array of any shape, of numbers.
      axis: the dimension, an int or a tuple of them; None: all.
      weights: an array of the shape of `a`, or a vector as long as `axis`; None: all are 1.
      returned: whether to return the sums of weights as well.
      keepdims: whether reduced dimensions stay, with size 1.

    Returns:
      The averages, floats or complex, in the shape of `a` without the dimensions in `axis`. With
      `returned`: (averages, sums of weights), both in that shape.

    Raises:
      ValueError: the shapes of `a` and `weights` differ, and `axis` is None or `weights` no vector
        of its length.

    Example:
      >>> jnp.average(jnp.array([1.0, 2.0, 6.0]), weights=jnp.array([1.0, 2.0, 1.0]))
      Array(2.75, dtype=float32)
      >>> jnp.average(jnp.array([[1.0, 3.0], [2.0, 4.0]]), axis=0, returned=True)
      (Array([1.5, 3.5], dtype=float32), Array([2., 2.], dtype=float32))
    """
    a = asarray(a)
    if weights is None:
        out = mean(a, axis, keepdims=keepdims)
        count = _count(a, canonical_axes(axis, a.ndim))
        total = _core.full(out.shape, count, out.dtype)
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
    dtype = inexact_dtype(result_type(a, weights))
    a, weights = _core.convert(a, dtype), _core.convert(weights, dtype)
    total = sum(_core.broadcast_to(weights, a.shape), axis, keepdims=keepdims)
    out = _functions.divide(sum(_functions.multiply(a, weights), axis, keepdims=keepdims), total)
    return (out, total) if returned else out


def _squared_size(a):
    """|a|^2, real."""
    if a.dtype.kind == "c":
        return _functions.real(_functions.multiply(a, _functions.conj(a)))
    return _functions.square(a)


def _spread_operand(name, a, dtype, ddof, correction):
    """The operand of a variance, its dtype, and how much less than n the sum is divided by."""
    check_arraylike(name, a)
    if correction is not None:
        if not (isinstance(ddof, int) and ddof == 0):
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    a = asarray(a)
    if dtype is not None and a.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise ValueError(
            f"jax.numpy.{name} does not yet support real dtype parameters when computing the "
            "variance of an array of complex values; leave dtype away. The result is real."
        )
    a, result = _inexact(a, dtype)
    wide = _core.convert(a, np.dtype("float32")) if result.itemsize == 2 else a
    return wide, result, ddof


@static_jit("axis", "ddof", "keepdims")
def _spread(a, middle, axis, ddof, keepdims):
    axes = canonical_axes(axis, a.ndim)
    if middle is None:
        middle = mean(a, axes, keepdims=True)
    total = sum(_squared_size(_functions.subtract(a, middle)), axes, keepdims=keepdims)
    count = _count(a, axes) - ddof
    count = count if count > 0 else np.nan
    return _functions.divide(total, np.asarray(count, total.dtype))


def _masked_spread(a, middle, axis, ddof, keepdims, where):
    if middle is None:
        middle = mean(a, axis, keepdims=True, where=where)
    square = _squared_size(_functions.subtract(a, middle))
    count = sum(_core.broadcast_to(asarray(where), a.shape), axis, keepdims=keepdims)
    count = _functions.subtract(count, ddof)
    total = sum(square, axis, keepdims=keepdims, where=where)
    positive = _functions.greater(count, 0)
    nothing = _core.full(total.shape, np.nan, total.dtype)
    return bind("select_n", (positive, nothing, _functions.divide(total, count)))


def _var(name, a, axis, dtype, ddof, keepdims, where, middle, correction):
    _check_options(name, where, None)
    a, result, ddof = _spread_operand(name, a, dtype, ddof, correction)
    axis = tuple(axis) if isinstance(axis, list) else axis
    if where is None:
        out = _spread(a, middle, axis=axis, ddof=ddof, keepdims=keepdims)
    else:
        out = _masked_spread(a, middle, axis, ddof, keepdims, where)
    if dtype is None and result.kind == "c":
        return out
    return _core.convert(out, inexact_dtype(result))  # also where integers are asked for


@in_one_program("axis", "dtype", "out", "ddof", "keepdims", "correction", at_once=True)
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
    """The variance of elements over `axis`: the mean squared distance from their mean.

    The sum of squares is divided by n - ddof, for n elements. Complex numbers give real variances.

    Args:
      a: an array of any shape, of numbers.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      dtype: of the result. None: that of `a`, or float32 for integers.
      out: must be None.
      ddof, correction: the number subtracted from n; one of the two at most. 1 makes the estimate
        unbiased.
      keepdims: whether reduced dimensions stay, with size 1.
      where: a boolean array that broadcasts to the shape of `a`: elements that count.
      mean: the mean where it is known already, in a shape that broadcasts to that of `a`.

    Returns:
      Real floats in the shape of `a` without the dimensions in `axis`; NaN where n <= ddof.

    Raises:
      ValueError: `dtype` is real and `a` complex, or both ddof and correction are given.

    Example:
      >>> x = jnp.array([[1.0, 3.0], [2.0, 6.0]])
      >>> jnp.var(x, axis=1)
      Array([1., 4.], dtype=float32)
      >>> jnp.var(x, axis=1, ddof=1)
      Array([2., 8.], dtype=float32)
    """
    refuse_out("var", out)
    return _var("var", a, axis, dtype, ddof, keepdims, where, mean, correction)


@in_one_program("axis", "dtype", "out", "ddof", "keepdims", "correction", at_once=True)
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
    """The standard deviation of elements over `axis`: the square root of `jnp.var`.

    Args:
      a: an array of any shape, of numbers.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      dtype: of the result. None: that of `a`, or float32 for integers.
      out: must be None.
      ddof, correction: the number subtracted from the number of elements; one of the two at most.
      keepdims: whether reduced dimensions stay, with size 1.
      where: a boolean array that broadcasts to the shape of `a`: elements that count.
      mean: the mean where it is known already, in a shape that broadcasts to that of `a`.

    Returns:
      Real floats in the shape of `a` without the dimensions in `axis`.

    Raises:
      ValueError: `dtype` is real and `a` complex, or both ddof and correction are given.

    Example:
      >>> jnp.std(jnp.array([[1.0, 3.0], [2.0, 6.0]]), axis=1)
      Array([1., 2.], dtype=float32)
    """
    refuse_out("std", out)
    return _functions.sqrt(_var("std", a, axis, dtype, ddof, keepdims, where, mean, correction))
