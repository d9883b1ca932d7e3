# shardax/numpy/_rearrange.py - elements repeated, reversed and rotated.
import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    known,
)
from shardax.numpy._shape import swapaxes

_functions = _core.functions


def tile(A, reps):
    """`A` repeated along each dimension."""
    check_arraylike("tile", A)
    A = asarray(A)
    reps = (reps,) if not isinstance(reps, (tuple, list)) else tuple(reps)
    ndim = max(A.ndim, len(reps))
    A = A.reshape((1,) * (ndim - A.ndim) + A.shape)
    reps = (1,) * (ndim - len(reps)) + reps
    between = tuple(n for r, s in zip(reps, A.shape) for n in (r, s))
    kept = tuple(range(1, 2 * ndim, 2))
    wide = bind("broadcast_in_dim", (A,), shape=between, broadcast_dimensions=kept)
    return wide.reshape(tuple(r * s for r, s in zip(reps, A.shape)))


def repeat(a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None):
    """Each element (or slice along `axis`) repeated."""
    check_arraylike("repeat", a)
    known(repeats, "the 'repeats' argument of jnp.repeat")
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    if isinstance(repeats, (int, np.integer)):
        new = a.shape[: axis + 1] + (int(repeats),) + a.shape[axis + 1 :]
        kept = tuple(d for d in range(a.ndim + 1) if d != axis + 1)
        wide = bind("broadcast_in_dim", (a,), shape=new, broadcast_dimensions=kept)
        return wide.reshape(a.shape[:axis] + (a.shape[axis] * int(repeats),) + a.shape[axis + 1 :])
    from shardax.numpy._select import take

    counts = np.broadcast_to(np.asarray(repeats), (a.shape[axis],))
    index = np.repeat(np.arange(a.shape[axis]), counts)
    if total_repeat_length is not None:  # the last one fills up what is missing
        index = index[:total_repeat_length]
        index = np.pad(
            index, (0, total_repeat_length - len(index)), constant_values=a.shape[axis] - 1
        )
    return take(a, index, axis=axis)


def flip(m, axis=None):
    """Elements in reverse order along `axis` (None: all dimensions)."""
    check_arraylike("flip", m)
    m = asarray(m)
    axes = canonical_axes(axis, m.ndim)
    return bind("rev", (m,), dimensions=axes) if axes else m


def fliplr(m):
    """Columns in reverse order."""
    return flip(m, 1)


def flipud(m):
    """Rows in reverse order."""
    return flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    """Rotated k times by 90 degrees in the plane of two dimensions."""
    m = asarray(m)
    i, j = (canonical_axis(a, m.ndim) for a in axes)
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(m, (i, j))
    if k == 1:
        return swapaxes(flip(m, j), i, j)
    return flip(swapaxes(m, i, j), j)


def roll(a, shift, axis=None):
    """Elements moved on by `shift`; those beyond the end come in at the start."""
    check_arraylike("roll", a)
    a = asarray(a)
    if axis is None:
        return roll(a.reshape((-1,)), shift, 0).reshape(a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if np.ndim(shift) == 1 and not isinstance(shift, (tuple, list)):
        shift = list(asarray(shift))
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
            from shardax.numpy._select import take

            a = take(a, _functions.remainder(_functions.subtract(np.arange(n), s), n), axis=d)
            continue
        s = int(s) % n
        if s:
            low, high = [slice(None)] * a.ndim, [slice(None)] * a.ndim
            low[d], high[d] = slice(n - s, n), slice(0, n - s)
            a = bind("concatenate", (a[tuple(low)], a[tuple(high)]), dimension=d)
    return a
