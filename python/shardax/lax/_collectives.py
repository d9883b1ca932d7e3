"""shardax/lax/_collectives.py - the collectives of shardax.lax: operations across a mapped axis.

`axis_name` is the name given to pmap, vmap or shard_map, or a tuple of such names, whose devices
are counted row-major in the order given. All functions take trees of arrays and raise NameError
where an axis is not in scope. `axis_index_groups` lists groups of positions that share out the
axis: each group acts on its own. Reductions take groups of any sizes, exchanges of one size.
"""

from shardax._core import api as _core
from shardax.lax._dot import dot_general

__all__ = [
    "all_gather",
    "all_gather_invariant",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pargmax",
    "pargmin",
    "pbroadcast",
    "pcast",
    "pdot",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "pshuffle",
    "psum",
    "psum_scatter",
    "pswapaxes",
    "pvary",
]


def psum(x, axis_name, *, axis_index_groups=None):
    """The sum over the axis; every device has it.

    Args:
      x: a tree of arrays of any shape and of integers, floats or complex numbers, whose dtype the
        result keeps. Booleans are summed as int32; a Python number stays one, so that psum(1, name)
        is the size of the axis.
      axis_name: name(s) of mapped axes; integers are dimensions to sum over as well.
      axis_index_groups: groups of positions that are summed separately.

    Raises:
      NameError: where an axis is not in scope.
      ValueError: unless each position is in exactly one group.

    Example:
      >>> shardax.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([0.25, 0.75], dtype=float32)
    """
    return _core.reduce_devices("psum", x, axis_name, axis_index_groups)


def pdot(x, y, axis_name, pos_contract=((), ()), pos_batch=((), ())):
    """The product of `x` and `y` summed over the axis, and over the dimensions that `pos_contract`
    names, as JAX had it until version 0.4.

    Example:
      >>> shardax.vmap(lambda x: lax.pdot(x, x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([10., 10.], dtype=float32)
    """
    return psum(dot_general(x, y, (pos_contract, pos_batch)), axis_name)


def pmean(x, axis_name, *, axis_index_groups=None):
    """The mean over the axis; floats keep their dtype, integers and booleans become float32.

    Arguments and errors are those of `psum`.

    Example:
      >>> shardax.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([-1.,  1.], dtype=float32)
    """
    return _core.pmean(x, axis_name, axis_index_groups)


def pmax(x, axis_name, *, axis_index_groups=None):
    """The maximum over the axis, of the operand's dtype. Devices that tie share the gradient.

    Arguments and errors are those of `psum`.

    Example:
      >>> shardax.vmap(lambda x: lax.pmax(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([3., 3.], dtype=float32)
    """
    return _core.reduce_devices("pmax", x, axis_name, axis_index_groups)


def pmin(x, axis_name, *, axis_index_groups=None):
    """The minimum over the axis, of the operand's dtype. Devices that tie share the gradient.

    Arguments and errors are those of `psum`.

    Example:
      >>> shardax.vmap(lambda x: lax.pmin(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([1., 1.], dtype=float32)
    """
    return _core.reduce_devices("pmin", x, axis_name, axis_index_groups)


def pargmax(x, axis_name):
    """For each element the position of the first device that has the maximum, int32.

    Example:
      >>> shardax.vmap(lambda x: lax.pargmax(x, "i"), axis_name="i")(jnp.array([1.0, 3.0, 3.0]))
      Array([1, 1, 1], dtype=int32)
    """
    return _core.reduce_devices("pargmax", x, axis_name, None)


def pargmin(x, axis_name):
    """For each element the position of the first device that has the minimum, int32.

    Example:
      >>> shardax.vmap(lambda x: lax.pargmin(x, "i"), axis_name="i")(jnp.array([1.0, 3.0, 1.0]))
      Array([0, 0, 0], dtype=int32)
    """
    return _core.reduce_devices("pargmin", x, axis_name, None)


def pbroadcast(x, axis_name, source):
    """The value of the device at position `source`, for all devices.

    Raises:
      ValueError: where the axis has no such position.

    Example:
      >>> shardax.vmap(lambda x: lax.pbroadcast(x, "i", 1), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([3., 3.], dtype=float32)
    """
    return _core.pbroadcast(x, axis_name, source)


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False, to="varying"):
    """The values of all devices along a new dimension `axis`, or (tiled) joined along that one.

    Args:
      x: a tree of arrays of any dtype.
      axis_name: name(s) of mapped axes.
      axis_index_groups: groups of positions, of one size, that gather separately.
      axis: the dimension of the result, negative from the end.
      tiled: join along an existing dimension instead of making one.
      to: the state of the type within shard_map's check_vma: all devices have the same value
        ("invarying"), or not ("varying"). "reduced": they have it, and each a term of its
        cotangent.

    Raises:
      ValueError: where `axis` is out of bounds, groups differ in size, or for another `to`.

    Example:
      >>> shardax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i")(jnp.array([1, 3]))
      Array([[1, 3],
             [1, 3]], dtype=int32)
    """
    if to not in ("varying", "reduced", "invarying"):
        raise ValueError(
            f"all_gather: Got unexpected `to` value {to!r} for `jax.lax.all_gather`. Allowed `to` "
            "values are: 'varying', 'reduced', 'invarying'."
        )
    if to == "invarying":
        if axis_index_groups is not None:
            raise NotImplementedError("all_gather: axis_index_groups with to='invarying'.")
        return all_gather_invariant(x, axis_name, axis=axis, tiled=tiled)
    return _core.all_gather(x, axis_name, axis_index_groups, axis, tiled, to)


def all_gather_invariant(x, axis_name, *, axis=0, tiled=False):
    """all_gather whose type, within shard_map's check_vma, says that all devices have one value.

    Arguments and errors are those of `all_gather`. It transposes to each device's slice.

    Example:
      >>> shardax.vmap(lambda x: lax.all_gather_invariant(x, "i"), axis_name="i")(jnp.array([1, 3]))
      Array([[1, 3],
             [1, 3]], dtype=int32)
    """
    return _core.all_gather(x, axis_name, None, axis, tiled, "invarying")


def psum_scatter(x, axis_name, *, scatter_dimension=0, axis_index_groups=None, tiled=False):
    """psum of which each device keeps its part of `scatter_dimension`.

    The dimension has the axis's size and goes away (tiled: a multiple of it, which stays).

    Raises:
      ValueError: where the dimension has another size, or groups differ in size.

    Example:
      >>> f = lambda x: lax.psum_scatter(x, "i")
      >>> shardax.vmap(f, axis_name="i")(jnp.array([[1, 2], [3, 4]]))
      Array([4, 6], dtype=int32)
    """
    return _core.psum_scatter(x, axis_name, axis_index_groups, scatter_dimension, tiled)


def ppermute(x, axis_name, perm):
    """Sends values along (source, destination) pairs; devices that receive none have zeros.

    Raises:
      ValueError: where a source or a destination appears twice, or the axis has no such position.

    Example:
      >>> f = lambda x: lax.ppermute(x, "i", [(0, 1), (1, 0)])
      >>> shardax.vmap(f, axis_name="i")(jnp.array([1, 3]))
      Array([3, 1], dtype=int32)
    """
    return _core.ppermute(x, axis_name, perm)


def pshuffle(x, axis_name, perm):
    """Device i gets the value of device perm[i]; `perm` is a permutation of 0, 1, ...

    Raises:
      ValueError: where `perm` is no permutation.

    Example:
      >>> f = lambda x: lax.pshuffle(x, "i", [2, 0, 1])
      >>> shardax.vmap(f, axis_name="i")(jnp.array([5, 6, 7]))
      Array([7, 5, 6], dtype=int32)
    """
    perm = list(perm)
    if sorted(perm) != list(range(len(perm))):
        raise ValueError(
            f"pshuffle: `perm` does not represent a permutation: {perm}; expected each of 0 to "
            f"{len(perm) - 1} once."
        )
    return _core.ppermute(x, axis_name, list(zip(perm, range(len(perm)), strict=True)))


def all_to_all(x, axis_name, split_axis, concat_axis, *, axis_index_groups=None, tiled=False):
    """Each device splits dimension `split_axis` over the axis and joins its share of all others'.

    The dimension has the axis's size and goes away; the received values lie along a new dimension
    `concat_axis`. Tiled, `split_axis` is a multiple of the size and both dimensions stay.

    Raises:
      ValueError: where the sizes do not fit, or groups differ in size.

    Example:
      >>> f = lambda x: lax.all_to_all(x, "i", 0, 0)
      >>> shardax.vmap(f, axis_name="i")(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    return _core.all_to_all(x, axis_name, axis_index_groups, split_axis, concat_axis, tiled)


def pswapaxes(x, axis_name, axis, *, axis_index_groups=None):
    """Swaps the mapped axis with dimension `axis`, which has the same size.

    Example:
      >>> f = lambda x: lax.pswapaxes(x, "i", 0)
      >>> shardax.vmap(f, axis_name="i")(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pvary(x, axis_name):
    """A tree of arrays, typed within shard_map's check_vma as varying over the axes; `lax.pcast`
    says it with a state.

    Args:
      x: a tree of arrays.
      axis_name: name(s) of mapped axes.

    Example:
      >>> mesh = shardax.make_mesh((2,), ("x",))
      >>> f = lambda x: lax.pvary(x, "x") + lax.axis_index("x")
      >>> shardax.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P("x"))(jnp.zeros(1))
      Array([0., 1.], dtype=float32)
    """
    return _core.pvary(x, axis_name)


def pcast(x, axis_name, *, to):
    """A tree of arrays, typed within shard_map's check_vma as in another state over the axes.

    Args:
      x: a tree of arrays.
      axis_name: name(s) of mapped axes.
      to: "varying", each device's own (of an invarying or reduced value). "unreduced", its term of
        a sum that is left to do (of a varying value): `psum` does it. "reduced", a value that all
        share and of whose cotangent each has a term (of an invarying value).

    Raises:
      ValueError: for any other `to`, or from another state.
      TypeError: for a set of names, which has no order.

    Example:
      >>> mesh = shardax.make_mesh((2,), ("x",))
      >>> def f(x):
      ...     print(shardax.typeof(lax.pcast(x, "x", to="varying")).mat.varying)
      >>> shardax.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P())(jnp.ones(2))
      frozenset({'x'})
    """
    if isinstance(axis_name, (set, frozenset)):
        raise TypeError(f"pcast: axis_name={axis_name} must be a tuple or a str. Got {axis_name}")
    if to not in ("varying", "reduced", "unreduced"):
        raise ValueError(
            f"pcast: Got unexpected `to` value {to!r}. Allowed `to` values are: 'varying', "
            "'unreduced', 'reduced'."
        )
    return _core.pcast(x, axis_name, to)


def axis_index(axis_name):
    """This device's position along the axis, int32; of several axes the last varies fastest.

    Example:
      >>> shardax.vmap(lambda x: x + lax.axis_index("i"), axis_name="i")(jnp.array([10, 20]))
      Array([10, 21], dtype=int32)
    """
    return _core.axis_index(axis_name)


def axis_size(axis_name):
    """The size of a mapped axis, a Python int; of several axes the product.

    Args:
      axis_name: name(s) of mapped axes.

    Raises:
      NameError: an axis is not in scope.

    Example:
      >>> shardax.vmap(lambda x: x / lax.axis_size("i"), axis_name="i")(jnp.array([2.0, 4.0]))
      Array([1., 2.], dtype=float32)
    """
    return _core.axis_size(axis_name)
