"""shardax/_compat/experimental/roofline/results.py - arguments and results of roofline rules."""

import dataclasses
import math
from typing import Any

from shardax.core import ShapedArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RooflineRuleContext:
    """The facts about an equation that a rule may ask for beside shapes and params.

    Attributes:
      name_stack: the names around it.
      primitive: its op.
      avals_in, avals_out: types of operands and results, as one device has them.
      jaxpr_eqn_ctx: how it was staged.
      mesh: the mesh over which devices are, or None.
      pin_lhs_in_vmem, pin_rhs_in_vmem: operands of products that stay in fast memory.
    """

    name_stack: Any
    primitive: Any
    avals_in: Any
    avals_out: Any
    jaxpr_eqn_ctx: Any
    mesh: Any
    pin_lhs_in_vmem: bool
    pin_rhs_in_vmem: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RooflineShape:
    """The shape and the dtype of an array.

    Example:
      >>> RooflineShape(shape=(2, 3), dtype=jnp.dtype("float32")).bytes
      24
    """

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def from_aval(cls, aval):
        """Of a type; TypeError for what is not that of an array."""
        if not isinstance(aval, ShapedArray):
            raise TypeError(f"Expected ShapedArray, got {type(aval)}.")
        return cls(shape=aval.shape, dtype=aval.dtype)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def bytes(self):
        return int(self.size * self.dtype.itemsize)

    @classmethod
    def total_bytes(cls, avals):
        return sum(cls.from_aval(aval).bytes for aval in avals)


def _scaled(amounts, by):
    return {axis: int(n * by) for axis, n in amounts.items()}


def _sum(some, others):
    return {axis: some.get(axis, 0) + others.get(axis, 0) for axis in some | others}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RooflineResult:
    """The computation, memory traffic and messages of one device. Results add up; a number
    multiplies one.

    Attributes:
      flops: of products, each multiplication and each addition counted.
      unfused_flops: of all ops.
      ici_bytes: by mesh axis, the bytes that cross the busiest link along it.
      ici_latency: by mesh axis, in hops.
      hbm_bytes: read and written by products, whose neighbours are fused into them.
      unfused_hbm_bytes: where every op reads its operands and writes its result.
      peak_hbm_bytes: the most that is alive at a time; of a sum, the larger.

    Example:
      >>> one = RooflineResult(flops=2, ici_bytes={"x": 8}, peak_hbm_bytes=3)
      >>> three = one + 2 * one
      >>> three.flops, three.ici_bytes, three.peak_hbm_bytes
      (6, {'x': 24}, 6)
    """

    flops: int = 0
    unfused_flops: int = 0
    ici_bytes: dict[str, int] = dataclasses.field(default_factory=dict)
    ici_latency: dict[str, int] = dataclasses.field(default_factory=dict)
    hbm_bytes: int = 0
    peak_hbm_bytes: int = 0
    unfused_hbm_bytes: int = 0

    @classmethod
    def zeros(cls):
        return cls()

    def __add__(self, other):
        return RooflineResult(
            flops=self.flops + other.flops,
            unfused_flops=self.unfused_flops + other.unfused_flops,
            ici_bytes=_sum(self.ici_bytes, other.ici_bytes),
            ici_latency=_sum(self.ici_latency, other.ici_latency),
            hbm_bytes=self.hbm_bytes + other.hbm_bytes,
            peak_hbm_bytes=max(self.peak_hbm_bytes, other.peak_hbm_bytes),
            unfused_hbm_bytes=self.unfused_hbm_bytes + other.unfused_hbm_bytes,
        )

    def __mul__(self, constant):
        return RooflineResult(
            flops=int(self.flops * constant),
            unfused_flops=int(self.unfused_flops * constant),
            ici_bytes=_scaled(self.ici_bytes, constant),
            ici_latency=_scaled(self.ici_latency, constant),
            hbm_bytes=int(self.hbm_bytes * constant),
            peak_hbm_bytes=int(self.peak_hbm_bytes * constant),
            unfused_hbm_bytes=int(self.unfused_hbm_bytes * constant),
        )

    __rmul__ = __mul__
