"""shardax/_devices/make_array.py - sharded arrays made out of their parts, which callbacks, single
devices or this process have.

All devices share one memory: the parts are joined once, into the whole array, which is labelled.
"""

import shardax._core as _core
from shardax import tree_util
from shardax._base.array_functions import concatenate, stack
from shardax._base.arrays import asarray, bind
from shardax._devices.devices import Device, is_local
from shardax._devices.layout import AutoLayout, check_order, layout_of
from shardax._devices.layouts import Format
from shardax._devices.mesh_context import get_mesh
from shardax._devices.out_sharding import takes_out_sharding
from shardax._devices.shard_index import parts, places_in_terms
from shardax._devices.shardings import (
    NamedSharding,
    PartitionSpec,
    Sharding,
    SingleDeviceSharding,
    label,
)
from shardax.errors import UnexpectedTracerError

__all__ = [
    "make_array_from_callback",
    "make_array_from_process_local_data",
    "make_array_from_single_device_arrays",
]


def _parts_of(where):
    """The Sharding of what a function that makes arrays is given, and what arrays are labelled
    with."""
    where = SingleDeviceSharding(where) if isinstance(where, Device) else where
    if isinstance(where, Format):
        if isinstance(where.layout, AutoLayout):
            raise TypeError(
                f"`Layout.AUTO` cannot be used in place of a device-local layout. Got {where}"
            )
        check_order(where.layout)
        if where.layout is not None and isinstance(where.sharding, Sharding):
            return where.sharding, where
        where = where.sharding
    if isinstance(where, PartitionSpec) and not get_mesh().empty:
        where = NamedSharding(get_mesh(), where)
    if not isinstance(where, Sharding):
        raise TypeError(f"sharding should be an instance of `jax.sharding`. Got {where!r}")
    return where, where


def _starts(index):
    return tuple(s.start or 0 for s in index)


def _joined(pieces):
    """The array whose parts start at the keys of `pieces`, which form a grid."""
    rank = len(next(iter(pieces)))
    pieces = {start: _core.with_sharding(piece, None) for start, piece in pieces.items()}
    for dim in reversed(range(rank)):
        lines = {}
        for start in sorted(pieces):
            lines.setdefault(start[:dim], []).append(pieces[start])
        pieces = {
            start: line[0] if len(line) == 1 else concatenate(line, axis=dim)
            for start, line in lines.items()
        }
    return pieces[()]


def _check_shape(where, expected, shape):
    if tuple(shape) != tuple(expected):
        raise ValueError(
            f"Expected shard shape {tuple(expected)} doesn't match the single device array shape "
            f"{tuple(shape)}. Shape of Array is given, and its sharding is {where}"
        )


def make_array_from_callback(shape, sharding, data_callback, dtype=None):
    """An array whose parts a function gives.

    Args:
      shape: the shape of the whole array.
      sharding: a Sharding (or Device), or a Format with one.
      data_callback: takes the index of a part, a tuple of slices, and gives its elements. Called
        once for each distinct part.
      dtype: of the result; that of the parts unless given.

    Raises:
      ValueError: where a part does not have the shape that the sharding says, or dtypes differ.

    Example:
      >>> mesh = shardax.make_mesh((2,), ("x",))
      >>> where = shardax.NamedSharding(mesh, shardax.P("x"))
      >>> rows = np.arange(6).reshape(2, 3)
      >>> make_array_from_callback((2, 3), where, lambda index: rows[index]).shape
      (2, 3)
    """
    where, wanted = _parts_of(sharding)
    shape = tuple(shape)
    expected = where.shard_shape(shape)
    pieces = {}
    description = where._description(len(shape))
    for device_id, index, _ in parts(shape, description):
        start = _starts(index)
        if not is_local(device_id):
            continue
        if start not in pieces:
            data = data_callback(index)
            if isinstance(data, _core.Tracer):
                raise UnexpectedTracerError(
                    "jax.make_array_from_callback cannot be called within a traced context: the "
                    f"callback gave {data!r}."
                )
            piece = asarray(data) if dtype is None else asarray(data, dtype)
            _check_shape(where, expected, piece.shape)
            pieces[start] = piece
    kinds = sorted({str(piece.dtype) for piece in pieces.values()})
    if len(kinds) > 1:
        raise ValueError(
            "Input buffers to `Array` must have matching dtypes; the callback gave parts of dtypes "
            f"{', '.join(kinds)}."
        )
    return _whole(_joined(pieces), shape, where, wanted)


def _whole(own, shape, where, wanted):
    """The labelled array of which `own` is what this process has."""
    if is_fully_local(where):
        return label(own, wanted)
    return _core.from_slab(own, shape, where._description(len(shape)))


def is_fully_local(where):
    """True if all devices of a Sharding belong to this process."""
    return all(is_local(d.id) for d in where.device_set)


def make_array_from_single_device_arrays(shape, sharding, arrays, *, dtype=None):
    """An array out of its parts, one array per device of the sharding.

    Each part belongs to the device that it is placed on (with `device_put`), in any order. Of
    replicated parts the first device's is taken. If the spec is unreduced over mesh axes, the
    devices along these have the terms of a sum.

    Raises:
      TypeError: where `arrays` is no sequence of arrays.
      ValueError: where their number, devices, shapes or dtypes are not those of the sharding.

    Example:
      >>> mesh = shardax.make_mesh((2,), ("x",))
      >>> where = shardax.NamedSharding(mesh, shardax.P("x"))
      >>> halves = [shardax.device_put(np.full(2, i), d) for i, d in enumerate(mesh.devices)]
      >>> make_array_from_single_device_arrays((4,), where, halves)
      Array([0, 0, 1, 1], dtype=int32)
    """
    where, wanted = _parts_of(sharding)
    shape = tuple(shape)
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(
            "jax.make_array_from_single_device_arrays `arrays` argument must be a list or tuple, "
            f"got {type(arrays)}."
        )
    for array in arrays:
        if isinstance(array, _core.Tracer):
            raise ValueError(
                "jax.make_array_from_single_device_arrays requires a list of concrete arrays as "
                f"input, but got {array!r}; call it outside of traced functions."
            )
        if not isinstance(array, _core.Array):
            raise TypeError(
                "jax.make_array_from_single_device_arrays requires a list of arrays, got "
                f"{array!r}; place parts with shardax.device_put(part, device)."
            )
    if not arrays and dtype is None:
        raise ValueError(
            "If the Array has no addressable shards, `dtype` must be provided via the `dtype` "
            "argument to `jax.make_array_from_single_device_arrays`."
        )
    by_device = _by_device(where, arrays)
    kinds = {str(array.dtype) for array in arrays}
    if dtype is not None and kinds != {str(_core.dtype_of(dtype))}:
        raise ValueError(
            "If `dtype` is provided to `jax.make_array_from_single_device_arrays`, it must match "
            f"the dtype of the addressable shards. Got dtype={_core.dtype_of(dtype)} and shards of "
            f"{', '.join(sorted(kinds))}."
        )
    if len(kinds) > 1:
        expected = str(arrays[0].dtype)
        raise ValueError(
            "Input buffers to `Array` must have matching dtypes. "
            f"Got {', '.join(sorted(kinds - {expected}))}, expected {expected}."
        )
    expected = where.shard_shape(shape)
    description = where._description(len(shape))
    pieces = {}
    for (device, index, _), place in zip(parts(shape, description), places_in_terms(description)):
        if not is_local(device):
            continue
        _check_shape(where, expected, by_device[device].shape)
        term = pieces.setdefault(place if description[6] else (), {})
        term.setdefault(_starts(index), by_device[device])
    terms = [_joined(term) for term in pieces.values()]
    if description[6]:
        return _sum_to_do(terms, where)
    orders = {_core.get_layout(array) for array in arrays}
    if wanted is where and len(orders) == 1 and orders != {None}:
        wanted = Format(layout_of(*orders, len(shape)), where)
    return _whole(terms[0], shape, where, wanted)


def _sum_to_do(terms, where):
    """The array that stands for the sum of the devices' terms, in mesh order."""
    axes = tuple(a for a in where.mesh.axis_names if a in where.spec.unreduced)
    split = where.with_spec(PartitionSpec(axes, *where.spec))

    def total(stacked):
        return bind("reduce_sum", (stacked,), axes=(0,))

    return takes_out_sharding(total)(label(stack(terms), split), out_sharding=where)


def _by_device(where, arrays):
    expected = {d.id for d in where.device_set if is_local(d.id)}
    if len(arrays) != len(expected):
        raise ValueError(
            f"Expected {len(expected)} per-device arrays (this is how many devices are addressable "
            f"by the sharding), but got {len(arrays)}"
        )
    for array in arrays:
        if len(array.devices()) > 1:
            raise ValueError(
                "When making an array from single-device arrays the input arrays must have one "
                f"shard each. An argument array had {len(array.devices())} shard(s)."
            )
    given = {next(iter(array.devices())).id: array for array in arrays}
    if len(given) != len(arrays):
        ids = [next(iter(array.devices())).id for array in arrays]
        raise ValueError(
            "When making an array from single-device arrays, the input arrays must be from "
            f"distinct devices, but got device IDs {ids}"
        )
    if set(given) != expected:
        raise ValueError(
            "Addressable devices and per-device arrays devices do not match. Sharding contains "
            f"devices {_ids(expected - set(given))} that are not present in per-device arrays. "
            f"Per-device arrays contain devices {_ids(set(given) - expected)} that are not present "
            "in the sharding."
        )
    return given


def _ids(ids):
    return "{" + ", ".join(map(str, sorted(ids))) + "}"


def make_array_from_process_local_data(sharding, local_data, global_shape=None):
    """A tree of arrays out of the data that each process has.

    Args:
      sharding: a Sharding or Device, or a tree prefix of them.
      local_data: a tree of arrays: this process's parts, joined, or the whole data.
      global_shape: a shape, a tree of shapes (or a prefix of one) or None. Dimensions that are None
        have the extent that the parts of all processes have together.

    Raises:
      ValueError: where a global shape fits neither the data nor the data of one process, or the
        sharding does not divide it.

    Example:
      >>> where = shardax.NamedSharding(shardax.make_mesh((2,), ("x",)), shardax.P("x"))
      >>> make_array_from_process_local_data(where, np.arange(4))
      Array([0, 1, 2, 3], dtype=int32)
    """

    def is_shape(x):
        return x is None or isinstance(x, tuple) and all(n is None or isinstance(n, int) for n in x)

    leaves, tree = tree_util.tree_flatten(local_data)
    shapes = tree_util.broadcast_prefix(global_shape, local_data, is_leaf=is_shape)
    wheres = tree_util.broadcast_prefix(sharding, local_data)
    out = []
    for leaf, shape, where in zip(leaves, shapes, wheres):
        out.append(_of_process(asarray(leaf), shape, *_parts_of(where)))
    return tree.unflatten(out)


def _of_process(own, shape, where, wanted):
    have = tuple(own.shape)
    if is_fully_local(where):
        if shape is not None and tuple(n if g is None else g for n, g in zip(have, shape)) != have:
            raise ValueError(
                f"make_array_from_process_local_data: the data has shape {have} and one process "
                f"has all devices of the sharding, but global_shape is {shape}; expected the shape "
                "of the data."
            )
        return label(own, wanted)
    description = where._description(own.ndim)
    counts = _processes_along(description, own.ndim)
    joined = tuple(n * count for n, count in zip(have, counts))
    whole = joined if shape is None else tuple(j if g is None else g for j, g in zip(joined, shape))
    where.shard_shape(whole)  # IndivisibleError where it does not divide the array
    starts, sizes = _core.slab_slice(whole, description)
    for d, (given, wants) in enumerate(zip(have, sizes)):
        if given not in (wants, whole[d]):
            raise ValueError(
                f"make_array_from_process_local_data: the data has shape {have}, which gives "
                f"dimension {d} of the global shape {whole} neither the {wants} elements of this "
                f"process nor all {whole[d]}."
            )
    pieces = tuple(
        slice(start, start + size) if given != size else slice(None)
        for start, size, given in zip(starts, sizes, have)
    )
    return _core.from_slab(own[pieces], whole, description)


def _processes_along(description, ndim):
    """The number of processes that split each dimension."""
    size = 1 << 20  # any that all counts of processes divide does
    for count in description[1]:
        size *= count
    _, sizes = _core.slab_slice((size,) * ndim, description)
    return tuple(size // own for own in sizes)
