# shardax/_devices/jit_shardings.py - in_shardings and out_shardings of jit.
import functools
import threading

import shardax._core as _core
from shardax import tree_util
from shardax._devices.constraints import constrain, spread
from shardax._devices.device_put import guard_move
from shardax._devices.layout import AutoLayout, Layout, check_order, layout_of, order_of
from shardax._devices.layouts import Format, described
from shardax._devices.mesh import Mesh
from shardax._devices.shardings import (
    IndivisibleError,
    NamedSharding,
    PartitionSpec,
    Sharding,
    SingleDeviceSharding,
    sharding_of,
)
from shardax._devices.specs import check_repeated


class _Caller(threading.local):
    """The name of the function with the shardings in errors."""

    name = "jit"


caller = _Caller()


def check_kind(where, argument):
    """TypeError for a value that gives no leaf a split, ValueError for a Layout alone."""
    if isinstance(where, (Layout, AutoLayout)):
        raise ValueError(
            "`jax.jit` does not accept device-local layouts directly. Wrap it in a Format, which "
            f"has a sharding too. Got {argument}={where}"
        )
    if not isinstance(where, (Sharding, PartitionSpec, Format)):
        raise TypeError(
            f"{argument} leaf specifications are expected to be PartitionSpec instances or None, "
            f"but got {where}; Shardings and Formats are taken too."
        )


def check_open(shardings, argument):
    """ValueError in what jit is given for specs that leave dimensions open or name an axis twice,
    and for shardings over no mesh."""
    for where in tree_util.tree_leaves(shardings):
        check_kind(where, argument)
        spec = where if isinstance(where, PartitionSpec) else getattr(where, "spec", ())
        if isinstance(where, PartitionSpec):
            check_repeated(where, argument)
        elif getattr(getattr(where, "mesh", None), "empty", False):
            raise ValueError(
                f"jit: {argument} got an empty NamedSharding: {where}, whose mesh has no axes. "
                "Name a mesh of the devices that the function runs on."
            )
        if PartitionSpec.UNCONSTRAINED in spec:
            raise ValueError(
                f"jit: Unconstrained dims are not allowed when passed to {argument}: {where}; "
                "with_sharding_constraint takes them."
            )


def guard_moves(args, in_shardings, out_shardings, static_positions):
    """Asks the transfer guard about arguments that a call of jit moves to other devices. These are
    those of in_shardings, or the only device of its results; called by the core."""
    wanted = out_shardings if in_shardings is None else in_shardings
    if in_shardings is None and not isinstance(wanted, SingleDeviceSharding):
        return
    given = tuple(a for i, a in enumerate(args) if not _is_static(i, args, static_positions))
    for leaf, where in zip(tree_util.tree_leaves(given), spread(wanted, given, "jit", "arguments")):
        if where is not None and isinstance(leaf, _core.Array):
            guard_move(leaf, where, False)


def asked_of_results(tree, types, out_shardings):
    """For each result the description of what out_shardings ask, with the entries that the user has
    written; None where that is no mesh of devices. Called by the core."""
    wheres = spread(
        out_shardings, tree.unflatten(types), caller.name, "out_shardings", formats=True
    )

    def over_devices(where):
        where = getattr(where, "sharding", where)
        return isinstance(where, NamedSharding) and isinstance(where.mesh, Mesh)

    return [described(w, t.ndim) if over_devices(w) else None for w, t in zip(wheres, types)]


def check_placed(args, in_shardings, static_positions):
    """ValueError where an array that was placed lies otherwise than in_shardings say, on other
    devices or in another order of dimensions; called by the core."""
    given = tuple(a for i, a in enumerate(args) if not _is_static(i, args, static_positions))
    in_shardings = tuple(in_shardings) if isinstance(in_shardings, list) else in_shardings
    wheres = spread(in_shardings, given, caller.name, "in_shardings", formats=True)
    for (path, leaf), where in zip(tree_util.tree_flatten_with_path(given)[0], wheres):
        placed = isinstance(leaf, _core.Array) and _core.get_sharding(leaf) is not None
        if where is None or not placed:
            continue
        if isinstance(where, Format):
            _check_order_of(leaf, where, path)
            where = where.sharding
        own = sharding_of(leaf)
        abstract = isinstance(where, NamedSharding) and not isinstance(where.mesh, Mesh)
        if abstract or where == own or where.is_equivalent_to(own, leaf.ndim):
            continue
        raise ValueError(
            f"Sharding passed to jit does not match the sharding on the respective arg, "
            f"at in_shardings{tree_util.keystr(path)}. Got jit sharding: {where},\n"
            f"arg sharding: {own} for arg type: {_core.api.typeof(leaf).str_short()}. Bring it "
            "there with shardax.device_put, or leave in_shardings out."
        )


def _check_order_of(array, where, path):
    wanted, found = order_of(where.layout, array.ndim), _core.get_layout(array) or ()
    if wanted != found:
        raise ValueError(
            "Layout passed to jit does not match the layout on the respective arg, at "
            f"in_shardings{tree_util.keystr(path)}. Got jit layout: {where.layout},\n"
            f"arg layout: {layout_of(found, array.ndim)} for arg type: "
            f"{_core.api.typeof(array).str_short()}. Bring it there with shardax.device_put, or "
            "leave the layout out."
        )


def _is_static(position, args, static_positions):
    return position in {p % len(args) for p in static_positions if -len(args) <= p < len(args)}


def check_devices(shardings):
    """ValueError where shardings of arguments and results lie on different devices."""
    known = {}
    for what, tree in zip(("in_shardings", "out_shardings"), shardings):
        for where in tree_util.tree_leaves(tree):
            ids = _device_ids(where)
            if ids is not None:
                known.setdefault(frozenset(ids), (what, where, sorted(ids)))
    if len(known) > 1:
        (a, first, ids), (b, second, others) = list(known.values())[:2]
        raise ValueError(
            f"Received incompatible devices for jitted computation. Got {a} {first} with device "
            f"ids {ids} and {b} {second} with device ids {others}. All shardings of one function "
            "must lie on the same devices."
        )


def _device_ids(where):
    """Of a sharding with devices; None where it has none."""
    where = getattr(where, "sharding", where)
    abstract = hasattr(where, "mesh") and not isinstance(where.mesh, Mesh)
    if abstract or not isinstance(where, Sharding):
        return None
    return [d.id for d in where.device_set]


def _check_positional(shardings, args):
    """ValueError for in_shardings that are no tuple with an entry for each of `args`, nor one for
    all of them."""
    name = f"{caller.name} in_shardings"
    rule = (
        f"{name} specification must be a tree prefix of the positional arguments tuple. In "
        f"particular, {name} must either be a Sharding, a PartitionSpec, or a tuple of length "
        f"equal to the number of positional arguments. But {name} is "
    )
    if type(shardings) is tuple:
        if len(shardings) != len(args):
            raise ValueError(
                f"{rule}the wrong length: got a tuple or list of length {len(shardings)} for an "
                f"args tuple of length {len(args)}. Static arguments are not counted."
            )
        return
    if tree_util.all_leaves([shardings], is_leaf=lambda where: where is None):
        return
    fits = len(args) == 1 and not tree_util.prefix_errors(
        shardings, args[0], name, is_leaf=lambda where: where is None
    )
    raise ValueError(
        f"{rule}not a tuple: got {type(shardings)} instead."
        + (
            " Given the corresponding argument being passed, it looks like "
            f"{name} might need to be wrapped in a singleton tuple."
            if fits
            else ""
        )
    )


class Constrained:
    """`fun` as jit stages it where it has in_shardings or out_shardings."""

    def __init__(self, fun, in_shardings, out_shardings, static_positions):
        functools.update_wrapper(self, fun)
        self._shardings = in_shardings, out_shardings
        self._statics = static_positions

    def __call__(self, *args, **kwargs):
        inputs, outputs = self._shardings
        check_devices(self._shardings)
        if inputs is not None:
            args = self._place(args, kwargs, inputs)
        out = self.__wrapped__(*args, **kwargs)
        if outputs is None:
            return out
        return self._label(out, outputs, "out_shardings", "outputs")

    def _place(self, args, kwargs, shardings):
        if tree_util.tree_leaves(kwargs):
            raise ValueError(
                "jit: in_shardings are for positional arguments, but "
                f"{', '.join(map(repr, kwargs))} came by keyword (pjit does not support kwargs "
                "when in_shardings is specified)."
            )
        mapped = [i for i in range(len(args)) if not _is_static(i, args, self._statics)]
        if isinstance(shardings, list):
            shardings = tuple(shardings)
        _check_positional(shardings, [args[i] for i in mapped])
        dynamic = self._label(
            tuple(args[i] for i in mapped), shardings, "in_shardings", "arguments"
        )
        args = list(args)
        for i, value in zip(mapped, dynamic):
            args[i] = value
        return args

    def _label(self, tree, shardings, argument, what):
        wheres = spread(shardings, tree, caller.name, argument, formats=True)
        paths, treedef = tree_util.tree_flatten_with_path(tree)
        out = []
        for (path, leaf), where in zip(paths, wheres):
            named = f"One of {caller.name} {what}, at {argument}{tree_util.keystr(path)},"
            layout = getattr(where, "layout", None)
            check_order(layout)
            x = constrain(leaf, where, named)
            where = getattr(where, "sharding", where)
            if layout is not None and argument == "in_shardings":
                x = constrain(x, where, named)  # the argument has the layout, what it becomes not
            if where is not None:
                try:
                    where.shard_shape(x.shape)
                except IndivisibleError as e:
                    raise IndivisibleError(
                        f"{named} cannot be split so: {e}; the parts should evenly divide the shape"
                    ) from None
            out.append(x)
        return treedef.unflatten(out)
