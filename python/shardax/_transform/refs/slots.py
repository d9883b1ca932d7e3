"""shardax/_transform/refs/slots.py - stand-ins for mutable references in functions that
are being staged."""

import threading

from shardax import tree_util
from shardax._core import api as _core


class Met(BaseException):
    """A staged function meets a reference whose value is not at hand, or is passed one (None)."""

    def __init__(self, ref=None, generation=-1):
        super().__init__()
        self.ref, self.generation = ref, generation


class _Threads(threading.local):
    def __init__(self):
        self.bound = {}


_threads = _Threads()


def bound_references():
    """By generation of a staging trace: the open `Bound` (binding.py)."""
    return _threads.bound


class Slot:
    """The value of a reference in a trace that it does not live in.

    `types`, `tree`: those of its value when the function met it. `_how` names the operation that
    wrote last, None where none did.
    """

    __slots__ = ("_value", "_level", "_how", "types", "tree")

    def __init__(self, value, level, types=(), tree=None):
        self._value, self._level, self.types, self.tree = value, level, types, tree
        self._how = None


def slot_of(ref, generation):
    """The stand-in for a reference in the function that is being staged; None: nothing can."""
    bound = bound_references().get(generation)
    if bound is not None and ref in bound.slots:
        return bound.slots[ref]
    met = _core.met_references()
    if met is None:
        return None
    if ref not in met:
        with _core.CallerContext():
            types, tree = ref.held_types()
        inputs = _core.further_inputs(types)
        level = _core.tracer_trace(inputs[0])[0] if inputs else 0
        value = ref._inside(tree_util.tree_unflatten(tree, inputs))
        met[ref] = Slot(value, level, types, tree)
    return met[ref]
