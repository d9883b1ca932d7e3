"""shardax/numpy/_linear_algebra/equations.py - systems of linear equations and inverses."""

import math
import operator

import shardax._core as _core
from shardax._base.arrays import asarray, canonical_axis, check_arraylike, static_jit
from shardax.lax import _linear_solve
from shardax.lax._linear_solve import promoted as _promoted
from shardax.numpy._linear_algebra import matrices as _matrices
from shardax.numpy._shaping import shape as _shape

__all__ = ["inv", "solve", "tensorinv", "tensorsolve"]


@static_jit()
def solve(a, b):
    """The solution of linear systems: x with a x = b.

    Derivatives are further solves with the same decomposition. A singular `a` gives infinities or
    NaN.

    Args:
      a: square matrices (..., N, N).
      b: (..., N, M), or one vector (N,); stacks broadcast.

    Returns:
      An array of the shape of `b`, with the broadcast stack.

    Raises:
      ValueError: shapes do not fit.

    Example:
      >>> jnp.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 2.0]))
      Array([1. , 0.5], dtype=float32)
    """
    a, b = _promoted("jnp.linalg.solve", a, b)
    if a.ndim < 2:
        raise ValueError(f"left hand array must be at least two dimensional; got {a.shape=}")
    if 1 < b.ndim == a.ndim - 1 and a.shape[-1] == b.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"Invalid shapes for solve: {a.shape}, {b.shape}. Vectors in a stack are "
            "solve(a, b[..., None]).squeeze(-1)."
        )
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if b.ndim < 2 or a.shape[-1] != a.shape[-2] or b.shape[-2] != a.shape[-1]:
        raise ValueError(
            "The arguments to solve must have shapes a=[..., m, m] and b=[..., m, k] or b=[m]; got "
            f"a={a.shape} and b={b.shape[:-1] if vector else b.shape}"
        )
    x = _linear_solve.solve(a, b)
    return x[..., 0] if vector else x


@static_jit()
def inv(a):
    """The inverses of square matrices; infinities or NaN for singular ones.

    Args:
      a: floats or complex numbers of shape (..., N, N).

    Returns:
      An array of the shape of `a`.

    Raises:
      ValueError: matrices are not square.

    Example:
      >>> jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
      Array([[0.5 , 0.  ],
             [0.  , 0.25]], dtype=float32)
    """
    (a,) = _promoted("jnp.linalg.inv", a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Argument to inv must have shape [..., n, n], got {a.shape}.")
    return _linear_solve.solve(
        a, _core.broadcast_to(_matrices.eye(a.shape[-1], dtype=a.dtype), a.shape)
    )


def tensorinv(a, ind=2):
    """The inverse of tensordot(a, x, ind) as a function of x.

    Args:
      a: an array with prod(a.shape[:ind]) == prod(a.shape[ind:]).
      ind: how many dimensions belong to the result.

    Returns:
      An array of shape a.shape[ind:] + a.shape[:ind].

    Raises:
      ValueError: sizes do not fit.

    Example:
      >>> a = jnp.eye(4).reshape(2, 2, 4)
      >>> jnp.linalg.tensorinv(a, ind=2).shape
      (4, 2, 2)
    """
    check_arraylike("tensorinv", a)
    a, ind = asarray(a), operator.index(ind)
    if ind <= 0:
        raise ValueError(f"ind must be a positive integer; got {ind=}")
    rows, columns = a.shape[:ind], a.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise ValueError(
            "tensorinv is only possible when the product of the first `ind` dimensions equals "
            f"that of the remaining dimensions. got {a.shape=} with {ind=}."
        )
    return inv(a.reshape((math.prod(rows), math.prod(columns)))).reshape(columns + rows)


def tensorsolve(a, b, axes=None):
    """The solution of a tensor equation: x with tensordot(a, x, x.ndim) = b.

    Args:
      a: an array of shape b.shape + x.shape, with as many elements in both.
      b: an array of any shape.
      axes: dimensions of `a` that are moved to its end first.

    Returns:
      An array of the rest of the shape of `a`.

    Example:
      >>> a = 2 * jnp.eye(4).reshape(2, 2, 4)
      >>> jnp.linalg.tensorsolve(a, jnp.ones((2, 2)))
      Array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    check_arraylike("tensorsolve", a, b)
    a, b = asarray(a), asarray(b)
    if axes is not None:
        axes = [canonical_axis(d, a.ndim) for d in axes]
        a = _shape.transpose(a, [d for d in range(a.ndim) if d not in axes] + axes)
    shape = a.shape[b.ndim :]
    if a.shape[: b.ndim] != b.shape:
        raise ValueError(
            "After moving axes to end, leading shape of a must match shape of b. got "
            f"{a.shape=}, {b.shape=}"
        )
    if math.prod(shape) != b.size:
        raise ValueError(
            "Input arrays must have prod(a.shape[:b.ndim]) == prod(a.shape[b.ndim:]); got "
            f"{a.shape=}, {b.ndim=}."
        )
    return solve(a.reshape((b.size, b.size)), b.ravel()).reshape(shape)
