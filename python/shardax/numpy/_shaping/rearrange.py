# shardax/numpy/_shaping/rearrange.py - elements repeated, reversed and rotated.
import numpy as np

import shardax._core as _core
from shardax._base.arrays import (
    another,
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    in_one_program,
    known,
)
from shardax._devices.out_sharding import takes_out_sharding
from shardax.numpy._indexing.select import take
from shardax.numpy._shaping.shape import swapaxes
from shardax.numpy._sorting import searchsorted

_functions = _core.functions


@in_one_program("repeats", "axis", "total_repeat_length", at_once=True)
@takes_out_sharding
def repeat(a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None):
    """Each element of an array (or slice along `axis`) repeated.

    Args:
      a: an array.
      repeats: how often each is repeated, or one number for all; known while tracing but for
        `total_repeat_length`.
      axis: the dimension; None: the array is flattened first.
      total_repeat_length: the size of the result along `axis`: the last element fills up what is
        missing, and elements beyond it are dropped.
      out_sharding: a sharding in the explicit mode of meshes.

    Returns:
      An array with sum(repeats) elements along `axis`.

    Raises:
      ConcretizationTypeError: `repeats` is traced, without `total_repeat_length`.

    Example:
      >>> jnp.repeat(jnp.array([[1, 2], [3, 4]]), 2, axis=1)
      Array([[1, 1, 2, 2],
             [3, 3, 4, 4]], dtype=int32)
      >>> jnp.repeat(jnp.array([1, 2]), jnp.array([2, 3]), total_repeat_length=4)
      Array([1, 1, 2, 2], dtype=int32)
    """
    check_arraylike("repeat", a)
    if total_repeat_length is None:
        repeats = np.asarray(
            known(
                repeats,
                "When jit-compiling jnp.repeat, the total number of repeats must be static. To fix "
                "this, either specify a static value for `repeats`, or pass a static value to "
                "`total_repeat_length`.",
            )
        )
        if repeats.dtype.kind not in "biu":
            raise TypeError(f"repeat: 'repeats' must be integers, got {repeats.dtype}.")
    a = asarray(a)
    if axis is None or a.ndim == 0:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    size = a.shape[axis]
    asked = _core.api.typeof(a).asked_split
    if asked and asked[axis] and not _core.api.sharding_given():
        raise ValueError(
            f"Please pass sharding to `jnp.repeat` via `out_sharding` parameter: {asked[axis]} "
            f"split dimension {axis} of {_core.api.typeof(a)}."
        )
    if total_repeat_length is not None:
        if size == 0:
            return a
        counts = _core.broadcast_to(asarray(repeats).reshape((-1,)), (size,))
        ends = bind("cumsum", (counts,), axis=0, reverse=False)
        return take(a, _owners(ends, total_repeat_length, size), axis=axis)
    if repeats.size == 1:
        new = a.shape[: axis + 1] + (int(repeats.item()),) + a.shape[axis + 1 :]
        kept = tuple(d for d in range(a.ndim + 1) if d != axis + 1)
        wide = bind("broadcast_in_dim", (a,), shape=new, broadcast_dimensions=kept)
        return wide.reshape(a.shape[:axis] + (size * new[axis + 1],) + a.shape[axis + 1 :])
    if repeats.shape != (size,):
        raise ValueError(
            f"repeat: 'repeats' of shape {repeats.shape} does not fit {size} elements along axis "
            f"{axis}."
        )
    return take(a, np.repeat(np.arange(size), repeats), axis=axis)


def _owners(ends, length, size):
    """The element that each place copies: the first whose copies end after it."""
    owner = searchsorted(ends, np.arange(length, dtype=np.int32), side="right")
    return _functions.minimum(owner, size - 1)


@in_one_program("axis", at_once=True)
def flip(m, axis=None):
    """The elements of an array in reverse order.

    Args:
      m: an array.
      axis: the dimension(s) to reverse, an int or a tuple; None: all.

    Returns:
      An array of the same shape.

    Raises:
      ValueError: a dimension is out of bounds.

    Example:
      >>> jnp.flip(jnp.array([[1, 2], [3, 4]]))
      Array([[4, 3],
             [2, 1]], dtype=int32)
      >>> jnp.flip(jnp.array([[1, 2], [3, 4]]), axis=1)
      Array([[2, 1],
             [4, 3]], dtype=int32)
    """
    check_arraylike("flip", m)
    m = asarray(m)
    axes = canonical_axes(axis, m.ndim)
    return bind("rev", (m,), dimensions=axes) if axes else another(m)


def fliplr(m):
    """The columns of an array in reverse order: dimension 1 is reversed.

    Example:
      >>> jnp.fliplr(jnp.array([[1, 2], [3, 4]]))
      Array([[2, 1],
             [4, 3]], dtype=int32)
    """
    return flip(m, 1)


def flipud(m):
    """The rows of an array in reverse order: dimension 0 is reversed.

    Example:
      >>> jnp.flipud(jnp.array([[1, 2], [3, 4]]))
      Array([[3, 4],
             [1, 2]], dtype=int32)
    """
    return flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    """An array rotated by 90 degrees, from the first towards the second of two dimensions.

    Args:
      m: an array of two dimensions or more.
      k: how many times, negative in the other direction.
      axes: the two dimensions of the plane.

    Returns:
      An array; for odd k the sizes of the two dimensions are exchanged.

    Raises:
      ValueError: `axes` are not two different dimensions.

    Example:
      >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
      Array([[2, 4],
             [1, 3]], dtype=int32)
    """
    m = asarray(m)
    if m.ndim < 2:
        raise ValueError(
            "rot90 requires its first argument to have ndim at least two, but got first argument "
            f"of shape {m.shape}, which has ndim {m.ndim}"
        )
    i, j = (canonical_axis(a, m.ndim) for a in axes)
    if i == j:
        raise ValueError(f"Axes must be different, got {axes}.")
    k %= 4
    if k == 0:
        return another(m)
    if k == 2:
        return flip(m, (i, j))
    if k == 1:
        return swapaxes(flip(m, j), i, j)
    return flip(swapaxes(m, i, j), j)


@in_one_program("shift", "axis", at_once=True)
def roll(a, shift, axis=None):
    """The elements of an array moved on along dimensions; those beyond the end come in at the
    start.

    Args:
      a: an array.
      shift: by how many places, an int or a tuple of one for each of `axis`; may be traced.
      axis: the dimension(s); None: the array is flattened, and gets its shape back.

    Returns:
      An array of the same shape.

    Raises:
      ValueError: `axis` is out of bounds, or lengths differ.

    Example:
      >>> jnp.roll(jnp.arange(5), 2)
      Array([3, 4, 0, 1, 2], dtype=int32)
      >>> jnp.roll(jnp.array([[1, 2], [3, 4]]), -1, axis=0)
      Array([[3, 4],
             [1, 2]], dtype=int32)
    """
    check_arraylike("roll", a)
    a = another(asarray(a))
    if axis is None:
        return roll(a.reshape((-1,)), shift, 0).reshape(a.shape)
    axes = (axis,) if np.ndim(axis) == 0 else tuple(axis)
    shift = list(shift) if isinstance(shift, range) else shift
    if not isinstance(shift, (tuple, list, int)):
        shift = asarray(shift)
        shift = list(shift) if shift.ndim == 1 else shift
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    count = max(len(shifts), len(axes))
    if any(len(x) not in (1, count) for x in (shifts, axes)):
        raise ValueError(
            f"roll: {len(shifts)} shifts and {len(axes)} axes do not fit together; give one of "
            "either, or as many of both."
        )
    shifts, axes = (list(x) * (count if len(x) == 1 else 1) for x in (shifts, axes))
    for s, d in zip(shifts, axes):
        d = canonical_axis(d, a.ndim)
        n = a.shape[d]
        if n == 0:
            continue
        if isinstance(s, _core.Tracer) and not _core.is_concrete(s):
            a = take(a, _functions.remainder(_functions.subtract(np.arange(n), s), n), axis=d)
            continue
        s = int(s) % n
        if s:
            low, high = [slice(None)] * a.ndim, [slice(None)] * a.ndim
            low[d], high[d] = slice(n - s, n), slice(0, n - s)
            a = bind("concatenate", (a[tuple(low)], a[tuple(high)]), dimension=d)
    return a
