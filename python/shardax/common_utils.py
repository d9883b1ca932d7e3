"""python/shardax/common_utils.py - helpers of training loops, as in flax.training.common_utils."""

import numpy as np

from shardax import numpy as jnp
from shardax import random, tree_util
from shardax._devices.devices import local_device_count

__all__ = ["get_metrics", "onehot", "shard", "shard_prng_key", "stack_forest"]


def shard(xs):
    """The leading axis of every leaf split over the devices: (n * k, ...) becomes (n, k, ...).

    Leaves stay NumPy arrays or arrays as before, and are views where strides allow.

    Raises:
      ValueError: where a leading size is no multiple of the number of devices.

    Example:
      >>> shard(np.zeros((2 * local_device_count(), 3))).shape == (local_device_count(), 2, 3)
      True
    """
    devices = local_device_count()

    def split(x):
        x = x if hasattr(x, "reshape") else np.asarray(x)
        if x.ndim == 0 or x.shape[0] % devices:
            raise ValueError(
                f"shard: a leaf of shape {x.shape} cannot be split evenly over {devices} devices; "
                "its leading size must be a multiple of their number. Drop or pad the last batch, "
                "or change jax_num_cpu_devices."
            )
        return x.reshape((devices, x.shape[0] // devices, *x.shape[1:]))

    return tree_util.tree_map(split, xs)


def shard_prng_key(prng_key):
    """A key for each device, split from one.

    Example:
      >>> shard_prng_key(random.key(0)).shape == (local_device_count(),)
      True
    """
    return random.split(prng_key, num=local_device_count())


def onehot(labels, num_classes, on_value=1.0, off_value=0.0):
    """float32 vectors of `num_classes` elements: `on_value` at the label, `off_value` elsewhere.

    Example:
      >>> onehot(jnp.array([1, 0]), 3)
      Array([[0., 1., 0.],
             [1., 0., 0.]], dtype=float32)
    """
    hit = jnp.asarray(labels)[..., None] == jnp.arange(num_classes)
    return jnp.where(hit, on_value, off_value).astype(jnp.float32)


def stack_forest(forest):
    """A list of equal trees as one tree of NumPy arrays with a leading axis."""
    return tree_util.tree_map(lambda *leaves: np.stack([np.asarray(x) for x in leaves]), *forest)


def get_metrics(device_metrics):
    """A list of trees of replicated metrics, one a step, as one tree of NumPy arrays over steps.

    Example:
      >>> steps = [{"loss": jnp.full(local_device_count(), float(i))} for i in range(3)]
      >>> get_metrics(steps)
      {'loss': array([0., 1., 2.], dtype=float32)}
    """
    return stack_forest([tree_util.tree_map(lambda x: x[0], tree) for tree in device_metrics])
