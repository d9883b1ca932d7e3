"""python/shardax/_collectives.py - the collectives of shardax.lax: operations across a mapped axis.

`axis_name` is the name given to pmap, vmap or shard_map, or a tuple of such names. All of them take
trees of arrays and raise NameError where the axis is not in scope.
"""

import numpy as np

from shardax import tree_util
from shardax._core import api as _core

__all__ = [
    "all_gather",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "pshuffle",
    "psum",
    "psum_scatter",
    "pswapaxes",
]


def _no_groups(function, groups):
    if groups is not None:
        raise NotImplementedError(
            f"{function}: axis_index_groups is not supported; map over two axes instead."
        )


def _checked_groups(axis_name, groups):
    """The groups as lists; ValueError unless each index of the axis is in exactly one."""
    groups = [list(group) for group in groups]
    if sorted(i for group in groups for i in group) != list(range(_core.axis_size(axis_name))):
        raise ValueError("axis_index_groups must cover all indices exactly once")
    return groups


def _reduce_groups(x, axis_name, groups, reduce, identity):
    """Each device reduces what all have gathered, with `identity` for those outside its group."""
    from shardax import numpy as jnp

    groups = _checked_groups(axis_name, groups)
    table = np.zeros((_core.axis_size(axis_name),) * 2, bool)
    for group in groups:
        table[np.ix_(group, group)] = True
    mine = jnp.asarray(table)[_core.axis_index(axis_name)]

    def leaf(value):
        value = _core.asarray(value)
        if value.dtype == bool and reduce == "sum":
            value = value.astype("int32")
        every = _core.all_gather(value, axis_name, 0, False)
        mask = mine.reshape((-1,) + (1,) * value.ndim)
        return getattr(jnp.where(mask, every, identity(value.dtype)), reduce)(0)

    return tree_util.tree_map(leaf, x)


def _gather_groups(x, axis_name, groups, axis, tiled):
    """Each device takes its group's values, in the group's order, out of those of all."""
    from shardax import numpy as jnp

    groups = _checked_groups(axis_name, groups)
    if len({len(group) for group in groups}) != 1:
        raise ValueError("all_gather: axis_index_groups must all have the same size")
    table = np.zeros((_core.axis_size(axis_name), len(groups[0])), np.int32)
    for group in groups:
        table[group] = group
    mine = jnp.asarray(table)[_core.axis_index(axis_name)]

    def leaf(value):
        every = _core.all_gather(_core.asarray(value), axis_name, 0, False)
        own = jnp.moveaxis(jnp.take(every, mine, axis=0), 0, axis)
        if not tiled:
            return own
        at = axis % (own.ndim - 1)
        return own.reshape((*own.shape[:at], -1, *own.shape[at + 2 :]))

    return tree_util.tree_map(leaf, x)


def _zero(dtype):
    return np.zeros((), dtype)


def _lowest(dtype):
    if dtype.kind == "b":
        return np.asarray(False)
    return np.asarray(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)


def _highest(dtype):
    if dtype.kind == "b":
        return np.asarray(True)
    return np.asarray(np.iinfo(dtype).max if dtype.kind in "iu" else np.inf, dtype)


def psum(x, axis_name, *, axis_index_groups=None):
    """The sum over the axis; every device has it. Booleans are summed as int32; a Python number
    stays one.

    Example:
      >>> vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([0.25, 0.75], dtype=float32)
    """
    if axis_index_groups is None:
        return _core.psum(x, axis_name)
    if type(x) in (int, float, complex):
        sizes = {len(group) for group in _checked_groups(axis_name, axis_index_groups)}
        if len(sizes) == 1:
            return x * sizes.pop()
    return _reduce_groups(x, axis_name, axis_index_groups, "sum", _zero)


def pmean(x, axis_name, *, axis_index_groups=None):
    """The mean over the axis; integers become float32."""
    if axis_index_groups is None:
        return _core.pmean(x, axis_name)
    total = psum(x, axis_name, axis_index_groups=axis_index_groups)
    count = psum(1, axis_name, axis_index_groups=axis_index_groups)
    return tree_util.tree_map(lambda v: v / count, total)


def pmax(x, axis_name, *, axis_index_groups=None):
    """The maximum over the axis. Ties share the gradient."""
    if axis_index_groups is None:
        return _core.pmax(x, axis_name)
    return _reduce_groups(x, axis_name, axis_index_groups, "max", _lowest)


def pmin(x, axis_name, *, axis_index_groups=None):
    """The minimum over the axis. Ties share the gradient."""
    if axis_index_groups is None:
        return _core.pmin(x, axis_name)
    return _reduce_groups(x, axis_name, axis_index_groups, "min", _highest)


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False):
    """The values of all devices along a new dimension `axis`, or (tiled) joined along it."""
    if axis_index_groups is None:
        return _core.all_gather(x, axis_name, axis, tiled)
    return _gather_groups(x, axis_name, axis_index_groups, axis, tiled)


def psum_scatter(x, axis_name, *, scatter_dimension=0, axis_index_groups=None, tiled=False):
    """psum of which each device keeps its part of `scatter_dimension`.

    That dimension has the axis's size and goes away (tiled: a multiple of it, which stays).
    """
    _no_groups("psum_scatter", axis_index_groups)
    return _core.psum_scatter(x, axis_name, scatter_dimension, tiled)


def ppermute(x, axis_name, perm):
    """Sends values along (source, destination) pairs; devices that receive none have zeros."""
    return _core.ppermute(x, axis_name, perm)


def pshuffle(x, axis_name, perm):
    """Device i gets the value of device perm[i]; `perm` is a permutation of all indices."""
    perm = list(perm)
    if sorted(perm) != list(range(len(perm))):
        raise ValueError(f"`perm` does not represent a permutation: {perm}")
    return _core.ppermute(x, axis_name, list(zip(perm, range(len(perm)), strict=True)))


def all_to_all(x, axis_name, split_axis, concat_axis, *, axis_index_groups=None, tiled=False):
    """Each device splits dimension `split_axis` over the axis and joins its share of all others'.

    What it receives lies along a new dimension `concat_axis` (tiled: joined along that one).
    """
    _no_groups("all_to_all", axis_index_groups)
    return _core.all_to_all(x, axis_name, split_axis, concat_axis, tiled)


def pswapaxes(x, axis_name, axis, *, axis_index_groups=None):
    """Swaps the mapped axis with dimension `axis`."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def axis_index(axis_name):
    """This device's position along the axis, int32; of several axes the last varies fastest."""
    return _core.axis_index(axis_name)


def axis_size(axis_name):
    """The size of the axis, a Python int."""
    return _core.axis_size(axis_name)
