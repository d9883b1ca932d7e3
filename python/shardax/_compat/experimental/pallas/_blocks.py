"""shardax/_compat/experimental/pallas/_blocks.py - blocks of arrays that a kernel sees."""

import dataclasses
from typing import Any

from shardax import lax
from shardax import numpy as jnp


class Squeezed:
    """A dimension of which a block has one element, and which the kernel does not see."""

    def __repr__(self):
        return "squeezed"


squeezed = Squeezed()


@dataclasses.dataclass(frozen=True)
class Blocked:
    """A dimension of blocks of that size; indices count blocks."""

    block_size: int


@dataclasses.dataclass(frozen=True)
class Element:
    """A dimension of blocks of that size; indices count elements."""

    block_size: int
    padding: tuple = (0, 0)


@dataclasses.dataclass(frozen=True)
class BlockSpec:
    """The division of an array into blocks.

    Args:
      block_shape: a size per dimension; None or `squeezed` for one element, without the dimension.
        The whole array by default.
      index_map: gives the block of a step, from its place in the grid; the first by default.
      pipeline_mode, memory_space: accepted; there is one memory.
    """

    block_shape: Any = None
    index_map: Any = None
    pipeline_mode: Any = None
    memory_space: Any = dataclasses.field(default=None, kw_only=True)


@dataclasses.dataclass(frozen=True)
class GridSpec:
    """The grid of a kernel, and the blocks of its arrays."""

    grid: Any = ()
    in_specs: Any = None
    out_specs: Any = None
    scratch_shapes: Any = ()


class Blocks:
    """The blocks of an array of that shape."""

    def __init__(self, spec, shape):
        self.shape = shape
        given = spec.block_shape if spec.block_shape is not None else shape
        if len(given) != len(shape):
            raise ValueError(
                f"pallas_call: the block shape {tuple(given)} must have as many dimensions as the "
                f"array's shape {tuple(shape)}."
            )
        self.dropped = [i for i, n in enumerate(given) if n is None or isinstance(n, Squeezed)]
        self.sizes = [1 if i in self.dropped else getattr(n, "block_size", n)
                      for i, n in enumerate(given)]  # fmt: skip
        self.steps = [1 if isinstance(n, Element) else size for n, size in zip(given, self.sizes)]
        self.index_map = spec.index_map or (lambda *ids: (0,) * len(shape))
        # Blocks that the array's end cuts are whole ones of an array that is longer.
        self.whole = [-(-n // step) * step for n, step in zip(shape, self.steps)]

    def padded(self, x):
        """The array in whole blocks."""
        pads = [(0, whole - n, 0) for whole, n in zip(self.whole, self.shape)]
        return lax.pad(x, jnp.zeros((), x.dtype), pads) if any(p[1] for p in pads) else x

    def cut(self, x):
        """The array without the padding of `padded`."""
        return lax.slice(x, (0,) * x.ndim, self.shape) if x.shape != tuple(self.shape) else x

    def start(self, ids):
        """The start of the block of a step."""
        found = self.index_map(*ids)
        found = found if isinstance(found, (tuple, list)) else (found,)
        return [jnp.asarray(i, jnp.int32) * step for i, step in zip(found, self.steps)]

    def read(self, x, start):
        """The block that begins there."""
        return jnp.squeeze(lax.dynamic_slice(x, start, self.sizes), self.dropped)

    def written(self, x, start, block):
        """The array with another block there."""
        return lax.dynamic_update_slice(x, block.reshape(self.sizes), start)
