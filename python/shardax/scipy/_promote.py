"""shardax/scipy/_promote.py - operands of different shapes as arrays of one inexact dtype."""

import shardax._core as _core
from shardax import numpy as jnp


def inexact(*operands):
    """Arrays of the inexact dtype that the operands promote to, each of its own shape."""
    arrays = [jnp.asarray(x) for x in operands]
    empty = _core.promote("inexact", *(x.reshape(-1)[:0] for x in arrays))
    return tuple(x.astype(e.dtype) for x, e in zip(arrays, empty))
