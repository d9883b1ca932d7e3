"""shardax/numpy/_shape.py - functions that arrange elements: reshape, join, split, repeat."""

import operator

import numpy as np

from shardax import _core
from shardax.numpy._common import (
    asarray,
    bind,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    known,
    result_type,
)

_functions = _core.functions
broadcast_to = _core.broadcast_to
broadcast_shapes = _core.broadcast_shapes


def broadcast_arrays(*args):
    """All arguments, broadcast to their common shape."""
    return list(_core.broadcast_arrays(*args))


def reshape(a, shape, order="C", *, copy=None, out_sharding=None):
    """The same elements in another shape; one size may be -1. `order` "F" counts the first index fastest."""
    check_arraylike("reshape", a)
    a = asarray(a)
    if order == "F":
        dims = shape if isinstance(shape, (tuple, list)) else (shape,)
        return a.T.reshape(tuple(dims)[::-1]).T
    if order != "C":
        raise ValueError(f"Unexpected value for 'order' argument: {order}.")
    return a.reshape(shape)


def ravel(a, order="C", *, out_sharding=None):
    """The elements as one dimension."""
    check_arraylike("ravel", a)
    if order == "K":
        raise NotImplementedError("Ravel not implemented for order='K'.")
    return reshape(a, (-1,), order)


def transpose(a, axes=None):
    """Dimensions reversed, or in the order `axes`."""
    check_arraylike("transpose", a)
    a = asarray(a)
    axes = (
        tuple(range(a.ndim))[::-1]
        if axes is None
        else tuple(canonical_axis(d, a.ndim) for d in axes)
    )
    return bind("transpose", (a,), permutation=axes)


permute_dims = transpose


def matrix_transpose(x, /):
    """The last two dimensions swapped."""
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(
            f"x must be at least two-dimensional for matrix_transpose; got ndim={x.ndim}"
        )
    return swapaxes(x, -1, -2)


def swapaxes(a, axis1, axis2):
    """Two dimensions exchanged."""
    check_arraylike("swapaxes", a)
    a = asarray(a)
    order = list(range(a.ndim))
    for axis in (axis1, axis2):
        if not -a.ndim <= axis < a.ndim:
            raise IndexError(
                f"swapaxes: axis {axis} is out of bounds for array of dimension {a.ndim}"
            )
    i, j = canonical_axis(axis1, a.ndim), canonical_axis(axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return transpose(a, order)


def moveaxis(a, source, destination):
    """Dimensions moved to other positions; the others keep their order."""
    check_arraylike("moveaxis", a)
    a = asarray(a)
    source = [source] if not isinstance(source, (tuple, list)) else source
    destination = [destination] if not isinstance(destination, (tuple, list)) else destination
    if len(source) != len(destination):
        raise ValueError(f"Inconsistent number of elements: {len(source)} vs {len(destination)}")
    source = [canonical_axis(s, a.ndim) for s in source]
    destination = [canonical_axis(d, a.ndim) for d in destination]
    order = [d for d in range(a.ndim) if d not in source]
    for to, from_ in sorted(zip(destination, source)):
        order.insert(to, from_)
    return transpose(a, order)


def rollaxis(a, axis, start=0):
    """Dimension `axis` moved to stand before `start`."""
    a = asarray(a)
    axis = canonical_axis(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    return moveaxis(a, axis, start - 1 if start > axis else start)


def expand_dims(a, axis):
    """New dimensions of size 1 at the positions `axis` of the result."""
    check_arraylike("expand_dims", a)
    a = asarray(a)
    axis = (axis,) if not isinstance(axis, (tuple, list)) else axis
    ndim = a.ndim + len(axis)
    axes = canonical_axes(tuple(axis), ndim)
    sizes = iter(a.shape)
    shape = tuple(1 if d in axes else next(sizes) for d in range(ndim))
    kept = tuple(d for d in range(ndim) if d not in axes)
    return bind("broadcast_in_dim", (a,), shape=shape, broadcast_dimensions=kept)


def squeeze(a, axis=None):
    """Without dimensions of size 1: all of them, or those in `axis`."""
    check_arraylike("squeeze", a)
    a = asarray(a)
    if axis is None:
        axes = tuple(d for d, n in enumerate(a.shape) if n == 1)
    else:
        axes = canonical_axes(axis, a.ndim)
    return bind("squeeze", (a,), dimensions=axes) if axes else a


def atleast_1d(*arys):
    """At least one dimension."""
    check_arraylike("atleast_1d", *arys)
    out = [a if (a := asarray(x)).ndim >= 1 else a.reshape((1,)) for x in arys]
    return out[0] if len(out) == 1 else out


def atleast_2d(*arys):
    """At least two dimensions; vectors become rows."""
    check_arraylike("atleast_2d", *arys)
    out = [a if (a := asarray(x)).ndim >= 2 else a.reshape((1, -1)) for x in arys]
    return out[0] if len(out) == 1 else out


def atleast_3d(*arys):
    """At least three dimensions."""
    check_arraylike("atleast_3d", *arys)

    def one(a):
        if a.ndim >= 3:
            return a
        return expand_dims(a, 2) if a.ndim == 2 else a.reshape((1, -1, 1))

    out = [one(asarray(x)) for x in arys]
    return out[0] if len(out) == 1 else out


def _sequence(name, arrays):
    if isinstance(arrays, (np.ndarray, _core.Array)):
        if arrays.ndim == 0:
            raise TypeError(f"{name}: expected a sequence of arrays, got one of shape ().")
        return [arrays[i] for i in range(arrays.shape[0])]
    arrays = list(arrays)
    if not arrays:
        raise ValueError(f"Need at least one array to {name}.")
    check_arraylike(name, *arrays)
    return arrays


def concatenate(arrays, axis=0, dtype=None):
    """Arrays joined along an existing dimension (None: flattened first)."""
    arrays = _sequence("concatenate", arrays)
    if axis is None:
        arrays, axis = [ravel(a) for a in arrays], 0
    arrays = [asarray(a) for a in arrays]
    if arrays[0].ndim == 0:
        raise ValueError("Zero-dimensional arrays cannot be concatenated.")
    if len({a.ndim for a in arrays}) > 1:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise TypeError(
            f"Cannot concatenate arrays with different numbers of dimensions: got {shapes}."
        )
    axis = canonical_axis(axis, arrays[0].ndim)
    weak = dtype is None and all(a.weak_type for a in arrays)
    dtype = result_type(*arrays) if dtype is None else _core.requested_dtype(dtype, "concatenate")
    arrays = [_core.convert(a, dtype, weak) for a in arrays]
    return arrays[0] if len(arrays) == 1 else bind("concatenate", arrays, dimension=axis)


concat = concatenate


def unstack(x, /, *, axis=0):
    """The slices along `axis` as a tuple."""
    check_arraylike("unstack", x)
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError(
            "Unstack requires arrays with rank > 0, however a scalar array was passed."
        )
    x = moveaxis(x, axis, 0)
    return tuple(x[i] for i in range(x.shape[0]))


def stack(arrays, axis=0, out=None, dtype=None):
    """Arrays of one shape joined along a new dimension.

    The same array n times is kept once; slices that lie evenly in one array are not copied.
    """
    arrays = _sequence("stack", arrays)
    view = _core.stacked_view(arrays) if dtype is None else None
    if view is not None:
        return moveaxis(view, 0, canonical_axis(axis, view.ndim))
    if all(a is arrays[0] for a in arrays) and dtype is None:
        first = asarray(arrays[0])
        axis = canonical_axis(axis, first.ndim + 1)
        shape = first.shape[:axis] + (len(arrays),) + first.shape[axis:]
        kept = tuple(d for d in range(len(shape)) if d != axis)
        return bind("broadcast_in_dim", (first,), shape=shape, broadcast_dimensions=kept)
    shapes = {np.shape(a) for a in arrays}
    if len(shapes) > 1:
        raise ValueError("All input arrays must have the same shape.")
    axis = canonical_axis(axis, len(np.shape(arrays[0])) + 1)
    out = _join_new(arrays, axis, dtype)
    return out


def _join_new(arrays, axis, dtype):
    arrays = [asarray(a) for a in arrays]
    weak = all(a.weak_type for a in arrays) and dtype is None
    wanted = result_type(*arrays) if dtype is None else _core.requested_dtype(dtype, "stack")
    return bind(
        "concatenate",
        [expand_dims(_core.convert(a, wanted, weak), axis) for a in arrays],
        dimension=axis,
    )


def hstack(tup, dtype=None):
    """Joined along the second dimension (vectors: the first)."""
    arrays = [atleast_1d(a) for a in _sequence("hstack", tup)]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype)


def vstack(tup, dtype=None):
    """Joined along the first dimension; vectors are rows."""
    return concatenate([atleast_2d(a) for a in _sequence("vstack", tup)], 0, dtype)


def dstack(tup, dtype=None):
    """Joined along the third dimension."""
    return concatenate([atleast_3d(a) for a in _sequence("dstack", tup)], 2, dtype)


def column_stack(tup):
    """Vectors as columns, joined with matrices."""
    arrays = [
        a if (a := asarray(x)).ndim >= 2 else a.reshape((-1, 1))
        for x in _sequence("column_stack", tup)
    ]
    return concatenate(arrays, 1)


def _split(name, ary, sections, axis, uneven):
    check_arraylike(name, ary)
    ary = asarray(ary)
    axis = canonical_axis(operator.index(axis), ary.ndim)
    size = ary.shape[axis]
    known(sections, f"the 'indices_or_sections' argument of jnp.{name}")
    if isinstance(sections, (tuple, list, np.ndarray, _core.Array)):
        edges = [0] + [i + size if i < 0 else i for i in np.asarray(sections).tolist()] + [size]
        if any(low > high for low, high in zip(edges[:-1], edges[1:])):
            raise ValueError(
                f"{name}: the indices {edges[1:-1]} must ascend from 0 to the size {size} of axis {axis}, for nonnegative sizes."
            )
    else:
        sections = operator.index(sections)
        part, rest = divmod(size, sections)
        if rest and not uneven:
            raise ValueError("array split does not result in an equal division")
        edges = [0]
        for i in range(sections):
            edges.append(edges[-1] + part + (i < rest))
    whole = [slice(None)] * ary.ndim
    out = []
    for low, high in zip(edges[:-1], edges[1:]):
        whole[axis] = slice(low, high)
        out.append(ary[tuple(whole)])
    return out


def split(ary, indices_or_sections, axis=0):
    """Equal parts along a dimension, or parts between the given indices."""
    return _split("split", ary, indices_or_sections, axis, False)


def array_split(ary, indices_or_sections, axis=0):
    """As split; the first parts are one longer where it does not come out even."""
    return _split("array_split", ary, indices_or_sections, axis, True)


def hsplit(ary, indices_or_sections):
    """split along the second dimension (vectors: the first)."""
    return split(ary, indices_or_sections, 0 if asarray(ary).ndim == 1 else 1)


def vsplit(ary, indices_or_sections):
    """split along the first dimension."""
    return split(ary, indices_or_sections, 0)


def tile(A, reps):
    """`A` repeated along each dimension."""
    check_arraylike("tile", A)
    A = asarray(A)
    reps = (reps,) if not isinstance(reps, (tuple, list)) else tuple(reps)
    ndim = builtin_max(A.ndim, len(reps))
    A = A.reshape((1,) * (ndim - A.ndim) + A.shape)
    reps = (1,) * (ndim - len(reps)) + reps
    between = tuple(n for r, s in zip(reps, A.shape) for n in (r, s))
    kept = tuple(range(1, 2 * ndim, 2))
    wide = bind("broadcast_in_dim", (A,), shape=between, broadcast_dimensions=kept)
    return wide.reshape(tuple(r * s for r, s in zip(reps, A.shape)))


builtin_max, builtin_min = max, min


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
    if total_repeat_length is not None:
        index = (
            np.resize(np.append(index, [index[-1]] * total_repeat_length), total_repeat_length)
            if len(index)
            else index
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
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
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


def pad(array, pad_width, mode="constant", **kwargs):
    """Elements added at the ends of dimensions: constants, edges, reflections or a repetition."""
    check_arraylike("pad", array)
    a = asarray(array)
    widths = np.asarray(pad_width)
    widths = (
        np.broadcast_to(widths if widths.ndim else widths[None], (a.ndim, 2)).tolist()
        if a.ndim
        else []
    )
    if any(w < 0 for pair in widths for w in pair):
        raise ValueError("index can't contain negative values")
    if mode == "constant":
        value = kwargs.get("constant_values", 0)
        values = np.ndim(value)
        if values:
            ends = np.broadcast_to(np.asarray(value), (a.ndim, 2))
            for d, (low, high) in enumerate(widths):
                for side, n in ((0, low), (1, high)):
                    config = [(0, 0)] * a.ndim
                    config[d] = (n, 0) if side == 0 else (0, n)
                    a = _pad_constant(a, config, ends[d, side])
            return a
        return _pad_constant(a, widths, value)
    if mode == "empty":
        return _pad_constant(a, widths, 0)
    from shardax.numpy._select import take

    if mode in ("mean", "maximum", "minimum"):
        return _pad_statistic(a, widths, mode, kwargs.get("stat_length"))
    if mode == "linear_ramp":
        return _pad_ramp(a, widths, kwargs.get("end_values", 0))
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise NotImplementedError(f"Unimplemented padding mode '{mode}' for np.pad.")
    for d, (low, high) in enumerate(widths):
        if low or high:
            a = take(a, np.pad(np.arange(a.shape[d]), (low, high), mode=mode), axis=d)
    return a


def _pad_constant(a, widths, value):
    return bind(
        "pad",
        (a, _core.convert(asarray(value), a.dtype)),
        low=tuple(w[0] for w in widths),
        high=tuple(w[1] for w in widths),
        interior=(0,) * a.ndim,
    )


def _pad_statistic(a, widths, mode, stat_length):
    """The mean, maximum or minimum of the first (last) `stat_length` elements before (behind) each dimension."""
    from shardax.numpy import _reductions
    from shardax.numpy._rounding import round

    statistic = {"mean": _reductions.mean, "maximum": _reductions.max, "minimum": _reductions.min}[
        mode
    ]
    lengths = (
        np.broadcast_to(np.asarray(stat_length), (a.ndim, 2)).tolist()
        if stat_length is not None
        else None
    )
    for d, pair in enumerate(widths):
        n, ends = a.shape[d], []
        for side, width in enumerate(pair):
            count = n if lengths is None else builtin_min(lengths[d][side], n)
            part = [slice(None)] * a.ndim
            part[d] = slice(0, count) if side == 0 else slice(n - count, n)
            value = statistic(a[tuple(part)], axis=d, keepdims=True)
            value = round(value) if a.dtype.kind in "iu" else value
            ends.append(
                broadcast_to(
                    _core.convert(value, a.dtype), a.shape[:d] + (width,) + a.shape[d + 1 :]
                )
            )
        a = concatenate([ends[0], a, ends[1]], d)
    return a


def _pad_ramp(a, widths, end_values):
    """Elements that run evenly from the edges to `end_values`."""
    from shardax.numpy._creation import linspace

    ends = np.broadcast_to(np.asarray(end_values), (a.ndim, 2))
    for d, (low, high) in enumerate(widths):
        edge = [slice(None)] * a.ndim
        edge[d] = 0
        first = linspace(ends[d, 0], a[tuple(edge)], low, endpoint=False, dtype=a.dtype, axis=d)
        edge[d] = -1
        last = linspace(ends[d, 1], a[tuple(edge)], high, endpoint=False, dtype=a.dtype, axis=d)
        a = concatenate([first, a, flip(last, d)], d)
    return a


def append(arr, values, axis=None):
    """`values` joined behind `arr`."""
    return concatenate([ravel(arr), ravel(values)] if axis is None else [arr, values], axis or 0)


def delete(arr, obj, axis=None):
    """Without the slices `obj` along `axis`."""
    a = asarray(arr)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    kept = np.delete(
        np.arange(a.shape[axis]), np.asarray(obj) if not isinstance(obj, slice) else obj
    )
    from shardax.numpy._select import take

    return take(a, kept, axis=axis)


def insert(arr, obj, values, axis=None):
    """`values` put before the indices `obj` along `axis`."""
    a = asarray(arr)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    index = np.atleast_1d(np.asarray(obj))
    place = np.insert(np.arange(a.shape[axis]), index, -1)
    values = asarray(values)
    count = len(index) if len(index) > 1 else 1
    shape = a.shape[:axis] + (count,) + a.shape[axis + 1 :]
    if values.ndim == a.ndim and values.shape[axis] > 1 and len(index) == 1:
        count = values.shape[axis]
        place = np.insert(np.arange(a.shape[axis]), np.repeat(index, count), -1)
        shape = a.shape[:axis] + (count,) + a.shape[axis + 1 :]
    values = broadcast_to(_core.convert(values, a.dtype), shape)
    both = concatenate([a, values], axis)
    new = iter(range(a.shape[axis], a.shape[axis] + count))
    order = np.array([i if i >= 0 else next(new) for i in place.tolist()])
    from shardax.numpy._select import take

    return take(both, order, axis=axis)


def resize(a, new_shape):
    """The elements, repeated as often as needed, in a new shape."""
    a = asarray(a).ravel()
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    n = int(np.prod(shape))
    if n == 0 or a.size == 0:
        from shardax.numpy._creation import zeros

        return zeros(shape, a.dtype)
    return concatenate([a] * -(-n // a.size))[:n].reshape(shape)


def block(arrays):
    """Nested lists of blocks, joined from the inside out along the last dimensions."""

    def depth(x):
        return 1 + depth(x[0]) if isinstance(x, list) else 0

    def join(x, level):
        if not isinstance(x, list):
            return atleast_1d(x)
        parts = [join(p, level - 1) for p in x]
        ndim = builtin_max(level, *(p.ndim for p in parts))
        parts = [p.reshape((1,) * (ndim - p.ndim) + p.shape) for p in parts]
        return concatenate(parts, axis=ndim - level)

    return join(arrays, depth(arrays))


def shape(a):
    """The shape of an array or nested sequence."""
    return np.shape(a) if not hasattr(a, "shape") else a.shape


def ndim(a):
    """The number of dimensions."""
    return len(shape(a))


def size(a, axis=None):
    """The number of elements, or the size along `axis`."""
    return int(np.prod(shape(a))) if axis is None else shape(a)[axis]
