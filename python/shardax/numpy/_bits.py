# shardax/numpy/_bits.py - bits packed into bytes.
import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind, check_arraylike, in_one_program
from shardax._base.compositions import concatenate, moveaxis
from shardax.numpy._pad import pad

_functions = _core.functions


@in_one_program("axis", "bitorder")
def packbits(a, axis=None, bitorder="big"):
    """Truth values as bits: eight along `axis` (None: of the flattened array) in each uint8."""
    check_arraylike("packbits", a)
    a = asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    a = moveaxis(_functions.not_equal(a, 0), axis, -1).astype(np.uint8)
    a = pad(a, [(0, 0)] * (a.ndim - 1) + [(0, -a.shape[-1] % 8)])
    a = a.reshape((*a.shape[:-1], a.shape[-1] // 8, 8))
    weights = np.uint8(1) << np.arange(8, dtype=np.uint8)
    weights = weights[::-1] if bitorder == "big" else weights
    bits = _functions.multiply(a, _core.broadcast_to(asarray(weights), a.shape))
    return moveaxis(bind("reduce_sum", (bits,), axes=(bits.ndim - 1,)), -1, axis)


@in_one_program("axis", "count", "bitorder")
def unpackbits(a, axis=None, count=None, bitorder="big"):
    """The bits of uint8, eight for each element along `axis` (None: of the flattened array)."""
    check_arraylike("unpackbits", a)
    a = asarray(a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    a = moveaxis(a, axis, -1)
    places = np.arange(8, dtype=np.uint8)
    places = (places[::-1] if bitorder == "big" else places).reshape((1,) * a.ndim + (8,))
    shifted = _functions.right_shift(a[..., None], places)
    bits = _functions.bitwise_and(shifted, np.uint8(1))
    total = a.shape[-1] * 8
    bits = bits.reshape((*a.shape[:-1], total))[..., :count]
    if count is not None and count > total:  # what is missing is 0
        margin = _core.full((*a.shape[:-1], count - total), 0, bits.dtype)
        bits = concatenate([bits, margin], axis=-1)
    return moveaxis(bits, -1, axis)
