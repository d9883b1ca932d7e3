# shardax/numpy/_sorting.py - sorting and searching.

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import select, where
from shardax._base.arrays import (
    asarray,
    bind,
    canonical_axis,
    check_arraylike,
    check_places,
    in_one_program,
    inexact_dtype,
    known,
    result_type,
    static_jit,
)

_functions = _core.functions


def _refuse_kind(function, kind, order):
    """TypeError for NumPy's names of algorithms and of fields."""
    if kind is not None:
        raise TypeError(
            f"'kind' argument to {function} is not supported. Use stable=True or stable=False to "
            "specify sort stability."
        )
    if order is not None:
        raise TypeError(
            f"'order' argument to {function} is not supported: arrays have no fields to order by."
        )


@in_one_program("axis", "kind", "order", "stable", "descending", at_once=True)
def sort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False):
    """Elements in ascending order along `axis`; NaN last.

    Complex numbers are ordered by real, then imaginary part.

    Args:
      a: an array of any shape and dtype.
      axis: the dimension, an int; None: the array is flattened first.
      kind, order: must be None: NumPy's names of algorithms and fields.
      stable: whether equal elements keep their order.
      descending: whether to return the reverse order.

    Returns:
      The shape of `a` (a vector where `axis` is None), of its dtype.

    Raises:
      TypeError: for another `kind` or `order` than None.
      ValueError: `axis` is out of bounds.

    Example:
      >>> x = jnp.array([[3, 1, 2], [6, 5, 4]])
      >>> jnp.sort(x)
      Array([[1, 2, 3],
             [4, 5, 6]], dtype=int32)
      >>> jnp.sort(x, axis=None, descending=True)
      Array([6, 5, 4, 3, 2, 1], dtype=int32)
    """
    _refuse_kind("sort", kind, order)
    check_arraylike("sort", a)
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    out = bind("sort", (a,), dimension=axis, is_stable=stable, num_keys=1)
    return bind("rev", (out,), dimensions=(axis,)) if descending else out


@in_one_program("axis", "kind", "order", "stable", "descending", "dtype", at_once=True)
def argsort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False, dtype=None):
    """The indices that sort an array along `axis`: those of equal elements ascend.

    Args:
      a: an array of any shape and dtype.
      axis: the dimension, an int; None: the array is flattened first.
      kind, order: must be None: NumPy's names of algorithms and fields.
      stable: whether indices of equal elements keep their order.
      descending: whether to sort in descending order.
      dtype: the integer type of the result; None: int32 (int64 under x64).

    Returns:
      Indices in the shape of `a`, a vector where `axis` is None. `jnp.take_along_axis(a, result,
      axis)` is sorted.

    Raises:
      TypeError: for another `kind` or `order` than None.
      ValueError: `axis` is out of bounds.

    Example:
      >>> x = jnp.array([30, 10, 20])
      >>> jnp.argsort(x)
      Array([1, 2, 0], dtype=int32)
      >>> x[jnp.argsort(x, descending=True)]
      Array([30, 20, 10], dtype=int32)
    """
    _refuse_kind("argsort", kind, order)
    check_arraylike("argsort", a)
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    dtype = _core.requested_dtype(int if dtype is None else dtype, "argsort")
    check_places("argsort", a.shape[axis], dtype)
    places = bind("iota", (), dtype=dtype, shape=a.shape, dimension=axis)
    if descending:
        a, places = (bind("rev", (x,), dimensions=(axis,)) for x in (a, places))
        out = bind("sort", (a, places), dimension=axis, is_stable=stable, num_keys=1)[1]
        return bind("rev", (out,), dimensions=(axis,))
    return bind("sort", (a, places), dimension=axis, is_stable=stable, num_keys=1)[1]


@in_one_program("axis", at_once=True)
def lexsort(keys, axis=-1):
    """The indices that sort by several keys: by the last one, then, where it ties, by the one
    before.

    Args:
      keys: a sequence of arrays of one shape, or an array whose slices along dimension 0 are the
        keys.
      axis: the dimension to sort along, an int.

    Returns:
      int32 indices (int64 under x64) in the shape of a key.

    Raises:
      TypeError: there is no key.
      ValueError: keys have different shapes, or `axis` is out of bounds.

    Example:
      >>> last, first = jnp.array([1, 0, 1, 0]), jnp.array([4, 3, 2, 1])
      >>> jnp.lexsort((first, last))
      Array([3, 1, 2, 0], dtype=int32)
    """
    keys = tuple(keys)
    check_arraylike("lexsort", *keys)
    keys = [asarray(k) for k in keys]
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if len({k.shape for k in keys}) > 1:
        raise ValueError("all keys need to be the same shape")
    if keys[0].ndim == 0:
        return asarray(0, _core.canonical_dtype(int))
    axis = canonical_axis(axis, keys[0].ndim)
    check_places("lexsort", keys[0].shape[axis])
    places = bind("iota", (), dtype=_core.canonical_dtype(int), shape=keys[0].shape, dimension=axis)
    return bind("sort", (*keys[::-1], places), dimension=axis, is_stable=True, num_keys=len(keys))[
        -1
    ]


def partition(a, kth, axis=-1):
    """An array split by its kth element along `axis`: no greater element before it, no smaller one
    behind.

    Elements before it ascend, those behind it descend.

    Args:
      a: an array of one dimension or more.
      kth: an int, negative from the end: the index where the element of that rank lies.
      axis: the dimension, an int.

    Returns:
      The shape and dtype of `a`.

    Raises:
      ValueError: `kth` or `axis` is out of bounds.

    Example:
      >>> jnp.partition(jnp.array([5, 1, 4, 2, 3]), 2)
      Array([1, 2, 3, 5, 4], dtype=int32)
    """
    check_arraylike("partition", a, kth)
    a = asarray(a)
    return _partition(a, *_split_at("partition", a, kth, axis))


def argpartition(a, kth, axis=-1):
    """The indices that split an array by its kth element along `axis`, as `jnp.partition` does.

    Indices of larger elements ascend.

    Args:
      a: an array of one dimension or more.
      kth: an int, negative from the end: the index where the element of that rank lies.
      axis: the dimension, an int.

    Returns:
      int32 indices in the shape of `a`.

    Raises:
      ValueError: `kth` or `axis` is out of bounds.

    Example:
      >>> x = jnp.array([5, 1, 4, 2, 3])
      >>> i = jnp.argpartition(x, 2)
      >>> i, x[i][:3]
      (Array([1, 3, 4, 0, 2], dtype=int32), Array([1, 2, 3], dtype=int32))
    """
    check_arraylike("argpartition", a, kth)
    a = asarray(a)
    return _argpartition(a, *_split_at("argpartition", a, kth, axis))


@in_one_program("count", "axis", at_once=True)
def _partition(a, count, axis):
    low, high = _halves(sort(a, axis), count, axis)
    return bind("concatenate", (low, bind("rev", (high,), dimensions=(axis,))), dimension=axis)


@in_one_program("count", "axis", at_once=True)
def _argpartition(a, count, axis):
    low, high = _halves(argsort(a, axis, dtype=np.int32), count, axis)
    return bind("concatenate", (low, sort(high, axis)), dimension=axis)


def _split_at(name, a, kth, axis):
    """The number of elements of the first part, and the axis from 0."""
    axis = canonical_axis(axis, a.ndim)
    kth = canonical_axis(known(kth, f"It is argument 'kth' of jnp.{name}."), a.shape[axis])
    return kth + 1, axis


def _halves(ordered, count, axis):
    whole = (slice(None),) * axis
    return ordered[(*whole, slice(count))], ordered[(*whole, slice(count, None))]


@in_one_program("side", "method", at_once=True)
def searchsorted(a, v, side="left", sorter=None, *, method="scan"):
    """The positions in a sorted vector at which elements keep it sorted.

    Args:
      a: a vector in ascending order.
      v: the elements to insert, of any shape.
      side: "left": position i with a[i-1] < v <= a[i]; "right": with a[i-1] <= v < a[i].
      sorter: indices that sort `a` where it is in another order.
      method: "scan", "scan_unrolled", "sort" or "compare_all". These choose between programs of
        XLA; the result is the same, and computed in the same way.

    Returns:
      int32 in the shape of `v`; int64 where positions need it, for which x64 must be enabled.

    Raises:
      ValueError: for another `side` or `method`.

    Example:
      >>> a = jnp.array([1, 2, 2, 3])
      >>> jnp.searchsorted(a, jnp.array([0, 2, 4]))
      Array([0, 1, 4], dtype=int32)
      >>> jnp.searchsorted(a, 2, side="right")
      Array(3, dtype=int32)
    """
    _check_method(method)
    check_arraylike("searchsorted", a, v)
    if side not in ("left", "right"):
        raise ValueError(
            f"{side!r} is an invalid value for keyword 'side'. Expected one of ['left', 'right']."
        )
    a, v = asarray(a), asarray(v)
    if a.ndim != 1:
        raise ValueError("a should be 1-dimensional")
    check_places("searchsorted", a.shape[0])
    if sorter is not None:
        a = a[sorter]
    dtype = result_type(a, v)
    return _searchsorted(_core.convert(a, dtype), _core.convert(v, dtype), right=side == "right")


_METHODS = ["compare_all", "scan", "scan_unrolled", "sort"]


def _check_method(method):
    if method not in _METHODS:
        raise ValueError(f"invalid argument {method=}, expected one of {_METHODS}")


@static_jit("right")
def _searchsorted(a, v, right):
    n = a.shape[0]
    index = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    low = _core.broadcast_to(asarray(index(0)), v.shape)
    if n == 0:
        return low
    # Bisection with all elements of v at once: the answer grows by halves of the range.
    step = 1 << (n.bit_length() - 1)
    while step:
        probe = _functions.add(low, index(step))
        inside = _functions.less_equal(probe, index(n))
        value = a.at[_functions.subtract(_functions.minimum(probe, index(n)), index(1))].get(
            mode="promise_in_bounds"
        )
        before = _functions.less_equal(value, v) if right else _functions.less(value, v)
        if a.dtype.kind in "fV":
            nan = _functions.isnan(v)
            before = _functions.logical_or(
                before, _functions.logical_and(nan, _functions.logical_not(_functions.isnan(value)))
            )
            if right:
                before = _functions.logical_or(before, nan)
        low = select(_functions.logical_and(inside, before), probe, low)
        step //= 2
    return low


@in_one_program("right", "method", at_once=True)
def digitize(x, bins, right=False, *, method=None):
    """The bin that each element falls into: i where bins[i-1] <= x < bins[i].

    Args:
      x: an array of any shape, of real numbers.
      bins: a vector of edges, in ascending or descending order.
      right: whether bins contain their right edge in place of the left one.
      method: as in `jnp.searchsorted`.

    Returns:
      int32 in the shape of `x`, from 0 (below all edges) to len(bins) (beyond all).

    Raises:
      ValueError: `bins` is not a vector.

    Example:
      >>> jnp.digitize(jnp.array([0.5, 1.0, 2.5]), jnp.array([0.0, 1.0, 2.0]))
      Array([1, 2, 3], dtype=int32)
    """
    method = "scan" if method is None else method
    _check_method(method)
    check_arraylike("digitize", x, bins)
    bins = asarray(bins)
    if bins.shape[0] == 0:
        return zeros_like_int(x)
    side = "left" if right else "right"
    up = searchsorted(bins, x, side=side, method=method)
    down = _functions.subtract(bins.shape[0], searchsorted(bins[::-1], x, side=side, method=method))
    return where(_functions.greater_equal(bins[-1], bins[0]), up, down).astype(np.int32)


def zeros_like_int(x):
    return _core.broadcast_to(asarray(np.int32(0)), np.shape(x))


def sort_complex(a):
    """Elements sorted along the last axis, by real, then imaginary part, as complex numbers.

    Args:
      a: an array of numbers, of one dimension or more.

    Returns:
      The shape of `a`; complex64, or complex128 for 64-bit numbers.

    Example:
      >>> jnp.sort_complex(jnp.array([2 + 1j, 1 + 3j, 1 + 2j]))
      Array([1.+2.j, 1.+3.j, 2.+1.j], dtype=complex64)
    """
    check_arraylike("sort_complex", a)
    a = sort(asarray(a), axis=0) if np.ndim(a) == 1 else sort(asarray(a))
    dtype = np.result_type(inexact_dtype(a.dtype), np.complex64)
    return _core.convert(a, _core.canonical_dtype(dtype))
