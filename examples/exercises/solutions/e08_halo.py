# examples/exercises/solutions/e08_halo.py - a solution of exercise 8.
import shardax
import shardax.numpy as jnp
from shardax import lax


def smooth(x):
    """Each element as the mean of itself and its two neighbours, on a ring of all elements.

    x: float32[n, k], the n * k elements in order. Gives float32[n, k]. A device needs one element
    of each neighbour: use lax.ppermute, not lax.all_gather.
    """
    n = len(x)
    to_right = [(i, (i + 1) % n) for i in range(n)]
    to_left = [(i, (i - 1) % n) for i in range(n)]

    def on_device(x):
        left = lax.ppermute(x[-1:], "ring", to_right)
        right = lax.ppermute(x[:1], "ring", to_left)
        padded = jnp.concatenate([left, x, right])
        return (padded[:-2] + padded[1:-1] + padded[2:]) / 3

    return shardax.pmap(on_device, axis_name="ring")(x)
