"""shardax/numpy/_linear_algebra/products.py - products of arrays: dot, tensordot and their kin."""

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import moveaxis, stack
from shardax._base.arrays import (
    asarray,
    canonical_axis,
    check_arraylike,
    in_one_program,
    refuse_out,
    result_type,
    shape_of,
    static_jit,
)
from shardax._devices.out_sharding import takes_out_sharding
from shardax.config import config
from shardax.lax._dot import preferred_dtype, product
from shardax.numpy._linear_algebra.matrices import diagonal

_functions = _core.functions


def _dot_general(a, b, contract, batch=((), ()), preferred_element_type=None, precision=None):
    a, b = (
        _core.convert(asarray(x), dtype, asarray(x).weak_type)
        for dtype in (result_type(a, b),)
        for x in (a, b)
    )
    dtype = preferred_dtype(preferred_element_type) or a.dtype
    return product(a, b, (contract, batch), dtype, precision)


@takes_out_sharding
def matmul(a, b, *, precision=None, preferred_element_type=None, out_sharding=None):
    """The products of matrices in stacks, a @ b.

    The last dimension of `a` and the second to last of `b` are contracted; those before broadcast.
    A vector counts as a row on the left, as a column on the right, and its dimension goes away.

    Args:
      a, b: arrays of one dimension or more.
      precision: as in `lax.dot_general`; it makes nothing less precise.
      preferred_element_type: the dtype in which products are added, and of the result.
      out_sharding: how the result is split, in the explicit mode of meshes.

    Returns:
      An array of shape (..., M, N) for (..., M, K) and (..., K, N).

    Raises:
      TypeError: sizes do not fit.
      ValueError: an operand is a scalar, or stacks do not broadcast.

    Example:
      >>> a = jnp.array([[1, 2], [3, 4]])
      >>> jnp.matmul(a, a)
      Array([[ 7, 10],
             [15, 22]], dtype=int32)
      >>> jnp.matmul(jnp.ones((5, 2, 3)), jnp.ones((3, 4))).shape
      (5, 2, 4)
    """
    plain = precision is None and preferred_element_type is None
    plain = plain and config.jax_default_matmul_precision is None
    if plain or not (len(shape_of(a)) and len(shape_of(b))):
        return _functions.matmul(a, b)
    check_arraylike("matmul", a, b)
    dtype = result_type(a, b)
    a, b = (_core.convert(asarray(x), dtype, asarray(x).weak_type) for x in (a, b))
    rows = a[..., None, :] if a.ndim == 1 else a
    columns = b[..., None] if b.ndim == 1 else b
    batch = _core.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    count = len(batch)
    out = product(
        _core.broadcast_to(rows, batch + rows.shape[-2:]),
        _core.broadcast_to(columns, batch + columns.shape[-2:]),
        (((count + 1,), (count,)), (tuple(range(count)),) * 2),
        preferred_dtype(preferred_element_type) or dtype,
        precision,
    )
    return out.reshape(batch + a.shape[-2:-1] + (b.shape[-1:] if b.ndim > 1 else ()))


@takes_out_sharding
@static_jit("precision", "preferred_element_type", "out_sharding", inline=True)
def dot(a, b, *, precision=None, preferred_element_type=None, out_sharding=None):
    """The product of two arrays: over the last dimension of `a` and the second to last of `b`.

    For vectors it is the sum of products, for matrices `jnp.matmul`. Dimensions of stacks do not
    broadcast: the result has all of them.

    Args:
      a, b: arrays or numbers.
      precision, preferred_element_type, out_sharding: as in `jnp.matmul`.

    Returns:
      An array of shape a.shape without the last + b.shape without the second to last.

    Raises:
      TypeError: sizes do not fit.

    Example:
      >>> jnp.dot(jnp.arange(3), jnp.arange(3))
      Array(5, dtype=int32)
      >>> jnp.dot(jnp.ones((5, 2, 3)), jnp.ones((4, 3, 6))).shape
      (5, 2, 4, 6)
    """
    check_arraylike("dot", a, b)
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return _functions.multiply(a, b)
    contract = ((a.ndim - 1,), (max(b.ndim - 2, 0),))
    return _dot_general(a, b, contract, ((), ()), preferred_element_type, precision)


@in_one_program("precision", "preferred_element_type")
def vdot(a, b, *, precision=None, preferred_element_type=None):
    """The sum of products of all elements, the first operand conjugated.

    Args:
      a, b: arrays of one size, which are flattened.
      precision, preferred_element_type: as in `jnp.matmul`.

    Returns:
      An array without dimensions.

    Raises:
      TypeError: sizes differ.

    Example:
      >>> jnp.vdot(jnp.array([1j, 2]), jnp.array([1j, 3]))
      Array(7.+0.j, dtype=complex64)
    """
    check_arraylike("vdot", a, b)
    a = asarray(a)
    if a.dtype.kind == "c":
        a = a.conj()
    return dot(
        a.reshape((-1,)),
        asarray(b).reshape((-1,)),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@in_one_program("axis", "precision", "preferred_element_type", at_once=True)
def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None):
    """The sums of products of vectors along `axis`, the first operand conjugated.

    Args:
      x1, x2: arrays of one dimension or more; other dimensions broadcast.
      axis: the dimension of both, in which sizes are the same.
      precision, preferred_element_type: as in `jnp.matmul`.

    Returns:
      The broadcast shape without `axis`.

    Raises:
      ValueError: sizes differ, or an operand is a scalar.

    Example:
      >>> jnp.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10]))
      Array([21, 43], dtype=int32)
    """
    check_arraylike("vecdot", x1, x2)
    x1, x2 = (moveaxis(asarray(x), canonical_axis(axis, len(shape_of(x))), -1) for x in (x1, x2))
    if x1.shape[-1:] != x2.shape[-1:]:
        raise ValueError(
            "jnp.vecdot requires the same size along the contracted axis; got sizes "
            f"{x1.shape[-1]} and {x2.shape[-1]} along axis {axis}."
        )
    out = matmul(
        _functions.conj(x1)[..., None, :],
        x2[..., None],
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
    return out[..., 0, 0]


@in_one_program("precision", "preferred_element_type", at_once=True)
def inner(a, b, *, precision=None, preferred_element_type=None):
    """The sums of products over the last dimensions of both operands.

    Args:
      a, b: arrays, or numbers, which multiply.
      precision, preferred_element_type: as in `jnp.matmul`.

    Returns:
      An array of shape a.shape[:-1] + b.shape[:-1].

    Raises:
      TypeError: sizes differ.

    Example:
      >>> jnp.inner(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10]))
      Array([21, 43], dtype=int32)
    """
    check_arraylike("inner", a, b)
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return _functions.multiply(a, b)
    contract = (a.ndim - 1,), (b.ndim - 1,)
    return _dot_general(a, b, contract, ((), ()), preferred_element_type, precision)


@in_one_program(at_once=True)
def outer(a, b, out=None):
    """All products of an element of `a` with one of `b`.

    Args:
      a, b: arrays, which are flattened.
      out: must be None.

    Returns:
      A matrix of shape (a.size, b.size).

    Example:
      >>> jnp.outer(jnp.array([1, 2]), jnp.array([1, 10, 100]))
      Array([[  1,  10, 100],
             [  2,  20, 200]], dtype=int32)
    """
    refuse_out("outer", out)
    check_arraylike("outer", a, b)
    return _functions.multiply(asarray(a).reshape((-1, 1)), asarray(b).reshape((1, -1)))


@in_one_program("axes", "precision", "preferred_element_type", at_once=True)
@takes_out_sharding
@takes_out_sharding
def tensordot(a, b, axes=2, *, precision=None, preferred_element_type=None, out_sharding=None):
    """The sums of products over chosen dimensions of two arrays.

    Args:
      a, b: arrays.
      axes: an int n: the last n of `a` with the first n of `b`; or (dimensions of a, dimensions of
        b).
      precision, preferred_element_type, out_sharding: as in `jnp.matmul`.

    Returns:
      An array with the other dimensions of `a`, then those of `b`.

    Raises:
      TypeError: sizes differ, or `axes` are neither an int nor a pair.

    Example:
      >>> a, b = jnp.ones((2, 3, 4)), jnp.ones((4, 3))
      >>> jnp.tensordot(a, b, axes=((1, 2), (1, 0)))
      Array([12., 12.], dtype=float32)
    """
    check_arraylike("tensordot", a, b)
    a, b = asarray(a), asarray(b)
    if isinstance(axes, int):
        if axes > min(a.ndim, b.ndim):
            raise TypeError(
                f"Number of tensordot axes (axes {axes}) exceeds input ranks ({a.shape} and "
                f"{b.shape})"
            )
        contract = (tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes)))
    else:
        if isinstance(axes, str) or len(axes) != 2:
            raise TypeError(
                "tensordot axes argument must be an int, a pair of ints, or a pair of lists of "
                f"ints, got {axes!r}."
            )
        left, right = axes
        if not all(isinstance(side, (int, tuple, list, range)) for side in axes):
            raise TypeError(
                "tensordot requires both axes lists to be either ints, tuples or lists, got "
                f"{left!r} and {right!r}."
            )
        left = (left,) if isinstance(left, int) else tuple(left)
        right = (right,) if isinstance(right, int) else tuple(right)
        if len(left) != len(right):
            raise TypeError(
                f"tensordot requires axes lists to have equal length, got {left} and {right}."
            )
        contract = (
            tuple(canonical_axis(d, a.ndim) for d in left),
            tuple(canonical_axis(d, b.ndim) for d in right),
        )
    return _dot_general(a, b, contract, ((), ()), preferred_element_type, precision)


@in_one_program(at_once=True)
def kron(a, b):
    """The Kronecker product: `b` scaled by each element of `a`, as blocks.

    Args:
      a, b: arrays.

    Returns:
      An array whose sizes are the products of theirs.

    Example:
      >>> jnp.kron(jnp.array([1, 10]), jnp.array([[1, 2]]))
      Array([[ 1,  2, 10, 20]], dtype=int32)
    """
    check_arraylike("kron", a, b)
    a, b = asarray(a), asarray(b)
    if result_type(a, b) == np.bool_:
        raise TypeError(
            "kron does not accept dtype bool; convert the arguments to an integer dtype."
        )
    ndim = max(a.ndim, b.ndim)
    a = a.reshape((1,) * (ndim - a.ndim) + a.shape)
    b = b.reshape((1,) * (ndim - b.ndim) + b.shape)
    wide_a = a.reshape(tuple(n for s in a.shape for n in (s, 1)))
    wide_b = b.reshape(tuple(n for s in b.shape for n in (1, s)))
    return _functions.multiply(wide_a, wide_b).reshape(
        tuple(x * y for x, y in zip(a.shape, b.shape))
    )


@in_one_program("axisa", "axisb", "axisc", "axis")
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross products of vectors of 2 or 3 components.

    Args:
      a, b: arrays whose other dimensions broadcast.
      axisa, axisb, axisc: the dimensions of the components in `a`, `b` and the result.
      axis: one dimension for all three.

    Returns:
      Vectors; for two components on both sides the third component alone, without the dimension.

    Raises:
      ValueError: vectors have other than 2 or 3 components.

    Example:
      >>> jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
      Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    check_arraylike("cross", a, b)
    dtype = result_type(a, b)
    a, b = (_core.convert(moveaxis(asarray(x), d, -1), dtype) for x, d in ((a, axisa), (b, axisb)))
    if not a.ndim or not b.ndim or a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("Dimension must be either 2 or 3 for cross product")
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    x = [a[..., i] if i < a.shape[-1] else a[..., 0] * 0 for i in range(3)]
    y = [b[..., i] if i < b.shape[-1] else b[..., 0] * 0 for i in range(3)]
    out = stack(
        [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]], axis=-1
    )
    return moveaxis(out, -1, axisc)


@in_one_program("offset", "axis1", "axis2", "dtype", "out")
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sums along diagonals of matrices.

    Args:
      a: an array of two dimensions or more.
      offset: the diagonal: 0 is the main one, positive ones lie above it.
      axis1, axis2: the dimensions of rows and columns.
      dtype: of the result; None: as `jnp.sum` chooses.
      out: must be None.

    Returns:
      The shape of `a` without the two dimensions.

    Raises:
      ValueError: `a` has fewer than two dimensions.

    Example:
      >>> jnp.trace(jnp.array([[1, 2], [3, 4]]))
      Array(5, dtype=int32)
    """
    refuse_out("trace", out)
    check_arraylike("trace", a)
    rank = len(shape_of(a))
    if canonical_axis(axis1, rank) == canonical_axis(axis2, rank):
        raise ValueError(f"axis1 and axis2 can not be same. {axis1=} and {axis2=}")
    return diagonal(a, offset, axis1, axis2).sum(-1, dtype=dtype)


def matvec(x1, x2, /):
    """The products of matrices and vectors in stacks.

    Args:
      x1: matrices of shape (..., M, N).
      x2: vectors of shape (..., N); leading dimensions broadcast.

    Returns:
      Vectors of shape (..., M).

    Raises:
      TypeError: sizes do not fit.

    Example:
      >>> jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 0], [0, 1]]))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    return matmul(x1, asarray(x2)[..., None])[..., 0]


def vecmat(x1, x2, /):
    """The products of conjugated vectors and matrices in stacks.

    Args:
      x1: vectors of shape (..., M).
      x2: matrices of shape (..., M, N); leading dimensions broadcast.

    Returns:
      Vectors of shape (..., N).

    Raises:
      TypeError: sizes do not fit.

    Example:
      >>> jnp.vecmat(jnp.array([1, 10]), jnp.array([[1, 2], [3, 4]]))
      Array([31, 42], dtype=int32)
    """
    check_arraylike("vecmat", x1, x2)
    return matmul(_functions.conj(asarray(x1))[..., None, :], x2)[..., 0, :]
