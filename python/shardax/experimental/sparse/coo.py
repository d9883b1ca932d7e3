"""shardax.experimental.sparse.coo - matrices as lists of elements with their rows and columns."""

import numpy as np

from shardax import lax, tree_util
from shardax import numpy as jnp
from shardax.experimental.sparse._base import JAXSparse


def matvec(data, row, col, v, shape, transpose):
    """The product of a matrix of these elements, or its transpose, and a vector or matrix."""
    if transpose:
        row, col, shape = col, row, shape[::-1]
    data, v = (x.astype(jnp.result_type(data, v)) for x in (data, v))
    if v.shape[0] != shape[1]:
        raise TypeError(
            f"matmul: the matrix has {shape[1]} columns and the operand shape {v.shape}; expected "
            "as many rows."
        )
    parts = data.reshape(-1, *[1] * (v.ndim - 1)) * v.at[col].get(mode="fill", fill_value=0)
    return jnp.zeros((shape[0], *v.shape[1:]), data.dtype).at[row].add(parts, mode="drop")


def product(mat, row, col, other):
    """mat @ other for dense vectors and matrices."""
    if isinstance(other, JAXSparse):
        raise NotImplementedError("matmul between two sparse objects.")
    other = jnp.asarray(other)
    if other.ndim not in (1, 2):
        raise NotImplementedError(f"matmul with object of shape {other.shape}")
    return matvec(mat.data, row, col, other, mat.shape, False)


def diagonal(N, M, k, index_dtype):
    """(rows, columns) of the k-th diagonal."""
    size = max(min(N, M - k) if k > 0 else min(N + k, M), 0)
    place = jnp.arange(size, dtype=index_dtype)
    return place + max(-k, 0), place + max(k, 0)


@tree_util.register_pytree_node_class
class COO(JAXSparse):
    """A matrix out of (data, row, col), each of shape (nse,).

    Example:
      >>> shardax.experimental.sparse.COO.fromdense(jnp.eye(2))
      COO(float32[2, 2], nse=2)
    """

    def __init__(self, args, *, shape, rows_sorted=False, cols_sorted=False):
        self.data, self.row, self.col = map(jnp.asarray, args)
        self._rows_sorted, self._cols_sorted = rows_sorted, cols_sorted
        super().__init__(args, shape=shape)

    @property
    def _bufs(self):
        return self.data, self.row, self.col

    @property
    def nse(self):
        """The number of elements stored."""
        return self.data.size

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32):
        """As `coo_fromdense`."""
        return coo_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        if len(shape) != 2:
            raise ValueError(f"COO must have ndim=2; got {shape=}")
        none = jnp.zeros(0, index_dtype)
        return cls(
            (jnp.zeros(0, dtype), none, none), shape=shape, rows_sorted=True, cols_sorted=True
        )

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        row, col = diagonal(N, M, k, index_dtype)
        data = jnp.ones(row.size, dtype)
        return cls((data, row, col), shape=(N, M), rows_sorted=True, cols_sorted=True)

    def _sort_indices(self):
        if self._rows_sorted:
            return self
        row, col, data = lax.sort((self.row, self.col, self.data), num_keys=2)
        return COO((data, row, col), shape=self.shape, rows_sorted=True)

    def todense(self):
        """The matrix with its zeros."""
        return coo_todense(self)

    def transpose(self, axes=None):
        """The transpose."""
        if axes is not None:
            raise NotImplementedError("axes argument to transpose()")
        return COO(
            (self.data, self.col, self.row),
            shape=self.shape[::-1],
            rows_sorted=self._cols_sorted,
            cols_sorted=self._rows_sorted,
        )

    def tree_flatten(self):
        """(data, row, col) and the static parts."""
        return self._bufs, {
            "shape": self.shape,
            "rows_sorted": self._rows_sorted,
            "cols_sorted": self._cols_sorted,
        }

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        """The inverse of `tree_flatten`."""
        if aux_data.keys() != {"shape", "rows_sorted", "cols_sorted"}:
            raise ValueError(f"COO.tree_unflatten: invalid {aux_data=}")
        obj = object.__new__(cls)
        obj.data, obj.row, obj.col = children
        obj.shape = aux_data["shape"]
        obj._rows_sorted, obj._cols_sorted = aux_data["rows_sorted"], aux_data["cols_sorted"]
        return obj

    def __matmul__(self, other):
        return product(self, self.row, self.col, other)


def coo_todense(mat):
    """The matrix with its zeros.

    Args:
      mat: a COO matrix.

    Example:
      >>> from shardax.experimental import sparse
      >>> sparse.coo_todense(sparse.eye(2, sparse_format="coo"))
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    zeros = jnp.zeros(mat.shape, mat.data.dtype)
    return zeros.at[mat.row, mat.col].add(mat.data, mode="drop")


def coo_fromdense(mat, *, nse=None, index_dtype=np.int32):
    """The elements of a matrix that are not zero, as a COO matrix.

    Args:
      mat: an array of two dimensions.
      nse: how many to store; None: as many as there are (not under `jit`).
      index_dtype: the dtype of rows and columns.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.coo_fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> M.data.tolist(), M.row.tolist(), M.col.tolist()
      ([2.0, 1.0], [0, 1], [1, 0])
    """
    mat = jnp.asarray(mat)
    nse = int((mat != 0).sum()) if nse is None else int(nse)
    row, col = jnp.nonzero(mat, size=nse, fill_value=mat.shape)
    data = mat.at[row, col].get(mode="fill", fill_value=0)
    index = (row.astype(index_dtype), col.astype(index_dtype))
    return COO((data, *index), shape=mat.shape, rows_sorted=True)


def coo_matvec(mat, v, transpose=False):
    """The product of a COO matrix and a vector.

    Args:
      mat: a COO matrix (n, m).
      v: a vector (m,), or (n,) for the transpose.
      transpose: multiplies by the transpose.

    Raises:
      TypeError: the vector has another size.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.COO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.coo_matvec(M, jnp.array([1.0, 10.0]))
      Array([20.,  1.], dtype=float32)
    """
    return matvec(mat.data, mat.row, mat.col, jnp.asarray(v), mat.shape, transpose)


def coo_matmat(mat, B, *, transpose=False):
    """The product of a COO matrix and a dense one.

    Args:
      mat: a COO matrix (n, m).
      B: an array (m, k), or (n, k) for the transpose.
      transpose: multiplies by the transpose.

    Raises:
      TypeError: B has another number of rows.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.COO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.coo_matmat(M, jnp.eye(2), transpose=True)
      Array([[0., 1.],
             [2., 0.]], dtype=float32)
    """
    return matvec(mat.data, mat.row, mat.col, jnp.asarray(B), mat.shape, transpose)
