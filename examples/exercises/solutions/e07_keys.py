# examples/exercises/solutions/e07_keys.py - a solution of exercise 7.
import shardax
import shardax.numpy as jnp
from shardax import lax, random


def estimate_pi(key, n, samples):
    """pi, of `samples` random points of the unit square on each of n devices.

    key: one key, the same for all devices. Gives float32[]: 4 times the share of points within the
    quarter of the circle. Each device draws points of its own: use random.fold_in, lax.axis_index.
    """

    def on_device(key):
        own = random.fold_in(key, lax.axis_index("i"))
        points = random.uniform(own, (samples, 2))
        inside = jnp.mean(jnp.sum(points**2, axis=1) < 1)
        return 4 * lax.pmean(inside, "i")

    mapped = shardax.pmap(on_device, axis_name="i", in_axes=None, axis_size=n, out_axes=None)
    return mapped(key)
