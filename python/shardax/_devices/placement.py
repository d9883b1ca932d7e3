# shardax/_devices/placement.py - the devices of an array's shards.
"""Each function is a method or property of Array of the same name."""

import shardax._core as _core
from shardax._devices.devices import default_device, is_local
from shardax._devices.devices import device as _device
from shardax._devices.layout import with_order
from shardax._devices.layouts import format_of
from shardax._devices.shard_index import parts, places_in_terms
from shardax._devices.shardings import sharding_of


class Shard:
    """A part of an array on one device: `data` is a view, `index` the slices that it is of the
    whole.

    Example:
      >>> x = shardax.device_put_sharded([jnp.zeros(2), jnp.ones(2)], shardax.devices()[:2])
      >>> x.addressable_shards[1].data
      Array([[1., 1.]], dtype=float32)
    """

    def __init__(self, device, index, replica_id, data):
        self.device = device
        self.index = index
        self.replica_id = replica_id
        self.data = data

    def __repr__(self):
        return (
            f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, "
            f"data={self.data})"
        )


def _parts(x):
    return parts(x.shape, _core.get_sharding(x))


def _on(x, device_id, index):
    """The part of x at that index, labelled with its device where x is labelled."""
    recorded = _core.get_sharding(x)
    if recorded is None:
        return x[index]
    label = ("device",), (1,), (device_id,), ((),) * x.ndim, False, ""
    label = with_order(label, _core.get_layout(x))
    return _core.with_sharding(_core.with_sharding(x, None)[index], label)


def _own_parts(x):
    """The same of the devices of this process, which has a slab of x."""
    slab, recorded = _core.get_slab(x), _core.get_sharding(x)
    starts, _ = _core.slab_slice(x.shape, recorded)
    for device_id, index, replica in _parts(x):
        if is_local(device_id):
            own = tuple(
                slice(s.start - start, s.stop - start) if s.start is not None else s
                for s, start in zip(index, starts)
            )
            label = ("device",), (1,), (device_id,), ((),) * x.ndim, False, ""
            yield device_id, index, replica, _core.with_sharding(slab[own], label)


def _terms(x):
    """(device id, index, replica id, data) of each shard. Of an array that stands for a sum each
    device has its term; where nobody knows them, the first has all of it. Of what pmap returned
    once each device has what it computed."""
    if _core.get_slab(x) is not None:
        return list(_own_parts(x))
    shards = _parts(x)
    recorded = _core.get_sharding(x)
    known = None if recorded is None else _core.get_terms(x)
    if recorded is None or (known is None and not recorded[6]):
        return [
            (d, index, replica, _on(x, d, index)) for d, index, replica in shards if is_local(d)
        ]
    nothing = _core.with_sharding(_core.full(x.shape, 0, x.dtype), recorded)

    def term(place):
        if known is None:
            return nothing if any(place) else x
        return _core.with_sharding(_core.with_sharding(known, None)[place], recorded)

    return [
        (d, index, replica, _on(term(place), d, index))
        for (d, index, replica), place in zip(shards, places_in_terms(recorded))
        if is_local(d)
    ]


def addressable_shards(x):
    return [Shard(_device(d), index, replica, data) for d, index, replica, data in _terms(x)]


def global_shards(x):
    """Of all devices; those of other processes have no data here."""
    own = {shard.device.id: shard for shard in addressable_shards(x)}
    return [
        own.get(d) or Shard(_device(d), index, replica, None) for d, index, replica in _parts(x)
    ]


def device_buffers(x):
    """The shards' data: the older name."""
    return [shard.data for shard in addressable_shards(x)]


def addressable_data(x, index):
    return _terms(x)[index][3]


def devices(x):
    x._check_if_deleted()
    return {_device(d) for d, _, _ in _parts(x)}


def device(x):
    recorded = _core.get_sharding(x)
    if recorded is None:
        return default_device()
    return sharding(x) if recorded[4] else _device(recorded[2][0])


def sharding(x):
    recorded = _core.get_sharding(x)
    if recorded is not None and recorded[0] and recorded[0][0].startswith("_position_"):
        from shardax._devices import legacy_shardings  # at first use: few have one

        return legacy_shardings.PositionalSharding._of_description(recorded, x.ndim)
    return sharding_of(x)


def committed(x):
    return _core.get_sharding(x) is not None


def is_fully_replicated(x):
    recorded = _core.get_sharding(x)
    if recorded is None:
        return True
    axes, shape, _, spec, *_ = recorded
    sizes = dict(zip(axes, shape, strict=True))
    return all(sizes[name] == 1 for names in (*spec, recorded[6]) for name in names)


def is_fully_addressable(x):
    recorded = _core.get_sharding(x)
    return recorded is None or all(map(is_local, recorded[2]))


format = format_of


def arrays(x):
    """The shards' data."""
    return device_buffers(x)
