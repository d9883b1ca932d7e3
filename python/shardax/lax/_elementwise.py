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
    """How halves are rounded."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def integer_pow(x, y):
    """x ** y for a constant integer y."""
    return bind("integer_pow", (operand_of("integer_pow", x),), y=operator.index(y))


def dtype(x):
    """The dtype of an array, a number, a nest of numbers or of what has a dtype; the one that a
    dtype, scalar type or name stands for.
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
    """1 / x."""
    x = operand_of("reciprocal", x)
    if x.dtype.kind in "biu":
        raise TypeError(
            "Integers cannot be raised to negative powers, got "
            f"integer_pow({x.dtype}{list(x.shape)}, -1)"
        )
    return integer_pow(x, -1)


def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """To the nearest integer; halves away from zero, or to the even neighbour."""
    return bind(
        "round", (operand_of("round", x),), rounding_method=RoundingMethod(rounding_method).value
    )


def clamp(min, x, max):
    """min(max(x, low), high); the bounds are scalars or of x's shape."""
    x = operand_of("clamp", x)
    min, max = (
        _core.convert(asarray(b), x.dtype) if isinstance(b, (int, float)) else asarray(b)
        for b in (min, max)
    )
    return bind("clamp", (min, x, max))


def select(pred, on_true, on_false):
    """on_true where pred holds, else on_false; all of one shape, or a scalar pred."""
    return select_n(pred, on_false, on_true)


def select_n(which, *cases):
    """cases[which], elementwise."""
    if not cases:
        raise ValueError("select_n() must have at least one case")
    return bind("select_n", (asarray(which), *(operand_of("select_n", c) for c in cases)))


def convert_element_type(operand, new_dtype):
    """Elements converted to another dtype; large Python integers cut to its bits."""
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
    """The same bits seen as another dtype; a change of width adds or drops a last dimension."""
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
    """Rounded as a float of fewer bits would be."""
    return bind(
        "reduce_precision",
        (operand_of("reduce_precision", operand),),
        exponent_bits=exponent_bits,
        mantissa_bits=mantissa_bits,
    )


def stop_gradient(x):
    """`x`, whose derivative is zero."""

    def one(leaf):
        leaf = asarray(leaf)
        return bind("stop_gradient", (leaf,)) if leaf.dtype.kind in "fcV" else leaf

    return tree_util.tree_map(one, x)


def tie_in(x, y):
    """`y`: programs of earlier years name a value `x` that an array was to be made beside."""
    return y


def stage(x, /):
    """A value as a result of the program that is being traced; outside of one, as an array.

    Example:
      >>> lax.stage(1.0)
      Array(1., dtype=float32, weak_type=True)
    """
    return api.optimization_barrier(asarray(x))


def optimization_barrier(operand, /):
    """A tree of arrays, opaque to the compiler: what is computed from the result is not merged with
    what is computed from the operand.

    Example:
      >>> lax.optimization_barrier(jnp.float32(1))
      Array(1., dtype=float32)
    """
    return tree_util.tree_map(lambda leaf: api.optimization_barrier(asarray(leaf)), operand)


for _name in __all__:
    globals()[_name].__module__ = "shardax.lax"
