"""shardax/experimental/sparse/_math.py - products and sums of BCOO arrays."""

import math

import numpy as np

from shardax import lax
from shardax import numpy as jnp
from shardax.experimental.sparse._layout import bcoo_update_layout
from shardax.experimental.sparse.bcoo import BCOO, extracted, full_batches, over_batches


def _inside(indices, sizes):
    return (indices < jnp.array(sizes, indices.dtype)).all(-1)


def _masked(mat):
    """The elements with zeros for padding, in batches of their whole sizes."""
    data, indices = full_batches(mat)
    keep = _inside(indices, mat.shape[mat.n_batch : mat.n_batch + mat.n_sparse])
    return jnp.where(keep.reshape(*keep.shape, *[1] * mat.n_dense), data, 0), indices


# ---- dot_general ---------------------------------------------------------------------------------


def _split_dims(ndim, contract, batch):
    return [d for d in range(ndim) if d not in contract and d not in batch]


def _checked(lhs, rhs, dimension_numbers):
    (lc, rc), (lb, rb) = ((tuple(map(int, d)) for d in pair) for pair in dimension_numbers)
    for name, left, right in (("contracting", lc, rc), ("batch", lb, rb)):
        a, b = ([x.shape[d] for d in dims] for x, dims in ((lhs, left), (rhs, right)))
        if a != b:
            raise TypeError(
                f"dot_general requires {name} dimensions to have equal shapes, got {a} and {b}."
            )
    return lc, rc, lb, rb


def _batches_only(mat, batch, name):
    """`mat` with its dot batches as all its batch dimensions, in this order."""
    if any(d >= mat.n_batch for d in batch):
        raise NotImplementedError(f"bcoo_dot_general: batch dimensions must be batches of {name}.")
    others = [d for d in range(mat.n_batch) if d not in batch]
    order = (*batch, *others, *range(mat.n_batch, mat.ndim))
    return bcoo_update_layout(mat.transpose(order), n_batch=len(batch)), order


def _sparse_dense(lhs, rhs, lc, rc, lb, rb):
    """The dense product of a sparse and a dense array."""
    mat, order = _batches_only(lhs, lb, "the sparse operand")
    contract = [order.index(d) - len(lb) for d in lc]
    if any(d >= mat.n_sparse for d in contract):
        raise NotImplementedError("bcoo_dot_general: contracting over dense dimensions.")
    free = [d for d in range(mat.n_sparse) if d not in contract]
    rest = _split_dims(rhs.ndim, rc, rb)
    dtype = jnp.result_type(lhs.dtype, rhs.dtype)
    rhs = lax.transpose(rhs, (*rb, *rc, *rest)).astype(dtype)
    free_sizes = tuple(mat.shape[len(lb) + d] for d in free)
    dense = mat.shape[len(lb) + mat.n_sparse :]
    wide = tuple(rhs.shape[len(rb) + len(rc) :])

    def multiply(data, indices, rhs):
        columns = [indices[:, d] for d in range(indices.shape[1])]
        index = tuple(columns[d] for d in contract)
        rows = rhs.at[index].get(mode="fill", fill_value=0) if index else rhs[None]
        rows = rows.reshape(rows.shape[0], *[1] * len(dense), *wide)
        product = data.reshape(*data.shape, *[1] * len(wide)) * rows
        index = tuple(columns[d] for d in free)
        if not index:
            return product.sum(0)
        return jnp.zeros((*free_sizes, *dense, *wide), dtype).at[index].add(product, mode="drop")

    # Padding lies outside: where there are rows to add to, it is dropped there.
    data, indices = full_batches(mat) if free else _masked(mat)
    return over_batches(multiply, len(lb))(data.astype(dtype), indices, rhs)


def _sparse_sparse(lhs, rhs, lc, rc, lb, rb):
    """The product of two sparse arrays, as one with an element for each pair that meets."""
    if lhs.n_dense or rhs.n_dense:
        raise NotImplementedError("bcoo_spdot_general with dense dimensions.")
    left, order_l = _batches_only(lhs, lb, "both operands")
    right, order_r = _batches_only(rhs, rb, "both operands")
    nb = len(lb)
    cl, cr = [order_l.index(d) - nb for d in lc], [order_r.index(d) - nb for d in rc]
    fl = [d for d in range(left.n_sparse) if d not in cl]
    fr = [d for d in range(right.n_sparse) if d not in cr]
    dtype = jnp.result_type(lhs.dtype, rhs.dtype)
    sizes = [left.shape[nb + d] for d in fl] + [right.shape[nb + d] for d in fr]

    def multiply(a, i, b, j):
        meet = (i[:, None, np.array(cl, int)] == j[None, :, np.array(cr, int)]).all(-1)
        n, m = meet.shape
        index = [
            jnp.broadcast_to(i[:, None, np.array(fl, int)], (n, m, len(fl))),
            jnp.broadcast_to(j[None, :, np.array(fr, int)], (n, m, len(fr))),
        ]
        index = jnp.concatenate(index, -1)
        index = jnp.where(meet[..., None], index, jnp.array(sizes, index.dtype))
        product = jnp.where(meet, a[:, None] * b[None], 0)
        return product.reshape(-1), index.reshape(n * m, -1)

    buffers = [x for m in (left, right) for x in _masked(m)]
    buffers[0], buffers[2] = buffers[0].astype(dtype), buffers[2].astype(dtype)
    buffers[3] = buffers[3].astype(buffers[1].dtype)
    out = BCOO(over_batches(multiply, nb)(*buffers), shape=(*left.shape[:nb], *sizes))
    # An operand without free dimensions contributes to each place with the sum of its elements.
    most = (left.nse if fl else 1) * (right.nse if fr else 1)
    most = min(most, math.prod(sizes))
    return out.sum_duplicates(nse=most, remove_zeros=False) if out.nse > most else out


def bcoo_dot_general(
    lhs, rhs, *, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None
):
    """lax.dot_general of arrays of which one or both are BCOO arrays.

    `out_sharding` has no effect: sparse results are not labelled with shardings.

    Args:
      lhs, rhs: arrays, dense or BCOO.
      dimension_numbers: as those of lax.dot_general: ((contracted of `lhs`, of `rhs`), (batches of
        `lhs`, of `rhs`)).
      precision: as that of lax.dot_general.
      preferred_element_type: the dtype of the result (None: that of the elements, promoted).

    Returns:
      A dense array where one operand is dense, else a sparse one.

    Raises:
      TypeError: contracted dimensions, or batches, differ in size.
      NotImplementedError: contractions over dense dimensions; batches over sparse ones.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.bcoo_dot_general(M, jnp.ones(2), dimension_numbers=(([1], [0]), ([], [])))
      Array([2., 1.], dtype=float32)
    """
    lc, rc, lb, rb = _checked(lhs, rhs, dimension_numbers)
    if isinstance(lhs, BCOO) and isinstance(rhs, BCOO):
        out = _sparse_sparse(lhs, rhs, lc, rc, lb, rb)
        if preferred_element_type is not None:
            out = BCOO((out.data.astype(preferred_element_type), out.indices), shape=out.shape)
        return out
    if isinstance(lhs, BCOO):
        out = _sparse_dense(lhs, jnp.asarray(rhs), lc, rc, lb, rb)
    elif isinstance(rhs, BCOO):
        out = _sparse_dense(rhs, jnp.asarray(lhs), rc, lc, rb, lb)
        # (batch, free of rhs, free of lhs) becomes (batch, free of lhs, free of rhs).
        nb, right = len(lb), rhs.ndim - len(rc) - len(rb)
        ends = tuple(range(nb)), tuple(range(nb, nb + right)), tuple(range(nb + right, out.ndim))
        out = out.transpose((*ends[0], *ends[2], *ends[1]))
    else:
        return lax.dot_general(
            lhs, rhs, dimension_numbers, precision, preferred_element_type=preferred_element_type
        )
    return out if preferred_element_type is None else out.astype(preferred_element_type)


def bcoo_dot_general_sampled(A, B, indices, *, dimension_numbers):
    """The elements at `indices` of the product of two dense arrays.

    Args:
      A, B: arrays.
      indices: integers (nse, sparse) as those of a BCOO array, or (*batch, nse, sparse).
      dimension_numbers: as those of lax.dot_general.

    Returns:
      An array of shape (nse,), or (*batch, nse), and of the product's dtype; 0 beyond it.

    Example:
      >>> from shardax.experimental import sparse
      >>> numbers = (([1], [0]), ([], []))
      >>> x, at = jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([[0, 0], [1, 1]])
      >>> sparse.bcoo_dot_general_sampled(x, x, at, dimension_numbers=numbers)
      Array([ 7., 22.], dtype=float32)
    """
    return extracted(lax.dot_general(A, B, dimension_numbers), indices)


# ---- elementwise products ------------------------------------------------------------------------


def bcoo_multiply_dense(sp_mat, v):
    """The elements of a sparse array times those of a dense one.

    Args:
      sp_mat: a BCOO array.
      v: an array that broadcasts to its shape.

    Returns:
      An array of the products, like `sp_mat.data`.

    Raises:
      NotImplementedError: `sp_mat` would have to be broadcast.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.bcoo_multiply_dense(M, jnp.array([10.0, 100.0]))
      Array([200.,  10.], dtype=float32)
    """
    v = jnp.asarray(v)
    if v.ndim == 0:
        return sp_mat.data * v
    if np.broadcast_shapes(v.shape, sp_mat.shape) != sp_mat.shape:
        raise NotImplementedError(
            "multiplication between sparse and dense is only implemented for cases where the "
            "output shape matches the sparse matrix shape. Got "
            f"shape={sp_mat.shape}, v.shape={v.shape}"
        )
    v = jnp.expand_dims(v, tuple(range(sp_mat.ndim - v.ndim)))
    nb = sp_mat.n_batch
    sizes = v.shape[nb : nb + sp_mat.n_sparse]
    indices = jnp.where(jnp.array(sizes) == 1, 0, sp_mat.indices)
    batch = np.broadcast_shapes(v.shape[:nb], indices.shape[:nb])
    v = jnp.broadcast_to(v, batch + v.shape[nb:])
    # Elements beyond the array are padding, whatever they are multiplied by.
    factors = extracted(v, jnp.broadcast_to(indices, batch + indices.shape[nb:]))
    if not sp_mat.n_sparse:
        factors = jnp.expand_dims(v, nb)
    return sp_mat.data * factors


def bcoo_multiply_sparse(lhs, rhs):
    """The elementwise product of two sparse arrays, which broadcast to each other.

    Args:
      lhs, rhs: BCOO arrays of as many dimensions, and as many dense ones.

    Returns:
      A BCOO array with an element for each pair of elements.

    Raises:
      TypeError: the numbers of dimensions differ.
      NotImplementedError: those of dense dimensions differ.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.bcoo_multiply_sparse(M, M).todense()
      Array([[0., 4.],
             [1., 0.]], dtype=float32)
    """
    if lhs.ndim != rhs.ndim:
        raise TypeError(
            "bcoo_multiply_sparse: arrays must have same number of dimensions, got "
            f"{lhs.shape}, {rhs.shape}"
        )
    if lhs.n_dense != rhs.n_dense:
        raise NotImplementedError(
            f"bcoo_multiply_sparse: arrays with differing numbers of dense dimensions: {lhs}, {rhs}"
        )
    nb = min(lhs.n_batch, rhs.n_batch)
    shape = np.broadcast_shapes(lhs.shape, rhs.shape)
    lhs, rhs = (bcoo_update_layout(m, n_batch=nb) for m in (lhs, rhs))
    sizes = shape[nb : nb + lhs.n_sparse]
    compared = [i for i in range(lhs.n_sparse) if lhs.shape[nb + i] != 1 and rhs.shape[nb + i] != 1]

    def multiply(a, i, b, j):
        here = np.array(compared, int)
        meet = (i[:, None, here] == j[None, :, here]).all(-1)
        meet &= _inside(i, lhs.shape[nb : nb + lhs.n_sparse])[:, None]
        meet &= _inside(j, rhs.shape[nb : nb + rhs.n_sparse])[None]
        index = jnp.maximum(i[:, None], j[None])
        index = jnp.where(meet[..., None], index, jnp.array(sizes, index.dtype))
        keep = meet.reshape(*meet.shape, *[1] * (a.ndim - 1))
        product = jnp.where(keep, a[:, None] * b[None], 0)
        pairs = product.shape[0] * product.shape[1]
        index = jnp.broadcast_to(index, (*meet.shape, index.shape[-1]))
        return product.reshape(pairs, *product.shape[2:]), index.reshape(pairs, index.shape[-1])

    batch = shape[:nb]
    buffers = []
    for mat in (lhs, rhs):
        buffers += [jnp.broadcast_to(x, batch + x.shape[nb:]) for x in mat._bufs]
    buffers[3] = buffers[3].astype(buffers[1].dtype)
    return BCOO(over_batches(multiply, nb)(*buffers), shape=shape)


# ---- sums ----------------------------------------------------------------------------------------


def bcoo_reduce_sum(mat, *, axes):
    """The sum over dimensions, as a sparse array; elements that come to one place are not added.

    Args:
      mat: a BCOO array.
      axes: the dimensions, from 0 on.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.bcoo_reduce_sum(M, axes=[0])
      BCOO(float32[2], nse=2)
    """
    nb, ns = mat.n_batch, mat.n_sparse
    axes = sorted({int(a) for a in axes})
    data, indices = _masked(mat) if ns else full_batches(mat)
    dense = tuple(a - ns + 1 for a in axes if a >= nb + ns)
    data = data.sum(dense, dtype=data.dtype) if dense else data
    kept = np.array([i for i in range(ns) if i + nb not in axes], int)
    if len(kept) < ns:
        limit = mat.shape[nb : nb + ns]
        outside = ~_inside(indices, limit)[..., None]
        indices = indices[..., kept]
        indices = jnp.where(outside, jnp.array([limit[i] for i in kept], indices.dtype), indices)
    batch = [a for a in axes if a < nb]
    order = [d for d in range(nb) if d not in batch] + batch
    sizes = tuple(mat.shape[d] for d in order)
    stay = sizes[: nb - len(batch)]
    nse = mat.nse * math.prod(mat.shape[d] for d in batch)
    data = data.transpose((*order, *range(nb, data.ndim)))
    indices = indices.transpose((*order, nb, nb + 1))
    return BCOO(
        (
            data.reshape(*stay, nse, *data.shape[nb + 1 :]),
            indices.reshape(*stay, nse, indices.shape[-1]),
        ),
        shape=tuple(n for d, n in enumerate(mat.shape) if d not in axes),
    )


def bcoo_add(lhs, rhs):
    """The sum of two sparse arrays of one shape: the elements of both."""
    nb, nd = min(lhs.n_batch, rhs.n_batch), min(lhs.n_dense, rhs.n_dense)
    lhs, rhs = (bcoo_update_layout(m, n_batch=nb, n_dense=nd) for m in (lhs, rhs))
    dtype = jnp.result_type(lhs.dtype, rhs.dtype)
    (a, i), (b, j) = full_batches(lhs), full_batches(rhs)
    data = jnp.concatenate([a.astype(dtype), b.astype(dtype)], nb)
    return BCOO((data, jnp.concatenate([i, j.astype(i.dtype)], nb)), shape=lhs.shape)


def _one_row(mat):
    """(elements, places) of an array of shape (1, 1, n), zero beyond it."""
    if not isinstance(mat, BCOO):
        return mat[0, 0], jnp.arange(mat.shape[2], dtype=np.int32)
    data, indices = _masked(bcoo_update_layout(mat, n_batch=2, n_dense=0))
    return data[0, 0], indices[0, 0, :, 0]


def bcoo_conv_general_dilated(
    lhs,
    rhs,
    *,
    window_strides,
    padding,
    lhs_dilation=None,
    rhs_dilation=None,
    dimension_numbers=None,
    feature_group_count=1,
    batch_group_count=1,
    precision=None,
    preferred_element_type=None,
    out_sharding=None,
):
    """lax.conv_general_dilated in one dimension of sparse arrays (1, 1, n), without strides.

    `out_sharding` has no effect: sparse results are not labelled with shardings. `precision` has no
    effect: one algorithm computes the result, as exactly as the dtype allows.

    Args:
      lhs, rhs: arrays (1, 1, n) and (1, 1, k), dense or BCOO.
      window_strides: (1,).
      padding: "SAME", "VALID" or a pair of numbers in a list.
      lhs_dilation, rhs_dilation: None or (1,).
      dimension_numbers: the order (batch, feature, space) of both and the result.
      feature_group_count, batch_group_count: 1.
      preferred_element_type: the dtype of the result (None: that of the products).

    Returns:
      A BCOO array with an element for each pair of elements.

    Raises:
      NotImplementedError: for other shapes, strides, dilations and groups.

    Example:
      >>> from shardax.experimental import sparse
      >>> x = sparse.BCOO.fromdense(jnp.array([[[0.0, 2.0, 0.0]]]))
      >>> y = sparse.bcoo_conv_general_dilated(
      ...     x, jnp.array([[[1.0, 10.0]]]), window_strides=(1,), padding="VALID"
      ... )
      >>> y.todense()
      Array([[[20.,  2.]]], dtype=float32)
    """
    lhs, rhs = (m if isinstance(m, BCOO) else jnp.asarray(m) for m in (lhs, rhs))
    numbers = lax.conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    plain = (
        lhs.ndim == rhs.ndim == 3
        and tuple(window_strides) == (1,)
        and (lhs_dilation or (1,)) == (1,)
        and (rhs_dilation or (1,)) == (1,)
        and feature_group_count == batch_group_count == 1
        and numbers.lhs_spec == numbers.rhs_spec == numbers.out_spec == (0, 1, 2)
        and lhs.shape[:2] == rhs.shape[:2] == (1, 1)
    )
    if not plain:
        raise NotImplementedError(
            "bcoo_conv_general_dilated: only 1-dimensional convolutions of one feature in one "
            f"batch, without strides, dilations or groups; got {lhs.shape} and {rhs.shape}."
        )
    n, k = lhs.shape[2], rhs.shape[2]
    if isinstance(padding, str):
        padding = lax.padtype_to_pads((n,), (k,), (1,), padding)
    ((low, high),) = padding
    size = max(0, n + low + high - k + 1)
    (a, i), (b, j) = _one_row(lhs), _one_row(rhs)
    place = i[:, None] + low - j[None, :]
    inside = (place >= 0) & (place < size)
    place = jnp.where(inside, place, size).reshape(1, 1, -1, 1)
    data = jnp.where(inside, a[:, None] * b[None], 0).reshape(1, 1, -1)
    if preferred_element_type is not None:
        data = data.astype(preferred_element_type)
    return BCOO((data, place), shape=(1, 1, size))
