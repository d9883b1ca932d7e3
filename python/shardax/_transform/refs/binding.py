"""shardax/_transform/refs/binding.py - functions that are staged with the values of the mutable
references that they meet as further inputs, and their last values as further results."""

import threading

from shardax import tree_util
from shardax._base.api_errors import argument_paths
from shardax._core import api as _core
from shardax._transform.hijax.states import Held, check_kept, formal_of, with_states
from shardax._transform.refs import is_ref
from shardax._transform.refs.channels import Channel, channel_of
from shardax._transform.refs.slots import Met, Slot, bound_references


class MetReferences:
    """The references that a staged function closes over, in the order of its further inputs; how it
    writes to each, None where it only reads."""

    def __init__(self, refs, in_types, in_trees, out_trees, writes):
        self.refs, self.in_types = refs, in_types
        self.in_trees, self.out_trees, self.writes = in_trees, out_trees, writes


class Left:
    """The value that a function leaves in a reference that it was passed, and its way of
    writing."""

    def __init__(self, value, how):
        self.value, self.how = value, how


tree_util.register_pytree_node(
    Left, lambda left: ((left.value,), left.how), lambda how, value: Left(*value, how)
)


def left_in(formals):
    """The values that a function has left in the references that stood for those that it was
    passed."""
    return [Left(ref._value, ref._how if ref.tells_writes else "set") for ref in formals]


def met_references(slots):
    """(MetReferences, the values that they hold) when a function has been traced; `slots` by
    reference."""
    leaves, trees = [], []
    for ref, slot in slots.items():
        found, tree = tree_util.tree_flatten(ref._outside(slot._value))
        leaves += found
        trees.append(tree)
    found = slots.values()
    writes = [slot._how if ref.tells_writes else "set" for ref, slot in slots.items()]
    references = MetReferences(
        list(slots), [slot.types for slot in found], [slot.tree for slot in found], trees, writes
    )
    return references, leaves


def has_changed(references):
    """True if they hold values of other types than the function was staged for."""
    for ref, types, tree in zip(references.refs, references.in_types, references.in_trees):
        if ref.held_types() != (types, tree):
            return True
    return False


def held_values(references, operands, given=None):
    """The values that the references hold, for a call with these operands."""
    if references is None:
        return []
    held = [_actual(ref, given)._enter(operands) for ref in references.refs]
    return tree_util.tree_leaves(held)


def write_held(references, values, operands, out, given=None):
    """Writes the values that came out of a call, and gives the result of the call."""
    if references is None:
        return out
    values = iter(values)
    for ref, tree, how in zip(references.refs, references.out_trees, references.writes):
        value = tree_util.tree_unflatten(tree, [next(values) for _ in range(tree.num_leaves)])
        out = _actual(ref, given)._leave(value, operands, out, how)
    return out


def check_loop(references):
    """TypeError if a turn of a loop changes the type of a reference's value."""
    if references is not None:
        check_kept(references.in_trees, references.out_trees)


def joined(staged, api, given=None):
    """Staged functions, all with the references that any of them meets."""
    if all(function.references is None for function in staged):
        return staged
    found = [_by_reference(function.references, given) for function in staged]
    known = {ref: parts for refs in reversed(found) for ref, parts in refs.items()}
    for ref, (_, _, tree, out_tree, _) in known.items():
        for refs in found:
            if (refs[ref][3] if ref in refs else tree) != out_tree:
                raise TypeError(
                    f"{api}: one branch leaves a {type(ref.aval).__name__} with other contents "
                    "than another one. Let all branches bring it to one type."
                )
    _, types, in_trees, out_trees, _ = (list(part) for part in zip(*known.values()))
    writes = [next((refs[r][4] for refs in found if r in refs and refs[r][4]), None) for r in known]
    everything = MetReferences(list(known), types, in_trees, out_trees, writes)
    places = [
        [(refs[ref][0] if ref in refs else -1, types) for ref, (_, types, *_) in known.items()]
        for refs in found
    ]
    return [_core.with_references(f, everything, place) for f, place in zip(staged, places)]


def _by_reference(references, given):
    """By reference: its first place among all values, the types, the structures, its way of
    writing."""
    found, at = {}, 0
    if references is not None:
        parts = references.in_types, references.in_trees, references.out_trees, references.writes
        for ref, types, *others in zip(references.refs, *parts):
            found[ref if given is None else given.actual(ref)] = (at, types, *others)
            at += len(types)
    return found


# ---- arguments that are references ------------------------------------------------------------


class _Threads(threading.local):
    def __init__(self):
        self.calls = []


_threads = _Threads()


def _actual(ref, given):
    """The channel of the reference that the caller passed, given that of its stand-in."""
    if given is not None:
        return given.actual(ref)
    given, generation = _threads.calls[-1] if _threads.calls else (None, -1)
    return given.actual(ref) if generation == _core.staging_generation() else ref


class passing:
    """While it is open, the function that is called here has these RefArguments."""

    def __init__(self, given):
        self._given = given

    def __enter__(self):
        _threads.calls.append((self._given, _core.staging_generation()))

    def __exit__(self, *_):
        _threads.calls.pop()


# ---- functions that cannot have further inputs -------------------------------------------------


class Bound:
    """While it is open, the references have these values in the function that is being staged."""

    def __init__(self, refs, values):
        level = _core.trace_depth()
        self.slots = {r: Slot(r._inside(v), level) for r, v in zip(refs, values, strict=True)}

    def __enter__(self):
        self._generation = _core.staging_generation()
        self._outer = bound_references().get(self._generation)
        if self._outer is not None:
            self.slots = self._outer.slots | self.slots
        bound_references()[self._generation] = self
        return self

    def __exit__(self, *_):
        if self._outer is None:
            del bound_references()[self._generation]
        else:
            bound_references()[self._generation] = self._outer

    def values(self, refs):
        """The present values of the references."""
        return [r._outside(self.slots[r]._value) for r in refs]


def reading(refs, operands=()):
    """The values of references, where the caller is, for a call with these operands."""
    return [r._enter(operands) for r in refs]


def writing(refs, values, operands=(), out=None):
    """Writes the values that came out of a call, and gives the result of the call."""
    for ref, value in zip(refs, values, strict=True):
        if isinstance(value, Left):
            out = ref._leave(value.value, operands, out, value.how)
        else:
            out = ref._leave(value, operands, out)
    return out


def binding(api, stage, plain=None, given=None):
    """stage(refs) with the references that it meets, found one after the other.

    `stage` stages functions that open `Bound(refs, ...)`; `api` is named in errors. `plain()` is
    the same where there are none, and is tried first. `given` are the arguments.
    """
    refs = []
    outside = _core.staging_generation()
    while True:
        try:
            return stage(refs) if refs or plain is None else plain()
        except Met as again:
            if again.generation == outside:
                raise
            if again.ref is None or again.ref in refs:
                raise NotImplementedError(
                    f"{api}: a function with a rule of its own (custom_jvp), a callback or a "
                    "pmapped function inside reads or writes a mutable array reference. Pass "
                    "the value of the reference, ref[...], as an argument."
                ) from None
            if given is not None:
                given.check_closed(again.ref)
            refs.append(again.ref)


def no_refs(result, fun, api):
    """`result` of `fun`, staged for `api`; ValueError where it holds a reference."""
    for path, leaf in tree_util.tree_leaves_with_path(result):
        if is_ref(leaf):
            leaf.returned(f"{_core.describe_function(fun)} traced for {api}", path)
    return result


def _is_held(x):
    return isinstance(x, Held)


class RefArguments:
    """Arguments of a function, with references among them: their values, to be staged with."""

    def __init__(self, api, fun, args, kwargs=None):
        leaves, self._tree = tree_util.tree_flatten((args, kwargs or {}))
        self._leaves = leaves = with_states(leaves)
        self.positions = tuple(i for i, leaf in enumerate(leaves) if is_ref(leaf))
        self.refs = [leaves[i] for i in self.positions]
        self._places = {}  # of their stand-ins in functions: among the references
        self.whole = True  # they stand for all that is referred to
        if not self.refs:
            return
        paths = argument_paths(fun, args, kwargs or {}, [])
        self.names = [paths[i] for i in self.positions]
        self.where = f"{_core.describe_function(fun)} for {api}"
        seen = {}
        for name, ref in zip(self.names, self.refs):
            if ref in seen and not ref.may_repeat:
                raise ValueError(
                    "only one reference to a mutable array may be passed as an argument to a "
                    f"function, but when tracing {self.where} the mutable array reference of type "
                    f"{ref.aval} appeared at both {seen[ref]} and {name}."
                )
            seen[ref] = name

    def check_closed(self, ref):
        """ValueError where a function is passed `ref` and closes over it as well."""
        if ref in self.refs:
            raise ValueError(
                f"when tracing {self.where}, a mutable array reference of type {ref.aval} was both "
                f"closed over and passed as the argument {self.names[self.refs.index(ref)]}"
            )

    def actual(self, ref):
        """The channel of the reference that was passed, given that of its stand-in."""
        self.check_closed(ref)
        if not isinstance(ref, Channel) or ref.ref not in self._places:
            return ref
        if not self.whole:
            raise NotImplementedError(
                "custom_vjp: a backward rule reaches a slice of a mutable array reference of type "
                f"{ref.aval} that a loop is passed. Let the body close over the reference."
            )
        return channel_of(self.refs[self._places[ref.ref]])

    def values(self):
        """(args, kwargs) with the values of the references."""
        leaves = list(self._leaves)
        for i, ref in zip(self.positions, self.refs):
            leaves[i] = ref._read()
        return tree_util.tree_unflatten(self._tree, leaves)

    def formal(self, args, kwargs=None):
        """(args, kwargs, references) with a reference for each value that stands for one."""
        if not self.refs:
            return args, kwargs or {}, []
        leaves, tree = tree_util.tree_flatten((args, kwargs or {}), _is_held)
        formals = [
            formal_of(leaves[i], f"passed in as the argument {name}")
            for i, name in zip(self.positions, self.names)
        ]
        for i, formal in zip(self.positions, formals):
            leaves[i] = formal.passed
        self._places.update((formal, i) for i, formal in enumerate(formals))
        return *tree_util.tree_unflatten(tree, leaves), formals
