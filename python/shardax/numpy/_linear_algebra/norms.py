"""shardax/numpy/_linear_algebra/norms.py - norms of vectors and matrices."""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import expand_dims, moveaxis
from shardax._base.arrays import asarray, canonical_axis, check_arraylike, static_jit
from shardax.lax._linear_solve import promoted
from shardax.lax.linalg import svd
from shardax.numpy._reductions import extremes as _extremes
from shardax.numpy._reductions import reductions as _reductions

_functions = _core.functions

__all__ = ["matrix_norm", "norm", "vector_norm"]


def _euclidean(x, axis, keepdims):
    square = _functions.real(x * _functions.conj(x)) if x.dtype.kind == "c" else x * x
    return _functions.sqrt(_reductions.sum(square, axis, keepdims=keepdims))


@static_jit("ord", "axis", "keepdims")
def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors or matrices along `axis`; by default the square root of the sum of
    squares.

    Args:
      x: an array of numbers.
      ord: of vectors 0 (the number of elements that are not 0), inf, -inf or any number. Of
        matrices it is "fro", inf, -inf, 1, -1, or of the singular values "nuc" (their sum), 2 (the
        largest) and -2 (the smallest).
      axis: one dimension (vectors) or two (matrices); None: all of `x`, which is one vector where
        `ord` is None.
      keepdims: whether reduced dimensions stay, with size 1.

    Returns:
      Floats in the shape of `x` without `axis`.

    Raises:
      ValueError: for another `ord`, or another number of dimensions.

    Example:
      >>> jnp.linalg.norm(jnp.array([3.0, 4.0]))
      Array(5., dtype=float32)
      >>> jnp.linalg.norm(jnp.array([[3.0, 4.0], [0.0, 2.0]]), axis=1, ord=1)
      Array([7., 2.], dtype=float32)
    """
    (x,) = promoted("jnp.linalg.norm", x)
    if axis is None:
        if ord is None:
            return _euclidean(x, None, keepdims)
        axis = tuple(range(x.ndim))
    axis = axis if isinstance(axis, (tuple, list)) else (axis,)
    axis = tuple(canonical_axis(a, x.ndim) for a in axis)
    if len(axis) == 1:
        return _vector(x, 2 if ord is None else ord, axis, keepdims)
    if len(axis) == 2:
        return _matrix(x, ord, axis, keepdims)
    raise ValueError(
        f"Improper number of axes for norm: axis={axis}. Pass one axis to compute a vector-norm, "
        "or two axes to compute a matrix-norm."
    )


def _vector(x, ord, axis, keepdims):
    if ord is None or ord == 2:
        return _euclidean(x, axis, keepdims)
    if ord == 0:
        dtype = _functions.real(x).dtype
        return _reductions.sum(x != 0, axis, dtype=dtype, keepdims=keepdims)
    size = _functions.abs(x)
    if isinstance(ord, str):
        remedy = f" Use '{ord.replace('inf', 'jax.numpy.inf')}' instead." if "inf" in ord else ""
        raise ValueError(f"Invalid order '{ord}' for vector norm.{remedy}")
    if ord == np.inf:
        return _extremes.max(size, axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return _extremes.min(size, axis, keepdims=keepdims)
    if ord == 1:
        return _reductions.sum(size, axis, keepdims=keepdims)
    powers = _reductions.sum(size ** size.dtype.type(ord), axis, keepdims=keepdims)
    return _functions.power(powers, size.dtype.type(1) / size.dtype.type(ord))


def _matrix(x, ord, axis, keepdims):
    row, column = axis
    if ord is None or ord in ("f", "fro"):
        return _euclidean(x, axis, keepdims)
    if ord in ("nuc", 2, -2):
        s = svd(moveaxis(x, axis, (-2, -1)), full_matrices=False, compute_uv=False)
        if ord == "nuc":
            out = _reductions.sum(s, -1)
        else:
            out = _extremes.max(s, -1, initial=0) if ord == 2 else _extremes.min(s, -1)
        return expand_dims(out, tuple(sorted(axis))) if keepdims else out
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError(f"Invalid order '{ord}' for matrix norm.")
    summed, chosen = (row, column) if abs(ord) == 1 else (column, row)
    sums = _reductions.sum(_functions.abs(x), summed, keepdims=True)
    if ord > 0:
        out = _extremes.max(sums, chosen, keepdims=True, initial=0)
    else:
        out = _extremes.min(sums, chosen, keepdims=True)
    return out if keepdims else out.reshape([n for d, n in enumerate(out.shape) if d not in axis])


@static_jit("axis", "keepdims", "ord")
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of vectors along `axis`, as the array API standard defines it.

    Args:
      x: an array of numbers.
      axis: one dimension, several that count as one, or None for all.
      keepdims: whether reduced dimensions stay, with size 1.
      ord: 0, inf, -inf or any number.

    Returns:
      Floats in the shape of `x` without `axis`; of integers and for 1, inf and -inf an integer.

    Example:
      >>> jnp.linalg.vector_norm(jnp.array([[1.0, 2.0], [2.0, 4.0]]), ord=jnp.inf)
      Array(4., dtype=float32)
    """
    if ord in (1, np.inf, -np.inf):  # of integers as well
        check_arraylike("jnp.linalg.vector_norm", x)
        return _vector(asarray(x), ord, axis, keepdims)
    (x,) = promoted("jnp.linalg.vector_norm", x)
    return _vector(x, ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of matrices, as the array API standard defines it.

    Args:
      x: an array of shape (..., M, N).
      keepdims: whether the two dimensions stay, with size 1.
      ord: as of matrices in `jnp.linalg.norm`.

    Returns:
      Floats of shape (...).

    Example:
      >>> jnp.linalg.matrix_norm(jnp.eye(4))
      Array(2., dtype=float32)
    """
    return norm(x, ord, (-2, -1), keepdims)
