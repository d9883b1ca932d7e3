"""shardax/numpy/_reductions/extremes.py - the largest and smallest elements, and their
positions."""

import shardax._core as _core
from shardax._base.arrays import (
    another,
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    in_one_program,
    refuse_out,
    static_axis,
)
from shardax.numpy._reductions.reductions import _check_options, _keep, _select, _strong

_functions = _core.functions


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
