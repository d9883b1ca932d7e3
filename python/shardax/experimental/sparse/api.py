"""shardax.experimental.sparse.api - functions of sparse arrays of any kind."""

import operator

import shardax._core as _core
from shardax._transform.avals import concrete_or_error
from shardax.experimental.sparse._base import JAXSparse
from shardax.experimental.sparse.bcoo import BCOO
from shardax.experimental.sparse.bcsr import BCSR
from shardax.experimental.sparse.coo import COO
from shardax.experimental.sparse.csr import CSC, CSR

_FORMATS = {"bcsr": BCSR, "bcoo": BCOO, "coo": COO, "csr": CSR, "csc": CSC}


def _class(sparse_format):
    if sparse_format not in _FORMATS:
        raise ValueError(
            f"sparse_format={sparse_format!r} not recognized; must be one of {list(_FORMATS)}"
        )
    return _FORMATS[sparse_format]


def todense(arr):
    """A sparse array with its zeros; other arrays as they are.

    Args:
      arr: a sparse array of any kind, or what `jnp.asarray` takes.

    Returns:
      An array of the same shape and dtype.

    Example:
      >>> shardax.experimental.sparse.todense(shardax.experimental.sparse.eye(2))
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    return arr.todense() if isinstance(arr, JAXSparse) else _core.asarray(arr)


def empty(shape, dtype=None, index_dtype="int32", sparse_format="bcoo", **kwds):
    """A sparse array without elements.

    Args:
      shape: its sizes.
      dtype: of the elements (None: float32, or float64 with `jax_enable_x64`).
      index_dtype: of the indices.
      sparse_format: "bcoo", "bcsr", "coo", "csr" or "csc".
      kwds: `n_batch`, `n_dense` and `nse` of "bcoo" and "bcsr".

    Raises:
      ValueError: for another format, or a shape that it does not have.

    Example:
      >>> shardax.experimental.sparse.empty((2, 3))
      BCOO(float32[2, 3], nse=0)
    """
    return _class(sparse_format)._empty(tuple(shape), dtype=dtype, index_dtype=index_dtype, **kwds)


def eye(N, M=None, k=0, dtype=None, index_dtype="int32", sparse_format="bcoo", **kwds):
    """A sparse matrix with ones on a diagonal.

    Args:
      N, M: the numbers of rows and columns (M None: N).
      k: the diagonal; above the main one, if positive.
      dtype, index_dtype, sparse_format, kwds: as those of `empty`.

    Raises:
      ValueError: for another format.

    Example:
      >>> shardax.experimental.sparse.eye(3)
      BCOO(float32[3, 3], nse=3)
    """
    N, M, k = (concrete_or_error(operator.index, v) for v in (N, N if M is None else M, k))
    return _class(sparse_format)._eye(N, M, k, dtype=dtype, index_dtype=index_dtype, **kwds)
