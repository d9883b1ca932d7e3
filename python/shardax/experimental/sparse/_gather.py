"""shardax/experimental/sparse/_gather.py - elements of BCOO arrays at arrays of places."""

import numpy as np

from shardax import lax
from shardax import numpy as jnp
from shardax._transform.pmap_vmap import vmap
from shardax.experimental.sparse._layout import bcoo_reshape, bcoo_squeeze, bcoo_update_layout
from shardax.experimental.sparse._slices import bcoo_dynamic_slice
from shardax.experimental.sparse.bcoo import bcoo_transpose


def _windows(mat, starts, sizes, collapsed):
    """The windows at `starts`, {dimension: places}, as batches: one for each of the places."""
    dims = list(starts)
    zero = jnp.zeros((), int)

    def window(*places):
        at = dict(zip(dims, places))
        out = bcoo_dynamic_slice(mat, [at.get(d, zero) for d in range(mat.ndim)], sizes)
        return bcoo_squeeze(out, dimensions=collapsed)

    return vmap(window)(*starts.values())


def _with_batches_at(mat, count, place):
    """The first `count` dimensions, of windows, moved behind the next `place` ones."""
    if not count or not place:
        return mat
    order = (*range(count, count + place), *range(count), *range(count + place, mat.ndim))
    # Windows are batches; between other dimensions they are sparse ones.
    mat = bcoo_update_layout(mat, n_batch=0, n_dense=0)
    return bcoo_transpose(mat, permutation=order)


def bcoo_gather(
    operand,
    start_indices,
    dimension_numbers,
    slice_sizes,
    *,
    unique_indices=False,
    indices_are_sorted=False,
    mode=None,
    fill_value=None,
):
    """lax.gather of a sparse array, with indices that lie inside of it.

    `fill_value`, `indices_are_sorted` and `unique_indices` have no effect: it is a promise, or a
    choice of implementation, that nothing makes use of.

    Args:
      operand: a BCOO array.
      start_indices, dimension_numbers, slice_sizes: as lax.gather's.
      mode: None or "promise_in_bounds".

    Raises:
      NotImplementedError: other modes.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> M[jnp.array([1, 1, 0])].todense()
      Array([[1., 0.],
             [1., 0.],
             [0., 2.]], dtype=float32)
    """
    inside = lax.GatherScatterMode.PROMISE_IN_BOUNDS
    if lax.GatherScatterMode.from_any(inside if mode is None else mode) != inside:
        raise NotImplementedError(f"bcoo_gather: {mode=} not yet supported.")
    start_indices = jnp.asarray(start_indices)
    batch = start_indices.shape[:-1]
    starts = {
        d: start_indices[..., k].reshape(-1)
        for k, d in enumerate(dimension_numbers.start_index_map)
    }
    out = _windows(operand, starts, tuple(slice_sizes), dimension_numbers.collapsed_slice_dims)
    out = bcoo_reshape(out, new_sizes=(*batch, *out.shape[1:]))
    offsets = dimension_numbers.offset_dims
    places = [d for d in range(out.ndim) if d not in offsets]
    order = np.argsort([*places, *offsets], kind="stable")
    if list(order) == list(range(out.ndim)):
        return out
    out = bcoo_update_layout(out, n_batch=0, n_dense=0)
    return bcoo_transpose(out, permutation=tuple(int(d) for d in order))


def _as_places(index):
    """The index as arrays of integers: for a mask where it is True."""
    if np.ndim(index) and jnp.asarray(index).dtype == bool:
        return [jnp.asarray(places) for places in np.nonzero(np.asarray(index))]
    index = jnp.asarray(index)
    if not jnp.issubdtype(index.dtype, np.integer):
        raise TypeError(
            f"Indexer must have integer or boolean type, got indexer with type {index.dtype}."
        )
    return [index]


def is_array_index(index):
    """True if it picks by an array, of one or more dimensions."""
    return isinstance(index, (list, np.ndarray)) or np.ndim(index) > 0


def rank_of(index):
    """The number of dimensions that an index stands for."""
    if is_array_index(index) and jnp.asarray(index).dtype == bool:
        return np.ndim(index)
    return 1


def take_at_arrays(mat, index, take):
    """mat[index] where entries of `index`, which has one for each dimension, are arrays.

    NumPy puts the dimensions of arrays where the first one stands if they stand side by side, else
    before all others.

    Args:
      index: integers, slices, arrays, and None for new dimensions.
      take: does the same for slices and None.
    """
    entries = []
    for i in index:
        cut = i is None or isinstance(i, slice)
        entries += [i] if cut else [[places] for places in _as_places(i)]
    of_mat = [i for i in entries if i is not None]
    mat = take(mat, tuple(i if isinstance(i, slice) else slice(None) for i in of_mat))
    arrays = {d: i[0] for d, i in enumerate(of_mat) if isinstance(i, list)}
    shape = np.broadcast_shapes(*(a.shape for a in arrays.values()))
    starts = {}
    for d, places in arrays.items():
        places = jnp.broadcast_to(places, shape).reshape(-1)
        starts[d] = jnp.where(places < 0, places + mat.shape[d], places)
    sizes = [1 if d in arrays else n for d, n in enumerate(mat.shape)]
    out = _windows(mat, starts, sizes, tuple(starts))
    out = bcoo_reshape(out, new_sizes=(*shape, *out.shape[1:]))
    spots = [k for k, i in enumerate(entries) if isinstance(i, list)]
    before = entries[: spots[0]] if len(spots) == spots[-1] - spots[0] + 1 else []
    out = _with_batches_at(out, len(shape), sum(i is not None for i in before))
    if all(i is not None for i in entries):
        return out
    kept = [i if i is None else slice(None) for i in entries if not isinstance(i, list)]
    kept[len(before) : len(before)] = [slice(None)] * len(shape)
    return take(out, tuple(kept))
