"""shardax/numpy/_reductions.py - sums, extrema, moments and what is made of them."""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where as select
from shardax._base.arrays import (
    another,
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
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


def _extremum(op, name, a, axis, keepdims, initial, where, combine):
    check_arraylike(name, a)
    _check_options(name, where, initial)
    a = asarray(a)
    axes = canonical_axes(axis, a.ndim)
    if initial is None:
        if where is not None:
            raise ValueError(
                f"reduction operation {name} does not have an identity, so to use a where mask one "
                "has to specify 'initial'"
            )
        if 0 in [a.shape[d] for d in axes]:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    a = a if where is None else _select(where, a, initial)
    out = bind(op, (a,), axes=axes) if axes else another(a)
    if initial is not None:
        out = combine(out, _core.convert(asarray(initial), a.dtype))
    return _keep(_strong(out), a.shape, axes, keepdims)


@static_axis("keepdims")
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The maximum of elements over `axis`; NaN where an element is NaN.

    Args:
      a: an array of any shape and dtype; complex numbers are ordered by real, then imaginary part.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      out: must be None.
      keepdims: whether reduced dimensions stay, with size 1.
      initial: a number below which no result lies; needed where there are no elements.
      where: a boolean array that broadcasts to the shape of `a`: elements that count. Needs
        `initial`.

    Returns:
      The shape of `a` without the dimensions in `axis`, of the dtype of `a`.

    Raises:
      ValueError: there are no elements, or `where` is given, and `initial` is not; or an axis is
        out of bounds.
      NotImplementedError: for `out`.

    Example:
      >>> x = jnp.array([[1, 5, 2], [4, 3, 6]])
      >>> jnp.max(x)
      Array(6, dtype=int32)
      >>> jnp.max(x, axis=1)
      Array([5, 6], dtype=int32)
      >>> jnp.max(x, axis=0, initial=4)
      Array([4, 5, 6], dtype=int32)
    """
    refuse_out("max", out)
    return _extremum("reduce_max", "max", a, axis, keepdims, initial, where, _functions.maximum)


@static_axis("keepdims")
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The minimum of elements over `axis`; NaN where an element is NaN.

    Args:
      a: an array of any shape and dtype; complex numbers are ordered by real, then imaginary part.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      out: must be None.
      keepdims: whether reduced dimensions stay, with size 1.
      initial: a number above which no result lies; needed where there are no elements.
      where: a boolean array that broadcasts to the shape of `a`: elements that count. Needs
        `initial`.

    Returns:
      The shape of `a` without the dimensions in `axis`, of the dtype of `a`.

    Raises:
      ValueError: there are no elements, or `where` is given, and `initial` is not; or an axis is
        out of bounds.
      NotImplementedError: for `out`.

    Example:
      >>> x = jnp.array([[1, 5, 2], [4, 3, 6]])
      >>> jnp.min(x)
      Array(1, dtype=int32)
      >>> jnp.min(x, axis=1)
      Array([1, 3], dtype=int32)
    """
    refuse_out("min", out)
    return _extremum("reduce_min", "min", a, axis, keepdims, initial, where, _functions.minimum)


def amax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """`jnp.max` by another name, with the same arguments.

    Example:
      >>> jnp.amax(jnp.array([[1, 5], [4, 3]]), axis=0)
      Array([4, 5], dtype=int32)
    """
    return max(a, axis, out, keepdims, initial, where)


def amin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """`jnp.min` by another name, with the same arguments.

    Example:
      >>> jnp.amin(jnp.array([[1, 5], [4, 3]]), axis=0)
      Array([1, 3], dtype=int32)
    """
    return min(a, axis, out, keepdims, initial, where)


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
    """Whether all elements along `axis` are true; numbers are true where they are not 0.

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
    """Whether any element along `axis` is true; numbers are true where they are not 0.

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


@in_one_program("axis", "out", "keepdims", at_once=True)
def ptp(a, axis=None, out=None, keepdims=False):
    """The range of elements over `axis`: maximum minus minimum ("peak to peak").

    Args:
      a: an array of any shape, of numbers.
      axis: the dimension, an int or a tuple of them, negative from the end; None: all.
      out: must be None.
      keepdims: whether reduced dimensions stay, with size 1.

    Returns:
      The shape of `a` without the dimensions in `axis`, of the dtype of `a`.

    Raises:
      ValueError: there are no elements, or an axis is out of bounds.

    Example:
      >>> jnp.ptp(jnp.array([[1, 5, 2], [4, 3, 9]]), axis=1)
      Array([4, 6], dtype=int32)
    """
    refuse_out("ptp", out)
    return _functions.subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


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


@in_one_program("axis", "out", "keepdims", at_once=True)
def argmax(a, axis=None, out=None, keepdims=None):
    """The index of the first maximum along `axis`, or of the first NaN where there is one.

    Args:
      a: an array of any shape and dtype.
      axis: the dimension, an int, negative from the end; None: the array is flattened first.
      out: must be None.
      keepdims: whether the dimension stays, with size 1.

    Returns:
      int32 (int64 under x64), in the shape of `a` without `axis`.

    Raises:
      ValueError: there are no elements along `axis`, or `axis` is out of bounds.

    Example:
      >>> x = jnp.array([[1, 5, 2], [4, 3, 6]])
      >>> jnp.argmax(x)
      Array(5, dtype=int32)
      >>> jnp.argmax(x, axis=1)
      Array([1, 2], dtype=int32)
    """
    refuse_out("argmax", out)
    return _arg("argmax", "argmax", a, axis, bool(keepdims))


@in_one_program("axis", "out", "keepdims", at_once=True)
def argmin(a, axis=None, out=None, keepdims=None):
    """The index of the first minimum along `axis`, or of the first NaN where there is one.

    Args:
      a: an array of any shape and dtype.
      axis: the dimension, an int, negative from the end; None: the array is flattened first.
      out: must be None.
      keepdims: whether the dimension stays, with size 1.

    Returns:
      int32 (int64 under x64), in the shape of `a` without `axis`.

    Raises:
      ValueError: there are no elements along `axis`, or `axis` is out of bounds.

    Example:
      >>> x = jnp.array([[1, 5, 2], [4, 3, 6]])
      >>> jnp.argmin(x)
      Array(0, dtype=int32)
      >>> jnp.argmin(x, axis=1)
      Array([0, 1], dtype=int32)
    """
    refuse_out("argmin", out)
    return _arg("argmin", "argmin", a, axis, bool(keepdims))
