# shardax/lax/_carries.py - carries of loops: their types are those that come out of the body.
from shardax import tree_util
from shardax._core import api as _core

MOST_ROUNDS = 8  # until the types of a carry settle: its dtypes, and the axes over which it varies


def types_of(leaves):
    return [_core.typeof(leaf) for leaf in leaves]


def _cast(x, axes):
    return _core.pvary(x, tuple(axes)) if axes else x


def _spread_carry(f, carry, types_out, pair):
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


def _promoted_carry(carry, types_out):
    """The carry with weak leaves converted to the dtypes that come out, and then not weak any more;
    None: nothing changes."""
    changed = False
    result = []
    for leaf, out in zip(carry, types_out, strict=True):
        aval = _core.typeof(leaf)
        if aval.weak_type and aval.shape == out.shape and aval.dtype != out.dtype:
            leaf = _core.convert(leaf, _core.promoted(aval, out).strip_weak_type())
            changed = True
        result.append(leaf)
    return result if changed else None


def settled_carry(f, carry, stage, pair):
    """Stages f until the carry goes in with the types that come out.

    stage(f, types) gives the staged function and the types of the carry that come out; `pair`: f
    returns the carry and something else. Returns f, the carry, the types of the last staging and
    its result.
    """
    for _ in range(MOST_ROUNDS):
        types = types_of(carry)
        staged, types_out = stage(f, types)
        spread = _spread_carry(f, carry, types_out, pair)
        if spread is not None:
            f, carry = spread
            continue
        promoted = _promoted_carry(carry, types_out)
        if promoted is None:
            break
        carry = promoted
    return f, carry, types, staged
