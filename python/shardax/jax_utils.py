"""python/shardax/jax_utils.py - helpers for replicated and sharded trees, as in flax.jax_utils.

None of them copies if strides suffice: a replicated leaf is kept once, a sharded one is a view.
"""

import collections
import functools
import itertools

import numpy as np

from shardax import lax, tree_util
from shardax._base.arrays import asarray
from shardax._devices.device_put import device_put_replicated, on_devices
from shardax._devices.devices import local_device_count, local_devices

__all__ = ["pad_shard_unpad", "pmean", "prefetch_to_device", "replicate", "unreplicate"]


def replicate(tree, devices=None):
    """Every leaf with a leading device axis along which it repeats; kept once.

    Args:
      tree: a tree of arrays and Python numbers.
      devices: the devices, all by default.

    Example:
      >>> replicated = shardax.jax_utils.replicate({"w": 1.0})
      >>> replicated["w"].shape == (shardax.local_device_count(),)
      True
    """
    return device_put_replicated(tree, local_devices() if devices is None else list(devices))


def unreplicate(tree):
    """The first device's value of every leaf, as views.

    Example:
      >>> shardax.jax_utils.unreplicate(shardax.jax_utils.replicate({"w": 1.0}))
      {'w': Array(1., dtype=float32, weak_type=True)}
    """
    return tree_util.tree_map(lambda x: x[0], tree)


def pmean(xs, axis_name):
    """The mean over a mapped axis: `lax.pmean`.

    Example:
      >>> shardax.pmap(lambda x: shardax.jax_utils.pmean(x, "i"), "i")(jnp.array([1.0, 3.0]))
      Array([2., 2.], dtype=float32)
    """
    return lax.pmean(xs, axis_name)


def prefetch_to_device(iterator, size, devices=None):
    """The trees of `iterator` as arrays, taken from it `size` ahead.

    Args:
      iterator: yields trees of arrays whose leading axis has an element for each device.
      size: how many trees are taken before the first is handed out.
      devices: the devices, all by default.

    Raises:
      ValueError: where a leading axis does not fit the devices.

    Example:
      >>> batches = iter([{"x": np.zeros((shardax.local_device_count(), 2))}])
      >>> next(shardax.jax_utils.prefetch_to_device(batches, 2))["x"].dtype
      dtype('float32')
    """
    devices = local_devices() if devices is None else list(devices)

    def place(leaf):
        leaf = asarray(leaf)
        if leaf.ndim == 0 or leaf.shape[0] != len(devices):
            raise ValueError(
                f"prefetch_to_device: a leaf of shape {leaf.shape} has no slice for each of "
                f"{len(devices)} devices; its leading axis must have that size."
            )
        return on_devices(leaf, devices)

    iterator = iter(iterator)
    queue = collections.deque()
    while True:
        missing = max(size, 1) - len(queue)
        queue.extend(tree_util.tree_map(place, t) for t in itertools.islice(iterator, missing))
        if not queue:
            return
        yield queue.popleft()


def pad_shard_unpad(wrapped, static_argnums=(0,), static_argnames=(), static_return=False):
    """`wrapped`, a pmapped function, on batches of any size: padded, sharded, and cut again.

    Args:
      wrapped: a function of trees whose leaves have the leading axes (devices, batch / devices).
      static_argnums, static_argnames: arguments that pass as they are (parameters, say).
      static_return: the result passes as it is; else its leaves lose the two leading axes and the
        padding, and become NumPy arrays.

    Returns:
      A function of trees whose leaves have a leading axis of one size, padded with zeros to a
      multiple of the devices. `min_device_batch` is the least size for one device.

    Raises:
      ValueError: where leading axes differ.

    Example:
      >>> double = shardax.pmap(lambda x: x * 2)
      >>> double = shardax.jax_utils.pad_shard_unpad(double, static_argnums=())
      >>> double(np.arange(3.0))
      array([0., 2., 4.], dtype=float32)
    """

    @functools.wraps(wrapped)
    def call(*args, min_device_batch=None, **kwargs):
        devices = local_device_count()
        mapped = [a for i, a in enumerate(args) if i not in static_argnums]
        mapped += [v for k, v in kwargs.items() if k not in static_argnames]
        sizes = {np.shape(x)[0] for a in mapped for x in tree_util.tree_leaves(a)}
        if len(sizes) != 1:
            raise ValueError(
                f"pad_shard_unpad: inconsistent batch sizes {sorted(sizes)}; the leaves of all "
                "arguments that are not static have one leading size."
            )
        size = sizes.pop()
        each = max(-(-size // devices), min_device_batch or 0)

        def split(x):
            x, extra = asarray(x), each * devices - size
            if extra:
                zero = np.zeros((), x.dtype)
                x = lax.pad(x, zero, [(0, extra, 0)] + [(0, 0, 0)] * (x.ndim - 1))
            return x.reshape((devices, each, *x.shape[1:]))

        def cut(x):
            return np.asarray(x.reshape((devices * each, *x.shape[2:]))[:size])

        args = [
            a if i in static_argnums else tree_util.tree_map(split, a) for i, a in enumerate(args)
        ]
        kwargs = {
            k: v if k in static_argnames else tree_util.tree_map(split, v)
            for k, v in kwargs.items()
        }
        out = wrapped(*args, **kwargs)
        return out if static_return else tree_util.tree_map(cut, out)

    return call
