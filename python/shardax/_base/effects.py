# shardax/_base/effects.py - classes of what programs do besides computing.
from collections.abc import Set


class Effect:
    """A class of effects; libraries derive their own.

    Example:
      >>> class Sends(shardax.core.Effect):
      ...     __str__ = lambda self: "Sends"
      >>> str(Sends())
      'Sends'
    """


class DebugEffect(Effect):
    """The effect of printing, and of callbacks without results.

    Example:
      >>> f = lambda x: shardax.debug.print("{x}", x=x)
      >>> len(shardax.make_jaxpr(f)(1.0).effects)
      1
    """

    __str__ = lambda self: "Debug"  # noqa: E731


class OrderedDebugEffect(Effect):
    """The effect of printing in program order.

    Example:
      >>> f = lambda x: shardax.debug.print("{x}", x=x, ordered=True)
      >>> len(shardax.make_jaxpr(f)(1.0).effects)
      1
    """

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
