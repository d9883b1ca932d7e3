"""shardax/experimental/sparse/_slices.py - windows of BCOO arrays."""

import math
import operator

from shardax import lax
from shardax import numpy as jnp
from shardax.experimental.sparse.bcoo import BCOO, bcoo_sum_duplicates, full_batches


def _window(mat, data, indices, starts, sizes, strides):
    """Elements of the sparse dimensions that lie in a window, at their places in it."""
    _nb, _ns = mat.n_batch, mat.n_sparse
    places = indices - starts
    strides = jnp.array(strides, indices.dtype)
    sizes = jnp.array(sizes, indices.dtype)
    ends = sizes * strides
    keep = ((places >= 0) & (places < ends) & (places % strides == 0)).all(-1, keepdims=True)
    indices = jnp.where(keep, places // strides, sizes)
    keep = keep[..., 0].reshape(*keep.shape[:-1], *[1] * mat.n_dense)
    return jnp.where(keep, data, 0), indices


def bcoo_slice(mat, *, start_indices, limit_indices, strides=None):
    """lax.slice of a BCOO array.

    Args:
      mat: a BCOO array.
      start_indices, limit_indices: where the slice begins and ends in each dimension.
      strides: the steps (None: 1 in each).

    Raises:
      TypeError: `mat` is no BCOO array.
      ValueError: for indices beyond the array, another number of them, or strides below 1.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.bcoo_slice(M, start_indices=(0, 1), limit_indices=(2, 2)).todense()
      Array([[2.],
             [0.]], dtype=float32)
    """
    if not isinstance(mat, BCOO):
        raise TypeError(f"bcoo_slice: input should be BCOO array, got type(mat)={type(mat)}")
    start_indices = [operator.index(i) for i in start_indices]
    limit_indices = [operator.index(i) for i in limit_indices]
    strides = [1] * mat.ndim if strides is None else [operator.index(i) for i in strides]
    if not len(start_indices) == len(limit_indices) == mat.ndim:
        raise ValueError(f"bcoo_slice: indices must have size mat.ndim={mat.ndim}")
    if len(strides) != mat.ndim:
        raise ValueError(f"len(strides) = {len(strides)}; expected {mat.ndim}")
    if any(s <= 0 for s in strides):
        raise ValueError(f"strides must be a sequence of positive integers; got {strides}")
    if not all(0 <= a <= b <= n for a, b, n in zip(start_indices, limit_indices, mat.shape)):
        raise ValueError(
            f"bcoo_slice: invalid indices. Got {start_indices=}, {limit_indices=} and "
            f"shape={mat.shape}"
        )
    nb, ns = mat.n_batch, mat.n_sparse
    cuts = [slice(*c) for c in zip(start_indices, limit_indices, strides)]
    shape = tuple(len(range(n)[c]) for n, c in zip(mat.shape, cuts))
    data, indices = full_batches(mat)
    data = data[(*cuts[:nb], slice(None), *cuts[nb + ns :])]
    indices = indices[tuple(cuts[:nb])]
    if ns:
        starts = jnp.array(start_indices[nb : nb + ns], indices.dtype)
        windows = shape[nb : nb + ns], strides[nb : nb + ns]
        data, indices = _window(mat, data, indices, starts, *windows)
    out = BCOO((data, indices), shape=shape)
    most = math.prod(shape[nb : nb + ns])
    return bcoo_sum_duplicates(out, nse=most) if ns and out.nse > most else out


def bcoo_dynamic_slice(mat, start_indices, slice_sizes):
    """lax.dynamic_slice of a BCOO array.

    Args:
      mat: a BCOO array.
      start_indices: an integer for each dimension, which may be traced. A slice that would
        end beyond the array begins earlier.
      slice_sizes: the shape of the slice.

    Raises:
      ValueError: they are not as many as the dimensions.
      TypeError: a size exceeds the array's.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.bcoo_dynamic_slice(M, (0, 1), (2, 1)).todense()
      Array([[2.],
             [0.]], dtype=float32)
    """
    slice_sizes = tuple(operator.index(i) for i in slice_sizes)
    if len(start_indices) != len(slice_sizes) or len(slice_sizes) != mat.ndim:
        raise ValueError(
            f"bcoo_dynamic_slice: indices must have size mat.ndim={mat.ndim}; got "
            f"{len(start_indices)} and {len(slice_sizes)}."
        )
    if not all(0 <= m <= n for m, n in zip(slice_sizes, mat.shape)):
        raise TypeError(
            "slice_sizes must be less than or equal to operand shape, got slice_sizes "
            f"{slice_sizes} for operand shape {mat.shape}"
        )
    starts = [
        jnp.clip(jnp.where(s < 0, s + n, s), 0, n - m)
        for s, n, m in zip(map(jnp.asarray, start_indices), mat.shape, slice_sizes)
    ]
    nb, ns = mat.n_batch, mat.n_sparse
    data, indices = full_batches(mat)
    zero = jnp.zeros((), int)
    data = lax.dynamic_slice(
        data,
        (*starts[:nb], zero, *starts[nb + ns :]),
        (*slice_sizes[:nb], mat.nse, *slice_sizes[nb + ns :]),
    )
    indices = lax.dynamic_slice(
        indices, (*starts[:nb], zero, zero), (*slice_sizes[:nb], mat.nse, ns)
    )
    if ns:
        origin = jnp.stack([s.astype(indices.dtype) for s in starts[nb : nb + ns]])
        data, indices = _window(mat, data, indices, origin, slice_sizes[nb : nb + ns], [1] * ns)
    out = BCOO((data, indices), shape=slice_sizes)
    most = math.prod(slice_sizes[nb : nb + ns])
    return bcoo_sum_duplicates(out, nse=most) if ns and out.nse > most else out
