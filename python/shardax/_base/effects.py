# shardax/_base/effects.py - classes of what programs do besides computing.
from collections.abc import Set


class Effect:
    """A class of effects; libraries derive their own."""


class DebugEffect(Effect):
    """Printing, and callbacks without results."""

    __str__ = lambda self: "Debug"  # noqa: E731


class OrderedDebugEffect(Effect):
    """The same in program order."""

    __str__ = lambda self: "OrderedDebug"  # noqa: E731


Effects = Set[Effect]
no_effects = frozenset()


class EffectTypeSet:
    """A set of classes of effects, with their subclasses."""

    def __init__(self):
        self._types = set()

    def add_type(self, effect_type):
        self._types.add(effect_type)

    def contains(self, effect_type):
        return any(issubclass(effect_type, known) for known in self._types)

    def filter_in(self, effects):
        return [effect for effect in effects if self.contains(type(effect))]

    def filter_not_in(self, effects):
        return [effect for effect in effects if not self.contains(type(effect))]


control_flow_allowed_effects = EffectTypeSet()
