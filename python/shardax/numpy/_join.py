# shardax/numpy/_join.py - arrays joined and split.
import operator

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax._base.array_functions import concatenate, sequence, unstacked
from shardax._base.arrays import (
    another,
    asarray,
    canonical_axis,
    check_arraylike,
    in_one_program,
    is_split,
    known,
)
from shardax.errors import ShardingTypeError
from shardax.numpy._shape import atleast_1d, atleast_2d, atleast_3d


def concat(arrays, /, *, axis=0):
    """Arrays joined along `axis`, or flat ones where it is None: `concatenate` in the words of the
    array API standard."""
    return concatenate(arrays, axis)


def unstack(x, /, *, axis=0):
    """The slices along `axis` as a tuple."""
    check_arraylike("unstack", x)
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError(
            "Unstack requires arrays with rank > 0, however a scalar array was passed."
        )
    at = canonical_axis(axis, x.ndim)
    if is_split(x, at):
        raise ShardingTypeError(
            f"unstack operand cannot be sharded on the unstacking axis {axis}; got "
            f"{_core.api.typeof(x)}. Reshard it so that no mesh axis splits that dimension."
        )
    return unstacked(x, at)


@in_one_program("dtype", at_once=True)
def hstack(tup, dtype=None):
    """Joined along the second dimension (vectors: the first)."""
    arrays = [atleast_1d(a) for a in sequence("hstack", tup)]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype)


@in_one_program("dtype", at_once=True)
def vstack(tup, dtype=None):
    """Joined along the first dimension; vectors are rows."""
    return concatenate([atleast_2d(a) for a in sequence("vstack", tup)], 0, dtype)


@in_one_program("dtype", at_once=True)
def dstack(tup, dtype=None):
    """Joined along the third dimension."""
    return concatenate([atleast_3d(a) for a in sequence("dstack", tup)], 2, dtype)


@in_one_program(at_once=True)
def column_stack(tup):
    """Vectors as columns, joined with matrices."""
    arrays = [
        a if (a := asarray(x)).ndim >= 2 else a.reshape((-1, 1))
        for x in sequence("column_stack", tup)
    ]
    return concatenate(arrays, 1)


def _split(name, ary, sections, axis, uneven):
    check_arraylike(name, ary)
    ary = asarray(ary)
    axis = canonical_axis(operator.index(axis), ary.ndim)
    size = ary.shape[axis]
    for section in sections if isinstance(sections, (tuple, list)) else (sections,):
        known(section, f"in jax.numpy.{name} argument 1")
    if np.ndim(sections):
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
    if not isinstance(ary, _core.Tracer) and _core.get_sharding(ary) is not None:
        sizes = [high - low for low, high in zip(edges[:-1], edges[1:])]
        if sum(sizes) == size:
            return lax.split(ary, sizes, axis)
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


def block(arrays):
    """Nested lists of blocks, joined from the inside out along the last dimensions."""

    def depth(x):
        if isinstance(x, tuple):
            raise ValueError(f"jax.numpy.block does not allow tuples, got {x}")
        return 1 + depth(x[0]) if isinstance(x, list) else 0

    def join(x, level):
        depth(x)
        if not isinstance(x, list):
            return atleast_1d(x) if level or isinstance(arrays, list) else another(asarray(x))
        parts = [join(p, level - 1) for p in x]
        ndim = max(level, *(p.ndim for p in parts))
        parts = [p.reshape((1,) * (ndim - p.ndim) + p.shape) for p in parts]
        return concatenate(parts, axis=ndim - level)

    return join(arrays, depth(arrays))
