"""shardax.experimental.hijax - base classes of types and primitives that libraries define.

Primitives of such classes run by their `impl`, outside of transformations: programs hold arrays
only.
"""

from shardax._base.effects import control_flow_allowed_effects
from shardax._core import api as _api
from shardax._transform.avals import AbstractValue, ShapedArray
from shardax._transform.refs import AbstractRef
from shardax.interpreters.ad import Zero, instantiate_zeros, is_undefined_primal

__all__ = [
    "AbstractRef",
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
    "HiType",
    "MutableHiType",
    "ShapedArray",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "cur_qdd",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
]


class HiType(AbstractValue):
    """A type of values that are no arrays."""

    is_high = True
    has_qdd = False


class MutableHiType(HiType):
    """One whose values change, and with them part of the type."""

    has_qdd = True


class AvalQDD:
    """A type, and the part of it that changes."""

    def __init__(self, aval, qdd):
        self.aval, self.qdd = aval, qdd


class AvalMutableQDD:
    """A type, and a holder (`cur_val`) of the part of it that changes."""

    def __init__(self, aval, mutable_qdd):
        self.aval, self.mutable_qdd = aval, mutable_qdd


def cur_qdd(x):
    """The part of the type of `x` that changes, as it is now: what its method `cur_qdd` says.

    Example:
      >>> class Stack(list):
      ...     def cur_qdd(self):
      ...         return len(self)
      >>> cur_qdd(Stack([1, 2]))
      2
    """
    return x.cur_qdd()


class HiPrimitive:
    """A primitive of values of any kind. A subclass defines `impl`."""

    multiple_results = False

    def __init__(self, name):
        self.name = name

    def bind(self, *args, **params):
        """impl(*args, **params).

        Raises:
          NotImplementedError: inside of a transformation.
        """
        if _api.tracing():
            raise NotImplementedError(
                f"{self.name}: programs hold arrays only, so that one of other values "
                "runs outside of jit, vmap and grad; use jax.extend.core.Primitive and arrays."
            )
        return self.impl(*args, **params)

    def __repr__(self):
        return self.name


class aval_method:
    """A method that a type gives to its values."""

    def __init__(self, fun):
        self.fun = fun


class aval_property:
    """A property that a type gives to its values."""

    def __init__(self, fget):
        self.fget = fget


_types = {}


def register_hitype(value_class, type_of):
    """`type_of(value)` is the type of the values of that class."""
    _types[value_class] = type_of
