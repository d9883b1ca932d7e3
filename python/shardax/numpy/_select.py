"""shardax/numpy/_select.py - choosing, sorting and searching elements."""

import numpy as np

from shardax import _core
from shardax.errors import ConcretizationTypeError
from shardax.numpy._common import (
    asarray,
    bind,
    canonical_axis,
    check_arraylike,
    jit,
    result_type,
    static_jit,
)

_functions = _core.functions
_IMMUTABLE = (
    "jax.numpy.{} cannot modify arrays in-place, because JAX arrays are immutable. "
    "Pass inplace=False to instead return an updated array."
)


@jit
def _where(condition, x, y):
    return _select(condition, x, y)


def _select(condition, x, y):
    x, y = _core.promote("any", x, y)
    shape = _core.broadcast_shapes(condition.shape, x.shape, y.shape)
    condition, x, y = (
        a if a.shape == shape else _core.broadcast_to(a, shape) for a in (condition, x, y)
    )
    return bind("select_n", (condition, y, x))


def where(condition, x=None, y=None, /, *, size=None, fill_value=None):
    """x where the condition holds, else y; with the condition alone, the indices where it does.

    >>> where(array([True, False]), 1.0, 2.0)
    Array([1., 2.], dtype=float32, weak_type=True)
    """
    if x is None and y is None:
        check_arraylike("where", condition)
        return nonzero(condition, size=size, fill_value=fill_value)
    check_arraylike("where", condition, x, y)
    condition = asarray(condition)
    if condition.dtype != np.bool_:
        condition = _functions.not_equal(condition, condition.dtype.type(0))
    return _where(condition, x, y)


def select(condlist, choicelist, default=0):
    """The first choice whose condition holds, else `default`."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not condlist:
        raise ValueError("condlist must be non-empty")
    dtype = result_type(default, *choicelist)
    out = _core.convert(asarray(default), dtype)
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        out = where(condition, _core.convert(asarray(choice), dtype), out)
    return out


def piecewise(x, condlist, funclist, *args, **kw):
    """Functions (or values) applied where their conditions hold; the last one, if spare, elsewhere."""
    x = asarray(x)
    conditions = (
        [asarray(c) for c in condlist]
        if isinstance(condlist, (list, tuple))
        else list(asarray(condlist))
    )
    functions = list(funclist)
    if len(functions) == len(conditions):
        functions.append(0)
    out = _core.broadcast_to(_core.convert(asarray(0), x.dtype), x.shape)
    values = [f(x, *args, **kw) if callable(f) else f for f in functions]
    out = where(True, values[-1], out)
    for condition, value in zip(reversed(conditions), reversed(values[:-1])):
        out = where(condition, value, out)
    return _core.convert(out, x.dtype)


def choose(a, choices, out=None, mode="raise"):
    """choices[a], elementwise.

    `mode` says what becomes of indices out of bounds: "raise" (which needs their values), "wrap"
    or "clip".
    """
    a = asarray(a)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode={mode!r} not understood. Must be 'raise', 'wrap', or 'clip'")
    if mode == "raise" and not bool(((a >= 0) & (a < len(choices))).all()):
        raise ValueError("invalid entry in choice array")
    choices = _core.promote("any", *choices)
    shape = _core.broadcast_shapes(a.shape, *(c.shape for c in choices))
    a = _core.broadcast_to(a.astype(np.int32), shape)
    if mode == "wrap":
        a = _functions.remainder(a, len(choices))
    return bind("select_n", (a, *(_core.broadcast_to(c, shape) for c in choices)))


def take(
    a,
    indices,
    axis=None,
    out=None,
    mode=None,
    unique_indices=False,
    indices_are_sorted=False,
    fill_value=None,
):
    """Slices of `a` along `axis` (None: of the flattened array). Beyond the end: NaN or the extreme value ("fill"),
    the nearest ("clip") or counted on from the start ("wrap"); negative indices count from the end."""
    check_arraylike("take", a, indices)
    a, indices = asarray(a), asarray(indices)
    if indices.dtype.kind not in "iu":
        raise ValueError("indices must have an integer type")
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    if mode == "wrap":
        indices = _functions.remainder(indices, a.shape[axis])
    if mode == "clip":
        indices = clip(indices, 0, a.shape[axis] - 1)
    at = a.at[(slice(None),) * axis + (indices,)]
    return at.get(
        mode="fill" if mode in (None, "fill") else "promise_in_bounds", fill_value=fill_value
    )


def take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None):
    """arr[..., indices[..., i, ...], ...]: elements along `axis`, chosen for each position of the other dimensions."""
    check_arraylike("take_along_axis", arr, indices)
    arr, indices = asarray(arr), asarray(indices)
    if axis is None:
        arr, axis = arr.reshape((-1,)), 0
    if indices.dtype.kind not in "iu":
        raise TypeError(f"take_along_axis indices must be of integer type, got {indices.dtype}")
    if arr.ndim != indices.ndim:
        raise ValueError(
            "indices and arr must have the same number of dimensions; "
            f"{indices.ndim} vs. {arr.ndim}"
        )
    axis = canonical_axis(axis, arr.ndim)
    index = []
    for d in range(arr.ndim):
        if d == axis:
            index.append(indices)
        elif indices.shape[d] == 1 and arr.shape[d] != 1:
            index.append(
                np.arange(arr.shape[d]).reshape([-1 if e == d else 1 for e in range(arr.ndim)])
            )
        else:
            n = indices.shape[d]
            place = np.arange(n) if arr.shape[d] != 1 else np.zeros(n, int)
            index.append(place.reshape([-1 if e == d else 1 for e in range(arr.ndim)]))
    return arr.at[tuple(index)].get(mode=mode or "fill", fill_value=fill_value)


def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    """`arr` with elements along `axis` replaced; a new array (inplace=False is needed, as arrays are immutable)."""
    if inplace:
        raise ValueError(_IMMUTABLE.format("put_along_axis"))
    arr, indices = asarray(arr), asarray(indices)
    axis = canonical_axis(axis, arr.ndim)
    index = [
        np.arange(n).reshape([-1 if e == d else 1 for e in range(arr.ndim)])
        for d, n in enumerate(arr.shape)
    ]
    index[axis] = indices
    return arr.at[tuple(index)].set(values, mode=mode)


def place(arr, mask, vals, *, inplace=True):
    """`arr` with elements where the mask holds replaced by those of `vals` in turn; needs inplace=False."""
    if inplace:
        raise ValueError(_IMMUTABLE.format("place"))
    check_arraylike("place", arr, mask, vals)
    arr, mask, vals = asarray(arr), asarray(mask), asarray(vals).ravel()
    if mask.size != arr.size:
        raise ValueError("place: arr and mask must be the same size")
    if vals.size == 0:
        raise ValueError("place: Cannot place values from an empty array")
    rank = bind(
        "cumsum", (mask.reshape((-1,)).astype(bool).astype(np.int32),), axis=0, reverse=False
    )
    turn = _functions.remainder(_functions.subtract(rank, np.int32(1)), np.int32(vals.size))
    chosen = _core.convert(take(vals, turn).reshape(arr.shape), arr.dtype)
    return where(mask.reshape(arr.shape), chosen, arr)


def put(a, ind, v, mode=None, *, inplace=True):
    """`a` with elements at flat indices replaced by those of `v` in turn; needs inplace=False."""
    if inplace:
        raise ValueError(_IMMUTABLE.format("put"))
    check_arraylike("put", a, ind, v)
    a, ind, v = asarray(a), asarray(ind).ravel(), asarray(v).ravel()
    if not ind.size or not v.size or not a.size:
        return a
    v = take(v, np.arange(ind.size) % v.size)
    if mode == "wrap":
        ind = _functions.remainder(ind, a.size)
    elif mode == "clip":
        ind = clip(ind, 0, a.size - 1)
    return a.reshape((-1,)).at[ind].set(v).reshape(a.shape)


def fill_diagonal(a, val, wrap=False, *, inplace=True):
    """`a` with `val` on its main diagonal; needs inplace=False."""
    if inplace:
        raise ValueError(_IMMUTABLE.format("fill_diagonal"))
    if wrap:
        raise NotImplementedError("wrap=True is not implemented, must pass wrap=False")
    check_arraylike("fill_diagonal", a, val)
    a, val = asarray(a), asarray(val)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    n = min(a.shape)
    if val.ndim:
        val = take(val.ravel(), np.arange(n) % val.size)
    return a.at[(np.arange(n),) * a.ndim].set(_core.convert(val, a.dtype))


def packbits(a, axis=None, bitorder="big"):
    """Truth values as the bits of uint8, eight along `axis` (None: of the flattened array) in each."""
    from shardax.numpy._shape import moveaxis, pad

    check_arraylike("packbits", a)
    a = asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    a = moveaxis(_functions.not_equal(a, 0), axis, -1).astype(np.uint8)
    a = pad(a, [(0, 0)] * (a.ndim - 1) + [(0, -a.shape[-1] % 8)])
    a = a.reshape((*a.shape[:-1], a.shape[-1] // 8, 8))
    weights = np.uint8(1) << np.arange(8, dtype=np.uint8)
    bits = _functions.multiply(a, weights[::-1] if bitorder == "big" else weights)
    return moveaxis(bind("reduce_sum", (bits,), axes=(bits.ndim - 1,)), -1, axis)


def unpackbits(a, axis=None, count=None, bitorder="big"):
    """The bits of uint8, eight for each element along `axis` (None: of the flattened array)."""
    from shardax.numpy._shape import moveaxis

    check_arraylike("unpackbits", a)
    a = asarray(a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    a = moveaxis(a, axis, -1)
    places = np.arange(8, dtype=np.uint8)
    shifted = _functions.right_shift(a[..., None], places[::-1] if bitorder == "big" else places)
    bits = _functions.bitwise_and(shifted, np.uint8(1))
    bits = bits.reshape((*a.shape[:-1], a.shape[-1] * 8))[..., :count]
    return moveaxis(bits, -1, axis)


def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None):
    """Slices along `axis` where the condition holds."""
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    return take(a, nonzero(condition, size=size)[0], axis=axis)


def extract(condition, arr, *, size=None, fill_value=0):
    """Elements where the condition holds."""
    return compress(
        asarray(condition).ravel(), asarray(arr).ravel(), size=size, fill_value=fill_value
    )


def _known(a, name, remedy):
    known = _core.concrete_array(a)
    if known is None:
        raise ConcretizationTypeError(
            f"{name}: the size of the result depends on the values of {a!r}, which are not known while tracing; {remedy}"
        )
    return np.asarray(known)


def nonzero(a, *, size=None, fill_value=None):
    """A tuple of index arrays, one per dimension, of elements that are not 0. Under jit, give `size`."""
    check_arraylike("nonzero", a)
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use jnp.atleast_1d(scalar).nonzero() instead."
        )
    if size is None:
        return tuple(
            asarray(i.astype(np.int32)) for i in np.nonzero(_known(a, "nonzero", "pass size=..."))
        )
    mask = a if a.dtype == np.bool_ else _functions.not_equal(a, a.dtype.type(0))
    flat = mask.reshape((-1,)).astype(np.int32)
    rank = bind("cumsum", (flat,), axis=0, reverse=False)
    # The position of the k-th element that holds, by counting those before.
    flat_index = searchsorted(rank, np.arange(1, size + 1, dtype=np.int32), side="left")
    count = rank[-1] if flat.shape[0] else np.int32(0)
    out = []
    valid = _functions.less(np.arange(size), count)
    strides = np.cumprod((1,) + a.shape[:0:-1])[::-1]
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * a.ndim
    for n, stride, fill in zip(a.shape, strides.tolist(), fills):
        index = _functions.remainder(_functions.floor_divide(flat_index, stride), max(n, 1))
        out.append(where(valid, index.astype(np.int32), np.int32(fill)))
    return tuple(out)


def flatnonzero(a, *, size=None, fill_value=None):
    """nonzero of the flattened array."""
    return nonzero(asarray(a).ravel(), size=size, fill_value=fill_value)[0]


def argwhere(a, *, size=None, fill_value=None):
    """The indices of elements that are not 0, a row each."""
    from shardax.numpy._shape import stack

    return stack(nonzero(a, size=size, fill_value=fill_value), axis=1)


def clip(arr=None, /, min=None, max=None, *, a=None, a_min=None, a_max=None):
    """Elements limited to [min, max]; None is no limit."""
    arr = a if arr is None else arr
    min = a_min if min is None else min
    max = a_max if max is None else max
    check_arraylike("clip", arr)
    if min is not None:
        arr = _functions.maximum(min, arr)
    if max is not None:
        arr = _functions.minimum(max, arr)
    return asarray(arr)


def round(a, decimals=0, out=None):
    """To the nearest number with so many decimals; halves go to the even neighbour."""
    check_arraylike("round", a)
    a = asarray(a)
    if a.dtype == np.bool_:
        raise ValueError("round: data type bool is not inexact; convert the argument first.")
    if a.dtype.kind in "iu":
        if decimals < 0:
            raise NotImplementedError("integer np.round not implemented for decimals < 0")
        return a
    if a.dtype.kind == "c":
        from shardax import lax

        return lax.complex(round(a.real, decimals), round(a.imag, decimals))
    if decimals == 0:
        return bind("round", (a,), rounding_method=1)
    wide = a.astype(np.float32) if a.dtype.itemsize == 2 else a
    factor = wide.dtype.type(10.0**decimals)
    return (bind("round", (wide * factor,), rounding_method=1) / factor).astype(a.dtype)


around = round


def rint(x, /):
    """To the nearest integer, as floats; halves go to the even neighbour."""
    check_arraylike("rint", x)
    x = asarray(x)
    return round(_core.convert(x, _core.canonical_dtype(float)) if x.dtype.kind in "biu" else x)


def fix(x, out=None):
    """Rounded towards zero."""
    return _functions.trunc(x)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers (infinities by the largest ones)."""
    check_arraylike("nan_to_num", x)
    x = asarray(x)
    if x.dtype.kind not in "fcV":
        return x
    if x.dtype.kind == "c":
        from shardax import lax

        return lax.complex(
            nan_to_num(x.real, nan=nan, posinf=posinf, neginf=neginf),
            nan_to_num(x.imag, nan=nan, posinf=posinf, neginf=neginf),
        )
    from shardax.numpy import finfo

    info = finfo(x.dtype)
    posinf = info.max if posinf is None else posinf
    neginf = info.min if neginf is None else neginf
    out = where(_functions.isnan(x), x.dtype.type(nan), x)
    out = where(
        _functions.equal(out, x.dtype.type(np.inf)), _core.convert(asarray(posinf), x.dtype), out
    )
    return where(
        _functions.equal(out, x.dtype.type(-np.inf)), _core.convert(asarray(neginf), x.dtype), out
    )


def sort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False):
    """Ascending order along `axis` (None: of the flattened array), NaN last."""
    check_arraylike("sort", a)
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    out = bind("sort", (a,), dimension=axis, is_stable=stable, num_keys=1)
    return bind("rev", (out,), dimensions=(axis,)) if descending else out


def argsort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False):
    """The indices that sort along `axis`, int32."""
    check_arraylike("argsort", a)
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    axis = canonical_axis(axis, a.ndim)
    places = bind("iota", (), dtype=np.dtype("int32"), shape=a.shape, dimension=axis)
    if descending:
        a, places = (bind("rev", (x,), dimensions=(axis,)) for x in (a, places))
        out = bind("sort", (a, places), dimension=axis, is_stable=stable, num_keys=1)[1]
        return bind("rev", (out,), dimensions=(axis,))
    return bind("sort", (a, places), dimension=axis, is_stable=stable, num_keys=1)[1]


def lexsort(keys, axis=-1):
    """The indices that sort by the last key, then the one before, and so on."""
    keys = [asarray(k) for k in keys]
    axis = canonical_axis(axis, keys[0].ndim)
    places = bind("iota", (), dtype=np.dtype("int32"), shape=keys[0].shape, dimension=axis)
    return bind("sort", (*keys[::-1], places), dimension=axis, is_stable=True, num_keys=len(keys))[
        -1
    ]


def partition(a, kth, axis=-1):
    """Sorted, which is a partition by every element."""
    return sort(a, axis)


def argpartition(a, kth, axis=-1):
    """argsort, which is a partition by every element."""
    return argsort(a, axis)


def searchsorted(a, v, side="left", sorter=None, *, method="scan"):
    """Where elements of `v` would be put into the sorted vector `a`, int32."""
    check_arraylike("searchsorted", a, v)
    if side not in ("left", "right"):
        raise ValueError(
            f"{side!r} is an invalid value for keyword 'side'. Expected one of ['left', 'right']."
        )
    a, v = asarray(a), asarray(v)
    if a.ndim != 1:
        raise ValueError("a should be 1-dimensional")
    if sorter is not None:
        a = a[sorter]
    dtype = result_type(a, v)
    return _searchsorted(_core.convert(a, dtype), _core.convert(v, dtype), right=side == "right")


@static_jit("right")
def _searchsorted(a, v, right):
    n = a.shape[0]
    low = _core.broadcast_to(asarray(np.int32(0)), v.shape)
    if n == 0:
        return low
    # Bisection with all elements of v at once: the answer grows by halves of the range.
    step = 1 << (n.bit_length() - 1)
    while step:
        probe = _functions.add(low, np.int32(step))
        inside = _functions.less_equal(probe, np.int32(n))
        value = a.at[_functions.subtract(_functions.minimum(probe, np.int32(n)), np.int32(1))].get(
            mode="promise_in_bounds"
        )
        before = _functions.less_equal(value, v) if right else _functions.less(value, v)
        if a.dtype.kind in "fV":
            nan = _functions.isnan(v)
            before = _functions.logical_or(
                before, _functions.logical_and(nan, _functions.logical_not(_functions.isnan(value)))
            )
            if right:
                before = _functions.logical_or(before, nan)
        low = _select(_functions.logical_and(inside, before), probe, low)
        step //= 2
    return low


def digitize(x, bins, right=False):
    """The bins that elements fall into."""
    bins = asarray(bins)
    if bins.shape[0] == 0:
        return zeros_like_int(x)
    side = "left" if right else "right"
    up = searchsorted(bins, x, side=side)
    down = _functions.subtract(
        bins.shape[0], searchsorted(bins[::-1], x, side="right" if right else "left")
    )
    return where(_functions.greater_equal(bins[-1], bins[0]), up, down).astype(np.int32)


def zeros_like_int(x):
    return _core.broadcast_to(asarray(np.int32(0)), np.shape(x))


def bincount(x, weights=None, minlength=0, *, length=None):
    """How often each non-negative integer occurs, or the sum of its weights."""
    check_arraylike("bincount", x)
    x = asarray(x)
    if x.dtype.kind not in "biu":
        raise TypeError(f"x argument to bincount must have an integer type; got {x.dtype}")
    if x.ndim != 1:
        raise ValueError("only 1-dimensional input supported.")
    if length is None:
        known = _known(x, "bincount", "pass length=...")
        length = max(int(known.max()) + 1 if known.size else 0, minlength)
    weights = np.int32(1) if weights is None else asarray(weights)
    zero = _core.broadcast_to(asarray(np.zeros((), weights.dtype)), (length,))
    return zero.at[clip(x, 0)].add(weights, mode="drop")


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of equal bins over the range of `a`."""
    from shardax.numpy._creation import linspace

    if not isinstance(bins, int):
        return asarray(bins)
    a = asarray(a).ravel()
    if range is None:
        low, high = (a.min(), a.max()) if a.size else (0.0, 1.0)
    else:
        low, high = range
    low, high = _core.promote("inexact", low, high)
    same = _functions.equal(low, high)
    return linspace(where(same, low - 0.5, low), where(same, high + 0.5, high), bins + 1)


def histogram(a, bins=10, range=None, weights=None, density=None):
    """(counts per bin, edges)."""
    check_arraylike("histogram", a)
    a = asarray(a).ravel()
    edges = histogram_bin_edges(a, bins, range, weights)
    weights = (
        _core.broadcast_to(asarray(1.0), a.shape) if weights is None else asarray(weights).ravel()
    )
    n = edges.shape[0] - 1
    place = searchsorted(edges, a, side="right")
    place = where(_functions.equal(a, edges[-1]), n, place)
    counts = bincount(place, weights, length=n + 1)[1:]
    if density:
        width = edges[1:] - edges[:-1]
        counts = counts / width / counts.sum()
    return counts, edges


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    size=None,
    fill_value=None,
    sorted=True,
):
    """The distinct elements in order. The size of the result depends on the values: under jit, give `size`."""
    check_arraylike("unique", ar)
    a = asarray(ar)
    known = (
        _known(a, "unique", "pass size=..., outside of jit")
        if size is None or _core.is_concrete(a)
        else None
    )
    if known is None:
        return _unique_sized(a, return_index, return_inverse, return_counts, size, fill_value)
    outs = np.unique(
        known,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
        equal_nan=equal_nan,
    )
    values, index, inverse, counts = outs
    if size is not None:
        n = len(values)
        fill = values.min(axis=0) if fill_value is None and n else fill_value
        extra = max(size - n, 0)
        values = np.concatenate(
            [values[:size], np.full((extra,) + values.shape[1:], fill, values.dtype)]
        )
        index = np.concatenate([index[:size], np.full(extra, index[0] if n else 0)])
        counts = np.concatenate([counts[:size], np.zeros(extra, counts.dtype)])
    out = [asarray(values)]
    for wanted, part in ((return_index, index), (return_inverse, inverse), (return_counts, counts)):
        if wanted:
            out.append(asarray(part.astype(np.int32)))
    return out[0] if len(out) == 1 else tuple(out)


def _unique_sized(a, return_index, return_inverse, return_counts, size, fill_value):
    a = a.reshape((-1,))
    order = argsort(a)
    ordered = a[order]
    first = _functions.not_equal(ordered[1:], ordered[:-1])
    from shardax.numpy._shape import concatenate

    first = concatenate([asarray(np.array([True])), first])
    group = bind("cumsum", (first.astype(np.int32),), axis=0, reverse=False) - 1
    starts = nonzero(first, size=size, fill_value=0)[0]
    count = group[-1] + 1
    valid = _functions.less(np.arange(size), count)
    fill = ordered[0] if fill_value is None else a.dtype.type(fill_value)
    out = [where(valid, ordered[starts], fill)]
    if return_index:
        out.append(order[starts])
    if return_inverse:
        out.append(zeros_like_int(a).at[order].set(group))
    if return_counts:
        out.append(bincount(group, length=size))
    return out[0] if len(out) == 1 else tuple(out)


def unique_values(x, /, *, size=None, fill_value=None):
    """unique."""
    return unique(x, size=size, fill_value=fill_value)


def isin(element, test_elements, assume_unique=False, invert=False):
    """Whether each element is among the others."""
    element, tests = asarray(element), asarray(test_elements).ravel()
    found = _functions.equal(element[..., None], tests)
    found = bind("reduce_or", (found,), axes=(found.ndim - 1,))
    return _functions.logical_not(found) if invert else found


def union1d(ar1, ar2, *, size=None, fill_value=None):
    """The distinct elements of both."""
    from shardax.numpy._shape import concatenate

    return unique(
        concatenate([asarray(ar1).ravel(), asarray(ar2).ravel()]), size=size, fill_value=fill_value
    )


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The elements that both have."""
    return asarray(
        np.intersect1d(
            _known(asarray(ar1), "intersect1d", "call it outside of jit"),
            _known(asarray(ar2), "intersect1d", "call it outside of jit"),
        )
    )


def setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """The elements of the first that the second lacks."""
    return asarray(
        np.setdiff1d(
            _known(asarray(ar1), "setdiff1d", "call it outside of jit"),
            _known(asarray(ar2), "setdiff1d", "call it outside of jit"),
        )
    )


def unravel_index(indices, shape):
    """Flat indices as a tuple of indices per dimension."""
    indices = asarray(indices)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    total = int(np.prod(shape))
    indices = where(indices < 0, indices + total, indices)
    indices = clip(indices, 0, total - 1)
    out = []
    for n in reversed(shape):
        out.append(_functions.remainder(indices, n))
        indices = _functions.floor_divide(indices, n)
    return tuple(reversed(out))


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Indices per dimension as flat indices."""
    out = asarray(0)
    for index, n in zip(multi_index, dims):
        index = (
            clip(index, 0, n - 1)
            if mode == "clip"
            else _functions.remainder(index, n)
            if mode == "wrap"
            else index
        )
        out = out * n + asarray(index)
    return out


def ix_(*args):
    """Vectors of indices shaped so that together they index a grid."""
    return tuple(
        asarray(a).reshape((1,) * i + (-1,) + (1,) * (len(args) - i - 1))
        for i, a in enumerate(args)
    )


def diag_indices(n, ndim=2):
    """The indices of the main diagonal."""
    return (asarray(np.arange(n)),) * ndim


def tril_indices(n, k=0, m=None):
    """The indices of the lower triangle of an (n, m) matrix."""
    return tuple(asarray(i) for i in np.tril_indices(n, k, m))


def triu_indices(n, k=0, m=None):
    """The indices of the upper triangle of an (n, m) matrix."""
    return tuple(asarray(i) for i in np.triu_indices(n, k, m))
