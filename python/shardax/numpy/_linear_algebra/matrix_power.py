# shardax/numpy/_linear_algebra/matrix_power.py - products of several matrices, and powers.
import operator

import shardax._core as _core
from shardax._base.arrays import asarray, check_arraylike, in_one_program
from shardax.numpy._linear_algebra.equations import inv
from shardax.numpy._linear_algebra.matrices import eye
from shardax.numpy._linear_algebra.products import dot, matmul


@in_one_program("n")
def matrix_power(a, n):
    """The power of square matrices, by repeated squaring.

    Args:
      a: an array of shape (..., N, N).
      n: an int; negative: a power of the inverse.

    Returns:
      An array of the shape of `a`.

    Raises:
      TypeError: `n` is no integer.
      ValueError: matrices are not square.

    Example:
      >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [0, 1]]), 3)
      Array([[1, 3],
             [0, 1]], dtype=int32)
    """
    check_arraylike("jnp.linalg.matrix_power", a)
    a = asarray(a)
    if a.ndim < 2:
        raise TypeError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise TypeError(f"Last 2 dimensions of the array must be square, got shape {a.shape}")
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError(f"exponent must be an integer, got {n}") from error
    if n == 0:
        return _core.broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape)
    if n < 0:
        a, n = inv(a), -n
    out = None
    while n:
        if n & 1:
            out = a if out is None else matmul(out, a)
        n >>= 1
        a = matmul(a, a) if n else a
    return out


@in_one_program("precision")
def multi_dot(arrays, *, precision=None):
    """The product of matrices, in the order that needs the fewest multiplications.

    Args:
      arrays: at least two matrices; the first and the last may be vectors.
      precision: as in `lax.dot_general`.

    Raises:
      ValueError: there are fewer than two.

    Source: Cormen et al., "Introduction to Algorithms", section 15.2.

    Example:
      >>> a, b, c = jnp.ones((2, 50)), jnp.ones((50, 2)), jnp.ones((2, 3))
      >>> jnp.linalg.multi_dot([a, b, c])
      Array([[100., 100., 100.],
             [100., 100., 100.]], dtype=float32)
    """
    check_arraylike("jnp.linalg.multi_dot", *arrays)
    arrays = [asarray(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError(f"multi_dot requires at least two arrays; got len(arrays)={len(arrays)}")
    ends = {0, len(arrays) - 1}
    for i, a in enumerate(arrays):
        if a.ndim != 2 and not (i in ends and a.ndim == 1):
            raise ValueError(
                "multi_dot: input arrays must all be two-dimensional, except for the first and "
                f"last array which may be 1 or 2 dimensional. Got array.shape={a.shape} at {i}."
            )
    last = arrays[-1].shape[1:] or (1,)
    sizes = [1 if arrays[0].ndim == 1 else arrays[0].shape[0]]
    sizes += [a.shape[0] for a in arrays[1:]] + [last[0]]
    return _product(arrays, _splits(sizes), 0, len(arrays) - 1, precision)


def _splits(sizes):
    """By (first, last) matrix of a product: after which one to split it."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )
    return split


def _product(arrays, split, i, j, precision):
    if i == j:
        return arrays[i]
    k = split[i, j]
    left = _product(arrays, split, i, k, precision)
    right = _product(arrays, split, k + 1, j, precision)
    return dot(left, right, precision=precision)
