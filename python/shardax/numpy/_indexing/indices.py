# shardax/numpy/_indexing/indices.py - positions of elements, as indices.
import math
import operator

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import stack, where
from shardax._base.arrays import (
    another,
    asarray,
    bind,
    check_arraylike,
    check_places,
    in_one_program,
    known,
    refuse_out,
    result_type,
    wrapped,
)
from shardax.numpy._elementwise.rounding import clip
from shardax.numpy._indexing.select import take

_functions = _core.functions


def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None):
    """The slices along `axis` where a condition holds.

    Args:
      condition: a vector of booleans or numbers.
      a: an array.
      axis: the dimension; None: the array is flattened first.
      size: how many slices to return, needed within jit.
      fill_value: the elements of slices that are missing.
      out: must be None.

    Raises:
      ValueError: `condition` is not a vector.

    Example:
      >>> jnp.compress(jnp.array([True, False, True]), jnp.array([[1, 2, 3], [4, 5, 6]]), axis=1)
      Array([[1, 3],
             [4, 6]], dtype=int32)
    """
    refuse_out("compress", out)
    check_arraylike("compress", condition, a)
    a, condition = asarray(a), asarray(condition)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    if condition.ndim != 1:
        raise ValueError(f"condition must be a 1D array, got shape {condition.shape}.")
    if size is None:
        kept = nonzero(condition)[0]
        if condition.shape[0] > a.shape[axis] and kept.size and int(kept[-1]) >= a.shape[axis]:
            raise ValueError(
                f"compress: the condition holds at index {int(kept[-1])}, which is out of bounds "
                f"for axis {axis} of size {a.shape[axis]}."
            )
        return take(a, kept, axis=axis)
    if not 0 <= size <= a.shape[axis]:
        raise ValueError(
            "size must be positive and not greater than the size of the array axis; got "
            f"{size=} for a.shape[axis]={a.shape[axis]}"
        )
    place = nonzero(condition, size=size, fill_value=condition.shape[0])[0]
    shape = (-1,) + (1,) * (a.ndim - 1 - axis % a.ndim)
    found = _functions.less(place, condition.shape[0]).reshape(shape)
    return where(found, take(a, clip(place, 0, a.shape[axis] - 1), axis=axis), fill_value)


def extract(condition, arr, *, size=None, fill_value=0):
    """The elements where a condition holds, as a vector.

    Args:
      condition: an array of as many elements as `arr`.
      arr: an array.
      size: how many elements to return, needed within jit.
      fill_value: stands for those that are missing.

    Example:
      >>> x = jnp.array([[1, 2], [3, 4]])
      >>> jnp.extract(x > 1, x)
      Array([2, 3, 4], dtype=int32)
    """
    check_arraylike("extract", condition, arr)
    return compress(
        asarray(condition).ravel(), asarray(arr).ravel(), size=size, fill_value=fill_value
    )


@in_one_program()
def _count(mask):
    return bind("reduce_sum", (mask.astype(_core.canonical_dtype(int)),), axes=(0,))


def nonzero(a, *, size=None, fill_value=None):
    """The indices of the elements that are not 0, row by row.

    Args:
      a: an array of any dtype.
      size: how many indices to return; needed within jit, where the number must be known.
      fill_value: an index, or one for each dimension, that stands for those that are missing; None:
        0.

    Returns:
      A tuple of int32 vectors, one for each dimension.

    Raises:
      ConcretizationTypeError: `a` is traced, without `size`.

    Example:
      >>> x = jnp.array([[1, 0], [2, 3]])
      >>> jnp.nonzero(x)
      (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
      >>> jnp.nonzero(x, size=4, fill_value=-1)
      (Array([ 0,  1,  1, -1], dtype=int32), Array([ 0,  0,  1, -1], dtype=int32))
    """
    check_arraylike("nonzero", a)
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use jnp.atleast_1d(scalar).nonzero() "
            "instead."
        )
    check_places("nonzero", a.size)
    mask = a if a.dtype == np.bool_ else _functions.not_equal(a, a.dtype.type(0))
    flat = mask.reshape((-1,))
    full = size is None
    if full:
        known(
            a,
            "The size argument of jnp.nonzero must be statically specified to use "
            "jnp.nonzero within JAX transformations.",
            "",
        )
        size = int(_count(flat))
    dtype = _core.canonical_dtype(int)
    flat_index = bind("nonzero", (flat,), size=operator.index(size), index_dtype=np.dtype(dtype))
    if a.ndim == 1 and full:
        return (flat_index.astype(dtype),)
    out = []
    valid = _functions.less(flat_index, np.dtype(dtype).type(flat.shape[0]))
    strides = np.cumprod((1,) + a.shape[:0:-1])[::-1]
    if not isinstance(fill_value, tuple):
        fill_value = (0 if fill_value is None else fill_value,) * a.ndim
    for n, stride, fill in zip(a.shape, strides.tolist(), fill_value):
        index = _functions.remainder(_functions.floor_divide(flat_index, stride), max(n, 1))
        out.append(where(valid, index.astype(dtype), asarray(fill, dtype)))
    return tuple(out)


def flatnonzero(a, *, size=None, fill_value=None):
    """The indices of elements of the flattened array that are not 0; arguments as of `jnp.nonzero`.

    Example:
      >>> jnp.flatnonzero(jnp.array([[1, 0], [2, 3]]))
      Array([0, 2, 3], dtype=int32)
    """
    check_arraylike("flatnonzero", a)
    return nonzero(asarray(a).ravel(), size=size, fill_value=fill_value)[0]


def argwhere(a, *, size=None, fill_value=None):
    """The indices of the elements that are not 0, a row each; arguments as of `jnp.nonzero`.

    Returns:
      int32 of shape (number of elements, a.ndim).

    Example:
      >>> jnp.argwhere(jnp.array([[1, 0], [2, 3]]))
      Array([[0, 0],
             [1, 0],
             [1, 1]], dtype=int32)
    """
    check_arraylike("argwhere", a)
    a = asarray(a)
    if a.ndim == 0:  # rows without elements
        return argwhere(a.reshape((1,)), size=size, fill_value=fill_value)[:, :0]
    return stack(nonzero(a, size=size, fill_value=fill_value), axis=1)


@in_one_program("shape", at_once=True)
def unravel_index(indices, shape):
    """Indices into a flattened array as indices for each dimension.

    Args:
      indices: integers of any shape; those out of bounds are clipped.
      shape: the shape of the array.

    Returns:
      A tuple of integer arrays of the shape of `indices`.

    Example:
      >>> jnp.unravel_index(jnp.array([1, 5]), (2, 3))
      (Array([0, 1], dtype=int32), Array([1, 2], dtype=int32))
    """
    indices = asarray(indices)
    one = getattr(shape, "ndim", 1) == 0 or not hasattr(shape, "__iter__")
    shape = (shape,) if one else tuple(shape)
    total = math.prod(shape)  # sizes may be arrays
    indices = where(indices < 0, indices + total, indices)
    indices = clip(indices, 0, total - 1)
    out = []
    for n in reversed(shape):
        out.append(_functions.remainder(indices, n))
        indices = _functions.floor_divide(indices, n)
    return tuple(reversed(out))


def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, dtype=None):
    """Indices for each dimension as indices into the flattened array.

    Args:
      multi_index: an array of integers for each dimension; they broadcast.
      dims: the size of each dimension.
      mode: what becomes of indices out of bounds: "raise" (which needs their values), "wrap",
        "clip" or "ignore".
      order: "C": the last dimension varies fastest; "F": the first one does.
      dtype: an integer type, of the result; that of the indices unless given.

    Returns:
      Integers of the broadcast shape.

    Raises:
      ValueError: for other modes and orders, types that are too small, and indices out of bounds.

    Example:
      >>> jnp.ravel_multi_index((1, 2), (3, 4))
      Array(6, dtype=int32)
    """
    if len(multi_index) != len(dims):
        raise ValueError(f"len(multi_index)={len(multi_index)} != len(dims)={len(dims)}")
    dims = tuple(map(operator.index, dims))
    check_arraylike("ravel_multi_index", *multi_index)
    indices = [asarray(index) for index in multi_index]
    dtype = result_type(*indices) if dtype is None else _core.requested_dtype(dtype, "dtype")
    for kind in (dtype, *(index.dtype for index in indices)):
        if kind.kind not in "iu":
            raise ValueError(f"dtype={kind!r} is not an integer type.")
    if math.prod(dims) - 1 > np.iinfo(dtype).max:
        raise ValueError(
            f"jnp.ravel_multi_index: {dtype=} not large enough to hold flattened index for "
            f"{dims=}. Use the dtype argument to pass a suitable dtype (e.g. "
            "dtype=np.min_scalar_type(prod(dims)))."
        )
    if mode == "raise":
        for index, n in zip(indices, dims):
            known(
                index,
                "The error occurred because ravel_multi_index was jit-compiled with mode='raise'. "
                "Use mode='wrap' or mode='clip' instead.",
                "",
            )
            if bool(((index < 0) | (index >= n)).any()):
                raise ValueError("invalid entry in coordinates array")
    elif mode == "clip":
        indices = [clip(index, 0, n - 1) for index, n in zip(indices, dims)]
    elif mode == "wrap":
        indices = [_functions.remainder(index, n) for index, n in zip(indices, dims)]
    elif mode != "ignore":
        raise ValueError(f"invalid {mode=}. Expected 'raise', 'wrap', 'clip', or 'ignore'.")
    if order not in ("C", "F"):
        raise ValueError(f"invalid {order=}. Expected 'C' or 'F'")
    if order == "F":
        indices, dims = indices[::-1], dims[::-1]
    shape = _core.broadcast_shapes(*(index.shape for index in indices)) if indices else ()
    out = _core.full(shape, 0, dtype)
    for index, n in zip(indices, dims):
        index = _core.broadcast_to(_core.convert(index, dtype), shape)
        out = _functions.add(_functions.multiply(out, wrapped(n, dtype)), index)
    return out


def ix_(*args):
    """Vectors of indices shaped so that together they index a grid.

    Args:
      *args: vectors of integers, or of booleans, which stand for the places that are True.

    Returns:
      A tuple of arrays; vector i runs along dimension i, the other sizes are 1.

    Raises:
      ValueError: an argument is not a vector.

    Example:
      >>> x = jnp.arange(12).reshape(3, 4)
      >>> x[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 3]))]
      Array([[ 1,  3],
             [ 9, 11]], dtype=int32)
    """
    vectors = [asarray(a) for a in args]
    for a in vectors:
        if a.ndim != 1:
            raise ValueError(
                f"jnp.ix_: arguments must be 1-dimensional; got one of shape {a.shape}."
            )
    vectors = [nonzero(a)[0] if a.dtype == np.bool_ else a for a in vectors]
    return tuple(
        another(a.reshape((1,) * i + (-1,) + (1,) * (len(args) - i - 1)))
        for i, a in enumerate(vectors)
    )


def diag_indices(n, ndim=2):
    """The indices of the main diagonal of an array of `ndim` dimensions of size `n`.

    Returns:
      A tuple of `ndim` int32 vectors.

    Raises:
      ValueError: `n` or `ndim` is negative.

    Example:
      >>> jnp.diag_indices(3)
      (Array([0, 1, 2], dtype=int32), Array([0, 1, 2], dtype=int32))
    """
    for name, value in (("n", n), ("ndim", ndim)):
        if value < 0:
            raise ValueError(f"jnp.diag_indices: {name} must be nonnegative; got {value}.")
    return (asarray(np.arange(n)),) * ndim
