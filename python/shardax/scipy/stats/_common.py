# shardax/scipy/stats/_common.py - what the distributions share.
import shardax._core as _core
from shardax import numpy as jnp
from shardax._base.arrays import asarray, result_type


def inexact(*args):
    """Arguments as floats of one dtype."""
    return _core.promote("inexact", *args)


def floats(*args):
    """Arguments as floats of one dtype, each in its own shape."""
    dtype = result_type(*args)
    if not jnp.issubdtype(dtype, jnp.inexact):
        dtype = _core.canonical_dtype(float)
    return [asarray(x).astype(dtype) for x in args]


def within(inside, value, outside=-jnp.inf):
    """`value` where x is inside the support, else `outside`."""
    return jnp.where(inside, value, outside)
