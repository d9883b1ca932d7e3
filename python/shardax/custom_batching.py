"""shardax.custom_batching - functions with batching rules of the user's own."""

from shardax import tree_util
from shardax._transform.custom.vmap import custom_vmap
from shardax.lax._counted_loops import map as _map

__all__ = ["custom_vmap", "sequential_vmap"]


def sequential_vmap(f):
    """`f`, which vmap calls once per slice, in order, in a loop.

    Example:
      >>> shardax.vmap(shardax.custom_batching.sequential_vmap(lambda x: x + 1))(jnp.arange(3))
      Array([1, 2, 3], dtype=int32)
    """
    f = custom_vmap(f)

    @f.def_vmap
    def rule(axis_size, in_batched, *args):
        def pick(mapped):
            return tree_util.tree_map(
                lambda x, batched: x if batched == mapped else None, list(args), in_batched
            )

        def one(mapped):
            merged = tree_util.tree_map(
                lambda batched, a, b: a if batched else b, in_batched, mapped, pick(False)
            )
            return f(*merged)

        out = _map(one, pick(True))
        return out, tree_util.tree_map(lambda _: True, out)

    return f
