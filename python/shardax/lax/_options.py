"""shardax/lax/_options.py - the keywords of elementwise functions besides their operands.

Each takes (operands, value) and gives the operands that the op is bound to; the core calls them.
"""

import dataclasses
import enum

from shardax._base.arrays import asarray
from shardax.lax._elementwise import convert_element_type

__all__ = ["AccuracyMode", "Tolerance", "accuracy", "out_dtype"]


class AccuracyMode(enum.Enum):
    """The accuracy that elementwise functions are asked for; they are always computed as at
    HIGHEST.

    Example:
      >>> lax.exp(0.0, accuracy=lax.AccuracyMode.HIGHEST)
      Array(1., dtype=float32, weak_type=True)
    """

    HIGHEST = 1
    DEFAULT = 2


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """The error that a program allows an elementwise function; it is never used up.

    Example:
      >>> lax.exp(0.0, accuracy=lax.Tolerance(ulps=1))
      Array(1., dtype=float32, weak_type=True)
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self):
        if min(self.atol, self.rtol, self.ulps) < 0:
            raise ValueError("Tolerances must be non-negative.")
        if max(self.atol, self.rtol, self.ulps) == 0:
            raise ValueError("At least one of atol, rtol, or ulps must be set.")


def accuracy(operands, value):
    """`value` allows errors that no kernel makes: it is checked only."""
    if not isinstance(value, (AccuracyMode, Tolerance, type(None))):
        raise NotImplementedError(f"Accuracy {value} not supported")
    return operands


def out_dtype(operands, value):
    """Operands of that dtype: products are computed in it."""
    if value is None:
        return operands
    return tuple(convert_element_type(asarray(x), value) for x in operands)
