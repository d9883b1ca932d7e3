"""shardax/_transform/shard_map/errors.py - checks of shard_map's specs, and their errors.

Each check names the entry of the specs, the argument as the user's function calls it, and sizes.
"""

import inspect
import math

import shardax._core as _core
from shardax import tree_util
from shardax._devices.mesh import AxisType
from shardax._devices.mesh_context import get_mesh
from shardax._devices.shardings import PartitionSpec, axes_of_entry
from shardax._devices.specs import check_repeated


def _name(f):
    return getattr(f, "__name__", None) or getattr(getattr(f, "func", None), "__name__", str(f))


def _with_paths(tree):
    """(path, leaf) for each leaf, None being one."""
    return [
        (tree_util.keystr(path), leaf)
        for path, leaf in tree_util.tree_flatten_with_path(tree, is_leaf=lambda x: x is None)[0]
    ]


def check_inferable(mesh, names, smap):
    types = dict(zip(mesh.axis_names, mesh.axis_types))
    if all(types[name] == AxisType.Explicit for name in names):
        return
    kinds = ", ".join(str(types[name]) for name in names)
    if smap:
        raise TypeError(f"in_axes was not specified when axis_name={names} was of type {kinds}")
    raise TypeError(
        "shard_map in_specs argument must be a pytree of `jax.sharding.PartitionSpec` instances, "
        f"but it was `None` when axis_names={names} are of type {kinds}"
    )


def check_specs(side, specs, names):
    """TypeError for what is no spec, ValueError for axes that are not among `names`."""
    entries = [(path, spec) for path, spec in _with_paths(specs) if spec is not None]
    bad = [(path, spec) for path, spec in entries if not isinstance(spec, PartitionSpec)]
    if bad:
        found = "\n\n".join(
            f"  {side}_specs{path} is {spec} of type {type(spec).__name__}, " for path, spec in bad
        )
        raise TypeError(
            f"shard_map {side}_specs argument must be a pytree of `jax.sharding.PartitionSpec` "
            f"instances, but:\n\n{found}\n\nCheck the {side}_specs values passed to shard_map."
        )
    strange = [
        f"  {side}_specs{path} refers to {name!r}"
        for path, spec in entries
        for entry in spec
        for name in axes_of_entry(entry)
        if name not in names
    ]
    if strange:
        found = "\n\n".join(strange)
        raise ValueError(
            f"shard_map {side}_specs argument must refer to an axis marked as manual ({names}), "
            f"but:\n\n{found}\n\nCheck the {side}_specs values passed to shard_map."
        )
    for _, spec in entries:
        check_repeated(spec, f"shard_map {side}_specs")


def check_sum_specs(side, specs, mesh, names):
    """Sums that are left to do go with explicit axes, all of which the function maps over."""
    types = dict(zip(mesh.axis_names, mesh.axis_types))
    for path, spec in _with_paths(specs):
        for field in ("unreduced", "reduced"):
            axes = getattr(spec, field, ())
            if axes and frozenset(mesh.axis_names) != names:
                raise NotImplementedError(
                    f"unreduced/reduced can only be passed to {side}_specs when shard_map is in "
                    f"full manual mode. Got mesh axis names {mesh.axis_names}, manual_axes: "
                    f"{names}, {side}_specs{path}: {spec}. Leave axis_names out."
                )
            if any(types.get(axis) != AxisType.Explicit for axis in axes):
                raise ValueError(
                    f"{field} in {side}_specs {spec} can only be used when the mesh passed to "
                    f"shard_map contains axis names all of type `Explicit`. Got mesh {mesh}. Make "
                    "it with axis_types=(AxisType.Explicit, ...)."
                )


def check_types(mesh, specs, leaves):
    """ValueError where an argument is split over explicit axes in another way than its spec says,
    or not at all."""
    for spec, leaf in zip(specs, leaves, strict=True):
        if spec is None:
            continue
        kind = _core.api.typeof(leaf)
        own = tuple(kind.sharding.spec)
        same = _entries(own, mesh) == _entries((*spec, *[None] * len(own))[: len(own)], mesh)
        if same and _sums(kind.sharding.spec, mesh) == _sums(spec, mesh):
            continue
        raise ValueError(
            f"in_specs passed to shard_map: {spec} does not match the specs of the input: "
            f"{kind.sharding.spec} for arg: {kind.str_short()}. `in_specs` is an optional "
            "argument: without it shard_map takes those of the arguments. Or bring the argument "
            "there with `jax.sharding.reshard`."
        )


def _sums(spec, mesh):
    """The axes of more than one device over which it is unreduced, and reduced."""
    return [{a for a in axes if mesh.shape[a] > 1} for axes in (spec.unreduced, spec.reduced)]


def _entries(spec, mesh):
    """The axes of more than one device that split each dimension."""
    return [tuple(a for a in axes_of_entry(entry) if mesh.shape[a] > 1) for entry in spec]


def check_smap(in_axes, out_axes, axis_name, infer):
    if isinstance(axis_name, (list, tuple)):
        raise TypeError(f"smap axis_name should be a `str` or a `Hashable`, but got {axis_name}")
    whole = in_axes is None or in_axes is infer or isinstance(in_axes, (int, tuple))
    if not whole or not (in_axes is infer or _all_ints(in_axes)):
        kinds = "(nested) container with those types as leaves"
        if not whole:
            kinds = "a tuple of entries corresponding to the positional arguments of the function"
        raise TypeError(
            f"smap in_axes must be an int, None, jax.sharding.Infer, or {kinds}, but got {in_axes}."
        )
    if not _all_ints(out_axes):
        raise TypeError(
            "smap out_axes must be an int, None, or (nested) container with those types as leaves, "
            f"but got {out_axes}."
        )


def _all_ints(axes):
    return all(isinstance(axis, int) for axis in tree_util.tree_leaves(axes))


def prefix_error(specs, tree, what):
    """The ValueError for specs that are no tree prefix."""
    texts = tree_util.prefix_errors(specs, tree, f"shard_map {what}", lambda s: s is None)
    return ValueError(texts[0])


def _bound_name(f, tree, path):
    """", where args[0] is bound to f's parameter 'x',": the function's name of an argument.."""
    try:
        dummies = tree.unflatten([False] * tree.num_leaves)
        signature = inspect.signature(f)
        signature.bind(*dummies)
    except (TypeError, ValueError):
        return ""
    keyword = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    parameters = [p for p in signature.parameters.values() if p.kind not in keyword]
    position = path[0].idx
    key = tree_util.keystr(path[:1])
    last = parameters[-1] if parameters else None
    if position >= len(parameters) or parameters[position].kind == last.VAR_POSITIONAL:
        return (
            f", where args{key} is the index {position - len(parameters) + 1} component of "
            f"{_name(f)}'s varargs parameter '{last.name}',"
        )
    return f", where args{key} is bound to {_name(f)}'s parameter '{parameters[position]}',"


def _listed(messages):
    return messages[0][2:] if len(messages) == 1 else "\n\n".join(messages)


def _leaves_with_specs(tree, specs_tree, specs, leaves):
    """(path of the spec, spec, path of the leaf, leaf) of each leaf that has a spec."""
    labels = [path for path, _ in _with_paths(specs_tree)]
    structure = tree_util.tree_structure(specs_tree, is_leaf=lambda s: s is None)
    whole = tree.unflatten(leaves)
    spread = tree_util.broadcast_prefix(
        structure.unflatten([_Label(label) for label in labels]), whole
    )
    paths = [path for path, _ in tree_util.tree_flatten_with_path(whole)[0]]
    return [
        (label.text, spec, path, leaf)
        for label, spec, path, leaf in zip(spread, specs, paths, leaves)
        if spec is not None
    ]


class _Label:
    def __init__(self, text):
        self.text = text


def _text(leaf):
    """The type of an argument or result, as errors say it."""
    short = getattr(leaf, "str_short", None)
    if short is not None:
        return short()
    return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"


def _rank_error(f, side, tree, fails):
    name = _name(f)
    base = "the passed args" if side == "in" else f"{name}(*args)"
    messages = []
    for label, spec, path, leaf in fails:
        extra = _bound_name(f, tree, path) if side == "in" else ""
        messages.append(
            f"* {side}_specs{label} is {spec} which has length {len(spec)}, but "
            f"{base}{tree_util.keystr(path)}{extra} has shape {_text(leaf)}, which has rank "
            f"{leaf.ndim} (and {leaf.ndim} < {len(spec)})"
        )
    text = (
        f"shard_map applied to the function '{name}' was given an {side}_specs entry which is too "
        f"long to be compatible with the corresponding {side}put value from the function:\n\n"
        f"{_listed(messages)}\n\n"
        f"Entries in {side}_specs must be of length no greater than the number of axes in the "
        f"corresponding {side}put value.\n\n"
        f"Either revise the spec to be shorter, or modify '{name}' so that its {side}puts have "
        "sufficient rank."
    )
    if any(leaf.ndim == 0 for *_, leaf in fails):
        text += (
            f"\n\nFor scalar values (rank 0), consider using an {side}_specs entry of `P()`, where "
            "`P = jax.sharding.PartitionSpec`."
        )
        if side == "out":
            text += (
                " In particular, for rank 0 outputs which are not constant over the mesh, add at "
                "least one (singleton) axis to them so that they can be concatenated using "
                "out_specs."
            )
    return ValueError(text)


def check_arguments(f, mesh, tree, specs_tree, specs, leaves):
    """ValueError where an argument has too few dimensions for its spec, or uneven ones."""
    pairs = [(s, x) for s, x in zip(specs, leaves) if s is not None]
    if all(
        len(spec) <= x.ndim and not _uneven(mesh, spec, x)
        for spec, x in pairs
        if hasattr(x, "ndim")
    ) and all(hasattr(x, "ndim") or not len(spec) for spec, x in pairs):
        return
    # `asarray` of Python scalars is for errors only: calls of them have arrays already.
    found = _leaves_with_specs(tree, specs_tree, specs, [_Shaped.of(x) for x in leaves])
    short = [entry for entry in found if len(entry[1]) > entry[3].ndim]
    if short:
        raise _rank_error(f, "in", tree, short)
    name = _name(f)
    messages = []
    for label, spec, path, leaf in found:
        extra = _bound_name(f, tree, path)
        for dim, names, parts in _uneven(mesh, spec, leaf):
            many = len(names) > 1
            axis = f"axes {names}" if many else f"axis '{names[0]}'"
            messages.append(
                f"* the passed args{tree_util.keystr(path)} of shape {_text(leaf)}{extra} "
                f"corresponds to in_specs{label} of value {spec}, which maps array axis {dim} (of "
                f"size {leaf.shape[dim]}) to mesh {axis} (of {'total ' if many else ''}size "
                f"{parts}), but {parts} does not evenly divide {leaf.shape[dim]}"
            )
    raise ValueError(
        f"shard_map applied to the function '{name}' was given argument arrays with axis sizes "
        "that are not evenly divisible by the corresponding mesh axis sizes:\n\n"
        f"The mesh given has shape {tuple(mesh.shape.values())} with corresponding axis names "
        f"{mesh.axis_names}.\n\n{_listed(messages)}\n\n"
        "Array arguments' axis sizes must be evenly divisible by the mesh axis or axes indicated "
        "by the corresponding elements of the argument's in_specs entry. Consider checking that "
        "in_specs are correct, and if so consider changing the mesh axis sizes or else padding the "
        f"input and adapting '{name}' appropriately."
    )


class _Shaped:
    """The description of a Python scalar in errors."""

    def __init__(self, leaf):
        self.dtype, self.shape, self.ndim = type(leaf).__name__, (), 0

    @classmethod
    def of(cls, leaf):
        return leaf if hasattr(leaf, "ndim") else cls(leaf)


def _uneven(mesh, spec, leaf):
    """(dimension, axes, their size) of each dimension that its axes do not divide."""
    out = []
    for dim, entry in enumerate(spec):
        names = axes_of_entry(entry)
        parts = math.prod(mesh.shape[name] for name in names)
        if leaf.shape[dim] % parts:
            out.append((dim, names, parts))
    return out


def check_result_ranks(f, tree, specs_tree, specs, leaves):
    if all(len(spec) <= leaf.ndim for spec, leaf in zip(specs, leaves)):
        return
    found = _leaves_with_specs(tree, specs_tree, specs, leaves)
    raise _rank_error(f, "out", tree, [e for e in found if len(e[1]) > e[3].ndim])


def check_replication(f, mesh, names, tree, specs_tree, specs, varies):
    """ValueError where a result may vary over an axis that its spec does not mention."""
    mentioned = [{name for entry in spec for name in axes_of_entry(entry)} for spec in specs]
    if all(found <= said for found, said in zip(varies, mentioned)):
        return
    messages = []
    for label, spec, _, found in _leaves_with_specs(tree, specs_tree, specs, varies):
        said = {name for entry in spec for name in axes_of_entry(entry)}
        missing = [name for name in names if name in found - said]
        if not missing:
            continue
        if len([name for name in mesh.axis_names if name not in said]) > 1:
            need = ",".join(str(n) for n in mesh.axis_names if n in said)
            got = ",".join(str(n) for n in mesh.axis_names if n in found)
            wrong = ",".join(map(str, missing))
            messages.append(
                f"* out_specs{label} is {spec} which implies that the corresponding output value "
                f"is only varying across mesh axes {{{need}}} and not {{{wrong}}}, but it was "
                f"inferred to be possibly varying over {{{got}}}"
            )
        else:
            messages.append(
                f"* out_specs{label} is {spec} which implies that the corresponding output value "
                f"is replicated across mesh axis '{missing[0]}', but could not infer replication "
                "over any axes"
            )
    raise ValueError(
        f"shard_map applied to the function '{_name(f)}' was given out_specs which require "
        "replication which can't be statically inferred given the mesh:\n\n"
        f"The mesh given has shape {tuple(mesh.shape.values())} with corresponding axis names "
        f"{mesh.axis_names}.\n\n{_listed(messages)}\n\n"
        "Check if these output values are meant to be replicated over those mesh axes. If not, "
        "consider revising the corresponding out_specs entries. If so, consider disabling the "
        "check by passing the check_vma=False argument to `jax.shard_map`."
    )


def check_sums(types, specs):
    """ValueError where a result is left to sum over other axes than its spec says."""
    for aval, spec in zip(types, specs):
        for field in ("unreduced", "reduced"):
            said, found = getattr(spec, field), getattr(aval.mat, field)
            if said != found:
                raise ValueError(
                    f"out_specs passed to shard_map should be equal to the {field} present on the "
                    f"out_aval. Got out_specs={spec} and out_aval={aval}. Say so in out_specs, or "
                    f"sum it first."
                )


def check_meshes_of_arguments(mesh, found):
    """ValueError where an argument lies on a mesh, one of `found` or None, that has other axes than
    the AbstractMesh that it should stand for."""
    if get_mesh().shape_tuple == mesh.shape_tuple:
        return
    for own in found:
        if own is not None and own.shape_tuple != mesh.shape_tuple:
            raise ValueError(
                f"Mesh shape of the input {dict(own.shape)} does not match the mesh shape passed "
                f"to shard_map {dict(mesh.shape)}. Bring it there with device_put."
            )
