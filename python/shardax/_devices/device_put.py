"""shardax/_devices/device_put.py - device_put and its relatives.

All devices share one memory: placing an array is labelling it. Nothing is copied but NumPy arrays,
once, and shards that do not lie evenly in one memory.
"""

import numpy as np

import shardax._core as _core
from shardax import tree_util
from shardax._base.array_functions import stack
from shardax._base.arrays import asarray, bind
from shardax._base.dtypes import KeyTy
from shardax._base.manual_axes import UNNAMED_AXIS
from shardax._devices.devices import Device, default_device
from shardax._devices.memory_kinds import Space, recorded_kind


def _moved(leaf):
    """The leaf as an array: a transfer that is asked for by name."""
    before = _core.explicit_transfers(True)
    try:
        return asarray(leaf)
    finally:
        _core.explicit_transfers(before)


def guard_move(array, where, asked):
    """Asks the transfer guard where an array is to lie elsewhere; `asked`: as the user said."""
    there = {where} if isinstance(where, Device) else getattr(where, "device_set", None)
    if there is None or array.devices() == there:
        return
    _core.guard_device_to_device(array, asked)


def _as_it_lies(array, where):
    """`where`; from one device to another an array keeps its order of dimensions."""
    order = _core.get_layout(array)
    if order is None or _core.get_sharding(array)[4]:
        return where
    from shardax._devices import layouts, shardings  # at first use: quick import

    there = shardings.SingleDeviceSharding(where) if isinstance(where, Device) else where
    if not isinstance(there, shardings.SingleDeviceSharding):
        return where
    return layouts.Format(layouts.layout_of(order, array.ndim), there)


def device_put(x, device=None, *, src=None, donate=False, may_alias=None):
    """`x` as arrays, labelled with a device, sharding or memory.Space, or a tree prefix of these.

    There is one memory, whose kind shardings and types show. With `donate` (True, or a tree prefix
    of truth values) arrays that get a label are deleted; nothing is copied, unless `may_alias` is
    False. An array that lies there already is returned itself. If a transformed function moves an
    array, `src`, its present sharding, gives the destination of its cotangent.

    Raises:
      ValueError: where `donate` and `may_alias` are both true, a Format does not fit,
        `device` is none of these, or the sharding does not divide an array.

    Example:
      >>> shardax.device_put(1.5)
      Array(1.5, dtype=float32, weak_type=True)
    """

    from shardax._devices import layouts, shardings  # at first use: quick import

    if donate is True and may_alias is True:
        raise ValueError("device_put: may_alias and donate cannot be True at the same time.")
    fresh = may_alias is False

    def place(leaf, where, donated=donate):
        given = array = _moved(leaf)
        if array is leaf and fresh:
            array = array.copy()
        if isinstance(where, Space):
            if isinstance(array, _core.Tracer):
                otherwise = shardings.SingleDeviceSharding(default_device())._description(0)
                return _core.with_memory(array, recorded_kind(where.kind), otherwise)
            where = shardings.sharding_of(array).with_memory_kind(where.kind)
        if where is None:
            return array
        if isinstance(where, Device) and _core.process_count() > 1:
            _check_is_here(array)
        if isinstance(where, layouts.Format):
            layouts.check_concrete(where, array)
        else:
            where = _as_it_lies(given, where)
        if array is leaf and _core.transfers_guarded():
            guard_move(array, where, True)
        if _core.process_count() > 1 and isinstance(where, shardings.Sharding):
            _check_same_in_processes(array, leaf, where)
        placed = shardings.label(array, where, src)
        if array is leaf and not isinstance(array, _core.Tracer):
            before = _core.get_sharding(array)
            same = before is not None and before == _core.get_sharding(placed)
            if same and _core.get_layout(array) == _core.get_layout(placed):
                return array
        if donated and array is leaf and not isinstance(array, _core.Tracer):
            array.delete()
        return placed

    places = (Device, shardings.Sharding, shardings.PartitionSpec, layouts.Format, Space)
    one = device is None or isinstance(device, places)
    if one and not isinstance(donate, (tuple, list, dict)):
        return tree_util.tree_map(lambda leaf: place(leaf, device), x)
    for where in () if one else tree_util.tree_leaves(device):
        if not isinstance(where, places):
            raise ValueError(
                f"device_put: Received invalid value {where!r} for the device argument; expected "
                "None, a Device, a Sharding, a memory.Space or a tree of these values. Devices "
                "come from shardax.devices()."
            )
    leaves, treedef = tree_util.tree_flatten(x)
    wheres = [device] * len(leaves) if one else _spread("device", device, x)
    donated = _spread("donate", donate, x)
    return treedef.unflatten(map(place, leaves, wheres, donated))


def _check_is_here(array):
    """A device takes arrays of which this process has all devices."""
    where = None if isinstance(array, _core.Tracer) else _core.get_sharding(array)
    if where is None or array.is_fully_addressable:
        return
    raise ValueError(
        "When the second argument to `device_put` is a Device, the first argument must be a fully "
        "addressable array or a non-addressable array with a single device sharding. Got value "
        f"with devices {array.devices()}"
    )


def _check_same_in_processes(array, leaf, where):
    """Each process places its part of the common data: raises if the processes have not the
    same."""
    if isinstance(array, _core.Tracer) or _core.get_slab(array) is not None:
        return
    if all(device._is_local for device in where.device_set):
        return
    import hashlib  # only where there are several processes

    words = bind("random_unwrap", (array,)) if isinstance(array.dtype, KeyTy) else array
    digest = hashlib.blake2b(np.ascontiguousarray(words).tobytes(), digest_size=16).digest()
    step = f"device_put of {array.dtype}{list(array.shape)}"
    if len(set(_core.gather_bytes(digest, step))) > 1:
        raise AssertionError(
            f"{type(leaf)} passed to device_put is not the same on each process. Make sure you are "
            f"passing the same value of {type(leaf)} on each process. To give each process's part, "
            "use jax.make_array_from_process_local_data."
        )


def _spread(argument, prefix, x):
    """A value of device_put's argument for each leaf of `x`."""
    try:
        return tree_util.broadcast_prefix(prefix, x, is_leaf=lambda value: value is None)
    except ValueError:
        from shardax._base.api_errors import not_a_prefix  # at first use: quick import

        not_a_prefix(f"device_put {argument}", prefix, x)


def _check_devices(function, devices):
    if not isinstance(devices, (list, tuple)) or not devices:
        raise ValueError(
            f"`devices` argument to `{function}` must be a non-empty sequence, got {devices!r}."
        )


def on_devices(array, devices):
    """`array` labelled as a pmapped function labels its results: a slice for each device."""
    ids = tuple(d.id for d in devices)
    spec = ((UNNAMED_AXIS,), *((),) * (array.ndim - 1))
    return _core.with_sharding(array, ((UNNAMED_AXIS,), (len(ids),), ids, spec, True))


def device_put_replicated(x, devices):
    """Every leaf of a tree with a leading axis of len(devices) along which it repeats; kept once.

    Raises:
      ValueError: unless `devices` is a non-empty list or tuple.

    Example:
      >>> shardax.device_put_replicated({"w": jnp.ones(3)}, shardax.devices()[:2])["w"].shape
      (2, 3)
    """
    _check_devices("device_put_replicated", devices)

    def repeat(leaf):
        leaf = asarray(leaf)
        shape = (len(devices), *leaf.shape)
        kept = tuple(range(1, len(shape)))
        wide = bind("broadcast_in_dim", (leaf,), shape=shape, broadcast_dimensions=kept)
        return on_devices(wide, devices)

    return tree_util.tree_map(repeat, x)


def device_put_sharded(shards, devices):
    """The trees in `shards`, one per device, stacked along a leading axis.

    Slices of one array that lie evenly in it are not copied.

    Raises:
      TypeError: where `shards` is no sequence.
      ValueError: where it has not as many elements as `devices`, or these differ in structure,
        shape or dtype.

    Example:
      >>> shardax.device_put_sharded([jnp.zeros(3), jnp.ones(3)], shardax.devices()[:2]).shape
      (2, 3)
    """
    if not isinstance(shards, (list, tuple)):
        raise TypeError(
            f"device_put_sharded `shards` input must be a sequence; got {type(shards)}; split an "
            "array with list(x)."
        )
    _check_devices("device_put_sharded", devices)
    if len(shards) != len(devices):
        raise ValueError(f"len(shards) = {len(shards)} must equal len(devices) = {len(devices)}.")

    def join(*leaves):
        arrays = [asarray(leaf) for leaf in leaves]
        kinds = sorted({f"{a.dtype}{list(a.shape)}" for a in arrays})
        if len(kinds) > 1:
            raise ValueError(
                "the shards passed to device_put_sharded must have consistent shape and dtype, but "
                f"got {', '.join(kinds)}."
            )
        return on_devices(stack(arrays), devices)

    return tree_util.tree_map(join, *shards)


def device_get(x):
    """A tree of arrays as NumPy arrays; PRNG keys, tracers and Python numbers stay.

    Args:
      x: a tree.

    Returns:
      The tree; arrays of one device share memory with `x`, and are read-only.

    Example:
      >>> shardax.device_get({"w": jnp.array([1, 2])})
      {'w': array([1, 2], dtype=int32)}
    """

    def fetch(leaf):
        plain = isinstance(leaf, _core.Array) and not isinstance(leaf, _core.Tracer)
        plain = plain and not isinstance(leaf.dtype, KeyTy)
        return np.asarray(leaf) if plain else leaf

    return tree_util.tree_map(fetch, x)


def copy_to_host_async(x):
    """A tree of arrays, as it is: they lie in the host's memory.

    Example:
      >>> shardax.copy_to_host_async({"a": jnp.float32(1)})
      {'a': Array(1., dtype=float32)}
    """
    for leaf in tree_util.tree_leaves(x):
        copy = getattr(leaf, "copy_to_host_async", None)
        if copy is not None:
            copy()
    return x


def block_until_ready(x):
    """A tree of arrays, as it is: results are ready when a call returns.

    Args:
      x: a tree.

    Raises:
      JaxRuntimeError: for an array that has been deleted.

    Example:
      >>> shardax.block_until_ready(jnp.ones(2))
      Array([1., 1.], dtype=float32)
    """
    for leaf in tree_util.tree_leaves(x):
        if not isinstance(leaf, _core.Tracer):
            getattr(leaf, "block_until_ready", int)()
    return x
