"""shardax.experimental.shard_alike - two arrays split in the same way."""

from shardax import lax, tree_util
from shardax._base.arrays import asarray

__all__ = ["shard_alike"]


def _alike(x, y):
    x, y = asarray(x), asarray(y)
    if x.shape != y.shape:
        raise ValueError(
            "The leaves shapes of `x` and `y` should match. Got `x` leaf shape: "
            f"{x.shape} and `y` leaf shape: {y.shape}."
        )
    # The result of an elementwise op is split as its first operand that is.
    return lax.select(False, y.astype(x.dtype), x), lax.select(False, x.astype(y.dtype), y)


def shard_alike(x, y):
    """`x` and `y`, trees of arrays, each leaf split as that of the other where it is not split
    itself.

    Raises:
      ValueError: where structures or shapes differ.

    Example:
      >>> shard_alike(jnp.arange(3), jnp.zeros(3))[1]
      Array([0., 0., 0.], dtype=float32)
    """
    xs, tree = tree_util.tree_flatten(x)
    ys, other = tree_util.tree_flatten(y)
    if tree != other:
        raise ValueError(f"Trees should be equal. Got x_tree: {tree}, y_tree: {other}")
    pairs = [_alike(a, b) for a, b in zip(xs, ys, strict=True)]
    return tree.unflatten([a for a, _ in pairs]), tree.unflatten([b for _, b in pairs])
