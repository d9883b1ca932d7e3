# shardax/_transform/hijax/accums.py - accumulators that backward rules give cotangents to.
from shardax._base.array_functions import moveaxis
from shardax._transform.hijax.types import is_hi
from shardax._transform.zeros import Zero, instantiate_zeros, zeros_like_aval


class GradAccum:
    """Takes the cotangents of an operand, and adds them up."""

    def __init__(self, aval):
        self.aval = aval

    def accum(self, x):
        """Adds the cotangent `x`; one that nothing keeps has no effect."""

    def freeze(self):
        """The sum: a cotangent, or a Zero."""
        return Zero(self.aval)


class ValAccum(GradAccum):
    """One whose sum is asked for."""

    def __init__(self, aval, val=None):
        super().__init__(aval)
        self.val = val

    def accum(self, x):
        if x is None or type(x) is Zero:
            return
        if self.val is None:
            self.val = x
        elif is_hi(self.aval):
            self.val = self.aval.vspace_add(self.val, x)
        else:
            self.val = self.val + x

    def freeze(self):
        return Zero(self.aval) if self.val is None else self.val


class NullAccum(GradAccum):
    """The accumulator of an operand without cotangents: it drops its arguments."""


def instantiated(x):
    """Zeros in place of a Zero, of any type."""
    return instantiate_zeros(x)


def moved(value, dim):
    """A stack of cotangents as that of an operand mapped over `dim`; None: their sum."""
    if type(value) is Zero:
        return value
    return value.sum(0) if dim is None else moveaxis(value, 0, dim)


__all__ = ["GradAccum", "NullAccum", "ValAccum", "instantiated", "moved", "zeros_like_aval"]
