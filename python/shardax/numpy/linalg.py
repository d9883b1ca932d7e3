"""shardax/numpy/linalg.py - norms, powers, inverses and decompositions of matrices.

Operands are promoted to an inexact dtype. The last two dimensions are a matrix, those before them a
stack of matrices.
"""

from shardax._base.arrays import asarray as _asarray
from shardax._base.arrays import check_arraylike as _check_arraylike
from shardax.numpy._linear_algebra import matrices as _matrices
from shardax.numpy._linear_algebra import products as _products
from shardax.numpy._linear_algebra.decompositions import EighResult as EighResult
from shardax.numpy._linear_algebra.decompositions import EigResult as EigResult
from shardax.numpy._linear_algebra.decompositions import QRResult as QRResult
from shardax.numpy._linear_algebra.decompositions import SVDResult as SVDResult
from shardax.numpy._linear_algebra.decompositions import cholesky as cholesky
from shardax.numpy._linear_algebra.decompositions import eig as eig
from shardax.numpy._linear_algebra.decompositions import eigh as eigh
from shardax.numpy._linear_algebra.decompositions import eigvals as eigvals
from shardax.numpy._linear_algebra.decompositions import eigvalsh as eigvalsh
from shardax.numpy._linear_algebra.decompositions import qr as qr
from shardax.numpy._linear_algebra.decompositions import svd as svd
from shardax.numpy._linear_algebra.decompositions import svdvals as svdvals
from shardax.numpy._linear_algebra.determinants import SlogdetResult as SlogdetResult
from shardax.numpy._linear_algebra.determinants import det as det
from shardax.numpy._linear_algebra.determinants import slogdet as slogdet
from shardax.numpy._linear_algebra.equations import inv as inv
from shardax.numpy._linear_algebra.equations import solve as solve
from shardax.numpy._linear_algebra.equations import tensorinv as tensorinv
from shardax.numpy._linear_algebra.equations import tensorsolve as tensorsolve
from shardax.numpy._linear_algebra.matrix_power import matrix_power as matrix_power
from shardax.numpy._linear_algebra.matrix_power import multi_dot as multi_dot
from shardax.numpy._linear_algebra.norms import matrix_norm as matrix_norm
from shardax.numpy._linear_algebra.norms import norm as norm
from shardax.numpy._linear_algebra.norms import vector_norm as vector_norm
from shardax.numpy._linear_algebra.singular_values import cond as cond
from shardax.numpy._linear_algebra.singular_values import lstsq as lstsq
from shardax.numpy._linear_algebra.singular_values import matrix_rank as matrix_rank
from shardax.numpy._linear_algebra.singular_values import pinv as pinv
from shardax.numpy._shaping import shape as _shape

vecdot, matrix_transpose = _products.vecdot, _shape.matrix_transpose


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three components along `axis`.

    Args:
      x1, x2: arrays whose other dimensions broadcast.
      axis: the dimension of the components.

    Raises:
      ValueError: for another number of components; `jnp.cross` takes two as well.

    Example:
      >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
      Array([0, 0, 1], dtype=int32)
    """
    _check_arraylike("jnp.linalg.cross", x1, x2)
    x1, x2 = _asarray(x1), _asarray(x2)
    sizes = x1.shape[axis], x2.shape[axis]
    if sizes != (3, 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they have "
            f"x1.shape[axis]={sizes[0]} and x2.shape[axis]={sizes[1]}"
        )
    return _products.cross(x1, x2, axis=axis)


def matmul(x1, x2, /, *, precision=None, preferred_element_type=None):
    """The products of matrices in stacks: `jnp.matmul` in the array API standard.

    Example:
      >>> jnp.linalg.matmul(jnp.ones((1, 2)), jnp.ones((2, 1)))
      Array([[2.]], dtype=float32)
    """
    return _products.matmul(
        x1, x2, precision=precision, preferred_element_type=preferred_element_type
    )


def tensordot(x1, x2, /, *, axes=2, precision=None, preferred_element_type=None, out_sharding=None):
    """The sums of products over chosen dimensions: `jnp.tensordot` in the array API standard.

    Example:
      >>> jnp.linalg.tensordot(jnp.ones((2, 3)), jnp.ones((3, 1)), axes=1)
      Array([[3.],
             [3.]], dtype=float32)
    """
    return _products.tensordot(
        x1,
        x2,
        axes,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )


def outer(x1, x2, /):
    """All products of an element of one vector with one of another.

    Args:
      x1, x2: vectors of M and N elements.

    Returns:
      A matrix of shape (M, N).

    Raises:
      ValueError: an operand has other than one dimension.

    Example:
      >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4]))
      Array([[3, 4],
             [6, 8]], dtype=int32)
    """
    _check_arraylike("jnp.linalg.outer", x1, x2)
    x1, x2 = _asarray(x1), _asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            "jnp.linalg.outer: input arrays must be one-dimensional, but they are "
            f"x1.ndim={x1.ndim} x2.ndim={x2.ndim}; jnp.outer flattens others."
        )
    return _products.outer(x1, x2)


def trace(x, /, *, offset=0, dtype=None):
    """The sums along diagonals of matrices.

    Args:
      x: an array of shape (..., M, N).
      offset: the diagonal: 0 is the main one, positive ones lie above it.
      dtype: of the result; None: as `jnp.sum` chooses.

    Returns:
      An array of shape (...).

    Example:
      >>> jnp.linalg.trace(jnp.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]))
      Array([ 5, 13], dtype=int32)
    """
    return _products.trace(x, offset, -2, -1, dtype)


def diagonal(x, /, *, offset=0):
    """The diagonals of matrices.

    Args:
      x: an array of shape (..., M, N).
      offset: the diagonal: 0 is the main one, positive ones lie above it.

    Returns:
      An array of shape (..., K), with the K elements of the diagonal.

    Example:
      >>> jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]]))
      Array([1, 4], dtype=int32)
    """
    return _matrices.diagonal(x, offset, -2, -1)
