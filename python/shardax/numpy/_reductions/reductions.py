"""shardax/numpy/_reductions/reductions.py - sums, extrema, moments and what is made of them."""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where as select
from shardax._base.arrays import (
    another,
    asarray,
    bind,
    canonical_axes,
    check_arraylike,
    in_one_program,
    inexact_dtype,
    refuse_out,
    static_axis,
)
from shardax.dtypes import issubdtype

_functions = _core.functions


def _keep(result, shape, axes, keepdims):
    if not keepdims:
        return result
    return result.reshape(tuple(1 if d in axes else n for d, n in enumerate(shape)))


def _check_options(name, where, initial):
    """ValueError where a mask is not boolean or a start not a scalar."""
    if where is not None and _core.result_type(where)[0] != np.bool_:
        raise ValueError(
            f"jnp.{name}: where must be None or a boolean array; got dtype "
            f"{_core.result_type(where)[0]}."
        )
    if initial is not None and np.ndim(initial):
        raise ValueError(f"initial value must be a scalar. Got array of shape {np.shape(initial)}")


def _masked(a, where, fill):
    if where is None:
        return a
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
    _check_options(name, where, initial)
    a = asarray(a)
    if dtype is not None:
        a = a.astype(dtype)
    elif widen or a.dtype == np.bool_:
        a = _widened(a)
    if a.dtype == np.bool_:  # asked for by dtype=bool: whether any, or all, of them are true
        op = {"reduce_sum": "reduce_or", "reduce_prod": "reduce_and"}[op]
        combine = {"reduce_or": _functions.logical_or, "reduce_and": _functions.logical_and}[op]
    a = _masked(a, where, fill)
    axes = canonical_axes(axis, a.ndim)
    out = bind(op, (a,), axes=axes) if axes else another(a)
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


@static_axis("dtype", "keepdims", "promote_integers")
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
    """The sum of elements over `axis`.

    Floats of 16 bits are added up in float32 and rounded once.

    Args:
      a: an array of any shape, of numbers or booleans.
      axis: the dimension to sum over, an int or a tuple of them, negative from the end; None: all.
      dtype: of the sum and the result. None: that of `a`, but the default integer type for booleans
        and smaller integers.
      out: must be None.
      keepdims: whether summed dimensions stay, with size 1.
      initial: a number that is added to each sum.
      where: a boolean array that broadcasts to the shape of `a`; elements where it is False are
        left out.
      promote_integers: False keeps the dtype of small integers, which may overflow.

    Returns:
      The shape of `a` without the dimensions in `axis`. The sum of no elements is 0.

    Raises:
      ValueError: an axis is out of bounds or occurs twice, or `where` is not boolean.
      NotImplementedError: for `out`.

    Example:
      >>> x = jnp.arange(6).reshape(2, 3)
      >>> jnp.sum(x)
      Array(15, dtype=int32)
      >>> jnp.sum(x, axis=0)
      Array([3, 5, 7], dtype=int32)
      >>> jnp.sum(x, axis=1, keepdims=True, where=x > 1)
      Array([[ 2],
             [12]], dtype=int32)
    """
    refuse_out("sum", out)
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


@static_axis("dtype", "keepdims", "promote_integers")
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
    """The product of elements over `axis`.

    Args:
      a: an array of any shape, of numbers or booleans.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      dtype: of the product and the result. None: that of `a`, but the default integer type for
        booleans and smaller integers.
      out: must be None.
      keepdims: whether reduced dimensions stay, with size 1.
      initial: a number by which each product is multiplied.
      where: a boolean array that broadcasts to the shape of `a`; elements where it is False are
        left out.
      promote_integers: False keeps the dtype of small integers, which may overflow.

    Returns:
      The shape of `a` without the dimensions in `axis`. The product of no elements is 1.

    Raises:
      ValueError: an axis is out of bounds or occurs twice, or `where` is not boolean.
      NotImplementedError: for `out`.

    Example:
      >>> x = jnp.array([[1, 2], [3, 4]])
      >>> jnp.prod(x)
      Array(24, dtype=int32)
      >>> jnp.prod(x, axis=1)
      Array([ 2, 12], dtype=int32)
    """
    refuse_out("prod", out)
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


def _select(where, a, other):
    return select(where, a, _core.convert(asarray(other), a.dtype))


def _truth(op, name, a, axis, keepdims, where, fill):
    check_arraylike(name, a)
    _check_options(name, where, None)
    a = asarray(a)
    a = a if a.dtype == np.bool_ else _functions.not_equal(a, a.dtype.type(0))
    a = _masked(a, where, fill)
    axes = canonical_axes(axis, a.ndim)
    return _keep(
        _strong(bind(op, (a,), axes=axes) if axes else another(a)), a.shape, axes, keepdims
    )


@static_axis("keepdims")
def all(a, axis=None, out=None, keepdims=False, *, where=None):
    """True if all elements along `axis` are true; numbers are true where they are not 0.

    Args:
      a: an array of any shape and dtype.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      out: must be None.
      keepdims: whether reduced dimensions stay, with size 1.
      where: a boolean array that broadcasts to the shape of `a`: elements that count.

    Returns:
      Booleans in the shape of `a` without the dimensions in `axis`. True where there are no
      elements.

    Raises:
      ValueError: an axis is out of bounds, or `where` is not boolean.
      NotImplementedError: for `out`.

    Example:
      >>> x = jnp.array([[1, 0], [2, 3]])
      >>> jnp.all(x)
      Array(False, dtype=bool)
      >>> jnp.all(x, axis=1)
      Array([False,  True], dtype=bool)
    """
    refuse_out("all", out)
    return _truth("reduce_and", "all", a, axis, keepdims, where, True)


@static_axis("keepdims")
def any(a, axis=None, out=None, keepdims=False, *, where=None):
    """True if any element along `axis` is true; numbers are true where they are not 0.

    Args:
      a: an array of any shape and dtype.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      out: must be None.
      keepdims: whether reduced dimensions stay, with size 1.
      where: a boolean array that broadcasts to the shape of `a`: elements that count.

    Returns:
      Booleans in the shape of `a` without the dimensions in `axis`. False where there are no
      elements.

    Raises:
      ValueError: an axis is out of bounds, or `where` is not boolean.
      NotImplementedError: for `out`.

    Example:
      >>> x = jnp.array([[1, 0], [0, 0]])
      >>> jnp.any(x)
      Array(True, dtype=bool)
      >>> jnp.any(x, axis=1)
      Array([ True, False], dtype=bool)
    """
    refuse_out("any", out)
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
    if not issubdtype(a.dtype, np.inexact):
        dtype = inexact_dtype(a.dtype)
        return _core.convert(a, dtype), dtype
    return _strong(a), a.dtype


@in_one_program("axis", "keepdims", at_once=True)
def count_nonzero(a, axis=None, keepdims=False):
    """The number of elements over `axis` that are not 0.

    Args:
      a: an array of any shape and dtype.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      keepdims: whether reduced dimensions stay, with size 1.

    Returns:
      int32 (int64 under x64), in the shape of `a` without the dimensions in `axis`.

    Example:
      >>> jnp.count_nonzero(jnp.array([[1, 0, 2], [0, 0, 3]]), axis=1)
      Array([2, 1], dtype=int32)
    """
    check_arraylike("count_nonzero", a)
    a = asarray(a)
    return sum(
        _functions.not_equal(a, a.dtype.type(0)),
        axis,
        dtype=_core.canonical_dtype(int),
        keepdims=keepdims,
    )
