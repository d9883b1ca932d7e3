# shardax/_devices/placement.py - where an array's shards lie, and rarely used methods of arrays.
"""Each function is a method or property of Array of the same name."""

from shardax import _core
from shardax._devices.devices import default_device
from shardax._devices.devices import device as _device


class Shard:
    """A part of an array on one device: `data` is a view."""

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


def parts(shape, recorded):
    """(device id, index, replica id) of each shard of an array of that shape, in mesh order.

    `recorded` is what the array is labelled with: None, or a Sharding's description.
    """
    everything = tuple(slice(None) for _ in shape)
    if recorded is None:
        return [(default_device().id, everything, 0)]
    axes, mesh, devices, spec, _ = recorded
    sizes = dict(zip(axes, mesh, strict=True))
    replicas = {}
    out = []
    for position, device_id in enumerate(devices):
        coordinates, rest = {}, position
        for axis in reversed(axes):
            coordinates[axis] = rest % sizes[axis]
            rest //= sizes[axis]
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


def _parts(x):
    return parts(x.shape, _core.get_sharding(x))


def _on(x, device_id, index):
    """The part of x at that index, labelled with its device where x is labelled."""
    part = x[index]
    if _core.get_sharding(x) is None:
        return part
    label = ("device",), (1,), (device_id,), ((),) * part.ndim, False
    return _core.with_sharding(part, label)


def addressable_shards(x):
    return [Shard(_device(d), index, replica, _on(x, d, index)) for d, index, replica in _parts(x)]


global_shards = addressable_shards


def device_buffers(x):
    """The shards' data: the older name."""
    return [shard.data for shard in addressable_shards(x)]


def addressable_data(x, index):
    device_id, part, _ = _parts(x)[index]
    return _on(x, device_id, part)


def devices(x):
    return {_device(d) for d, _, _ in _parts(x)}


def device(x):
    recorded = _core.get_sharding(x)
    if recorded is None:
        return default_device()
    return sharding(x) if recorded[4] else _device(recorded[2][0])


def sharding(x):
    from shardax._devices.shardings import sharding_of

    return sharding_of(x)


def committed(x):
    return _core.get_sharding(x) is not None


def is_fully_replicated(x):
    recorded = _core.get_sharding(x)
    if recorded is None:
        return True
    axes, shape, _, spec, _ = recorded
    sizes = dict(zip(axes, shape, strict=True))
    return all(sizes[name] == 1 for names in spec for name in names)


def is_fully_addressable(x):
    return True


def format(x):
    return sharding(x)


def flat(x):
    return x.ravel()


def to_device(x, device, *, stream=None):
    import shardax

    return shardax.device_put(x, device)


def clone(x):
    return x.copy()


def view(x, dtype=None):
    """The same bytes as elements of another dtype; the last dimension grows or shrinks."""
    from shardax import lax

    if dtype is None:
        return x
    target = _core.dtype_of(dtype)
    if target == x.dtype:
        return x
    if x.ndim == 0 and target.itemsize != x.itemsize:
        raise ValueError("view() of a 0d array is only supported if the itemsize is unchanged.")
    if x.shape and x.shape[-1] * x.itemsize % target.itemsize:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in "
            "bytes of the last axis of the array."
        )
    if x.dtype.kind == "b":
        return view(x.astype("uint8"), target)
    if target.kind == "b":
        return view(x, "uint8") != 0
    part = {"complex64": "float32", "complex128": "float64"}
    if x.dtype.kind == "c":
        return view(_interleaved(x.real, x.imag), target)
    if target.kind == "c":
        x = view(x, part[target.name])
        x = x.reshape(*x.shape[:-1], -1, 2)
        return lax.complex(x[..., 0], x[..., 1])
    if target.itemsize > x.itemsize:
        x = x.reshape(*x.shape[:-1], -1, target.itemsize // x.itemsize)
        return lax.bitcast_convert_type(x, target)
    out = lax.bitcast_convert_type(x, target)
    return out.reshape(*out.shape[:-2], -1) if target.itemsize < x.itemsize else out


def byteswap(x):
    """The bytes of each element, or of both parts of a complex one, in reverse."""
    from shardax import lax

    if x.itemsize == 1:
        return x.copy()
    if x.dtype.kind == "c":
        return lax.complex(byteswap(x.real), byteswap(x.imag))
    return lax.bitcast_convert_type(lax.bitcast_convert_type(x, "uint8")[..., ::-1], x.dtype)


def _interleaved(a, b):
    from shardax import numpy as jnp

    both = jnp.stack([a, b], axis=-1)
    return both.reshape(*both.shape[:-2], -1)


def compress(x, condition, axis=None, **options):
    from shardax import numpy as jnp

    return jnp.compress(condition, x, axis=axis, **options)


def round_to(x, ndigits=None):
    from shardax import numpy as jnp

    return jnp.round(x).astype(int) if ndigits is None else jnp.round(x, ndigits)


def array_namespace(x, *, api_version=None):
    from shardax import numpy as jnp

    if api_version not in (None, jnp.__array_api_version__):
        raise ValueError(
            f"{api_version=} is not available; available versions are: "
            f"{[jnp.__array_api_version__]}"
        )
    return jnp


def rebuild(elements, weak):
    """An array from its pickled elements."""
    x = _core.array(elements)
    return _core.convert(x, x.dtype, True) if weak else x


def rebuild_keys(words, dtype):
    """PRNG keys from their pickled words."""
    from shardax import random

    return random.wrap_key_data(_core.array(words), dtype=dtype)


def block_until_ready(tree):
    """The tree itself: results are always ready."""
    return tree


def copy_to_host_async(tree):
    """The tree itself: all memory is the host's."""
    return tree
