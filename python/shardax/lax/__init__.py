"""shardax.lax - the ops themselves, control flow and collectives.

Elementwise functions take operands of equal shape and dtype (Python numbers adopt the other's
dtype); shardax.numpy promotes and broadcasts. They are C++ callables made from the records of ops.
"""

import enum
import operator

import numpy as np

from shardax import _core
from shardax._base.arrays import asarray, bind, canonical_axis
from shardax._devices.constraints import with_sharding_constraint
from shardax.lax import linalg
from shardax.lax._associative_scan import associative_scan
from shardax.lax._branches import *  # noqa: F403
from shardax.lax._collectives import *  # noqa: F403
from shardax.lax._composite import composite
from shardax.lax._conv_numbers import *  # noqa: F403
from shardax.lax._convolutions import *  # noqa: F403
from shardax.lax._dot import *  # noqa: F403
from shardax.lax._dynamic import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
)
from shardax.lax._fft import *  # noqa: F403
from shardax.lax._indexing import *  # noqa: F403
from shardax.lax._layout import (
    _ints,
    broadcast,
    broadcast_in_dim,
    broadcast_like,
    broadcast_to_rank,
    broadcasted_iota,
    collapse,
    concatenate,
    empty,
    expand_dims,
    full,
    full_like,
    index_in_dim,
    iota,
    pad,
    reshape,
    rev,
    slice,
    slice_in_dim,
    slice_type,
    split,
    squeeze,
    stack,
    tile,
    transpose,
    unstack,
)
from shardax.lax._loops import *  # noqa: F403
from shardax.lax._ragged import *  # noqa: F403
from shardax.lax._ragged_exchange import ragged_all_to_all
from shardax.lax._random_bits import RandomAlgorithm, rng_bit_generator
from shardax.lax._reductions import (
    approx_max_k,
    approx_min_k,
    argmax,
    argmin,
    cumlogsumexp,
    cummax,
    cummin,
    cumprod,
    cumsum,
    reduce,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_xor,
    sort,
    sort_key_val,
    top_k,
)
from shardax.lax._solves import custom_linear_solve, custom_root
from shardax.lax._windows import *  # noqa: F403
from shardax.numpy._shape import broadcast_shapes

for _name in dir(_core.lax):
    if not _name.startswith("_") and _name not in globals():
        globals()[_name] = getattr(_core.lax, _name)
del _name


class RoundingMethod(enum.Enum):
    """How halves are rounded."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


# ---- elements ----------------------------------------------------------------------------------


def integer_pow(x, y):
    """x ** y for a constant integer y."""
    return bind("integer_pow", (asarray(x),), y=operator.index(y))


def dtype(x):
    """The dtype of an array or number."""
    return _core.dtype_of(x) if isinstance(x, (type, np.dtype)) else asarray(x).dtype


def reciprocal(x):
    """1 / x."""
    x = asarray(x)
    if x.dtype.kind in "biu":
        raise TypeError(
            "Integers cannot be raised to negative powers, got "
            f"integer_pow({x.dtype}{list(x.shape)}, -1)"
        )
    return integer_pow(x, -1)


def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """To the nearest integer; halves away from zero, or to the even neighbour."""
    return bind("round", (asarray(x),), rounding_method=RoundingMethod(rounding_method).value)


def clamp(min, x, max):
    """min(max(x, low), high); the bounds are scalars or of x's shape."""
    x = asarray(x)
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
    return bind("select_n", (asarray(which), *(asarray(c) for c in cases)))


def convert_element_type(operand, new_dtype):
    """Elements converted to another dtype."""
    if isinstance(new_dtype, type) and new_dtype in (int, float, complex, bool):
        return _core.convert(asarray(operand), _core.canonical_dtype(new_dtype))
    return _core.convert(asarray(operand), _core.requested_dtype(new_dtype, "convert_element_type"))


def bitcast_convert_type(operand, new_dtype):
    """The same bits seen as another dtype; a change of width adds or drops a last dimension."""
    return bind(
        "bitcast_convert_type",
        (asarray(operand),),
        new_dtype=_core.requested_dtype(new_dtype, "bitcast_convert_type"),
    )


def reduce_precision(operand, exponent_bits, mantissa_bits):
    """Rounded as a float of fewer bits would be."""
    return bind(
        "reduce_precision",
        (asarray(operand),),
        exponent_bits=exponent_bits,
        mantissa_bits=mantissa_bits,
    )


def stop_gradient(x):
    """`x`, whose derivative is zero."""
    from shardax import tree_util

    def one(leaf):
        leaf = asarray(leaf)
        return bind("stop_gradient", (leaf,)) if leaf.dtype.kind in "fcV" else leaf

    return tree_util.tree_map(one, x)


def tie_in(x, y):
    """`y`: programs of earlier years name a value `x` that an array was to be made beside."""
    return y


def optimization_barrier(operand):
    """A tree of arrays, opaque to the compiler: what is computed from the result is not merged with
    what is computed from the operand.

    Example:
      >>> lax.optimization_barrier(jnp.float32(1))
      Array(1., dtype=float32)
    """
    from shardax import tree_util
    from shardax._core import api

    return tree_util.tree_map(lambda leaf: api.optimization_barrier(asarray(leaf)), operand)


def __getattr__(name):
    """Primitives by JAX's names: `lax.exp_p` is the op exp."""
    if name.endswith("_p"):
        from shardax._core import api

        try:
            return api.primitive({"pjit_p": "jit"}.get(name, name[:-2]))
        except ValueError:
            pass
    raise AttributeError(f"module 'shardax.lax' has no attribute '{name}'")
