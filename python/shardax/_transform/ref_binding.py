"""shardax/_transform/ref_binding.py - functions that are staged with the values of the mutable
references that they meet as further inputs, and their last values as further results."""

from shardax import tree_util
from shardax._base.api_errors import argument_paths
from shardax._core import api as _core
from shardax._transform.hi_states import Held, check_kept, formal_of, with_states
from shardax._transform.ref_channels import Channel, channel_of
from shardax._transform.refs import Met, bound_references, is_ref


class _Slot:
    """The value of a reference in a trace that it does not live in."""

    __slots__ = ("_value", "_level")

    def __init__(self, value, level):
        self._value, self._level = value, level


class Bound:
    """While it is open, the references have these values in the function that is being staged.
    In a loop they keep their types."""

    def __init__(self, refs, values, loop=False):
        self.kept = list(values) if loop else None
        level = _core.trace_depth()
        self.slots = {r: _Slot(r._inside(v), level) for r, v in zip(refs, values, strict=True)}

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
        """What the references hold now."""
        found = [r._outside(self.slots[r]._value) for r in refs]
        if self.kept is not None:
            check_kept(self.kept, found)
        return found


def reading(refs, operands=()):
    """The values of references, where the caller is, for a call with these operands."""
    return [r._enter(operands) for r in refs]


def writing(refs, values, operands=(), out=None):
    """Writes the values that came out of a call, and gives what the call gives."""
    for ref, value in zip(refs, values, strict=True):
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
            if given is not None and given.takes_channel(again.ref):
                continue
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
        self.formals = []  # the references made for them, the last time
        self.channels = []  # which of them have a channel (ref_channels.py)
        if not self.refs:
            return
        paths = argument_paths(fun, args, kwargs or {}, [])
        self.names = [paths[i] for i in self.positions]
        self.where = f"{_core.describe_function(fun)} for {api}"
        seen = {}
        for name, ref in zip(self.names, self.refs):
            if ref in seen:
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

    def takes_channel(self, met):
        """Whether `met` is the channel of one of the references made, of which that is news."""
        ref = getattr(met, "ref", None)
        if not isinstance(met, Channel) or ref not in self.formals:
            return False
        i = self.formals.index(ref)
        self.channels.append(i)
        return self.channels.count(i) == 1

    def outside(self, refs):
        """`refs`, and the channels of the arguments, where the caller is."""
        return [*refs, *(channel_of(self.refs[i]) for i in self.channels)]

    def inside(self, refs, formals):
        """The same in the function."""
        return [*refs, *(channel_of(formals[i]) for i in self.channels)]

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
        self.formals = formals
        return *tree_util.tree_unflatten(tree, leaves), formals
