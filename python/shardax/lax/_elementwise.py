"""shardax/lax/_elementwise.py - elementwise ops with arguments that are no arrays, and barriers."""

import enum
import operator

import numpy as np

import shardax._core as _core
from shardax import tree_util
from shardax._base.arrays import asarray, bind, operand_of
from shardax._core import api
from shardax.dtypes import itemsize_bits

__all__ = [
    "RoundingMethod",
    "bitcast_convert_type",
    "clamp",
    "convert_element_type",
    "dtype",
    "integer_pow",
    "optimization_barrier",
    "reciprocal",
    "reduce_precision",
    "round",
    "select",
    "select_n",
    "stage",
    "stop_gradient",
    "tie_in",
]


class RoundingMethod(enum.Enum):
    """The rounding of halves: AWAY_FROM_ZERO, or TO_NEAREST_EVEN.

    Example:
      >>> lax.round(2.5, lax.RoundingMethod.TO_NEAREST_EVEN)
      Array(2., dtype=float32, weak_type=True)
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def integer_pow(x, y):
    """The power x ** y for an int `y` that is known, by repeated multiplication.

    Args:
      x: an array of numbers.
      y: an int; negative ones need floats.

    Returns:
      The shape and dtype of `x`.

    Example:
      >>> lax.integer_pow(jnp.array([2.0, 3.0]), 3)
      Array([ 8., 27.], dtype=float32)
    """
    return bind("integer_pow", (operand_of("integer_pow", x),), y=operator.index(y))


def dtype(x):
    """The dtype of an array or a number, or the one that a dtype, scalar type or name stands for.

    Example:
      >>> lax.dtype(jnp.ones(2)), lax.dtype(1.0)
      (dtype('float32'), dtype('float32'))
    """
    if x is None:
        raise ValueError(f"Invalid argument to dtype: {x}.")
    if isinstance(x, str):
        return np.dtype(_core.requested_dtype(x, "dtype"))
    if isinstance(x, (type, np.dtype)):
        return _core.dtype_of(x)
    if type(x) in (int, float, complex, bool):
        return _core.dtype_of(type(x))
    own = getattr(x, "dtype", None)
    if isinstance(x, _core.Array) or (own is not None and not isinstance(own, np.dtype)):
        return own
    try:
        given = np.result_type(x) if own is None else own
    except TypeError as error:
        raise TypeError(f"Cannot determine dtype of {x}") from error
    try:
        return _core.canonical_dtype(given)
    except TypeError:
        raise TypeError(
            f"Value '{x}' with dtype {given} is not a valid JAX array type. Only arrays of numeric "
            "types are supported by JAX."
        ) from None


def reciprocal(x):
    """The reciprocal 1 / x of floats or complex numbers, elementwise.

    Example:
      >>> lax.reciprocal(jnp.array([2.0, 4.0]))
      Array([0.5 , 0.25], dtype=float32)
    """
    x = operand_of("reciprocal", x)
    if x.dtype.kind in "biu":
        raise TypeError(
            "Integers cannot be raised to negative powers, got "
            f"integer_pow({x.dtype}{list(x.shape)}, -1)"
        )
    return integer_pow(x, -1)


def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """The nearest integer to each element, in its dtype.

    Args:
      x: floats of any shape.
      rounding_method: whether halves go away from zero (the default) or to the even neighbour.

    Raises:
      TypeError: for integers and complex numbers.

    Example:
      >>> lax.round(jnp.array([0.5, 1.5, -2.5]))
      Array([ 1.,  2., -3.], dtype=float32)
    """
    return bind(
        "round", (operand_of("round", x),), rounding_method=RoundingMethod(rounding_method).value
    )


def clamp(min, x, max):
    """The elements limited to a range: minimum(maximum(x, min), max).

    Args:
      min, max: the bounds, scalars or arrays of the shape of `x`, of one dtype with it.
      x: an array of real numbers.

    Returns:
      The shape and dtype of `x`.

    Raises:
      TypeError: dtypes or shapes differ.

    Example:
      >>> lax.clamp(-1.0, jnp.array([-2.0, 0.0, 3.0]), 1.0)
      Array([-1.,  0.,  1.], dtype=float32)
    """
    x = operand_of("clamp", x)
    min, max = (
        _core.convert(asarray(b), x.dtype) if isinstance(b, (int, float)) else asarray(b)
        for b in (min, max)
    )
    return bind("clamp", (min, x, max))


def select(pred, on_true, on_false):
    """The elements of `on_true` where a condition holds, those of `on_false` elsewhere.

    Args:
      pred: booleans, an array of the shape of the cases or a scalar.
      on_true, on_false: arrays of one shape and dtype.

    Raises:
      TypeError: shapes or dtypes differ.

    Example:
      >>> lax.select(jnp.array([True, False]), jnp.array([1, 2]), jnp.array([10, 20]))
      Array([ 1, 20], dtype=int32)
    """
    return select_n(pred, on_false, on_true)


def select_n(which, *cases):
    """The elements of the case that `which` names: cases[which[i]][i].

    Args:
      which: int32 (or booleans for two cases), an array of the shape of the cases or a scalar.
      cases: arrays of one shape and dtype.

    Raises:
      TypeError: shapes or dtypes differ.
      ValueError: there is no case.

    Example:
      >>> lax.select_n(jnp.array([0, 2]), jnp.array([1, 2]), jnp.array([3, 4]), jnp.array([5, 6]))
      Array([1, 6], dtype=int32)
    """
    if not cases:
        raise ValueError("select_n() must have at least one case")
    return bind("select_n", (asarray(which), *(operand_of("select_n", c) for c in cases)))


def convert_element_type(operand, new_dtype):
    """An array with its elements converted to another dtype.

    Large Python integers are cut to its bits.

    Args:
      operand: an array or number.
      new_dtype: a dtype, or one of Python's types, which are 32 bits wide but for x64.

    Returns:
      The shape of `operand`.

    Example:
      >>> lax.convert_element_type(jnp.array([1.7, -1.7]), jnp.int32)
      Array([ 1, -1], dtype=int32)
    """
    if type(operand) is int and not -(2**31) <= operand < 2**31:
        wanted = np.dtype(_core.requested_dtype(new_dtype, "convert_element_type"))
        if wanted.kind in "iu":
            bits = 8 * wanted.itemsize
            operand = (operand + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
            operand = np.asarray(operand % 2**bits if wanted.kind == "u" else operand, wanted)
        else:
            operand = float(operand)
    operand = operand_of("convert_element_type", operand)
    if isinstance(new_dtype, type) and new_dtype in (int, float, complex, bool):
        return _core.convert(operand, _core.canonical_dtype(new_dtype))
    return _core.convert(operand, _core.requested_dtype(new_dtype, "convert_element_type"))


def bitcast_convert_type(operand, new_dtype):
    """The same bits seen as another dtype.

    Args:
      operand: an array or number.
      new_dtype: a dtype. A wider one takes a last dimension of as many elements, a narrower one
        adds it.

    Raises:
      TypeError: for booleans and complex numbers, unless dtypes are the same.

    Example:
      >>> lax.bitcast_convert_type(jnp.float32(1.0), jnp.int32) == 127 << 23
      Array(True, dtype=bool)
    """
    operand = operand_of("bitcast_convert_type", operand)
    target = _core.requested_dtype(new_dtype, "bitcast_convert_type")
    old, new = itemsize_bits(operand.dtype), itemsize_bits(target)
    if old != new and min(old, new) < 8:
        return _through_bytes(operand, target, old, new)
    return bind("bitcast_convert_type", (operand,), new_dtype=target)


def _through_bytes(x, target, old, new):
    """Bits between numbers of fewer than 8 bits, the lowest first, and numbers of other widths."""
    if old < 8 and (not x.ndim or x.shape[-1] * old != new):
        raise ValueError(
            f"bitcast_convert_type: {x.dtype}{list(x.shape)} has no last dimension of "
            f"{new // old} numbers that make one {np.dtype(target)}."
        )
    width = min(old, new, 8)
    count = 8 // width
    word = _core.requested_dtype(f"uint{width}", "bitcast_convert_type")
    shifts = np.arange(0, 8, width, dtype=np.uint8)
    if old < 8:
        parts = _core.convert(bind("bitcast_convert_type", (x,), new_dtype=word), np.uint8)
        parts = parts.reshape(*x.shape[:-1], x.shape[-1] // count, count)
        octets = (parts << shifts).sum(-1, dtype=np.uint8)
        octets = octets if new > 8 else octets[..., 0]
        return bind("bitcast_convert_type", (octets,), new_dtype=target)
    octets = bind("bitcast_convert_type", (x,), new_dtype=np.dtype(np.uint8))
    octets = octets if old > 8 else octets[..., None]
    parts = (octets[..., None] >> shifts) & np.uint8(2**width - 1)
    parts = parts.reshape(*x.shape, octets.shape[-1] * count)
    return bind("bitcast_convert_type", (_core.convert(parts, word),), new_dtype=target)


def reduce_precision(operand, exponent_bits, mantissa_bits):
    """Floats rounded as those with fewer bits would be, in their own dtype.

    Args:
      operand: an array of floats.
      exponent_bits, mantissa_bits: ints: the bits that are left; 8 and 7 are those of bfloat16.

    Example:
      >>> lax.reduce_precision(jnp.array([1.0, 1.001]), 8, 7)
      Array([1., 1.], dtype=float32)
    """
    return bind(
        "reduce_precision",
        (operand_of("reduce_precision", operand),),
        exponent_bits=exponent_bits,
        mantissa_bits=mantissa_bits,
    )


def stop_gradient(x):
    """A tree of arrays whose derivative is zero.

    Args:
      x: a tree of arrays.

    Returns:
      The same values.

    Example:
      >>> shardax.grad(lambda x: x * lax.stop_gradient(x))(3.0)
      Array(3., dtype=float32, weak_type=True)
    """

    def one(leaf):
        leaf = asarray(leaf)
        return bind("stop_gradient", (leaf,)) if leaf.dtype.kind in "fcV" else leaf

    return tree_util.tree_map(one, x)


def tie_in(x, y):
    """The second argument: programs of earlier years name a value `x` that an array was to be made
    beside.

    Example:
      >>> lax.tie_in(1.0, 2.0)
      2.0
    """
    return y


def stage(x, /):
    """A value as a result of the program that is being traced; outside of one, as an array.

    Example:
      >>> lax.stage(1.0)
      Array(1., dtype=float32, weak_type=True)
    """
    return api.optimization_barrier(asarray(x))


def optimization_barrier(operand, /):
    """A tree of arrays, opaque to the compiler. Computations on the result are not merged with
    those on the operand.

    Example:
      >>> lax.optimization_barrier(jnp.float32(1))
      Array(1., dtype=float32)
    """
    return tree_util.tree_map(lambda leaf: api.optimization_barrier(asarray(leaf)), operand)


for _name in __all__:
    globals()[_name].__module__ = "shardax.lax"
