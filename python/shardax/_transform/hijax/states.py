"""shardax/_transform/hijax/states.py - values that change (MutableHiType), in traced functions.

Such a value is to staged functions as a mutable reference is (refs). Its content goes in as a
further input and comes out as a further result. It is a tree of arrays, whose structure is part of
the type and may change as well.
"""

import threading

from shardax import tree_util
from shardax._core import api as _core
from shardax._transform.jit import typeof
from shardax._transform.refs import Ref, count_as_reference, is_ref
from shardax._transform.refs.slots import Met, slot_of


class AvalQDD:
    """A type, and the part of it that changes."""

    is_high = has_qdd = True

    def __init__(self, aval, qdd):
        self.aval, self.qdd = aval, qdd


class AvalMutableQDD:
    """A type, and a holder (`cur_val`) of the part of it that changes."""

    is_high = has_qdd = True

    def __init__(self, aval, mutable_qdd):
        self.aval, self.mutable_qdd = aval, mutable_qdd


def cur_qdd(x):
    """The part of the type of `x` that changes, as it is now: the result of its method `cur_qdd`.

    Example:
      >>> class Stack(list):
      ...     def cur_qdd(self):
      ...         return len(self)
      >>> shardax.experimental.cur_qdd(Stack([1, 2]))
      2
    """
    return (at_hand(x) if is_mutable(typeof_or_none(x)) else x).cur_qdd()


def typeof_or_none(x):
    """typeof(x), or None."""
    try:
        return typeof(x)
    except TypeError:
        return None


def is_mutable(aval):
    """True if a type is one of values that change."""
    return getattr(aval, "has_qdd", False) is True


# ---- where a value lives --------------------------------------------------------------------


class _Homes(threading.local):
    """By generation of a staging trace: the values that were made in it."""

    def __init__(self):
        self.by_generation = {}


_homes = _Homes()


def made_here(value):
    """Notes that a value was made where the caller is."""
    generation, homes = _core.staging_generation(), _homes.by_generation
    for over in [g for g in homes if g > generation]:
        del homes[over]
    if generation:
        homes.setdefault(generation, {})[id(value)] = value
    count_as_reference()
    return value


def _home(value):
    for generation, values in _homes.by_generation.items():
        if values.get(id(value)) is value:
            return generation
    return 0


def at_hand(value):
    """The value, or its stand-in in the function that is being staged."""
    generation = _core.staging_generation()
    if _home(value) == generation:
        return value
    count_as_reference()
    state = State(value)
    slot = slot_of(state, generation)
    if slot is None:
        raise Met(state, generation)
    return slot._value


class Held:
    """The content of a value: its arrays, and the part of its type that changes."""

    def __init__(self, aval, qdd, arrays):
        self.aval, self.qdd, self.arrays = aval, qdd, arrays

    @classmethod
    def of(cls, value):
        """The present content."""
        aval, qdd = typeof(value), value.cur_qdd()
        return cls(aval, qdd, list(map(_core.asarray, aval.read_loval(qdd, value))))

    def value(self):
        """A value that holds it."""
        return made_here(self.aval.new_from_loval(self.qdd, *self.arrays))

    def give(self, value):
        """Makes `value` hold it."""
        self.aval.update_from_loval(self.qdd, value, *self.arrays)


tree_util.register_pytree_node(
    Held,
    lambda held: (held.arrays, (held.aval, held.qdd)),
    lambda aux, arrays: Held(*aux, list(arrays)),
)


def check_kept(before, after):
    """TypeError where a turn of a loop leaves a value with another type than it found; both are
    structures."""
    for old, new in zip(before, after, strict=True):
        if old != new:
            (found, held), (_, left) = old.node_data()[1], new.node_data()[1]
            raise TypeError(
                "type-changing mutations not allowed in loops: a turn finds a "
                f"{type(found).__name__} that holds {held} and leaves {left}. Bring it to its "
                "final type before the loop."
            )


class State(Ref):
    """A value that changes, among the references that a function meets."""

    __slots__ = ("value",)
    may_repeat = True
    tells_writes = False

    def __init__(self, value):
        self.value = value
        self._kind = self._origin = self._channel = None
        self._freed = False

    aval = property(lambda self: typeof(self.value))
    passed = property(lambda self: self.value)
    _value = property(lambda self: Held.of(self.value))

    def __eq__(self, other):
        return isinstance(other, State) and self.value is other.value

    def __hash__(self):
        return id(self.value)

    def _read(self):
        return Held.of(at_hand(self.value))

    def _write(self, value, what="set"):
        value.give(at_hand(self.value))

    def _inside(self, held):
        return held.value()

    def _outside(self, value):
        return Held.of(value)


def formal_of(held, origin):
    """The object that a function is passed for a reference, given its content."""
    return State(held.value()) if isinstance(held, Held) else Ref(held, origin)


def with_states(leaves):
    """Leaves of a tree, the values among them that change as references."""
    return [
        leaf if is_ref(leaf) or not is_mutable(typeof_or_none(leaf)) else State(leaf)
        for leaf in leaves
    ]
