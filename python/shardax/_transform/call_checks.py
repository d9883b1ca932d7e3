"""shardax/_transform/call_checks.py - checks of arguments against those that a function was
compiled for."""

import shardax._core as _core
from shardax import tree_util
from shardax._base.tree_diff import structure_differences
from shardax._devices.layout import layout_of
from shardax._devices.shardings import NamedSharding, sharding_of
from shardax._transform.refs import is_ref


def check_structure(wanted, given):
    """TypeError where the arguments' tree `given` is not `wanted`."""
    if given == wanted:
        return
    errors = structure_differences(given, wanted)
    lines = [
        "Function compiled with input pytree does not match the input pytree it was called "
        f"with. There are {len(errors)} mismatches, including:"
    ]
    for path, got, seen, explanation in errors:
        base = ["args", "kwargs"][path[0].idx] if path else "(args, kwargs)"
        lines.append(
            f"    * at {base}{tree_util.keystr(tuple(path[1:]))}, seen {seen} but now given "
            f"{got}, so {explanation}"
        )
    raise TypeError("\n".join(lines))


def check_concrete(leaves):
    """TypeError for tracers."""
    for leaf in leaves:
        if _core.api.is_tracer(leaf):
            raise TypeError(
                "Cannot apply JAX transformations to a function lowered and compiled for a "
                "particular signature. Detected argument of Tracer type "
                f"{type(leaf).__name__}. Transform the function before lowering it."
            )


def check_types(wanted, leaves, paths):
    """TypeError for other shapes or dtypes than the `wanted`; paths() names the leaves."""
    given = [leaf.aval.inner_aval if is_ref(leaf) else _core.api.typeof(leaf) for leaf in leaves]
    mismatches = [
        (i, want, got)
        for i, (want, got) in enumerate(zip(wanted, given))
        if (want.shape, str(want.dtype)) != (got.shape, str(got.dtype))
    ]
    if not mismatches:
        return
    names = paths()
    lines = [
        f"Argument '{names[i]}' compiled with {want.str_short()} and called with {got.str_short()}"
        for i, want, got in mismatches
    ]
    raise TypeError(
        "Argument types differ from the types for which this computation was compiled. Perhaps "
        "you are calling the compiled executable with a different enable_x64 mode than when it "
        "was AOT compiled? The mismatches are:\n" + "\n".join(lines)
    )


def check_layouts(orders, leaves, paths):
    """ValueError for arrays that were placed with another order of dimensions than those in
    `orders`; paths() names them."""
    mismatches = [
        (i, layout_of(order, leaf.ndim), layout_of(_core.get_layout(leaf), leaf.ndim))
        for i, (leaf, order) in enumerate(zip(leaves, orders))
        if isinstance(leaf, _core.Array)
        and _core.get_sharding(leaf) is not None
        and _core.get_layout(leaf) != order
    ]
    if not mismatches:
        return
    names = paths()
    lines = [
        f"Argument {names[i]} with shape {_core.api.typeof(leaves[i]).str_short()}:\n"
        f"  Passed layout: {passed}\n"
        f"  Required layout: {want}"
        for i, want, passed in mismatches
    ]
    raise ValueError(
        "Computation was compiled for input layouts that disagree with the layouts of "
        f"arguments passed to it. Here are the {len(mismatches)} mismatches:\n"
        + "\n".join(lines)
        + "\nBring the arguments there with shardax.device_put and a Format."
    )


def check_shardings(required, leaves, paths):
    """ValueError for arrays that were placed otherwise than `required` over a mesh; paths() names
    them."""
    placed = [isinstance(x, _core.Array) and _core.get_sharding(x) is not None for x in leaves]
    if not any(placed):
        return
    mismatches = [
        (i, want, sharding_of(leaf))
        for i, (leaf, want) in enumerate(zip(leaves, required))
        if placed[i]
        and isinstance(want, NamedSharding)
        and not want.is_equivalent_to(sharding_of(leaf), leaf.ndim)
    ]
    if not mismatches:
        return
    names = paths()
    lines = [
        f"Argument {names[i]} with shape {_core.api.typeof(leaves[i]).str_short()}:\n"
        f"  Passed sharding: {passed}\n"
        f"  Required sharding: {want}"
        for i, want, passed in mismatches
    ]
    raise ValueError(
        "Computation was compiled for input shardings that disagree with the shardings of "
        f"arguments passed to it. Here are the {len(mismatches)} mismatches:\n"
        + "\n".join(lines)
        + "\nBring the arguments there with shardax.device_put."
    )
