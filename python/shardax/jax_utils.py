"""shardax.jax_utils - helpers for replicated and sharded trees.

None of them copies: a replicated leaf is kept once.
"""

from shardax import tree_util
from shardax._devices import local_device_count
from shardax.numpy._common import asarray, bind


def _repeat(x, n):
    x = asarray(x)
    return bind(
        "broadcast_in_dim",
        (x,),
        shape=(n, *x.shape),
        broadcast_dimensions=tuple(range(1, x.ndim + 1)),
    )


def replicate(tree, devices=None):
    """Every leaf with a leading device axis along which it repeats.

    >>> replicate({"w": 1.0})["w"].shape == (local_device_count(),)
    True
    """
    n = local_device_count() if devices is None else len(devices)
    return tree_util.tree_map(lambda x: _repeat(x, n), tree)


def unreplicate(tree):
    """The first device's value of every leaf, as views."""
    return tree_util.tree_map(lambda x: x[0], tree)


def shard(tree):
    """The leading axis split over the devices: (n * k, ...) becomes (n, k, ...)."""
    n = local_device_count()

    def one(x):
        x = asarray(x)
        if x.ndim == 0 or x.shape[0] % n:
            raise ValueError(
                f"shard: a leaf of shape {x.shape} cannot be split evenly over {n} devices; "
                "its leading size must be a multiple of the device count."
            )
        return x.reshape((n, x.shape[0] // n, *x.shape[1:]))

    return tree_util.tree_map(one, tree)


def pad_shard_unpad(wrapped, static_argnums=(0,), static_argnames=(), static_return=False):
    """`wrapped` (a pmapped function) on batches of any size: padded, sharded, and cut to size
    again.
    """
    import numpy as np

    def call(*args, min_device_batch=None, **kwargs):
        n = local_device_count()
        mapped = [a for i, a in enumerate(args) if i not in static_argnums]
        mapped += [v for k, v in kwargs.items() if k not in static_argnames]
        sizes = {x.shape[0] for a in mapped for x in tree_util.tree_leaves(a)}
        if len(sizes) != 1:
            raise ValueError(f"pad_shard_unpad: inconsistent batch sizes {sorted(sizes)}.")
        size = sizes.pop()
        per = max(-(-size // n), min_device_batch or 0)

        def pad(x):
            x = np.asarray(x)
            extra = per * n - size
            x = np.concatenate([x, np.zeros((extra, *x.shape[1:]), x.dtype)]) if extra else x
            return x.reshape((n, per, *x.shape[1:]))

        args = [
            a if i in static_argnums else tree_util.tree_map(pad, a) for i, a in enumerate(args)
        ]
        kwargs = {
            k: v if k in static_argnames else tree_util.tree_map(pad, v) for k, v in kwargs.items()
        }
        out = wrapped(*args, **kwargs)
        if static_return:
            return out
        return tree_util.tree_map(
            lambda x: np.asarray(x).reshape((n * per, *x.shape[2:]))[:size], out
        )

    return call


def prefetch_to_device(iterator, size, devices=None):
    """The iterator itself: all devices read the same memory."""
    for tree in iterator:
        yield tree_util.tree_map(asarray, tree)
