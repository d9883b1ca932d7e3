"""shardax.experimental.roofline - bounds of a program's time: arithmetic, memory, links of a
mesh."""

from shardax.experimental.roofline.results import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
)
from shardax.experimental.roofline.roofline import (
    register_roofline,
    register_standard_roofline,
    roofline,
    roofline_and_grad,
)

__all__ = [
    "RooflineResult",
    "RooflineRuleContext",
    "RooflineShape",
    "register_roofline",
    "register_standard_roofline",
    "roofline",
    "roofline_and_grad",
]
