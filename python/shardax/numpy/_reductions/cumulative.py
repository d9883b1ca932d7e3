# shardax/numpy/_reductions/cumulative.py - running sums and products.
import numpy as np

import shardax._core as _core
from shardax._base.array_functions import concatenate
from shardax._base.arrays import (
    asarray,
    bind,
    canonical_axis,
    check_arraylike,
    in_one_program,
    is_split,
    refuse_out,
)
from shardax.errors import ShardingTypeError
from shardax.numpy._reductions.reductions import _strong, _widened


def _cumulative(op, name, a, axis, dtype, widen):
    check_arraylike(name, a)
    a = asarray(a)
    if axis is None:
        if any(is_split(a, d) for d in range(a.ndim)):
            raise ShardingTypeError(
                f"{name}: The input should be fully replicated where axis is None, got "
                f"{_core.api.typeof(a)}. Reshard it to P(), or name an axis that is not split."
            )
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    if dtype is not None:
        a = a.astype(dtype)
        if a.dtype == np.bool_:  # any, or all, elements so far are true
            op = {"cumsum": "cummax", "cumprod": "cummin"}[op]
            return bind(op, (a.astype(np.int8),), axis=axis, reverse=False).astype(bool)
    elif widen:
        a = _widened(a)
    elif a.dtype == np.bool_:
        a = _core.convert(a, _core.canonical_dtype(int))
    return _strong(bind(op, (a,), axis=axis, reverse=False))


@in_one_program("axis", "dtype", at_once=True)
def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along `axis`: element i of the result is the sum of elements 0 to i.

    Args:
      a: an array of any shape, of numbers or booleans.
      axis: the dimension, an int; None: the array is flattened first.
      dtype: of the result. None: that of `a`, or int32 for booleans.
      out: must be None.

    Returns:
      The shape of `a`, or a vector of its size where `axis` is None.

    Raises:
      ValueError: `axis` is out of bounds.

    Example:
      >>> jnp.cumsum(jnp.array([1, 2, 3, 4]))
      Array([ 1,  3,  6, 10], dtype=int32)
      >>> jnp.cumsum(jnp.ones((2, 3)), axis=1)
      Array([[1., 2., 3.],
             [1., 2., 3.]], dtype=float32)
    """
    refuse_out("cumsum", out)
    return _cumulative("cumsum", "cumsum", a, axis, dtype, False)


@in_one_program("axis", "dtype", at_once=True)
def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along `axis`: element i of the result is the product of elements 0 to i.

    Args:
      a: an array of any shape, of numbers or booleans.
      axis: the dimension, an int; None: the array is flattened first.
      dtype: of the result. None: that of `a`, or int32 for booleans.
      out: must be None.

    Returns:
      The shape of `a`, or a vector of its size where `axis` is None.

    Raises:
      ValueError: `axis` is out of bounds.

    Example:
      >>> jnp.cumprod(jnp.array([1, 2, 3, 4]))
      Array([ 1,  2,  6, 24], dtype=int32)
    """
    refuse_out("cumprod", out)
    return _cumulative("cumprod", "cumprod", a, axis, dtype, False)


def _cumulative_with_initial(op, name, x, axis, dtype, include_initial, initial):
    check_arraylike(name, x)
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError(
            f"The input must be non-scalar to take a cumulative sum or product; {name} got {x}."
        )
    if axis is None:
        if x.ndim != 1:
            raise ValueError(
                f"The input array has rank {x.ndim}, however axis was not set to an explicit value."
            )
        axis = 0
    axis = canonical_axis(axis, x.ndim)
    out = _cumulative(op, name, x, axis, dtype, op == "cumsum")
    if not include_initial:
        return out
    first = _core.full(x.shape[:axis] + (1,) + x.shape[axis + 1 :], initial, out.dtype)
    return concatenate([first, out], axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums along `axis`, as the array API standard names them.

    Args:
      x: an array of one dimension or more; small integers add up as int32.
      axis: the dimension, an int; needed for more than one dimension.
      dtype: of the result; None: that of `x`, widened.
      include_initial: whether a 0 stands in front, so that the result is one longer.

    Returns:
      The shape of `x`, one longer along `axis` where `include_initial`.

    Raises:
      ValueError: `x` is a scalar, or `axis` is missing or out of bounds.

    Example:
      >>> jnp.cumulative_sum(jnp.array([1, 2, 3]), include_initial=True)
      Array([0, 1, 3, 6], dtype=int32)
    """
    return _cumulative_with_initial("cumsum", "cumulative_sum", x, axis, dtype, include_initial, 0)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products along `axis`, as the array API standard names them.

    Args:
      x: an array of one dimension or more; small integers multiply as int32.
      axis: the dimension, an int; needed for more than one dimension.
      dtype: of the result; None: that of `x`, widened.
      include_initial: whether a 1 stands in front, so that the result is one longer.

    Returns:
      The shape of `x`, one longer along `axis` where `include_initial`.

    Raises:
      ValueError: `x` is a scalar, or `axis` is missing or out of bounds.

    Example:
      >>> jnp.cumulative_prod(jnp.array([1, 2, 3]), include_initial=True)
      Array([1, 1, 2, 6], dtype=int32)
    """
    return _cumulative_with_initial(
        "cumprod", "cumulative_prod", x, axis, dtype, include_initial, 1
    )
