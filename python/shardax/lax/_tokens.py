"""shardax/lax/_tokens.py - tokens: values without elements that say what happens before what."""

import numpy as np

from shardax._base.arrays import asarray
from shardax.lax._elementwise import optimization_barrier

__all__ = ["after_all", "create_token"]


def create_token(_=None):
    """A token: an array without elements.

    Ops with effects keep the order in which they are bound; tokens are for programs that hand one
    from op to op.

    Example:
      >>> lax.create_token().shape
      (0,)
    """
    return asarray(np.zeros(0, bool))


def after_all(*operands):
    """A token that comes after the given ones.

    Example:
      >>> lax.after_all(lax.create_token(), lax.create_token()).shape
      (0,)
    """
    if not operands:
        return create_token()
    return optimization_barrier(tuple(operands))[0]
