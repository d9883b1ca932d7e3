"""shardax.experimental.sparse.csr - matrices by rows (CSR) or columns (CSC) of elements."""

import numpy as np

from shardax import numpy as jnp
from shardax import tree_util
from shardax.experimental.sparse._base import JAXSparse
from shardax.experimental.sparse.bcsr import _row_pointers, _rows
from shardax.experimental.sparse.coo import (
    COO,
    coo_fromdense,
    coo_todense,
    diagonal,
    matvec,
    product,
)


class _Compressed(JAXSparse):
    """(data, indices, indptr): columns in each row, or rows in each column."""

    def __init__(self, args, *, shape):
        self.data, self.indices, self.indptr = map(jnp.asarray, args)
        super().__init__(args, shape=shape)

    @property
    def _bufs(self):
        return self.data, self.indices, self.indptr

    @property
    def nse(self):
        """The number of elements stored."""
        return self.data.size

    def _places(self):
        """(rows, columns) of the elements."""
        major = _rows(self.indptr, self.nse)
        return (major, self.indices) if isinstance(self, CSR) else (self.indices, major)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        if len(shape) != 2:
            raise ValueError(f"{cls.__name__} must have ndim=2; got {shape=}")
        rows = shape[0] if cls is CSR else shape[1]
        buffers = jnp.zeros(0, dtype), jnp.zeros(0, index_dtype), jnp.zeros(rows + 1, index_dtype)
        return cls(buffers, shape=shape)

    def tree_flatten(self):
        """(data, indices, indptr) and the static parts."""
        return self._bufs, {"shape": self.shape}

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        """The inverse of `tree_flatten`."""
        if aux_data.keys() != {"shape"}:
            raise ValueError(f"{cls.__name__}.tree_unflatten: invalid {aux_data=}")
        obj = object.__new__(cls)
        obj.data, obj.indices, obj.indptr = children
        obj.shape = aux_data["shape"]
        return obj

    def todense(self):
        """The matrix with its zeros."""
        return coo_todense(COO((self.data, *self._places()), shape=self.shape))

    def transpose(self, axes=None):
        """The transpose, the same elements by columns instead of rows."""
        if axes is not None:
            raise NotImplementedError("axes argument to transpose()")
        return (CSC if isinstance(self, CSR) else CSR)(self._bufs, shape=self.shape[::-1])

    def __matmul__(self, other):
        return product(self, *self._places(), other)


@tree_util.register_pytree_node_class
class CSR(_Compressed):
    """A matrix by rows, out of (data, columns, where each row begins).

    Args:
      args: arrays of shapes (nse,), (nse,) and (rows + 1,).
      shape: (rows, columns).

    Example:
      >>> from shardax.experimental import sparse
      >>> columns, starts = jnp.array([1, 0]), jnp.array([0, 1, 2])
      >>> sparse.CSR((jnp.array([2.0, 1.0]), columns, starts), shape=(2, 2)).todense()
      Array([[0., 2.],
             [1., 0.]], dtype=float32)
    """

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32):
        """As `csr_fromdense`."""
        return csr_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        row, col = diagonal(N, M, k, index_dtype)
        data = jnp.ones(row.size, dtype)
        return cls((data, col, _row_pointers(row, N)), shape=(N, M))


@tree_util.register_pytree_node_class
class CSC(_Compressed):
    """A matrix by columns, out of (data, rows, where each column begins).

    Args:
      args: arrays of shapes (nse,), (nse,) and (columns + 1,).
      shape: (rows, columns).

    Example:
      >>> from shardax.experimental import sparse
      >>> rows, starts = jnp.array([1, 0]), jnp.array([0, 1, 2])
      >>> sparse.CSC((jnp.array([1.0, 2.0]), rows, starts), shape=(2, 2)).todense()
      Array([[0., 2.],
             [1., 0.]], dtype=float32)
    """

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32):
        """The elements of a matrix that are not zero."""
        return csr_fromdense(jnp.asarray(mat).T, nse=nse, index_dtype=index_dtype).T

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        return CSR._eye(M, N, -k, dtype=dtype, index_dtype=index_dtype).T


def csr_fromdense(mat, *, nse=None, index_dtype=np.int32):
    """The elements of a matrix that are not zero, as a CSR matrix.

    Args:
      mat: an array of two dimensions.
      nse: how many to store; None: as many as there are (not under `jit`).
      index_dtype: the dtype of columns and starts.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.csr_fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> M.data.tolist(), M.indices.tolist(), M.indptr.tolist()
      ([2.0, 1.0], [1, 0], [0, 1, 2])
    """
    coo = coo_fromdense(mat, nse=nse, index_dtype=index_dtype)
    return CSR((coo.data, coo.col, _row_pointers(coo.row, coo.shape[0])), shape=coo.shape)


def csr_todense(mat):
    """The matrix with its zeros.

    Args:
      mat: a CSR matrix.

    Example:
      >>> from shardax.experimental import sparse
      >>> sparse.csr_todense(sparse.eye(2, sparse_format="csr"))
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    return mat.todense()


def csr_matvec(mat, v, transpose=False):
    """The product of a CSR matrix and a vector.

    Args:
      mat: a CSR matrix (n, m).
      v: a vector (m,), or (n,) for the transpose.
      transpose: multiplies by the transpose.

    Raises:
      TypeError: the vector has another size.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.CSR.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.csr_matvec(M, jnp.array([1.0, 10.0]))
      Array([20.,  1.], dtype=float32)
    """
    return matvec(mat.data, *mat._places(), jnp.asarray(v), mat.shape, transpose)


def csr_matmat(mat, B, *, transpose=False):
    """The product of a CSR matrix and a dense one.

    Args:
      mat: a CSR matrix (n, m).
      B: an array (m, k), or (n, k) for the transpose.
      transpose: multiplies by the transpose.

    Raises:
      TypeError: B has another number of rows.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.CSR.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.csr_matmat(M, jnp.eye(2), transpose=True)
      Array([[0., 1.],
             [2., 0.]], dtype=float32)
    """
    return matvec(mat.data, *mat._places(), jnp.asarray(B), mat.shape, transpose)
