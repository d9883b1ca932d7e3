"""shardax/_replicas.py - device_put and its relatives.

All devices share one memory: placing is labelling.
"""

import numpy as np

from shardax import _core, tree_util
from shardax._devices import Device
from shardax.numpy._common import asarray


def device_put(x, device=None, *, src=None, donate=False, may_alias=None):
    """`x` as arrays, labelled with a device or sharding (or a tree prefix of them).

    >>> device_put(1.5)
    Array(1.5, dtype=float32, weak_type=True)
    """
    from shardax import sharding

    def place(leaf, where):
        array = asarray(leaf)
        return array if where is None else sharding.label(array, where)

    if device is None or isinstance(device, (Device, sharding.Sharding)):
        return tree_util.tree_map(lambda leaf: place(leaf, device), x)
    wheres = tree_util.broadcast_prefix(device, x, is_leaf=lambda d: d is None)
    leaves, treedef = tree_util.tree_flatten(x)
    return treedef.unflatten([place(leaf, where) for leaf, where in zip(leaves, wheres)])


def device_put_replicated(x, devices):
    """Every leaf with a leading axis of len(devices) along which it repeats; kept once."""
    from shardax.jax_utils import replicate

    if not isinstance(devices, (list, tuple)) or not devices:
        raise ValueError(
            "`devices` argument to `device_put_replicated must be a non-empty sequence."
        )
    return replicate(x, devices)


def device_put_sharded(shards, devices):
    """The trees in `shards`, one per device, stacked along a leading axis."""
    from shardax.numpy import stack

    if not isinstance(shards, (list, tuple)):
        raise TypeError(f"device_put_sharded `shards` input must be a sequence; got {type(shards)}")
    if len(shards) != len(devices):
        raise ValueError(f"len(shards) = {len(shards)} must equal len(devices) = {len(devices)}.")
    if not shards:
        raise ValueError("device_put_sharded requires a non-empty sequence of shards.")

    def join(*leaves):
        arrays = [asarray(leaf) for leaf in leaves]
        kinds = {(a.shape, str(a.dtype)) for a in arrays}
        if len(kinds) > 1:
            raise ValueError(
                "the shards passed to device_put_sharded must have consistent shape and dtype, "
                f"but got {sorted(kinds)}."
            )
        return stack(arrays)

    return tree_util.tree_map(join, *shards)


def device_get(x):
    """Leaves that are arrays as NumPy arrays; Python numbers stay."""
    return tree_util.tree_map(
        lambda leaf: np.asarray(leaf) if isinstance(leaf, _core.Array) else leaf, x
    )


def block_until_ready(x):
    """`x`: results are ready when a call returns."""
    return x
