# shardax/_base/tree_diff.py - differences between two trees, for messages.
from shardax import tree_util


def plural(count, noun):
    return f"{count} {noun if count == 1 else noun + 'ren' if noun == 'child' else noun + 's'}"


def _is_leaf(x):
    return tree_util.all_leaves([x])


def _node(x):
    return "a pytree leaf" if _is_leaf(x) else f"a {type(x)}"


def differences(a, b, path=()):
    """(path, description of a, that of b, the reason) for the places where two structures
    differ."""
    if _is_leaf(a) and _is_leaf(b):
        return
    if _is_leaf(a) != _is_leaf(b) or type(a) is not type(b):
        yield path, _node(a), _node(b), "their Python types differ"
        return
    if isinstance(a, (list, tuple)) and len(a) != len(b):
        what = [f"a {type(x).__name__} of length {len(x)}" for x in (a, b)]
        yield path, *what, "the lengths do not match"
        return
    children = [
        tree_util.tree_flatten_with_path(x, is_leaf=lambda y, x=x: y is not x)[0] for x in (a, b)
    ]
    keys = [[str(p[-1]) for p, _ in c] for c in children]
    if len(keys[0]) != len(keys[1]):
        what = [
            f"a {type(x)} with {plural(len(k), 'child')}" for x, k in ((a, keys[0]), (b, keys[1]))
        ]
        why = "the numbers of children do not match"
        if isinstance(a, dict):
            why += f", with the symmetric difference of key sets: {set(a) ^ set(b)}"
        yield path, *what, why
    elif keys[0] != keys[1]:
        what = [
            f"a {type(x)} with pytree metadata {tuple(x) if isinstance(x, dict) else keys}"
            for x in (a, b)
        ]
        yield path, *what, "the pytree node metadata does not match"
    else:
        for (p, x), (_, y) in zip(*children, strict=True):
            yield from differences(x, y, path + tuple(p))


def structure_differences(a, b):
    """`differences` of two PyTreeDefs."""
    return list(differences(*(tree_util.tree_unflatten(t, [0] * t.num_leaves) for t in (a, b))))
