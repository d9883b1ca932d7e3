# shardax/lax/_carries.py - carries of loops within shard_map, which follows what varies.
from shardax import tree_util
from shardax._core import api as _core


def _cast(x, axes):
    return _core.pcast(x, tuple(axes)) if axes else x


def spread_carry(f, carry, types_out, pair):
    """(f, the carry) in which both vary over the axes that the other varies over; None: they do.

    For loops of this package: of users', the types must fit as they are.
    """
    name = getattr(f, "__module__", None) or ""
    if not _core.follows_varying() or not name.startswith("shardax."):
        return None
    before = [_core.typeof(leaf).mat.varying for leaf in carry]
    after = [aval.mat.varying for aval in types_out]
    if before == after:
        return None
    lacking = [b - a for b, a in zip(before, after)]
    carry = [_cast(leaf, a - b) for leaf, b, a in zip(carry, before, after)]
    if not any(lacking):
        return f, carry

    def varying(*args):
        out = f(*args)
        leaves, tree = tree_util.tree_flatten(out[0] if pair else out)
        leaves = [_cast(leaf, axes) for leaf, axes in zip(leaves, lacking)]
        last = tree_util.tree_unflatten(tree, leaves)
        return (last, out[1]) if pair else last

    return varying, carry
