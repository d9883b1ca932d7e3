"""shardax.experimental.sparse.bcsr - matrices as rows of elements, batched."""

import operator

import numpy as np

from shardax import numpy as jnp
from shardax import tree_util
from shardax.experimental.sparse._base import JAXSparse, mapped_shape
from shardax.experimental.sparse._layout import bcoo_broadcast_in_dim, bcoo_concatenate
from shardax.experimental.sparse._math import bcoo_dot_general
from shardax.experimental.sparse.bcoo import BCOO, bcoo_fromdense, extracted, over_batches


def _row_pointers(rows, count):
    """The start of each row in sorted row numbers, and the end."""
    return jnp.searchsorted(rows, jnp.arange(count + 1, dtype=rows.dtype)).astype(rows.dtype)


def _rows(indptr, nse):
    """The row of each element; padding behind the last row's end."""
    places = jnp.arange(nse, dtype=indptr.dtype)
    return (jnp.searchsorted(indptr, places, side="right") - 1).astype(indptr.dtype)


@tree_util.register_pytree_node_class
class BCSR(JAXSparse):
    """A matrix of stored elements, row by row; batch dimensions first, dense ones last.

    Args:
      args: (data, indices, indptr), of shapes [*batch, nse, *dense], [*batch, nse] (columns) and
        [*batch, rows + 1] (where each row begins).
      shape: of the array.

    Example:
      >>> shardax.experimental.sparse.BCSR.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      BCSR(float32[2, 2], nse=2)
    """

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        self.data, self.indices, self.indptr = map(jnp.asarray, args)
        self.indices_sorted = indices_sorted
        self.unique_indices = unique_indices
        super().__init__(args, shape=shape)
        self._validate()

    def _validate(self):
        if self.indices.shape[:-1] != self.indptr.shape[:-1]:
            raise ValueError("indices and indptr should have the same shape[:-1]; got "
                             f"{self.indices.shape} and {self.indptr.shape}")  # fmt: skip
        if not all(np.issubdtype(x.dtype, np.integer) for x in (self.indices, self.indptr)):
            raise TypeError(
                f"indices and indptr must have integer dtypes; got {self.indices.dtype} and "
                f"{self.indptr.dtype}"
            )
        rows = self.shape[self.n_batch] if self.ndim >= self.n_batch + 2 else -2
        if self.indptr.shape[-1] != rows + 1 or self.data.shape[self.n_batch] != self.nse:
            raise ValueError(
                f"Invalid BCSR: data {self.data.shape}, indices {self.indices.shape}, indptr "
                f"{self.indptr.shape} for shape {self.shape}"
            )

    @property
    def _bufs(self):
        return self.data, self.indices, self.indptr

    @property
    def nse(self):
        """The number of elements stored (in each batch)."""
        return self.indices.shape[-1]

    @property
    def n_batch(self):
        """The number of batch dimensions."""
        return self.indices.ndim - 1

    @property
    def n_sparse(self):
        """The number of sparse dimensions."""
        return 2

    @property
    def n_dense(self):
        """The number of dense dimensions."""
        return self.data.ndim - 1 - self.n_batch

    def tree_flatten(self):
        """(data, indices, indptr) and the static parts."""
        return self._bufs, {
            "shape": self.shape,
            "indices_sorted": self.indices_sorted,
            "unique_indices": self.unique_indices,
            "n_batch": self.n_batch if hasattr(self.indices, "ndim") else 0,
        }

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        """The inverse of `tree_flatten`, unchecked; vmap of axis 0 takes a batch dimension away."""
        obj = object.__new__(cls)
        obj.data, obj.indices, obj.indptr = children
        shape = getattr(obj.indices, "shape", None)
        n_batch = aux_data["n_batch"] if shape is None else len(shape) - 1
        batches = (0,) * n_batch if shape is None else tuple(shape[:n_batch])
        vars(obj).update(mapped_shape(aux_data, batches))
        return obj

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32", n_dense=0, n_batch=0, nse=0):
        if len(shape) - n_dense - n_batch != 2 or n_dense < 0 or n_batch < 0 or nse < 0:
            raise ValueError(f"Invalid inputs: {shape=}, {n_dense=}, {n_batch=}, {nse=}")
        empty = BCOO._empty(
            shape, dtype=dtype, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch, nse=nse
        )
        return cls.from_bcoo(empty)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32", n_batch=0, n_dense=0):
        if n_dense or n_batch:
            raise ValueError(f"Invalid inputs: shape={(N, M)}, {n_dense=}, {n_batch=}")
        return cls.from_bcoo(BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype))

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32, n_dense=0, n_batch=0):
        """As `bcsr_fromdense`."""
        return bcsr_fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_bcoo(cls, arr):
        """A BCOO array of two sparse dimensions."""
        if arr.n_sparse != 2:
            raise NotImplementedError(f"BCSR.from_bcoo requires n_sparse=2; got {arr.n_sparse=}")
        if not arr.indices_sorted:
            arr = arr.sort_indices()
        nb = arr.n_batch
        indptr = over_batches(lambda r: _row_pointers(r, arr.shape[nb]), nb)(arr.indices[..., 0])
        return cls(
            (arr.data, arr.indices[..., 1], indptr),
            shape=arr.shape,
            indices_sorted=True,
            unique_indices=arr.unique_indices,
        )

    def to_bcoo(self):
        """As a BCOO array."""
        rows = over_batches(lambda p: _rows(p, self.nse), self.n_batch)(self.indptr)
        indices = jnp.stack([rows.astype(self.indices.dtype), self.indices], -1)
        return BCOO(
            (self.data, indices),
            shape=self.shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    @classmethod
    def from_scipy_sparse(cls, mat, *, index_dtype=None, n_dense=0, n_batch=0):
        """A matrix of scipy.sparse."""
        if n_dense != 0 or n_batch != 0:
            raise NotImplementedError("BCSR from_scipy_sparse with nonzero n_dense/n_batch.")
        if mat.ndim != 2:
            raise ValueError(f"BCSR from_scipy_sparse requires 2D array; {mat.ndim} is not allowed")
        mat = mat.tocsr()
        dtype = index_dtype or np.int32
        indices, indptr = jnp.asarray(mat.indices, dtype), jnp.asarray(mat.indptr, dtype)
        return cls((jnp.asarray(mat.data), indices, indptr), shape=mat.shape)

    def todense(self):
        """The array with its zeros."""
        return self.to_bcoo().todense()

    def transpose(self, *args, **kwargs):
        """Not available, as in JAX: transpose `to_bcoo()`."""
        raise NotImplementedError("Transpose is not implemented.")

    def sum_duplicates(self, nse=None, remove_zeros=True):
        """As `BCOO.sum_duplicates`."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))


def bcsr_fromdense(mat, *, nse=None, n_batch=0, n_dense=0, index_dtype=np.int32):
    """The elements of an array of two sparse dimensions that are not zero, row by row.

    Args:
      mat: an array of 2 + `n_batch` + `n_dense` dimensions.
      nse, n_batch, n_dense, index_dtype: as those of `bcoo_fromdense`.

    Raises:
      ValueError: for other numbers of dimensions.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.bcsr_fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> M.data.tolist(), M.indices.tolist(), M.indptr.tolist()
      ([2.0, 1.0], [1, 0], [0, 1, 2])
    """
    mat = jnp.asarray(mat)
    if mat.ndim - n_batch - n_dense != 2:
        raise ValueError(f"bcsr_fromdense: must have 2 sparse dimensions; got {mat.shape=}, "
                         f"{n_batch=}, {n_dense=}")  # fmt: skip
    nse = None if nse is None else operator.index(nse)
    return BCSR.from_bcoo(
        bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    )


def bcsr_todense(mat):
    """The array with its zeros.

    Args:
      mat: a BCSR array.

    Example:
      >>> from shardax.experimental import sparse
      >>> sparse.bcsr_todense(sparse.eye(2, sparse_format="bcsr"))
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    return mat.todense()


def bcsr_extract(indices, indptr, mat):
    """The elements of a dense array at the places of a BCSR array.

    Args:
      indices, indptr: those of the BCSR array: (*batch, nse) and (*batch, rows + 1).
      mat: the dense array.

    Returns:
      An array (*batch, nse, *dense) of `mat`'s dtype.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.eye(2, sparse_format="bcsr")
      >>> sparse.bcsr_extract(M.indices, M.indptr, jnp.array([[1.0, 2.0], [3.0, 4.0]]))
      Array([1., 4.], dtype=float32)
    """
    mat = jnp.asarray(mat)
    indices, indptr = jnp.asarray(indices), jnp.asarray(indptr)
    rows = over_batches(lambda p: _rows(p, indices.shape[-1]), indices.ndim - 1)(indptr)
    return extracted(mat, jnp.stack([rows.astype(indices.dtype), indices], -1))


def bcsr_sum_duplicates(mat, nse=None):
    """With elements at one place added, as `bcoo_sum_duplicates`.

    Args:
      mat: a BCSR array.
      nse: how many to store; None: as many places as there are (not under `jit`).

    Example:
      >>> from shardax.experimental import sparse
      >>> two = jnp.array([1, 1]), jnp.array([0, 2, 2])
      >>> M = sparse.BCSR((jnp.array([5.0, 6.0]), *two), shape=(2, 3))
      >>> sparse.bcsr_sum_duplicates(M).data
      Array([11.], dtype=float32)
    """
    return mat.sum_duplicates(nse, remove_zeros=False)


def bcsr_eliminate_zeros(mat, nse=None):
    """Without elements that are 0, as `bcoo_eliminate_zeros`.

    Args:
      mat: a BCSR array.
      nse: how many to store; None: as many as are left (not under `jit`).

    Example:
      >>> from shardax.experimental import sparse
      >>> places = jnp.array([0, 1]), jnp.array([0, 2, 2])
      >>> M = sparse.BCSR((jnp.array([5.0, 0.0]), *places), shape=(2, 3))
      >>> sparse.bcsr_eliminate_zeros(M)
      BCSR(float32[2, 3], nse=1)
    """
    return mat.sum_duplicates(nse, remove_zeros=True)


def bcsr_dot_general(
    lhs, rhs, *, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None
):
    """lax.dot_general of arrays of which one is a BCSR array; dense.

    `out_sharding` has no effect: sparse results are not labelled with shardings.

    Args:
      lhs, rhs: arrays, dense or BCSR.
      dimension_numbers: as those of lax.dot_general: ((contracted of `lhs`, of `rhs`), (batches of
        `lhs`, of `rhs`)).
      precision: as that of lax.dot_general.
      preferred_element_type: the dtype of the result (None: that of the elements, promoted).

    Raises:
      TypeError: contracted dimensions, or batches, differ in size.
      NotImplementedError: contractions over dense dimensions; batches over sparse ones.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCSR.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.bcsr_dot_general(M, jnp.ones(2), dimension_numbers=(([1], [0]), ([], [])))
      Array([2., 1.], dtype=float32)
    """
    lhs, rhs = (x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs))
    return bcoo_dot_general(
        lhs,
        rhs,
        dimension_numbers=dimension_numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def bcsr_broadcast_in_dim(mat, *, shape, broadcast_dimensions, sharding=None):
    """lax.broadcast_in_dim of a BCSR array, as `bcoo_broadcast_in_dim`.

    `sharding` has no effect: sparse results are not labelled with shardings.

    Args:
      mat: a BCSR array.
      shape: of the result.
      broadcast_dimensions: dimension i of `mat` becomes dimension broadcast_dimensions[i].

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.eye(2, sparse_format="bcsr")
      >>> sparse.bcsr_broadcast_in_dim(M, shape=(3, 2, 2), broadcast_dimensions=(1, 2))
      BCSR(float32[3, 2, 2], nse=2, n_batch=1)
    """
    wide = bcoo_broadcast_in_dim(
        mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions
    )
    return BCSR.from_bcoo(wide)


def bcsr_concatenate(operands, *, dimension):
    """lax.concatenate of BCSR arrays, as `bcoo_concatenate`.

    Args:
      operands: BCSR arrays of the same layout, and of one shape but for `dimension`.
      dimension: the dimension.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.eye(2, sparse_format="bcsr")
      >>> sparse.bcsr_concatenate([M, M], dimension=0)
      BCSR(float32[4, 2], nse=4)
    """
    return BCSR.from_bcoo(bcoo_concatenate([x.to_bcoo() for x in operands], dimension=dimension))
