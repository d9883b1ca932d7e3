# examples/exercises/e09_tensor_parallel.py - exercise 9: a product over a mesh.


def product(x, w, mesh):
    """x @ w, where each device has a part of the dimension that is summed over.

    x: float32[r, k], split along k; w: float32[k, m], split along k; mesh: one axis, "model", whose
    size divides k. Gives float32[r, m], the same on all devices. Use shardax.shard_map, lax.psum.
    """
    raise NotImplementedError
