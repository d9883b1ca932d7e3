# shardax/numpy/_elementwise/ufunc_loops.py - reductions and accumulations of ufuncs, element by
# element.
import numpy as np

import shardax._core as _core
from shardax import lax
from shardax._base.array_functions import moveaxis
from shardax._base.array_functions import where as choose
from shardax._base.arrays import asarray, static_jit
from shardax._transform.tracing import eval_shape


@static_jit("ufunc", "axis", "dtype", "keepdims")
def reduce(a, initial, where, *, ufunc, axis, dtype, keepdims):
    rank = a.ndim
    mask = None if where is None else _core.broadcast_to(asarray(where), a.shape)
    if axis is None:
        a, mask = a.reshape(-1), None if mask is None else mask.reshape(-1)
    rows = moveaxis(a, axis or 0, 0).astype(dtype)
    masks = None if mask is None else moveaxis(mask, axis or 0, 0)
    if initial is None:
        start, rows = rows[0], rows[1:]
        masks = None if masks is None else masks[1:]
    else:
        start = _core.broadcast_to(_core.convert(asarray(initial), dtype), rows.shape[1:])

    def step(value, row):
        x, taken = row
        combined = _core.convert(ufunc(value, x), dtype)
        return (combined if taken is None else choose(taken, combined, value)), None

    out, _ = lax.scan(step, start, (rows, masks))
    if not keepdims:
        return out
    return out.reshape((1,) * rank) if axis is None else lax.expand_dims(out, (axis,))


@static_jit("ufunc", "axis", "dtype")
def accumulate(a, *, ufunc, axis, dtype):
    rows = moveaxis(a, axis, 0).astype(dtype)
    if not rows.size:
        return a.astype(dtype)

    def step(value, x):
        value = _core.convert(ufunc(value, x), dtype)
        return value, value

    _, rest = lax.scan(step, rows[0], rows[1:])
    return moveaxis(lax.concatenate([rows[:1], rest], 0), 0, axis)


@static_jit("ufunc", "axis", "dtype")
def reduceat(a, indices, *, ufunc, axis, dtype):
    rows = moveaxis(a, axis, 0).astype(dtype)
    n = rows.shape[0]
    end = lax.concatenate([indices[1:], asarray([n]).astype(indices.dtype)], 0)
    column = (-1,) + (1,) * (rows.ndim - 1)

    def step(values, item):
        i, x = item
        within = ((indices < i) & (i < end)).reshape(column)
        combined = _core.convert(ufunc(values, x[None]), dtype)
        return choose(within, combined, values), None

    starts = rows[indices]
    out, _ = lax.scan(step, starts, (lax.iota(indices.dtype, n), rows))
    return moveaxis(out, 0, axis)


def apply_at(ufunc, a, indices, *others):
    """One index after the other, so that those which occur twice count twice."""
    ones = [_core.convert(asarray(1), x.dtype) for x in (a, *others)]
    dtype = eval_shape(ufunc, *ones).dtype
    a = a.astype(dtype)
    # The elements, as the indices of a vector of all positions.
    positions = lax.iota(np.dtype("int32"), a.size).reshape(a.shape)[indices]
    values = [_core.broadcast_to(x, positions.shape).reshape(-1) for x in others]

    def step(flat, item):
        place, *rest = item
        changed = _core.convert(ufunc(flat[place], *rest), dtype)
        return flat.at[place].set(changed), None

    flat, _ = lax.scan(step, a.reshape(-1), (positions.reshape(-1), *values))
    return flat.reshape(a.shape)
