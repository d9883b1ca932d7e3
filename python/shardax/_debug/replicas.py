"""shardax/_debug/replicas.py - noticing that devices which should be alike are not.

On a cluster the copies of parameters drift apart in silence where an average is forgotten. Here all
devices share one memory, so that they can be compared. Nothing is compared unless it is asked for.
"""

import contextlib
import dataclasses
import linecache
import warnings

import shardax._core as _core
from shardax import tree_util
from shardax._base.api_errors import argument_paths
from shardax._base.source_names import file_name
from shardax._core import api as _api
from shardax._debug.assertions import ReplicasDiverged, differing_part


class VaryingResultWarning(UserWarning):
    """A result differs between devices, and only the first device's is returned."""


# ---- results that are returned once --------------------------------------------------------------


def warn_of_dropped(tree, leaf, axis, place):
    """Warns that result `leaf` of a mapped function differs between devices; called by the core."""
    warnings.warn(
        _dropped(_result_names(tree)[leaf], axis, place), VaryingResultWarning, stacklevel=2
    )


def _dropped(name, axis, place):
    over = "" if axis.startswith("_internal") else f" over {axis!r}"
    return (
        f"{name} differs between devices{over}{_at(place)}, but only the first device's value is "
        "returned: out_axes, or out_specs, say that all have the same. Reduce it over the axis "
        "(psum, pmean), or return all of them."
    )


# ---- check_replicas ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Divergence:
    """Devices that were alike, or were to be, and are not.

    call: the number of the call, from 1, of `function`; leaf: an argument or result of it. line:
    the place, as "file.py:12", or ""; message: all of it in words.
    """

    function: str
    call: int
    leaf: str
    line: str
    message: str


@contextlib.contextmanager
def check_replicas(raises=True):
    """Watches calls of pmapped and shard_mapped functions for values that should be the same on all
    devices and are not. A common cause is a forgotten average of a gradient.

    Reported are
      - an argument that was the same on all devices in one call and differs in the next. Values
        that the devices had in common have diverged;
      - at the end of the block, a tree of results that takes the place of an argument. A dictionary
        of parameters may go in the same and come out different;
      - an argument that all devices update alike, by the same summed gradient, but that differs
        from the start. It may be drawn from a random key per device;
      - a result of which one is returned (out_axes=None, or out_specs without an axis) that differs
        between devices.

    Calls within jitted functions are not seen. The program of each call is traced again and its
    arguments compared, so that calls take longer inside of the block; outside nothing does.

    Args:
      raises: raise ReplicasDiverged at once; otherwise collect what is found.

    Yields:
      A list of `Divergence`.

    Example:
      >>> grad = shardax.grad(lambda w, x: jnp.mean((w * x) ** 2))
      >>> step = shardax.pmap(lambda w, x: w - 0.1 * grad(w, x), "i")
      >>> with shardax.debug.check_replicas(raises=False) as found:
      ...     w = jnp.ones(8)
      ...     for _ in range(2):
      ...         w = step(w, jnp.arange(8.0))
      >>> found[0].call, found[0].leaf
      (1, 'w')
    """
    watch = _Watch(raises)
    _watches.append(watch)
    _api.watch_replicas(True)
    try:
        yield watch.found
        watch.finish()
    finally:
        _watches.remove(watch)
        _api.watch_replicas(bool(_watches))


_watches = []


_looking = False  # while a function is traced for a watch


def called(function, args, kwargs):
    """A mapped function is about to be called with these arguments; the core says so."""
    global _looking
    if _looking or _traced((args, kwargs)):
        return
    _looking = True
    try:
        for watch in list(_watches):
            watch.called(function, args, kwargs)
    finally:
        _looking = False


def returned(function, result):
    """The call that was announced last has given `result`."""
    if _looking or _traced(result):
        return
    for watch in list(_watches):
        watch.returned(function, result)


def _traced(tree):
    return any(isinstance(leaf, _core.Tracer) for leaf in tree_util.tree_leaves(tree))


class _Call:
    """A call of a mapped function, and its program's facts about arguments and results.

    Arguments are held until the call returns: it may delete them, as donated ones are.
    """

    def __init__(self, number, function, args, kwargs):
        staged = _api.stage_function(function, args, kwargs)
        _, positions, static_names, _ = _api.call_info(function, args, kwargs)
        self.number = number
        self.name = staged.program.name
        self.program = staged.program
        self.args = [arg for i, arg in enumerate(args) if i not in positions]
        keywords = {name: value for name, value in kwargs.items() if name not in static_names}
        self.leaves = tree_util.tree_leaves((self.args, keywords))
        self.names = argument_paths(function, args, kwargs, [*positions, *static_names])
        self.followed = _api.FollowedProgram(self.program, self.leaves)
        self.inputs, self.outputs = self.followed.variation()
        self.result_names = _result_names(staged.out_tree)
        self.results = []
        self.diverged = []  # (argument, result that takes its place): equal before, not after

    def returned(self, result):
        self.results = tree_util.tree_leaves(result)
        for argument, i in _successors(self.args, result):
            facts = self.outputs[i]
            if not self.is_replica(argument) or not facts["varying"] or facts["dropped"]:
                continue
            if differing_part(self.results[i]) is not None:
                self.diverged.append((argument, i))
        self.args = self.leaves = ()

    def varies(self, argument):
        return bool(self.inputs[argument]["varying"])

    def is_replica(self, argument):
        facts = self.inputs[argument]
        return bool(facts["axes"]) and not facts["varying"]


class _Watch:
    def __init__(self, raises):
        self.raises = raises
        self.found = []
        self.last = {}  # by function: its latest call
        self.open = []
        self.kept = set()

    def called(self, function, args, kwargs):
        before = self.last.get(id(function)) or self._before_anew(function, args, kwargs)
        call = _Call(before.number + 1 if before else 1, function, args, kwargs)
        call.function = function  # keeps its id
        if before and len(before.names) == len(call.names):
            self._compare(before, call)
        if not before:
            self._starts(call)
        self._dropped(call)
        self.open.append(call)

    def _before_anew(self, function, args, kwargs):
        """The call that gave an argument, of the same function mapped by another pmap."""
        written = _written(function)
        if written is None:
            return None
        leaves = {id(leaf) for leaf in tree_util.tree_leaves((args, kwargs))}
        for key, call in self.last.items():
            if _written(call.function) is written and any(id(x) in leaves for x in call.results):
                return self.last.pop(key)  # the new one takes its place
        return None

    def returned(self, function, result):
        if self.open and self.open[-1].function is function:
            call = self.open.pop()
            call.returned(result)
            self.last[id(function)] = call

    def finish(self):
        for call in self.last.values():
            for argument, result in call.diverged:
                self._diverged(call, argument, result, at_end=True)

    def _compare(self, before, call):
        for i, name in enumerate(call.names):
            if not (before.is_replica(i) and call.varies(i)):
                continue
            maker, result = self._maker(call.leaves[i], before)
            if maker is not None:
                own = maker is before
                self._diverged(maker, i if own else None, result, name)
            elif isinstance(call.leaves[i], _core.Array):  # values from the host are data
                said = (
                    f"leaf {name} differs between devices when it enters call {call.number} of "
                    f"{call.name}; in the call before it was the same on all."
                )
                self._report(call, name, None, said)

    def _maker(self, leaf, before=None):
        """The call that gave an array, and which result it was."""
        for call in [*([before] if before else []), *self.last.values()]:
            for i, result in enumerate(call.results):
                if result is leaf:
                    return call, i
        return None, None

    def _diverged(self, call, argument, result, name=None, at_end=False):
        name = call.names[argument] if name is None else name
        where = other = None
        if argument is not None:
            where, other = call.followed.where_it_diverges(argument, result)
        source = (
            f" It is combined there with a value that differs, of{_at(other)[3:]}." if other else ""
        )
        said = (
            f"devices diverged at call {call.number} of {call.name}, in leaf {name}{_from(where)}: "
            f"it was the same on all devices before.{source} Is a psum or pmean missing?"
        )
        self._report(call, name, where, said, at_end)

    def _starts(self, call):
        for i, name in enumerate(call.names):
            if not call.varies(i):
                continue
            update, total = call.followed.updated_alike(i)
            if update is None:
                continue
            said = (
                f"leaf {name} differs between devices when it enters call {call.number} of "
                f"{call.name}, although all update it alike{_at(update)} with the result of the "
                f"collective{_at(total)}; it was expected to be the same from the start."
            )
            maker, result = self._maker(call.leaves[i])
            drawn = maker and maker.followed.drawn_apart(result)
            if drawn:
                said += (
                    f" {maker.name} draws it{_at(drawn)} from a random key that differs between "
                    "devices: give all the same key, in_axes=None."
                )
            self._report(call, name, drawn or update, said)

    def _dropped(self, call):
        for i, (name, facts) in enumerate(zip(call.result_names, call.outputs)):
            if facts["dropped"] and _api.differs(call.program, call.leaves, i):
                said = f"devices diverged at call {call.number} of {call.name}: "
                said += _dropped(name, facts["dropped"][0], facts["line"])
                self._report(call, name, facts["line"], said)

    def _report(self, call, name, place, said, at_end=False):
        line = f"{file_name(place['file'])}:{place['line']}" if place else ""
        if (call.name, name, line) in self.kept and (at_end or not self.raises):
            return
        self.kept.add((call.name, name, line))
        self.found.append(Divergence(call.name, call.number, name, line, said))
        if self.raises:
            raise ReplicasDiverged(f"check_replicas: {said}")


def _written(function):
    """The code of a mapped function, which all that pmap makes of it have in common."""
    while (inner := getattr(function, "__wrapped__", getattr(function, "func", None))) is not None:
        function = inner
    return getattr(function, "__code__", None)


def _result_names(tree):
    paths = tree_util.tree_flatten_with_path(tree.unflatten(range(tree.num_leaves)))[0]
    return ["result" + tree_util.keystr(path) for path, _ in paths]


def _successors(args, result):
    """Pairs (argument leaf, result leaf) of trees in the result that have an argument's structure
    and types."""
    offset = 0
    taken = _subtrees(result)
    for arg in args:
        leaves, tree = tree_util.tree_flatten(arg)
        if not tree_util.all_leaves([arg]) and leaves:
            for first, other in taken:
                found, structure = tree_util.tree_flatten(other)
                if structure == tree and [_type(x) for x in found] == [_type(x) for x in leaves]:
                    yield from ((offset + k, first + k) for k in range(len(leaves)))
                    break
        offset += len(leaves)


def _type(x):
    return getattr(x, "shape", ()), str(getattr(x, "dtype", ""))


def _subtrees(result):
    """(position of its first leaf, tree) of the result and, of a tuple or list, its items."""
    out = [(0, result)]
    if isinstance(result, (tuple, list)):
        first = 0
        for item in result:
            out.append((first, item))
            first += len(tree_util.tree_leaves(item))
    return out


def _line(place):
    name = place["function"].rpartition("<locals>.")[2].strip("<>")
    text = f"{file_name(place['file'])}:{place['line']} ({name})"
    code = linecache.getline(place["file"], place["line"]).strip()
    return f"{text}, `{code}`" if code else text


def _at(place):
    return f" in line {_line(place)}" if place else ""


def _from(place):
    return f", from line {_line(place)}" if place else ""
