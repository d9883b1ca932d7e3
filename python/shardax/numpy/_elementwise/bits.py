# shardax/numpy/_elementwise/bits.py - bits packed into bytes.
import numpy as np

import shardax._core as _core
from shardax._base.array_functions import concatenate, moveaxis
from shardax._base.arrays import asarray, bind, check_arraylike, in_one_program
from shardax.numpy._shaping.pad import pad

_functions = _core.functions


@in_one_program("axis", "bitorder")
def packbits(a, axis=None, bitorder="big"):
    """Truth values packed as bits: eight along `axis` in each uint8.

    Args:
      a: an array of booleans or integers, true where they are not 0.
      axis: the dimension; None: the array is flattened first.
      bitorder: "big": the first value is the highest bit; "little": the lowest.

    Returns:
      uint8; the size along `axis` is an eighth, rounded up. Missing bits are 0.

    Raises:
      TypeError: `a` holds floats or complex numbers.
      ValueError: for another `bitorder`.

    Example:
      >>> jnp.packbits(jnp.array([1, 0, 1, 0, 0, 0, 0, 1]))
      Array([161], dtype=uint8)
    """
    check_arraylike("packbits", a)
    a = asarray(a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    truth = a if a.dtype == np.bool_ else _functions.not_equal(a, 0)
    a = moveaxis(truth, axis, -1).astype(np.uint8)
    if a.shape[-1] % 8:
        a = pad(a, [(0, 0)] * (a.ndim - 1) + [(0, -a.shape[-1] % 8)])
    eights = a.reshape((*a.shape[:-1], a.shape[-1] // 8, 8))
    words = bind("bitcast_convert_type", (eights,), new_dtype=_WORD)
    # Bytes gather the bits of two, of four, of all eight: the last byte does, or the first.
    big = bitorder == "big"
    for step in (9, 18, 36) if big else (7, 14, 28):
        words = _functions.bitwise_or(words, _shifted(words, step, to_the_left=big))
    packed = bind("bitcast_convert_type", (words,), new_dtype=np.dtype("uint8"))
    return moveaxis(packed[..., 7 if big else 0], -1, axis)


_WORD = np.dtype("uint64")


def _word(value, like):
    """An array of that word, also while x64 is off."""
    halves = asarray(np.array([value & 0xFFFFFFFF, value >> 32], np.uint32))
    word = bind("bitcast_convert_type", (halves,), new_dtype=_WORD)
    return _core.broadcast_to(word, like.shape)


def _shifted(words, bits, *, to_the_left):
    op = "shift_left" if to_the_left else "shift_right_logical"
    return bind(op, (words, _word(bits, words)))


def _times(words, powers):
    """Times the sum of these powers of 2; products that share a place are of bits apart, so that
    nothing is carried."""
    return bind("mul", (words, _word(sum(1 << p for p in powers), words)))


@in_one_program("axis", "count", "bitorder")
def unpackbits(a, axis=None, count=None, bitorder="big"):
    """The bits of uint8 numbers, eight for each element along `axis`.

    Args:
      a: an array of uint8.
      axis: the dimension; None: the array is flattened first.
      count: how many bits to return along `axis`; negative: how many to leave out at the end; None:
        all.
      bitorder: "big": the highest bit comes first; "little": the lowest.

    Returns:
      uint8, 0 or 1; the size along `axis` is eight times as large.

    Raises:
      TypeError: `a` is not uint8.

    Example:
      >>> jnp.unpackbits(jnp.array([161], dtype="uint8"))
      Array([1, 0, 1, 0, 0, 0, 0, 1], dtype=uint8)
    """
    check_arraylike("unpackbits", a)
    a = asarray(a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    a = moveaxis(a, axis, -1)
    words = bind("convert_element_type", (a,), new_dtype=_WORD, weak_type=False)
    if bitorder == "big":  # bit 7 - i comes to place 8 i + 7
        words = _times(words, [9 * i for i in range(8)])
        words = bind("shift_right_logical", (words, _word(7, words)))
    else:  # bit i to place 8 i, the last one by itself
        last = bind("shift_right_logical", (words, _word(7, words)))
        last = bind("shift_left", (last, _word(56, words)))
        words = bind("and", (words, _word(0x7F, words)))
        words = bind("or", (_times(words, [7 * i for i in range(7)]), last))
    words = bind("and", (words, _word(0x0101010101010101, words)))
    bits = bind("bitcast_convert_type", (words,), new_dtype=np.dtype("uint8"))
    total = a.shape[-1] * 8
    bits = bits.reshape((*a.shape[:-1], total))[..., :count]
    if count is not None and count > total:  # missing bits are 0
        margin = _core.full((*a.shape[:-1], count - total), 0, bits.dtype)
        bits = concatenate([bits, margin], axis=-1)
    return moveaxis(bits, -1, axis)
