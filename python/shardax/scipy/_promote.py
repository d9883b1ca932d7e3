"""shardax/scipy/_promote.py - operands as arrays of one inexact dtype."""

import shardax._core as _core
from shardax import numpy as jnp


def inexact(*operands):
    """Arrays of the inexact dtype that the operands promote to, each of its own shape."""
    arrays = [jnp.asarray(x) for x in operands]
    empty = _core.promote("inexact", *(x.reshape(-1)[:0] for x in arrays))
    return tuple(x.astype(e.dtype) for x, e in zip(arrays, empty))


def real(name, *operands):
    """Operands of one real inexact dtype."""
    operands = _core.promote("inexact", *operands)
    if operands[0].dtype.kind == "c":
        raise ValueError(f"{name} does not support complex-valued inputs.")
    return operands


def promoted(*operands):
    """Operands of one inexact dtype and one shape."""
    return _core.promote("inexact", *operands)
