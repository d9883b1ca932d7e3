"""python/shardax/_collectives.py - the collectives of shardax.lax: operations across a mapped axis.

`axis_name` is the name given to pmap, vmap or shard_map, or a tuple of such names. All of them take
trees of arrays and raise NameError where the axis is not in scope.
"""

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


def psum(x, axis_name, *, axis_index_groups=None):
    """The sum over the axis; every device has it. Booleans are summed as int32; a Python number
    stays one.

    Example:
      >>> vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([0.25, 0.75], dtype=float32)
    """
    _no_groups("psum", axis_index_groups)
    return _core.psum(x, axis_name)


def pmean(x, axis_name, *, axis_index_groups=None):
    """The mean over the axis; integers become float32."""
    _no_groups("pmean", axis_index_groups)
    return _core.pmean(x, axis_name)


def pmax(x, axis_name, *, axis_index_groups=None):
    """The maximum over the axis. Ties share the gradient."""
    _no_groups("pmax", axis_index_groups)
    return _core.pmax(x, axis_name)


def pmin(x, axis_name, *, axis_index_groups=None):
    """The minimum over the axis. Ties share the gradient."""
    _no_groups("pmin", axis_index_groups)
    return _core.pmin(x, axis_name)


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False):
    """The values of all devices along a new dimension `axis`, or (tiled) joined along it."""
    _no_groups("all_gather", axis_index_groups)
    return _core.all_gather(x, axis_name, axis, tiled)


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
