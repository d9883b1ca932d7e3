"""shardax/lax/_control_checks.py - do the functions given to control flow fit? Errors in JAX's
words.

They name the component of the carry or of the result that differs, and how.
"""

import inspect

from shardax import tree_util
from shardax._base.tree_diff import differences
from shardax._core import api as _core


def same(a, b):
    if a.shape != b.shape or a.dtype != b.dtype or a.asked_split != b.asked_split:
        return False
    return not _core.follows_varying() or a.mat.varying == b.mat.varying


def _short(aval):
    return aval.str_short()


def _carry_name(carry):
    """The user's name of the carry: the first parameter of the body, unless its name is given."""
    if isinstance(carry, str):
        return carry
    try:
        return next(iter(inspect.signature(carry).parameters))
    except (TypeError, ValueError, StopIteration):
        return "args[0]"


def _component(name, path):
    component = "carry component " if path or "[" in name else "carry "
    return "the input " + component + name + tree_util.keystr(path)


def _listed(differences):
    """One difference as a sentence, several as a list."""
    if len(differences) == 1:
        return differences[0][0].upper() + differences[0][1:] + ".\n"
    return ";\n".join(f"  * {d}" for d in differences) + ".\n"


def check_structure(api, carry, tree_in, tree_out):
    """TypeError unless the carry comes out with the structure it went in with."""
    if tree_in == tree_out:
        return
    name = _carry_name(carry)
    inside = tree_util.tree_unflatten(tree_in, [0] * tree_in.num_leaves)
    outside = tree_util.tree_unflatten(tree_out, [0] * tree_out.num_leaves)
    lines = [
        f"{_component(name, path)} is {a} but the corresponding component of the carry output is "
        f"{b}, so {why}"
        for path, a, b, why in differences(inside, outside)
    ]
    raise TypeError(
        f"{api} body function carry input and carry output must have the same pytree structure, "
        "but they differ:\n\n"
        + _listed(lines)
        + "\nRevise the function so that the carry output has the same pytree structure as the "
        "carry input."
    )


def check_types(api, carry, tree, before, after):
    """TypeError unless the carry comes out with the types it went in with."""
    if all(same(a, b) for a, b in zip(before, after, strict=True)):
        return
    name = _carry_name(carry)
    lines = []
    paths = [p for p, _ in tree_util.tree_leaves_with_path(tree_util.tree_unflatten(tree, before))]
    for path, a, b in zip(paths, before, after, strict=True):
        if not same(a, b):
            lines.append(
                f"{_component(name, path)} has type {_short(a)} but the corresponding output "
                f"carry component has type {_short(b)}, so {_why(a, b)}"
            )
    casts = [
        f"{_cast(b, a)}, to the initial carry value corresponding to {_component(name, path)}"
        for path, a, b in zip(paths, before, after, strict=True)
        if b.mat.varying - a.mat.varying
    ]
    raise TypeError(
        f"{api} body function carry input and carry output must have equal types, but they "
        "differ:\n\n"
        + _listed(lines)
        + _advice(casts)
        + "\nRevise the function so that all output types match the corresponding input types."
    )


def _why(a, b):
    reasons = {
        "the dtypes do not match": a.dtype != b.dtype,
        "the shapes do not match": a.shape != b.shape,
        "the shardings do not match": a.asked_split != b.asked_split,
        "the manual axis types do not match": a.mat.varying != b.mat.varying,
    }
    return ", and ".join(text for text, differs in reasons.items() if differs)


def _cast(varying, other):
    """The cast that `other` lacks to vary as `varying` does."""
    axes = tuple(sorted(varying.mat.varying - other.mat.varying))
    return f"applying `jax.lax.pcast(..., {axes}, to='varying')`"


def _advice(casts):
    """A way to make values vary as they should; empty if that is not the error."""
    if not casts:
        return ""
    listed = f" {casts[0]}.\n" if len(casts) == 1 else ":\n" + _listed(casts)
    return f"\nThis might be fixed by{listed}"


def check_branches(api, names, branches, staged):
    """TypeError unless all branches give results of one structure and types."""
    first = staged[0]
    if all(
        first.out_tree == other.out_tree and all(map(same, first.out_avals, other.out_avals))
        for other in staged[1:]
    ):
        return
    described = [
        f"{name} is {_core.describe_function(f)}" for name, f in zip(names, branches, strict=True)
    ]
    for i, other in enumerate(staged[1:], 1):
        both = f"{described[0]}\n{described[i]}\n\n"
        advice = f"Revise {names[0]} and/or {names[i]} so that "
        if first.out_tree != other.out_tree:
            a = tree_util.tree_unflatten(first.out_tree, first.out_avals)
            b = tree_util.tree_unflatten(other.out_tree, other.out_avals)
            lines = [
                f"{names[0]} output{_at(path)} is {x} but {names[i]} output{_at(path)} is {y}, "
                f"so {why}."
                for path, x, y, why in differences(a, b)
            ]
            raise TypeError(
                f"{api} branch outputs must have the same pytree structure, but they "
                f"differ:\n\n{both}"
                + "\n".join(lines)
                + f"\n\n{advice}they have the same pytree structure."
            )
        lines, casts = [], []
        tree = tree_util.tree_unflatten(first.out_tree, first.out_avals)
        paths = [p for p, _ in tree_util.tree_leaves_with_path(tree)]
        for path, x, y in zip(paths, first.out_avals, other.out_avals, strict=True):
            if not same(x, y):
                lines.append(
                    f"The output of {names[0]}{_at(path)} has type {_short(x)} but the "
                    f"corresponding output of {names[i]} has "
                    f"type {_short(y)}, so {_why(x, y)}."
                )
                for name, less, more in ((names[0], x, y), (names[i], y, x)):
                    if more.mat.varying - less.mat.varying:
                        casts.append(f"{_cast(more, less)} to the output of {name}{_at(path)}")
        if lines:
            raise TypeError(
                f"{api} branches must have equal output types but they differ.\n\n{both}"
                + "\n".join(lines)
                + ("\n" + _advice(casts) if casts else "\n")
                + f"\n{advice}all output types match."
            )


def _at(path):
    return f" at path {tree_util.keystr(path)}" if path else ""


def check_condition(staged):
    if not staged.out_tree.num_nodes == staged.out_tree.num_leaves == 1:
        raise TypeError(f"cond_fun must return a boolean scalar, but got pytree {staged.out_tree}.")
    (aval,) = staged.out_avals
    if aval.shape != () or aval.dtype != bool:
        raise TypeError(
            f"cond_fun must return a boolean scalar, but got output type(s) {staged.out_avals}."
        )
