# shardax/numpy/_join.py - arrays joined, split, and made longer or shorter.
import operator

import numpy as np

from shardax import _core
from shardax.numpy._common import (
    another,
    asarray,
    bind,
    canonical_axis,
    check_arraylike,
    known,
    result_type,
    shape_of,
)
from shardax.numpy._shape import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_to,
    expand_dims,
    moveaxis,
    ravel,
)


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
    shapes = {shape_of(a) for a in arrays}
    if len(shapes) > 1:
        raise ValueError("All input arrays must have the same shape.")
    axis = canonical_axis(axis, len(shape_of(arrays[0])) + 1)
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
    known(sections, f"in jax.numpy.{name} argument 1")
    if isinstance(sections, (tuple, list, np.ndarray, _core.Array)):
        edges = [0] + [i + size if i < 0 else i for i in np.asarray(sections).tolist()] + [size]
        if any(low > high for low, high in zip(edges[:-1], edges[1:])):
            raise ValueError(
                f"{name}: the indices {edges[1:-1]} must ascend from 0 to the size {size} of axis "
                f"{axis}, for nonnegative sizes."
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
    return out if len(out) > 1 else [another(part) for part in out]


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


def dsplit(ary, indices_or_sections):
    """split along the third dimension."""
    return split(ary, indices_or_sections, 2)


def append(arr, values, axis=None):
    """`values` joined behind `arr`."""
    return concatenate([ravel(arr), ravel(values)] if axis is None else [arr, values], axis or 0)


def delete(arr, obj, axis=None, *, assume_unique_indices=False):
    """Without the slices `obj` along `axis`.

    Args:
      arr: an array.
      obj: a slice, an index, or indices, which must be known while tracing but for
        `assume_unique_indices`.
      axis: the dimension; None: the array is flattened first.
      assume_unique_indices: says that no index occurs twice, so that the result's size is known
        although the indices are not.

    Example:
      >>> delete(jnp.arange(5), jnp.array([0, 3]))
      Array([1, 2, 4], dtype=int32)
    """
    from shardax.numpy._select import take

    check_arraylike("delete", arr)
    a = asarray(arr)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    size = a.shape[axis]
    if assume_unique_indices and not isinstance(obj, slice):
        from shardax.numpy._indices import nonzero
        from shardax.numpy._where import where

        gone = ravel(asarray(obj))
        gone = where(gone < 0, gone + size, gone)
        kept = _core.full((size,), True, np.bool_).at[gone].set(False)
        return take(a, nonzero(kept, size=size - gone.shape[0])[0], axis=axis)
    if not isinstance(obj, slice):
        obj = np.asarray(known(obj, "'obj' array argument of jnp.delete()"))
    return take(a, np.delete(np.arange(size), obj), axis=axis)


def insert(arr, obj, values, axis=None):
    """`values` put before the indices `obj` along `axis`.

    Args:
      arr: an array.
      obj: a slice, an index, or indices into `arr`.
      values: one for each index, or what broadcasts to that; where there is one index, any number.
      axis: the dimension; None: the array is flattened first.

    Example:
      >>> insert(jnp.arange(4), jnp.array([3, 1]), jnp.array([10, 11]))
      Array([ 0, 11,  1,  2, 10,  3], dtype=int32)
    """
    from shardax.numpy._select import take
    from shardax.numpy._sorting import argsort
    from shardax.numpy._where import where

    check_arraylike("insert", arr, 0 if isinstance(obj, slice) else obj, values)
    a, values = asarray(arr), asarray(values)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    size = a.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(size)[obj]
    index = asarray(obj)
    if index.ndim > 1:
        raise ValueError(f"insert: obj must have at most one dimension, got shape {index.shape}.")
    if values.ndim > a.ndim:
        raise ValueError(f"insert: values of shape {values.shape} do not fit {a.shape}.")
    scalar, index = index.ndim == 0, atleast_1d(index)
    values = values.reshape((1,) * (a.ndim - values.ndim) + values.shape)
    if scalar:  # the values' leading dimension runs along the axis
        values = moveaxis(values, 0, axis)
    count = index.shape[0]
    if count == 1 and values.shape[axis] != 1:
        count = values.shape[axis]
        index = broadcast_to(index, (count,))
    values = broadcast_to(
        _core.convert(values, a.dtype), a.shape[:axis] + (count,) + a.shape[axis + 1 :]
    )
    index = where(index < 0, index + size, index)
    # A new element sorts before the one at its index, in the order given.
    places = concatenate([2 * index, 2 * np.arange(size, dtype=np.int32) + 1])
    return take(concatenate([values, a], axis), argsort(places), axis=axis)


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
            return atleast_1d(x) if level or isinstance(arrays, list) else another(asarray(x))
        parts = [join(p, level - 1) for p in x]
        ndim = max(level, *(p.ndim for p in parts))
        parts = [p.reshape((1,) * (ndim - p.ndim) + p.shape) for p in parts]
        return concatenate(parts, axis=ndim - level)

    return join(arrays, depth(arrays))
