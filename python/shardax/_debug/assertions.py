"""shardax/_debug/assertions.py - assert_replicated: comparing the values of devices, bit by bit."""

import math

import numpy as np

import shardax._core as _core
from shardax import tree_util
from shardax._core import api as _api
from shardax._devices.shard_index import parts
from shardax._transform.callbacks import debug_callback


class ReplicasDiverged(AssertionError):
    """Devices that should have the same value do not."""


def assert_replicated(tree):
    """Raises where devices do not have the same bits.

    Args:
      tree: arrays. Of one that is split over devices, as pmap returns it stacked, all parts are
        compared; one that is not split is the same everywhere. Inside a mapped function, the
        values of all devices are compared when it runs.

    Raises:
      ReplicasDiverged: naming the leaf, a device, and the first element that differs.

    Example:
      >>> means = shardax.pmap(lambda x: lax.pmean(x, "i"), axis_name="i")(jnp.arange(8.0))
      >>> shardax.debug.assert_replicated({"mean": means})
    """
    for path, leaf in tree_util.tree_flatten_with_path(tree)[0]:
        name = tree_util.keystr(path)
        if isinstance(leaf, _core.Tracer):
            _compare_when_it_runs(name, leaf)
        elif isinstance(leaf, _core.Array):
            _compare_parts(name, leaf, _core.get_sharding(leaf))


def _counts(array, recorded):
    """Into how many parts its sharding divides each dimension."""
    axes, sizes, _, spec, *_ = recorded
    size = dict(zip(axes, sizes))
    counts = [math.prod(size[axis] for axis in names) for names in spec]
    return (counts + [1] * array.ndim)[: array.ndim]


def differing_part(array):
    """(the first part of a split array that differs from part 0, the element at which), or None."""
    recorded = _core.get_sharding(array)
    return recorded and _api.first_difference(array, _counts(array, recorded))


def _compare_parts(name, array, recorded):
    found = differing_part(array)
    if found is None:
        return
    counts = _counts(array, recorded)
    part, index = found
    place = np.unravel_index(part, counts)
    extent = [n // count for n, count in zip(array.shape, counts)]
    there = tuple(int(p * n + i) for p, n, i in zip(place, extent, index))
    holders = [
        device
        for device, slices, _ in parts(array.shape, recorded)
        if all(
            (s.start or 0) <= at and (s.stop is None or at < s.stop) for s, at in zip(slices, there)
        )
    ]
    values = np.asarray(array)
    raise ReplicasDiverged(_difference(name, holders[0], there, values[there], values[index]))


def _difference(name, device, index, value, first):
    what = f"leaf {name}" if name else "the value"
    return (
        f"assert_replicated: {what} differs between devices: device {device} has {value} at "
        f"{list(index)}, where device 0 has {first}; all were expected to have the same. Average "
        "it with pmean, or start from the same value on all devices."
    )


def _compare_when_it_runs(name, leaf):
    from shardax.lax import all_gather  # at first use: lax is needed for tracers only

    axes = tuple(_api.device_axes())
    if not axes:
        return
    debug_callback(lambda values: _compare_devices(name, values), all_gather(leaf, axes))


def _compare_devices(name, values):
    found = _api.first_difference(values, [values.shape[0]] + [1] * (values.ndim - 1))
    if found is not None:
        device, (_, *index) = found
        values = np.asarray(values)
        raise ReplicasDiverged(
            _difference(name, device, index, values[device][tuple(index)], values[0][tuple(index)])
        )
