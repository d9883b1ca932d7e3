# examples/exercises/solutions/e06_unequal.py - a solution of exercise 6.
import shardax
import shardax.numpy as jnp
from shardax import lax


def mean(x, count):
    """The mean of all valid elements: the first count[i] of x[i] on device i.

    x: float32[n, k], count: int32[n], not all 0. Gives float32[], one value. An average of the
    devices' averages is not it. Elements behind the valid ones may be anything, NaN too.
    """

    def on_device(x, count):
        valid = jnp.arange(x.shape[0]) < count
        total = lax.psum(jnp.sum(x, where=valid), "i")
        return total / lax.psum(count, "i")

    return shardax.pmap(on_device, axis_name="i", out_axes=None)(x, count)
