# shardax/numpy/_sets.py - arrays as sets.
import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    bind,
    check_arraylike,
)
from shardax.numpy._counting import bincount
from shardax.numpy._indices import _known, nonzero
from shardax.numpy._sorting import argsort, zeros_like_int
from shardax.numpy._where import where

_functions = _core.functions


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
    """The distinct elements in order.

    The size of the result depends on the values: under jit, give `size`.
    """
    check_arraylike("unique", ar)
    a = asarray(ar)
    known = (
        _known(a, "unique", "pass size=..., outside of jit")
        if size is None or _core.is_concrete(a)
        else None
    )
    if known is None:
        return _unique_sized(a, return_index, return_inverse, return_counts, size, fill_value)
    outs = np.unique(
        known,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
        equal_nan=equal_nan,
    )
    values, index, inverse, counts = outs
    if size is not None:
        n = len(values)
        fill = values.min(axis=0) if fill_value is None and n else fill_value
        extra = max(size - n, 0)
        values = np.concatenate(
            [values[:size], np.full((extra,) + values.shape[1:], fill, values.dtype)]
        )
        index = np.concatenate([index[:size], np.full(extra, index[0] if n else 0)])
        counts = np.concatenate([counts[:size], np.zeros(extra, counts.dtype)])
    out = [asarray(values)]
    for wanted, part in ((return_index, index), (return_inverse, inverse), (return_counts, counts)):
        if wanted:
            out.append(asarray(part.astype(np.int32)))
    return out[0] if len(out) == 1 else tuple(out)


def _unique_sized(a, return_index, return_inverse, return_counts, size, fill_value):
    a = a.reshape((-1,))
    order = argsort(a)
    ordered = a[order]
    first = _functions.not_equal(ordered[1:], ordered[:-1])
    from shardax.numpy._join import concatenate

    first = concatenate([asarray(np.array([True])), first])
    group = bind("cumsum", (first.astype(np.int32),), axis=0, reverse=False) - 1
    starts = nonzero(first, size=size, fill_value=0)[0]
    count = group[-1] + 1
    valid = _functions.less(np.arange(size), count)
    fill = ordered[0] if fill_value is None else a.dtype.type(fill_value)
    out = [where(valid, ordered[starts], fill)]
    if return_index:
        out.append(order[starts])
    if return_inverse:
        out.append(zeros_like_int(a).at[order].set(group))
    if return_counts:
        out.append(bincount(group, length=size))
    return out[0] if len(out) == 1 else tuple(out)


def unique_values(x, /, *, size=None, fill_value=None):
    """unique."""
    return unique(x, size=size, fill_value=fill_value)


def isin(element, test_elements, assume_unique=False, invert=False):
    """Whether each element is among the others."""
    element, tests = asarray(element), asarray(test_elements).ravel()
    found = _functions.equal(element[..., None], tests)
    found = bind("reduce_or", (found,), axes=(found.ndim - 1,))
    return _functions.logical_not(found) if invert else found


def union1d(ar1, ar2, *, size=None, fill_value=None):
    """The distinct elements of both."""
    from shardax.numpy._join import concatenate

    return unique(
        concatenate([asarray(ar1).ravel(), asarray(ar2).ravel()]), size=size, fill_value=fill_value
    )


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The elements that both have."""
    return asarray(
        np.intersect1d(
            _known(asarray(ar1), "intersect1d", "call it outside of jit"),
            _known(asarray(ar2), "intersect1d", "call it outside of jit"),
        )
    )


def setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """The elements of the first that the second lacks."""
    return asarray(
        np.setdiff1d(
            _known(asarray(ar1), "setdiff1d", "call it outside of jit"),
            _known(asarray(ar2), "setdiff1d", "call it outside of jit"),
        )
    )
