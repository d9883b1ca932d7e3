# shardax/_devices/shard_index.py - the index of each device's part of an array.
from shardax._devices.devices import default_device


def _coordinates(position, axes, mesh):
    """The position along each axis of the device at a position of the mesh's order."""
    out = {}
    for axis, size in zip(reversed(axes), reversed(mesh)):
        position, out[axis] = divmod(position, size)
    return out


def parts(shape, recorded):
    """(device id, index, replica id) of each shard of an array of that shape, in mesh order.

    `recorded` is what the array is labelled with: None, or a Sharding's description.
    """
    everything = tuple(slice(None) for _ in shape)
    if recorded is None:
        return [(default_device().id, everything, 0)]
    axes, mesh, devices, spec, *_ = recorded
    sizes = dict(zip(axes, mesh, strict=True))
    replicas = {}
    out = []
    for position, device_id in enumerate(devices):
        coordinates = _coordinates(position, axes, mesh)
        index = list(everything)
        for dim, names in enumerate(spec):
            count, place = 1, 0
            for name in names:
                count *= sizes[name]
                place = place * sizes[name] + coordinates[name]
            if count > 1:
                step = shape[dim] // count
                index[dim] = slice(place * step, (place + 1) * step, None)
        key = tuple((s.start, s.stop) for s in index)
        replicas[key] = replicas.get(key, -1) + 1
        out.append((device_id, tuple(index), replicas[key]))
    return out


def places_in_terms(recorded):
    """The positions of the devices of `parts`, shards of an array of which each device has a
    term or a value of its own. They are along the axes that are summed over, or that split no
    dimension."""
    axes, mesh, devices, spec, _, _, unreduced, *_ = recorded
    split = {name for names in spec for name in names}
    own = unreduced or [axis for axis in axes if axis not in split]
    places = (_coordinates(position, axes, mesh) for position in range(len(devices)))
    return [tuple(place[axis] for axis in own) for place in places]
