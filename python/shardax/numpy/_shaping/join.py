# shardax/numpy/_shaping/join.py - arrays joined and split.
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
from shardax.numpy._shaping.shape import atleast_1d, atleast_2d, atleast_3d


def concat(arrays, /, *, axis=0):
    """Arrays joined along an existing dimension: `jnp.concatenate` in the array API standard.

    Example:
      >>> jnp.concat([jnp.array([1, 2]), jnp.array([3])])
      Array([1, 2, 3], dtype=int32)
    """
    return concatenate(arrays, axis)


def unstack(x, /, *, axis=0):
    """The slices of an array along a dimension, as a tuple.

    Args:
      x: an array of one dimension or more.
      axis: the dimension.

    Returns:
      A tuple of x.shape[axis] arrays with one dimension less.

    Raises:
      ValueError: `x` is a scalar, or `axis` is out of bounds.

    Example:
      >>> jnp.unstack(jnp.array([[1, 2], [3, 4]]))
      (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
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
    """Arrays joined along their second dimension; vectors along the only one.

    Args:
      tup: a sequence of arrays of one shape but for that dimension.
      dtype: of the result; None: the dtype to which all promote.

    Example:
      >>> jnp.hstack([jnp.array([1, 2]), jnp.array([3])])
      Array([1, 2, 3], dtype=int32)
      >>> jnp.hstack([jnp.array([[1], [2]]), jnp.array([[3], [4]])])
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    arrays = [atleast_1d(a) for a in sequence("hstack", tup)]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype)


@in_one_program("dtype", at_once=True)
def vstack(tup, dtype=None):
    """Arrays joined along their first dimension; vectors become rows.

    Args:
      tup: a sequence of arrays of one shape but for that dimension.
      dtype: of the result; None: the dtype to which all promote.

    Example:
      >>> jnp.vstack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[1, 2],
             [3, 4]], dtype=int32)
    """
    return concatenate([atleast_2d(a) for a in sequence("vstack", tup)], 0, dtype)


@in_one_program("dtype", at_once=True)
def dstack(tup, dtype=None):
    """Arrays joined along their third dimension; those of fewer are passed to `jnp.atleast_3d`
    first.

    Args:
      tup: a sequence of arrays of one shape but for that dimension.
      dtype: of the result; None: the dtype to which all promote.

    Example:
      >>> jnp.dstack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[[1, 3],
              [2, 4]]], dtype=int32)
    """
    return concatenate([atleast_3d(a) for a in sequence("dstack", tup)], 2, dtype)


@in_one_program(at_once=True)
def column_stack(tup):
    """Vectors as the columns of a matrix; matrices are joined along their second dimension.

    Args:
      tup: a sequence of vectors and matrices with one number of rows.

    Example:
      >>> jnp.column_stack([jnp.array([1, 2]), jnp.array([3, 4])])
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
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
    """An array cut into parts along a dimension.

    Args:
      ary: an array.
      indices_or_sections: an int: the number of equal parts; or a sequence of ints: the indices
        where parts after the first begin.
      axis: the dimension.

    Returns:
      A list of arrays.

    Raises:
      ValueError: the size along `axis` is no multiple of the number of parts.

    Example:
      >>> jnp.split(jnp.arange(6), 3)
      [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32), Array([4, 5], dtype=int32)]
      >>> jnp.split(jnp.arange(6), [1, 4])
      [Array([0], dtype=int32), Array([1, 2, 3], dtype=int32), Array([4, 5], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis, False)


def array_split(ary, indices_or_sections, axis=0):
    """An array cut into parts along a dimension; the first ones are longer where sizes do not come
    out even.

    Args:
      ary: an array.
      indices_or_sections, axis: as in `jnp.split`.

    Returns:
      A list of arrays.

    Example:
      >>> jnp.array_split(jnp.arange(5), 2)
      [Array([0, 1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis, True)


def hsplit(ary, indices_or_sections):
    """An array cut into parts along its second dimension; vectors along the only one. See
    `jnp.split`.

    Example:
      >>> jnp.hsplit(jnp.array([[1, 2], [3, 4]]), 2)
      [Array([[1],
             [3]], dtype=int32), Array([[2],
             [4]], dtype=int32)]
    """
    return split(ary, indices_or_sections, 0 if asarray(ary).ndim == 1 else 1)


def vsplit(ary, indices_or_sections):
    """An array cut into parts along its first dimension. See `jnp.split`.

    Example:
      >>> jnp.vsplit(jnp.array([[1, 2], [3, 4]]), 2)
      [Array([[1, 2]], dtype=int32), Array([[3, 4]], dtype=int32)]
    """
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """An array cut into parts along its third dimension. See `jnp.split`.

    Example:
      >>> [part.shape for part in jnp.dsplit(jnp.zeros((2, 3, 4)), 2)]
      [(2, 3, 2), (2, 3, 2)]
    """
    return split(ary, indices_or_sections, 2)


def block(arrays):
    """An array assembled from nested lists of blocks.

    The innermost lists are joined along the last dimension, the next ones along the one before.

    Args:
      arrays: a nested list of arrays or numbers, all at one depth.

    Returns:
      The array.

    Raises:
      ValueError: depths or shapes do not fit.

    Example:
      >>> a, b = jnp.ones((2, 2)), jnp.zeros((2, 1))
      >>> jnp.block([[a, b], [b.T, jnp.array([[5.0]])]])
      Array([[1., 1., 0.],
             [1., 1., 0.],
             [0., 0., 5.]], dtype=float32)
    """

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
