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
    """The sum over `axis` (None: all; an int; a tuple). Small integers and bool add up as int32.

    >>> sum(arange(4))
    Array(6, dtype=int32)
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
    """The product over `axis`."""
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
    """The maximum over `axis`; NaN where there is one."""
    refuse_out("max", out)
    return _extremum("reduce_max", "max", a, axis, keepdims, initial, where, _functions.maximum)


@static_axis("keepdims")
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The minimum over `axis`; NaN where there is one."""
    refuse_out("min", out)
    return _extremum("reduce_min", "min", a, axis, keepdims, initial, where, _functions.minimum)


def amax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """`max` by another name."""
    return max(a, axis, out, keepdims, initial, where)


def amin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """`min` by another name."""
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
    """Whether all elements along `axis` are true."""
    refuse_out("all", out)
    return _truth("reduce_and", "all", a, axis, keepdims, where, True)


@static_axis("keepdims")
def any(a, axis=None, out=None, keepdims=False, *, where=None):
    """Whether any element along `axis` is true."""
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
    """max - min over `axis`."""
    refuse_out("ptp", out)
    return _functions.subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


@in_one_program("axis", "keepdims", at_once=True)
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


@in_one_program("axis", "out", "keepdims", at_once=True)
def argmax(a, axis=None, out=None, keepdims=None):
    """The index of the first maximum (or NaN) along `axis` (None: in the flattened array), int32
    (int64 under x64).
    """
    refuse_out("argmax", out)
    return _arg("argmax", "argmax", a, axis, bool(keepdims))


@in_one_program("axis", "out", "keepdims", at_once=True)
def argmin(a, axis=None, out=None, keepdims=None):
    """The index of the first minimum (or NaN) along `axis` (None: in the flattened array), int32
    (int64 under x64).
    """
    refuse_out("argmin", out)
    return _arg("argmin", "argmin", a, axis, bool(keepdims))
