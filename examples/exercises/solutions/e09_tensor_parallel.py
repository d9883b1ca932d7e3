# examples/exercises/solutions/e09_tensor_parallel.py - a solution of exercise 9.
import shardax
from shardax import P, lax


def product(x, w, mesh):
    """x @ w, where each device has a part of the dimension that is summed over.

    x: float32[r, k], split along k; w: float32[k, m], split along k; mesh: one axis, "model", whose
    size divides k. Gives float32[r, m], the same on all devices. Use shardax.shard_map, lax.psum.
    """

    def on_device(x, w):
        return lax.psum(x @ w, "model")

    specs = (P(None, "model"), P("model", None))
    return shardax.shard_map(on_device, mesh=mesh, in_specs=specs, out_specs=P())(x, w)
