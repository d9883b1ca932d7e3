"""shardax/numpy/_sets.py - arrays as sets: sorted, and compared with their neighbours.

The number of distinct elements depends on the values. While tracing, `size` gives it: missing
elements are then filled up, and further ones left out.
"""

import operator
from typing import NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import concatenate, moveaxis, where
from shardax._base.arrays import (
    asarray,
    bind,
    canonical_axis,
    check_arraylike,
    in_one_program,
)
from shardax.errors import ConcretizationTypeError
from shardax.numpy._indexing.indices import nonzero
from shardax.numpy._sorting import argsort, lexsort, searchsorted, sort, zeros_like_int

_functions = _core.functions


def _size(name, mask, size):
    """`size`, or how many elements of the mask are true, which must then be known."""
    if size is not None:
        return operator.index(size)
    count = bind("reduce_sum", (mask.astype(np.int32),), axes=(0,))
    known = _core.concrete_array(count)
    if known is None:
        raise ConcretizationTypeError(
            count,
            f"How many elements jnp.{name}() gives depends on the values of its arguments. To make "
            f"jnp.{name}() compatible with JIT and other transforms, specify a concrete value for "
            "the size argument, which then is the number of elements.",
        )
    return int(known)


def _filled(values, count, fill):
    """Values after the first `count` replaced; by the first one where `fill` is None."""
    if values.shape[0] == 0:
        return values
    fill = values[0] if fill is None else asarray(fill).astype(values.dtype)
    valid = _functions.less(np.arange(values.shape[0]), count)
    return where(valid.reshape((-1,) + (1,) * (values.ndim - 1)), values, fill)


def _total(mask):
    return bind("reduce_sum", (mask.astype(np.int32),), axes=(0,))


def _is_known(mask, size):
    """True if as many elements are wanted as the mask, whose elements are known, has."""
    return size is None and mask.shape[0] > 0 and _core.concrete_array(mask) is not None


def _kept(name, values, mask, size, fill):
    """Values where the mask holds: all, or `size` of them, of which missing ones are filled."""
    if _is_known(mask, size):
        return values[nonzero(mask)[0]]
    size = _size(name, mask, size)
    if values.shape[0] == 0:
        return _core.full((size,), 0 if fill is None else fill, values.dtype)
    return _filled(values[nonzero(mask, size=size)[0]], _total(mask), fill)


def _differ(x, y, equal_nan):
    out = _functions.not_equal(x, y)
    if equal_nan and x.dtype.kind in "fcV":
        both = _functions.logical_and(_functions.isnan(x), _functions.isnan(y))
        out = _functions.logical_and(out, _functions.logical_not(both))
    return out


@in_one_program("equal_nan", at_once=True)
def _sorted_rows(rows, equal_nan):
    """The rows in order, their former places, and which differ from the one before."""
    flat = rows.reshape((rows.shape[0], int(np.prod(rows.shape[1:]))))
    columns = flat.shape[1]
    if columns == 1:
        order = argsort(flat[:, 0])
    elif columns == 0:
        order = asarray(np.arange(rows.shape[0]))
    else:
        order = lexsort(tuple(flat[:, c] for c in reversed(range(columns))))
    flat = flat[order]
    changed = _differ(flat[1:], flat[:-1], equal_nan)
    changed = bind("reduce_or", (changed,), axes=(1,))
    first = asarray(np.ones(min(rows.shape[0], 1), bool))
    return rows[order], order, concatenate([first, changed])


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    size=None,
    fill_value=None,
    sorted=True,
):
    """The distinct elements of an array, or its distinct slices along `axis`, in order.

    Args:
      ar: an array.
      return_index: whether to return the first place of each, int32.
      return_inverse: whether to return, for each element of `ar`, its place among the distinct
        ones.
      return_counts: whether to return how often each occurs.
      axis: None for the flattened array.
      equal_nan: whether NaN equals NaN.
      size: how many to return; needed while tracing.
      fill_value: what stands for those that are missing; the first one unless given.
      sorted: without effect; the result is in order, which NumPy leaves open for False.

    Returns:
      The distinct elements, or a tuple of them and the other requested arrays.

    Raises:
      ConcretizationTypeError: while tracing, unless `size` is given.
      ValueError: there is nothing to fill up with.

    Example:
      >>> jnp.unique(jnp.array([3, 1, 3]))
      Array([1, 3], dtype=int32)
      >>> jnp.unique(jnp.array([3, 1, 3]), size=3, return_counts=True)
      (Array([1, 3, 1], dtype=int32), Array([1, 2, 0], dtype=int32))
    """
    check_arraylike("unique", ar)
    ar = asarray(ar)
    rows = ar.reshape((-1,)) if axis is None else moveaxis(ar, canonical_axis(axis, ar.ndim), 0)
    if equal_nan and rows.dtype.kind == "c":  # in either part
        rows = where(_functions.isnan(rows), rows.dtype.type(np.nan), rows)
    n = rows.shape[0]
    if rows.ndim > 1 or return_index or return_inverse:
        ordered, order, mask = _sorted_rows(rows, equal_nan)
    else:
        ordered, mask = _sorted_values(rows, equal_nan)
    if _is_known(mask, size):
        starts = nonzero(mask)[0]
        size, values = starts.shape[0], ordered[starts]
    else:
        size = _size("unique", mask, size)
        if n == 0 and size and fill_value is None:
            raise ValueError(
                "jnp.unique: for zero-sized input with nonzero size argument, fill_value must be "
                f"specified; got shape {ar.shape} and size={size}."
            )
        starts = nonzero(mask, size=size, fill_value=0)[0]
        if n == 0:
            values = _core.full((size, *rows.shape[1:]), fill_value or 0, rows.dtype)
        else:
            values = _filled(ordered[starts], _total(mask), fill_value)
    outs = [values if axis is None else moveaxis(values, 0, axis)]
    if return_index:
        outs.append(order[starts] if n else starts)
    if return_inverse:
        rank = bind("cumsum", (mask.astype(order.dtype),), axis=0, reverse=False) - 1
        inverse = _core.full(order.shape, 0, order.dtype).at[order].set(rank)
        outs.append(inverse.reshape(ar.shape) if axis is None else inverse)
    if return_counts:
        ends = nonzero(mask, size=size + 1, fill_value=n)[0]
        outs.append(ends[1:] - ends[:-1])
    return outs[0] if len(outs) == 1 else tuple(outs)


class _UniqueAllResult(NamedTuple):
    values: object
    indices: object
    inverse_indices: object
    counts: object


class _UniqueCountsResult(NamedTuple):
    values: object
    counts: object


class _UniqueInverseResult(NamedTuple):
    values: object
    inverse_indices: object


def unique_all(x, /, *, size=None, fill_value=None):
    """The distinct elements, with all that `jnp.unique` knows of them; NaN are distinct.

    Args:
      x: an array.
      size, fill_value: as in `jnp.unique`.

    Returns:
      A named tuple: values, indices (of their first places), inverse_indices, counts.

    Example:
      >>> jnp.unique_all(jnp.array([3, 1, 3])).counts
      Array([1, 2], dtype=int32)
    """
    options = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return _UniqueAllResult(*unique(x, True, True, True, **options))


def unique_counts(x, /, *, size=None, fill_value=None):
    """The distinct elements and how often each occurs; NaN are distinct.

    Args:
      x: an array.
      size, fill_value: as in `jnp.unique`.

    Returns:
      A named tuple: values, counts.

    Example:
      >>> values, counts = jnp.unique_counts(jnp.array([3, 1, 3]))
      >>> values, counts
      (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    options = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return _UniqueCountsResult(*unique(x, return_counts=True, **options))


def unique_inverse(x, /, *, size=None, fill_value=None):
    """The distinct elements, and the place of each element among them; NaN are distinct.

    Args:
      x: an array.
      size, fill_value: as in `jnp.unique`.

    Returns:
      A named tuple: values, inverse_indices; values[inverse_indices] is `x`.

    Example:
      >>> values, inverse = jnp.unique_inverse(jnp.array([3, 1, 3]))
      >>> values[inverse]
      Array([3, 1, 3], dtype=int32)
    """
    options = {"equal_nan": False, "size": size, "fill_value": fill_value}
    return _UniqueInverseResult(*unique(x, return_inverse=True, **options))


def unique_values(x, /, *, size=None, fill_value=None):
    """The distinct elements in order; NaN are distinct.

    Args:
      x: an array.
      size, fill_value: as in `jnp.unique`.

    Example:
      >>> jnp.unique_values(jnp.array([3, 1, 3]))
      Array([1, 3], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


@in_one_program("equal_nan", at_once=True)
def _sorted_values(x, equal_nan):
    """The elements in order, and which differ from the one before."""
    ordered = sort(x)
    first = asarray(np.ones(min(x.shape[0], 1), bool))
    return ordered, concatenate([first, _differ(ordered[1:], ordered[:-1], equal_nan)])


def isin(element, test_elements, assume_unique=False, invert=False, *, method="auto"):
    """True for each element that is among the others.

    Args:
      element, test_elements: arrays.
      assume_unique: without effect; it allows NumPy a shorter way.
      invert: whether to return which elements are not.
      method: "compare_all" compares each with each; others ("binary_search", "sort") look elements
        up in a table; "auto" chooses by size.

    Returns:
      Booleans in the shape of `element`.

    Raises:
      ValueError: for another method.

    Example:
      >>> jnp.isin(jnp.array([1, 2, 3]), jnp.array([3, 1]))
      Array([ True, False,  True], dtype=bool)
    """
    check_arraylike("isin", element, test_elements)
    if method not in ("auto", "compare_all", "binary_search", "sort"):
        raise ValueError(
            f"{method=} is not implemented; options are 'compare_all', 'binary_search', 'sort', "
            "and 'auto'"
        )
    dtype = _core.result_type(element, test_elements)[0]
    element = asarray(element).astype(dtype)
    others = asarray(test_elements).ravel().astype(dtype)
    if others.shape[0] == 0:
        found = _core.full(element.shape, False, np.dtype(bool))
    elif method == "compare_all" or (method == "auto" and others.shape[0] < 16):
        found = _functions.equal(element[..., None], others.reshape((1,) * element.ndim + (-1,)))
        found = bind("reduce_or", (found,), axes=(found.ndim - 1,))
    else:
        found = bind("isin", (element, others))
    return _functions.logical_not(found) if invert else found


def _flat_pair(name, ar1, ar2):
    check_arraylike(name, ar1, ar2)
    dtype = _core.result_type(ar1, ar2)[0]
    return asarray(ar1).ravel().astype(dtype), asarray(ar2).ravel().astype(dtype)


def union1d(ar1, ar2, *, size=None, fill_value=None):
    """The distinct elements of both arrays, in order.

    Args:
      ar1, ar2: arrays, which are flattened.
      size, fill_value: as in `jnp.unique`.

    Example:
      >>> jnp.union1d(jnp.array([3, 1]), jnp.array([2, 1]))
      Array([1, 2, 3], dtype=int32)
    """
    check_arraylike("union1d", ar1, ar2)
    both = concatenate([asarray(ar1).ravel(), asarray(ar2).ravel()])
    return unique(both, size=size, fill_value=fill_value)


def _padded_unique(a, name, assume_unique, size):
    """The distinct elements in order, the first place of each, and how many there are.

    If `size` makes their number irrelevant, the largest one fills up the end.
    """
    if assume_unique:
        order = argsort(a)
        return a[order], order, np.int32(a.shape[0])
    ordered, order, mask = _sorted_rows(a, True)
    keep = nonzero(mask, size=a.shape[0] if size is not None else _size(name, mask, None))[0]
    count = _total(mask)
    return _filled(ordered[keep], count, ordered[-1]), order[keep], count


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False, *, size=None, fill_value=None):
    """The elements that both arrays have, in order.

    Args:
      ar1, ar2: arrays, which are flattened.
      assume_unique: says that neither has an element twice.
      return_indices: whether to return the first places in `ar1` and `ar2` as well.
      size, fill_value: as in `jnp.unique`. Missing places lie beyond the ends.

    Returns:
      A vector, or a tuple of it and two vectors of int32.

    Example:
      >>> jnp.intersect1d(jnp.array([1, 2, 3]), jnp.array([3, 1]))
      Array([1, 3], dtype=int32)
    """
    a, b = _flat_pair("intersect1d", ar1, ar2)
    if size is None and not return_indices:
        _size("intersect1d", _functions.equal(a, a), None)  # while tracing, an error
        both = sort(concatenate([a, b] if assume_unique else [unique(a), unique(b)]))
        return both[:-1][_functions.equal(both[1:], both[:-1])]
    if a.shape[0] == 0 or b.shape[0] == 0:
        shared = _core.full((a.shape[0],), False, np.dtype(bool))
        values, a_places, b_places, place = a, zeros_like_int(a), zeros_like_int(b), None
    else:
        values, a_places, a_count = _padded_unique(a, "intersect1d", assume_unique, size)
        others, b_places, _ = _padded_unique(b, "intersect1d", assume_unique, size)
        place = _functions.minimum(searchsorted(others, values), np.int32(others.shape[0] - 1))
        shared = _functions.logical_and(
            _functions.equal(others[place], values),
            _functions.less(np.arange(values.shape[0]), a_count),
        )
    size = _size("intersect1d", shared, size)
    count = _total(shared)
    keep = nonzero(shared, size=size)[0]
    if values.shape[0] == 0:
        out = _core.full((size,), 0 if fill_value is None else fill_value, values.dtype)
    else:
        out = _filled(values[keep], count, fill_value)
    if not return_indices:
        return out
    if place is None:
        return out, _core.full((size,), a.size, "int32"), _core.full((size,), b.size, "int32")
    return (
        out,
        _filled(a_places[keep], count, a.size),
        _filled(b_places[place[keep]], count, b.size),
    )


def setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """The elements of the first array that the second one lacks, in order.

    Args:
      ar1, ar2: arrays, which are flattened.
      assume_unique: elements stay as they stand in `ar1`, repeated or not.
      size: as in `jnp.unique`.
      fill_value: stands for missing ones; 0 unless given.

    Example:
      >>> jnp.setdiff1d(jnp.array([3, 1, 2]), jnp.array([1]))
      Array([2, 3], dtype=int32)
    """
    check_arraylike("setdiff1d", ar1, ar2)
    a = asarray(ar1).ravel()
    fill_value = 0 if fill_value is None else fill_value
    distinct = asarray(np.ones(a.shape[0], bool))
    if not assume_unique:
        a, distinct = _sorted_values(a, True)
    mask = _functions.logical_and(distinct, isin(a, ar2, invert=True))
    return _kept("setdiff1d", a, mask, size, fill_value)


def setxor1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """The elements that only one of the two arrays has, in order.

    Args:
      ar1, ar2: arrays, which are flattened.
      assume_unique: says that neither has an element twice.
      size, fill_value: as in `jnp.unique`.

    Example:
      >>> jnp.setxor1d(jnp.array([3, 1]), jnp.array([1, 2]))
      Array([2, 3], dtype=int32)
    """
    a, b = _flat_pair("setxor1d", ar1, ar2)
    if not assume_unique and size is None:
        a, b, assume_unique = unique(a), unique(b), True
    both = concatenate([a, b])
    if assume_unique:
        ordered, distinct = _sorted_values(both, True)
        alone = concatenate([distinct[1:], distinct[:1]])  # differs from the next one as well
    else:
        ordered, order, distinct = _sorted_rows(both, True)
        alone = concatenate([isin(a, b, invert=True), isin(b, a, invert=True)])[order]
    mask = _functions.logical_and(alone, distinct)
    return _kept("setxor1d", ordered, mask, size, fill_value)
