"""shardax/_transform/refs/slices.py - parts of references whose beginnings are traced."""

import dataclasses
from typing import Any

import numpy as np

from shardax._core import api as _core


@dataclasses.dataclass(frozen=True)
class Slice:
    """`size` places from `start` on, `stride` apart; `start` may be traced."""

    start: Any
    size: int
    stride: int = 1


def ds(start, size=None, stride=None):
    """The places that an index of a reference selects: `ref[ds(start, size)]`.

    Args:
      start: the first of them, or where `size` is None their number; it may be traced.
      size: how many, a Python integer.
      stride: how far apart they are, 1 by default.

    Example:
      >>> ref = shardax.new_ref(jnp.arange(5))
      >>> ref[ds(1, 2)]
      Array([1, 2], dtype=int32)
    """
    if start is None:
        return slice(None)
    if size is None:
        start, size = 0, start
    return Slice(start, int(size), 1 if stride is None else int(stride))


def without_slices(shape, items):
    """The same index in arrays: those given come first, in the shape that they have together, then
    each slice is a dimension."""
    items = tuple(items)
    if Ellipsis in (places := [i if i is Ellipsis else 0 for i in items]):
        at = places.index(Ellipsis)
        rest = (slice(None),) * (len(shape) - len(items) + 1)
        items = items[:at] + rest + items[at + 1 :]
    items += (slice(None),) * (len(shape) - len(items))
    spread = [i for i, item in enumerate(items) if isinstance(item, (slice, Slice))]
    out = []
    for i, (item, extent) in enumerate(zip(items, shape)):
        if isinstance(item, slice):
            item = np.arange(*item.indices(extent), dtype=np.int32)
        elif isinstance(item, Slice):
            item = _core.asarray(item.start) + np.arange(item.size, dtype=np.int32) * item.stride
        else:
            item = _core.asarray(item)
            out.append(item.reshape(item.shape + (1,) * len(spread)) if item.ndim else item)
            continue
        after = len(spread) - 1 - spread.index(i)
        out.append(item.reshape((-1,) + (1,) * after))
    return tuple(out)
