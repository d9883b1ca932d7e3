"""shardax.experimental.pallas - kernels on references to blocks, run as loops over their grid.

The special features of JAX's kernels for accelerators have no counterpart here. A kernel is a
program like any other, and options for memories and pipelines are accepted.
"""

import dataclasses
import enum
from typing import Any

from shardax import lax
from shardax import numpy as jnp
from shardax._transform.refs.slices import Slice, ds
from shardax.debug import print as debug_print
from shardax.experimental.pallas import triton
from shardax.experimental.pallas._blocks import (
    Blocked,
    BlockSpec,
    Element,
    GridSpec,
    Squeezed,
    squeezed,
)
from shardax.experimental.pallas._call import num_programs, pallas_call, program_id

__all__ = [
    "ANY",
    "BlockSpec",
    "Blocked",
    "CompilerParams",
    "CostEstimate",
    "Element",
    "GridSpec",
    "MemorySpace",
    "Slice",
    "Squeezed",
    "broadcast_to",
    "cdiv",
    "debug_print",
    "ds",
    "dslice",
    "loop",
    "multiple_of",
    "next_power_of_2",
    "num_programs",
    "pallas_call",
    "program_id",
    "squeezed",
    "triton",
    "when",
]

dslice = ds


class MemorySpace(enum.Enum):
    """The memory of a block: there is one memory."""

    ANY = "any"
    HOST = "host"


ANY = MemorySpace.ANY


@dataclasses.dataclass(frozen=True)
class CompilerParams:
    """Options for compilers of kernels."""


@dataclasses.dataclass(frozen=True)
class CostEstimate:
    """The cost of a kernel."""

    flops: int
    transcendentals: int
    bytes_accessed: int
    remote_bytes_transferred: int = 0


def cdiv(a: Any, b: Any):
    """a / b, rounded up.

    Example:
      >>> cdiv(7, 2)
      4
    """
    return (a + b - 1) // b


def next_power_of_2(x: int):
    """The lowest power of 2 that is not below x.

    Example:
      >>> next_power_of_2(5)
      8
    """
    if x < 0:
        raise ValueError(f"next_power_of_2: x must not be negative; got {x}.")
    return 1 if x == 0 else 1 << (x - 1).bit_length()


def broadcast_to(a, shape):
    """An array repeated to that shape."""
    return jnp.broadcast_to(a, shape)


def multiple_of(x, values):
    """x itself: that it is a multiple needs no telling.

    `values` has no effect: kernels run as programs on the CPU, as with interpret=True in JAX.
    """
    return x


def when(condition):
    """A decorator: the function is called at once, where the condition holds.

    Example:
      >>> ref = shardax.new_ref(jnp.zeros(()))
      >>> @when(True)
      ... def _():
      ...     ref[...] = 1.0
      >>> ref[...]
      Array(1., dtype=float32)
    """

    def decorate(fun):
        if isinstance(condition, bool):
            if condition:
                fun()
        else:
            lax.cond(condition, lambda: (fun(), None)[1], lambda: None)

    return decorate


def loop(lower, upper, *, init_carry=None, step=1, unroll=None):
    """A decorator: the function is called at once for lower, lower + step, ... below upper. With
    `init_carry`, it takes and gives a carry, whose last value stands for its name.

    Example:
      >>> ref = shardax.new_ref(jnp.zeros(3))
      >>> @loop(0, 3)
      ... def _(i):
      ...     ref[i] = 2.0
      >>> ref[...]
      Array([2., 2., 2.], dtype=float32)
    """

    def decorate(body):
        def turn(k, carry):
            i = lower + k * step
            return body(i) if init_carry is None else body(i, carry)

        return lax.fori_loop(0, cdiv(upper - lower, step), turn, init_carry, unroll=unroll)

    return decorate
