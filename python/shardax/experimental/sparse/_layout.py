"""shardax/experimental/sparse/_layout.py - changes of a BCOO array's shape: layouts, slices,
concatenations, broadcasts."""

import math
import operator
import warnings

import numpy as np

from shardax import lax
from shardax import numpy as jnp
from shardax.experimental.sparse._base import SparseEfficiencyError, SparseEfficiencyWarning
from shardax.experimental.sparse.bcoo import (
    BCOO,
    bcoo_transpose,
    full_batches,
    split,
)


def _dense_to_sparse(data, indices, shape, n_batch, count):
    sizes = data.shape[n_batch + 1 : n_batch + 1 + count]
    batch, nse, rest = data.shape[:n_batch], data.shape[n_batch], data.shape[n_batch + 1 + count :]
    grid = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), -1).reshape(-1, count)
    grid = jnp.asarray(grid, indices.dtype)
    old = jnp.broadcast_to(indices[..., None, :], (*batch, nse, len(grid), indices.shape[-1]))
    new = jnp.broadcast_to(grid, (*batch, nse, *grid.shape))
    indices = jnp.concatenate([old, new], -1).reshape(*batch, nse * len(grid), -1)
    return data.reshape(*batch, nse * len(grid), *rest), indices


def _sparse_to_dense(data, indices, n_batch, sizes):
    """The last sparse dimensions as dense ones: each element in an array of zeros."""
    count = len(sizes)
    for i, size in reversed(list(enumerate(sizes))):
        column = indices[..., indices.shape[-1] - count + i]
        here = column[..., None] == jnp.arange(size, dtype=indices.dtype)
        here = here.reshape(*here.shape, *[1] * (data.ndim - n_batch - 1))
        data = jnp.where(here, jnp.expand_dims(data, n_batch + 1), 0)
    inside = (indices[..., -count:] < jnp.array(sizes, indices.dtype)).all(-1)
    inside = inside.reshape(*inside.shape, *[1] * (data.ndim - n_batch - 1))
    return jnp.where(inside, data, 0), indices[..., :-count]


def _batch_to_sparse(data, indices, n_batch, count):
    kept = n_batch - count
    sizes = data.shape[kept:n_batch]
    batch, nse = data.shape[:kept], data.shape[n_batch]
    grid = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), -1)
    grid = jnp.asarray(grid, indices.dtype)[..., None, :]
    grid = jnp.broadcast_to(grid, (*batch, *sizes, nse, count))
    indices = jnp.concatenate([grid, indices], -1)
    total = nse * math.prod(sizes)
    return (
        data.reshape(*batch, total, *data.shape[n_batch + 1 :]),
        indices.reshape(*batch, total, indices.shape[-1]),
    )


def _sparse_to_batch(data, indices, n_batch, shape, count):
    """The first sparse dimensions as batches: each has all elements, those of others as padding."""
    sizes = shape[n_batch : n_batch + count]
    limit = shape[n_batch + count : n_batch + indices.shape[-1]]
    for i, size in enumerate(sizes):
        axis = n_batch + i
        column, rest = indices[..., 0], indices[..., 1:]
        place = jnp.arange(size, dtype=indices.dtype).reshape(-1, *[1])
        here = jnp.expand_dims(column, axis) == place
        data = jnp.where(
            here.reshape(*here.shape, *[1] * (data.ndim - axis - 1)), jnp.expand_dims(data, axis), 0
        )
        outside = jnp.array(sizes[i + 1 :] + limit, indices.dtype)
        indices = jnp.where(here[..., None], jnp.expand_dims(rest, axis), outside)
    return data, indices


def bcoo_update_layout(mat, *, n_batch=None, n_dense=None, on_inefficient="error"):
    """The same array with other numbers of batch and dense dimensions.

    Args:
      mat: a BCOO array.
      n_batch, n_dense: the numbers; None: those of `mat`.
      on_inefficient: "error", "warn" or None: where it has to store many zeros.

    Raises:
      SparseEfficiencyError: there, for "error".
      ValueError: for impossible numbers.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.ones((2, 3)), n_dense=1)
      >>> M, sparse.bcoo_update_layout(M, n_dense=0)
      (BCOO(float32[2, 3], nse=2, n_dense=1), BCOO(float32[2, 3], nse=6))
    """
    n_batch = mat.n_batch if n_batch is None else operator.index(n_batch)
    n_dense = mat.n_dense if n_dense is None else operator.index(n_dense)
    if (n_batch, n_dense) == (mat.n_batch, mat.n_dense):
        return mat
    if on_inefficient not in ("error", "warn", None):
        raise ValueError(f"{on_inefficient=}; expected one of ['error', 'warn', None].")
    for name, value in (("n_batch", n_batch), ("n_dense", n_dense)):
        if value < 0:
            raise ValueError(f"{name} must be non-negative; got {value}")
    if n_batch + n_dense > mat.ndim:
        raise ValueError(
            f"sum of {n_batch=} and {n_dense=} cannot be larger than mat.ndim={mat.ndim}."
        )
    shape = mat.shape
    grown = {
        "n_dense": (mat.n_dense, n_dense, shape[mat.ndim - n_dense : mat.ndim - mat.n_dense]),
        "n_batch": (mat.n_batch, n_batch, shape[mat.n_batch : n_batch]),
    }
    for name, (old, new, sizes) in grown.items():
        if new > old and any(n > 1 for n in sizes) and on_inefficient is not None:
            text = (
                f"For matrix of shape {shape}, increasing {name} from {old} to {new} results in "
                "inefficient storage. "
            )
            if on_inefficient == "error":
                raise SparseEfficiencyError(
                    text + "To disable this error, set the on_inefficient argument of "
                    "bcoo_update_layout to 'warn' or None."
                )
            warnings.warn(
                text + "To disable this warning, set the on_inefficient argument of "
                "bcoo_update_layout to None.",
                category=SparseEfficiencyWarning,
                stacklevel=2,
            )
    (data, indices), nb = full_batches(mat), mat.n_batch
    if n_dense < mat.n_dense:
        data, indices = _dense_to_sparse(data, indices, shape, nb, mat.n_dense - n_dense)
    if n_batch < nb:
        data, indices = _batch_to_sparse(data, indices, nb, nb - n_batch)
        nb = n_batch
    if n_dense > mat.n_dense:
        sizes = shape[mat.ndim - n_dense : mat.ndim - mat.n_dense]
        data, indices = _sparse_to_dense(data, indices, nb, sizes)
    if n_batch > nb:
        data, indices = _sparse_to_batch(data, indices, nb, shape, n_batch - nb)
    return BCOO((data, indices), shape=shape)


def bcoo_broadcast_in_dim(mat, *, shape, broadcast_dimensions, sharding=None):
    """lax.broadcast_in_dim of a BCOO array.

    `sharding` has no effect: sparse results are not labelled with shardings.

    Args:
      mat: a BCOO array.
      shape: of the result.
      broadcast_dimensions: dimension i of `mat` becomes dimension broadcast_dimensions[i]. New
        dimensions before all others are batches, those behind dense ones dense, others sparse.

    Raises:
      ValueError: the dimensions are not as many as those of `mat`, or mix batch, sparse and dense.

    Example:
      >>> from shardax.experimental import sparse
      >>> v = sparse.BCOO.fromdense(jnp.array([0.0, 2.0]))
      >>> sparse.bcoo_broadcast_in_dim(v, shape=(2, 3), broadcast_dimensions=(0,)).todense()
      Array([[0., 0., 0.],
             [2., 2., 2.]], dtype=float32)
    """
    shape, places = tuple(shape), tuple(broadcast_dimensions)
    if mat.ndim != len(places):
        raise ValueError(
            f"spinfo.shape={mat.shape} and broadcast_dimensions={places} must have the same length"
        )
    batch, sparse, dense = split(places, mat.n_batch, mat.n_sparse)
    rank = len(shape)
    if max(batch, default=0) > min(sparse, default=rank):
        raise ValueError("Cannot mix batch and sparse dimensions during broadcast_in_dim")
    if max(sparse, default=0) > min(dense, default=rank):
        raise ValueError("Cannot mix sparse and dense dimensions during broadcast_in_dim")
    nb = min(places[mat.n_batch :], default=rank)
    nd = rank - min(dense) if dense else 0
    ns = rank - nb - nd
    data = lax.broadcast_in_dim(
        mat.data,
        (*shape[:nb], mat.nse, *shape[nb + ns :]),
        (*batch, nb, *(b + 1 - ns for b in dense)),
    )
    indices = lax.broadcast_in_dim(
        mat.indices, (*shape[:nb], mat.nse, mat.n_sparse), (*batch, nb, nb + 1)
    )
    if ns != mat.n_sparse:
        zeros = jnp.zeros((*indices.shape[:-1], ns), indices.dtype)
        indices = zeros.at[..., np.array(sparse, int) - nb].set(indices)
    sizes = {p: n for p, n in zip(places, mat.shape)}
    for d in range(nb, nb + ns):
        if sizes.get(d, 1) != shape[d]:
            data, indices = _repeated(data, indices, nb, d - nb, shape[d])
    return BCOO((data, indices), shape=shape)


def _repeated(data, indices, n_batch, column, size):
    """Each element at all `size` places of a sparse dimension in which it was at the only one."""
    places = jnp.arange(size, dtype=indices.dtype)
    wide = jnp.repeat(indices[..., None, :], size, -2)
    inside = wide[..., column] == 0
    wide = wide.at[..., column].set(jnp.where(inside, places, size))
    indices = wide.reshape(*indices.shape[:-2], -1, indices.shape[-1])
    return jnp.repeat(data, size, n_batch), indices


def bcoo_concatenate(operands, *, dimension):
    """lax.concatenate of BCOO arrays with the same layout, along a batch or sparse dimension.

    Args:
      operands: BCOO arrays, of one shape but for `dimension`.
      dimension: the dimension.

    Raises:
      ValueError: one of them is no BCOO array, or the layouts differ.
      TypeError: the shapes differ in other dimensions.
      NotImplementedError: for a dense dimension.

    Example:
      >>> from shardax.experimental import sparse
      >>> sparse.bcoo_concatenate([sparse.eye(2), sparse.empty((1, 2))], dimension=0).todense()
      Array([[1., 0.],
             [0., 1.],
             [0., 0.]], dtype=float32)
    """
    dimension = operator.index(dimension)
    if not all(isinstance(op, BCOO) for op in operands):
        raise ValueError(
            f"bcoo_concatenate: expected operands to be a sequence of BCOO arrays. Got {operands}"
        )
    outer = {op.shape[:dimension] + op.shape[dimension + 1 :] for op in operands}
    if len(outer) != 1 or len({op.ndim for op in operands}) != 1:
        raise TypeError(
            "Cannot concatenate arrays with shapes that differ in dimensions other than the one "
            f"being concatenated: concatenating along dimension {dimension} for shapes "
            f"{', '.join(str(op.shape) for op in operands)}."
        )
    if len({op.n_dense for op in operands}) > 1:
        raise ValueError("bcoo_concatenate requires inputs to have matching nse dimensions.")
    batches = {op.n_batch for op in operands}
    if len(batches) != 1 and max(batches) == 1:
        # op[None] has a batch dimension that others lack.
        for old, new in ((0, 1), (1, 0)):
            if all(op.shape[0] == 1 for op in operands if op.n_batch == old):
                operands = [bcoo_update_layout(op, n_batch=new) for op in operands]
                break
        batches = {op.n_batch for op in operands}
    if len(batches) != 1:
        raise ValueError("bcoo_concatenate requires inputs to have matching batch dimensions.")
    nb, ns = operands[0].n_batch, operands[0].n_sparse
    buffers = [full_batches(op) for op in operands]
    if dimension >= nb + ns:
        raise NotImplementedError("Concatenation along dense dimensions.")
    if dimension < nb:
        nse = max(op.nse for op in operands)
        limit = jnp.array(operands[0].shape[nb : nb + ns])
        buffers = [_padded(data, indices, nse, nb, limit) for data, indices in buffers]
        axis = dimension
    else:
        axis, start, moved = nb, 0, []
        for op, (data, indices) in zip(operands, buffers):
            moved.append((data, indices.at[..., dimension - nb].add(start)))
            start += op.shape[dimension]
        buffers = moved
    data, indices = (jnp.concatenate(parts, axis) for parts in zip(*buffers))
    size = sum(op.shape[dimension] for op in operands)
    shape = list(operands[0].shape)
    shape[dimension] = size
    return BCOO((data, indices), shape=shape)


def bcoo_stack(operands, axis):
    """Arrays with the same layout and shape along a new dimension."""
    shape = operands[0].shape[:axis] + (1,) + operands[0].shape[axis:]
    kept = tuple(d for d in range(len(shape)) if d != axis)
    slices = [bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=kept) for x in operands]
    return bcoo_concatenate(slices, dimension=axis)


def _padded(data, indices, nse, axis, limit):
    more = [(0, 0)] * data.ndim
    more[axis] = (0, nse - data.shape[axis])
    filler = jnp.broadcast_to(
        limit.astype(indices.dtype), (*indices.shape[:-2], nse - indices.shape[-2], len(limit))
    )
    return jnp.pad(data, more), jnp.concatenate([indices, filler], -2)


def bcoo_reshape(mat, *, new_sizes, dimensions=None, sharding=None):
    """lax.reshape of a BCOO array; batch, sparse and dense dimensions must not mix.

    `sharding` has no effect: sparse results are not labelled with shardings.

    Args:
      mat: a BCOO array.
      new_sizes: the shape.
      dimensions: the order of `mat`'s dimensions to begin with (None: as they are).

    Raises:
      ValueError: the new shape mixes them.

    Example:
      >>> from shardax.experimental import sparse
      >>> sparse.bcoo_reshape(sparse.eye(2), new_sizes=(4,)).todense()
      Array([1., 0., 0., 1.], dtype=float32)
    """
    if dimensions is not None:
        mat = bcoo_transpose(mat, permutation=dimensions)
    new_sizes = tuple(operator.index(n) for n in new_sizes)
    batch, sparse, _ = split(mat.shape, mat.n_batch, mat.n_sparse)
    products = np.cumprod(new_sizes)
    n_batch, n_sparse = math.prod(batch), math.prod(sparse)
    if n_batch != 1 and n_batch not in products:
        raise ValueError(
            "bcoo_reshape: new shape cannot mix batch and sparse dimensions; got "
            f"shape={mat.shape} new_shape={new_sizes} with n_batch={mat.n_batch}"
        )
    if n_sparse != 1 and n_batch * n_sparse not in products:
        raise ValueError(
            "bcoo_reshape: new shape cannot mix sparse and dense dimensions; got "
            f"shape={mat.shape} new_shape={new_sizes} with n_dense={mat.n_dense}"
        )
    first = int(products.searchsorted(n_batch, side="right"))
    second = int(products.searchsorted(n_batch * n_sparse, side="right"))
    new_batch, new_sparse, new_dense = split(new_sizes, first, second - first)
    data, indices = full_batches(mat)
    data = data.reshape(*new_batch, mat.nse, *new_dense)
    indices = indices.reshape(*new_batch, mat.nse, mat.n_sparse)
    if not new_sparse:
        indices = indices[..., :0]
    elif sparse:
        outside = (indices >= jnp.array(sparse, indices.dtype)).any(-1, keepdims=True)
        columns = tuple(indices[..., i] for i in range(len(sparse)))
        flat = jnp.ravel_multi_index(columns, sparse, mode="clip")
        moved = jnp.stack(jnp.unravel_index(flat, new_sparse), -1).astype(indices.dtype)
        indices = jnp.where(outside, jnp.array(new_sparse, indices.dtype), moved)
    else:
        indices = jnp.zeros((*indices.shape[:-1], len(new_sparse)), indices.dtype)
    return BCOO((data, indices), shape=new_sizes)


def bcoo_rev(operand, dimensions):
    """lax.rev of a BCOO array: with the order turned along `dimensions`.

    Args:
      operand: a BCOO array.
      dimensions: which.

    Example:
      >>> from shardax.experimental import sparse
      >>> sparse.bcoo_rev(sparse.BCOO.fromdense(jnp.array([0.0, 2.0, 3.0])), [0]).todense()
      Array([3., 2., 0.], dtype=float32)
    """
    nb, ns = operand.n_batch, operand.n_sparse
    data, indices = full_batches(operand)
    batch = [d for d in dimensions if d < nb]
    indices = jnp.flip(indices, batch) if batch else indices
    flipped = batch + [d + 1 - ns for d in dimensions if d >= nb + ns]
    data = jnp.flip(data, flipped) if flipped else data
    turned = np.array([nb + i in dimensions for i in range(ns)], bool)
    if turned.any():
        limit = jnp.array(operand.shape[nb : nb + ns], indices.dtype)
        mirrored = limit - 1 - indices
        indices = jnp.where(turned, jnp.where(mirrored < 0, limit, mirrored), indices)
    return BCOO((data, indices), shape=operand.shape)


def bcoo_squeeze(arr, *, dimensions):
    """lax.squeeze of a BCOO array: without `dimensions`, which have size 1.

    Args:
      arr: a BCOO array.
      dimensions: which.

    Raises:
      ValueError: one of them has another size.

    Example:
      >>> from shardax.experimental import sparse
      >>> sparse.bcoo_squeeze(sparse.empty((1, 3)), dimensions=(0,))
      BCOO(float32[3], nse=0)
    """
    dimensions = tuple(operator.index(d) % arr.ndim for d in dimensions)
    if any(arr.shape[d] != 1 for d in dimensions):
        raise ValueError(
            "cannot select an axis to squeeze out which has size not equal to one, got "
            f"shape={arr.shape} and {dimensions=}"
        )
    nb, ns = arr.n_batch, arr.n_sparse
    batch = tuple(d for d in dimensions if d < nb)
    kept = np.array([i for i in range(ns) if i + nb not in dimensions], int)
    dense = tuple(d - ns + 1 for d in dimensions if d >= nb + ns)
    # Elements of the dimensions that go may be padding.
    gone = [i for i in range(ns) if i + nb in dimensions]
    indices = arr.indices[..., kept]
    data = arr.data
    if gone:
        outside = (arr.indices[..., np.array(gone)] > 0).any(-1)
        limit = jnp.array([arr.shape[nb + i] for i in kept], indices.dtype)
        if len(kept):
            indices = jnp.where(outside[..., None], limit, indices)
        outside = outside.reshape(*outside.shape, *[1] * arr.n_dense)
        data = jnp.where(outside, 0, data)
    return BCOO(
        (lax.squeeze(data, batch + dense), lax.squeeze(indices, batch)),
        shape=tuple(n for d, n in enumerate(arr.shape) if d not in dimensions),
        indices_sorted=arr.indices_sorted,
        unique_indices=arr.unique_indices,
    )
