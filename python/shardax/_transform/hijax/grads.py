"""shardax/_transform/hijax/grads.py - gradients by values that are no arrays (types.py).

Such a gradient is a value of the type of tangents. The value's carriers are differentiated by in
its place, or its arrays if it has none.
"""

from shardax import tree_util
from shardax._core import api as _core
from shardax._transform.hijax.states import typeof_or_none
from shardax._transform.hijax.types import is_hi, lo_types, lowered, raised, tangent_value
from shardax._transform.zeros import Zero


class _Slot:
    """A value among arguments, and which of its arrays are differentiated by."""

    def __init__(self, aval, value):
        self._aval, self._flat = aval, lowered(aval, value)
        tangents = [_core.tangent_type(_core.typeof(x)) for x in self._flat]
        count = len(lo_types(aval))
        carried = len(self._flat) > count
        self._zeros = [Zero(t) for t in tangents]
        self._at = [i for i, x in enumerate(self._flat) if i >= count or not carried]
        self._at = [i for i in self._at if tangents[i].dtype == self._flat[i].dtype]

    def arrays(self):
        """The arrays to differentiate by."""
        return [self._flat[i] for i in self._at]

    def value(self, arrays):
        """The value, with other arrays."""
        return raised(self._aval, self._filled(self._flat, arrays))

    def gradient(self, arrays):
        """The gradient by the value, given those by the arrays."""
        return tangent_value(self._aval, self._filled(self._zeros, arrays))

    def _filled(self, values, arrays):
        values = list(values)
        for i, x in zip(self._at, arrays, strict=True):
            values[i] = x
        return values


class _Plain:
    def __init__(self, value):
        self._value = value

    def arrays(self):
        return self._value

    def value(self, arrays):
        return arrays

    gradient = value


def opened(args):
    """(the arrays to differentiate by in place of `args`, a function that gives `args` for them,
    one that gives the gradients by `args`). The core calls it if one of `args` holds a value that
    is no array.
    """
    leaves, tree = tree_util.tree_flatten(args)
    avals = map(typeof_or_none, leaves)
    slots = [_Slot(a, x) if is_hi(a) else _Plain(x) for a, x in zip(avals, leaves)]

    def each(method):
        def call(arrays):
            parts = tree.flatten_up_to(arrays)
            return tree.unflatten([method(slot, part) for slot, part in zip(slots, parts)])

        return call

    arrays = tree.unflatten([slot.arrays() for slot in slots])
    return arrays, each(lambda s, x: s.value(x)), each(lambda s, x: s.gradient(x))


_core.set_gradient_opener(opened)
