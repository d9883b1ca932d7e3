"""shardax/_transform/zeros.py - tangents that are zero, and operands that rules are linear in."""

from shardax import tree_util
from shardax._base.dtypes import float0
from shardax._core import api as _core
from shardax._transform.avals import shaped_type
from shardax._transform.stages import float0_zeros


class Zero:
    """A tangent or cotangent that is zero and has no array; `aval` is its type."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self):
        return f"Zero({self.aval})"

    @staticmethod
    def from_primal_value(value):
        """The zero tangent of a value."""
        return Zero(_core.tangent_type(_core.typeof(value)))

    def instantiate(self):
        """The zero as an array."""
        return instantiate_zeros(self)


tree_util.register_pytree_node(Zero, lambda zero: ((), zero.aval), lambda aval, _: Zero(aval))


class UndefinedPrimal:
    """Stands for an operand in which a transpose rule's op is linear; `aval` is its type."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self):
        return f"UndefinedPrimal({self.aval})"


def zeros_like_aval(aval):
    """Zeros of a type."""
    if getattr(aval, "is_high", False):
        return aval.vspace_zero()
    aval = shaped_type(aval)
    return float0_zeros(aval.shape) if aval.dtype == float0 else _core.zeros_of(aval)


def instantiate_zeros(tangent):
    """An array of zeros in place of a Zero; anything else as it is."""
    return zeros_like_aval(tangent.aval) if type(tangent) is Zero else tangent
