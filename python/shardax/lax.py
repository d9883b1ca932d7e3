"""shardax.lax - the ops themselves, control flow and collectives.

Elementwise functions take operands of equal shape and dtype (Python numbers adopt the other's dtype);
shardax.numpy promotes and broadcasts. They are C++ callables made from the records of ops.
"""

import enum
import operator

import numpy as np

from shardax import _core
from shardax._associative_scan import associative_scan
from shardax._collectives import *  # noqa: F403
from shardax._control import cond, fori_loop, map, scan, switch, while_loop
from shardax._incomplete import *  # noqa: F403
from shardax._windows import *  # noqa: F403
from shardax.numpy._common import asarray, bind, canonical_axis

for _name in dir(_core.lax):
    if not _name.startswith("_"):
        globals()[_name] = getattr(_core.lax, _name)
del _name

_lax = _core.lax


class Precision(enum.Enum):
    """How products are computed. Everything is in full precision here; the names are accepted."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


class RandomAlgorithm(enum.Enum):
    """Names of generators; threefry is the one that exists."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


class RoundingMethod(enum.Enum):
    """How halves are rounded."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class GatherScatterMode(enum.Enum):
    """What happens to indices beyond the bounds."""

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2
    ONE_HOT = 3

    @staticmethod
    def from_any(mode):
        if isinstance(mode, GatherScatterMode):
            return mode
        names = {"clip": 0, "fill": 1, "drop": 1, "promise_in_bounds": 2, None: 1}
        if mode not in names:
            raise ValueError(f'Unknown gather mode "{mode}"')
        return GatherScatterMode(names[mode])


def _shape(shape):
    return tuple(operator.index(d) for d in shape)


def _ints(values):
    return tuple(operator.index(v) for v in values)


# ---- elements ----------------------------------------------------------------------------------


def integer_pow(x, y):
    """x ** y for a constant integer y."""
    return bind("integer_pow", (asarray(x),), y=operator.index(y))


def dtype(x):
    """The dtype of an array or number."""
    return asarray(x).dtype


def reciprocal(x):
    """1 / x."""
    x = asarray(x)
    if x.dtype.kind in "biu":
        raise TypeError(
            f"Integers cannot be raised to negative powers, got integer_pow({x.dtype}{list(x.shape)}, -1)"
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


# ---- layout ------------------------------------------------------------------------------------


def broadcast(operand, sizes, *, out_sharding=None):
    """New leading dimensions of those sizes, repeating the operand."""
    operand = asarray(operand)
    sizes = _shape(sizes)
    kept = tuple(range(len(sizes), len(sizes) + operand.ndim))
    return bind(
        "broadcast_in_dim", (operand,), shape=sizes + operand.shape, broadcast_dimensions=kept
    )


def broadcast_in_dim(operand, shape, broadcast_dimensions, *, out_sharding=None):
    """Dimension i of the operand becomes dimension broadcast_dimensions[i] of `shape`."""
    return bind(
        "broadcast_in_dim",
        (asarray(operand),),
        shape=_shape(shape),
        broadcast_dimensions=_ints(broadcast_dimensions),
    )


def broadcast_to_rank(x, rank):
    """Leading dimensions of size 1 up to that rank."""
    x = asarray(x)
    return expand_dims(x, range(rank - x.ndim)) if x.ndim < rank else x


def broadcast_shapes(*shapes):
    """The shape to which all broadcast."""
    return _core.broadcast_shapes(*shapes)


def reshape(operand, new_sizes, dimensions=None, *, out_sharding=None):
    """The same elements in another shape (after a transposition to `dimensions`)."""
    operand = asarray(operand)
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    return bind("reshape", (operand,), new_sizes=_shape(new_sizes))


def transpose(operand, permutation):
    """Dimensions in another order."""
    return bind("transpose", (asarray(operand),), permutation=_ints(permutation))


def expand_dims(array, dimensions):
    """New dimensions of size 1 at those positions of the result."""
    from shardax.numpy import expand_dims as expand

    return expand(array, tuple(dimensions))


def squeeze(array, dimensions):
    """Without those dimensions, whose sizes are 1."""
    array = asarray(array)
    axes = tuple(sorted(canonical_axis(d, array.ndim) for d in dimensions))
    return bind("squeeze", (array,), dimensions=axes) if axes else array


def collapse(operand, start_dimension, stop_dimension=None):
    """Dimensions from start to stop as one."""
    operand = asarray(operand)
    stop = operand.ndim if stop_dimension is None else stop_dimension
    low, high, _ = slice_type(start_dimension, stop).indices(operand.ndim)
    return operand.reshape(operand.shape[:low] + (-1,) + operand.shape[high:])


slice_type = slice


def slice(operand, start_indices, limit_indices, strides=None):
    """The elements from start to limit, in steps of `strides`."""
    operand = asarray(operand)
    strides = (1,) * operand.ndim if strides is None else _ints(strides)
    return bind(
        "slice",
        (operand,),
        start_indices=_ints(start_indices),
        limit_indices=_ints(limit_indices),
        strides=strides,
    )


def slice_in_dim(operand, start_index, limit_index, stride=1, axis=0):
    """A range along one dimension."""
    operand = asarray(operand)
    axis = canonical_axis(axis, operand.ndim)
    n = operand.shape[axis]
    low = 0 if start_index is None else start_index + n if start_index < 0 else start_index
    high = n if limit_index is None else limit_index + n if limit_index < 0 else limit_index
    start, limit, step = [0] * operand.ndim, list(operand.shape), [1] * operand.ndim
    start[axis], limit[axis], step[axis] = low, high, stride
    return slice(operand, start, limit, step)


def index_in_dim(operand, index, axis=0, keepdims=True):
    """One slice along a dimension."""
    operand = asarray(operand)
    axis = canonical_axis(axis, operand.ndim)
    n = operand.shape[axis]
    index = operator.index(index)
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
    index %= n
    out = slice_in_dim(operand, index, index + 1, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def rev(operand, dimensions):
    """Elements in reverse order along dimensions."""
    operand = asarray(operand)
    return bind(
        "rev", (operand,), dimensions=tuple(canonical_axis(d, operand.ndim) for d in dimensions)
    )


def concatenate(operands, dimension):
    """Arrays joined along a dimension."""
    operands = [asarray(o) for o in operands]
    if not operands:
        raise ValueError("concatenate requires a non-empty sequences of arrays")
    if len({o.dtype for o in operands}) > 1:
        raise TypeError(
            "lax.concatenate requires arguments to have the same dtypes, got "
            + ", ".join(str(o.dtype) for o in operands)
            + ". (Tip: jnp.concatenate is a similar function that does automatic type promotion on inputs)."
        )
    return (
        operands[0]
        if len(operands) == 1
        else bind("concatenate", operands, dimension=operator.index(dimension))
    )


def pad(operand, padding_value, padding_config):
    """(low, high, interior) elements of `padding_value` per dimension; negative ones remove."""
    operand = asarray(operand)
    value = (
        _core.convert(asarray(padding_value), operand.dtype)
        if isinstance(padding_value, (int, float))
        else asarray(padding_value)
    )
    low, high, interior = (tuple(int(c[i]) for c in padding_config) for i in range(3))
    return bind("pad", (operand, value), low=low, high=high, interior=interior)


def iota(dtype, size):
    """0, 1, ..., size - 1."""
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype, shape, dimension, *, out_sharding=None):
    """0, 1, ... along one dimension of a shape."""
    shape = _shape(shape)
    return bind(
        "iota",
        (),
        dtype=_core.requested_dtype(dtype, "iota"),
        shape=shape,
        dimension=canonical_axis(dimension, len(shape)),
    )


def full(shape, fill_value, dtype=None, *, sharding=None):
    """One element, repeated."""
    from shardax.numpy import full as _full

    return _full(shape, fill_value, dtype)


def full_like(x, fill_value, dtype=None, shape=None, *, sharding=None):
    """One element, repeated in the shape of `x`."""
    from shardax.numpy import full_like as _full_like

    return _full_like(x, fill_value, dtype, shape)


def split(operand, sizes, axis=0):
    """Parts of those sizes along a dimension."""
    operand = asarray(operand)
    edges = np.cumsum([0, *sizes]).tolist()
    return [slice_in_dim(operand, a, b, 1, axis) for a, b in zip(edges[:-1], edges[1:])]


def tile(operand, reps):
    """The operand repeated along each dimension."""
    from shardax.numpy import tile as _tile

    return _tile(operand, reps)


# ---- products ----------------------------------------------------------------------------------


def dot_general(
    lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None
):
    """Sums of products: dimension_numbers = ((lhs contract, rhs contract), (lhs batch, rhs batch))."""
    lhs, rhs = asarray(lhs), asarray(rhs)
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    out = None if preferred_element_type is None else _core.dtype_of(preferred_element_type)
    return bind(
        "dot_general",
        (lhs, rhs),
        lhs_contract=_ints(lhs_contract),
        rhs_contract=_ints(rhs_contract),
        lhs_batch=_ints(lhs_batch),
        rhs_batch=_ints(rhs_batch),
        preferred_element_type=out,
    )


def dot(
    lhs,
    rhs,
    *,
    dimension_numbers=None,
    precision=None,
    preferred_element_type=None,
    out_sharding=None,
):
    """Vector and matrix products (or dot_general, with dimension_numbers)."""
    lhs, rhs = asarray(lhs), asarray(rhs)
    if dimension_numbers is None:
        if not (1 <= lhs.ndim <= 2 and 1 <= rhs.ndim <= 2 and lhs.shape[-1] == rhs.shape[0]):
            raise ValueError(
                "jax.lax.dot: dimension_numbers must be specified when not performing simple un-batched matrix-matrix, "
                f"matrix-vector, or vector-vector products; got lhs_shape={lhs.shape} rhs_shape={rhs.shape}"
            )
        dimension_numbers = (((lhs.ndim - 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)


def batch_matmul(lhs, rhs, precision=None):
    """Matrix products of stacks of matrices."""
    lhs, rhs = asarray(lhs), asarray(rhs)
    batch = tuple(range(lhs.ndim - 2))
    return dot_general(lhs, rhs, (((lhs.ndim - 1,), (rhs.ndim - 2,)), (batch, batch)))


# ---- reductions --------------------------------------------------------------------------------


def _reduction(op):
    def reduce(operand, axes, *, out_sharding=None):
        operand = asarray(operand)
        axes = tuple(sorted(canonical_axis(a, operand.ndim) for a in axes))
        return bind(op, (operand,), axes=axes) if axes else operand

    reduce.__name__ = op
    reduce.__doc__ = f"{op} over `axes`, a tuple of ints."
    return reduce


reduce_sum, reduce_prod, reduce_max, reduce_min, reduce_and, reduce_or = (
    _reduction("reduce_" + n) for n in ("sum", "prod", "max", "min", "and", "or")
)


def reduce_xor(operand, axes, *, out_sharding=None):
    """reduce_xor over `axes`, a tuple of ints."""
    operand = asarray(operand)
    return reduce(operand, np.zeros((), operand.dtype), _lax.bitwise_xor, axes)


def reduce(operands, init_values, computation, dimensions, out_sharding=None):
    """A reduction by an associative `computation` of two scalars, or of two trees of scalars like `operands`."""
    from shardax import tree_util
    from shardax._api import vmap

    leaves, tree = tree_util.tree_flatten(operands)
    leaves = [asarray(leaf) for leaf in leaves]
    inits = [
        _core.convert(asarray(i), a.dtype)
        for i, a in zip(tree_util.tree_leaves(init_values), leaves)
    ]
    axes = tuple(sorted(canonical_axis(d, leaves[0].ndim) for d in dimensions))
    ops = {
        _lax.add: reduce_sum,
        _lax.mul: reduce_prod,
        _lax.max: reduce_max,
        _lax.min: reduce_min,
        _lax.bitwise_and: reduce_and,
        _lax.bitwise_or: reduce_or,
    }
    if len(leaves) == 1 and computation in ops:
        return tree_util.tree_unflatten(
            tree, [computation(ops[computation](leaves[0], axes), inits[0])]
        )
    shape = leaves[0].shape
    kept = tuple(d for d in range(len(shape)) if d not in axes)
    count = int(np.prod([shape[d] for d in axes], dtype=int))
    rest = tuple(shape[d] for d in kept)
    rows = [
        transpose(a, axes + kept).reshape((count, int(np.prod(rest, dtype=int)))) for a in leaves
    ]

    def combine(x, y):
        out = computation(tree_util.tree_unflatten(tree, x), tree_util.tree_unflatten(tree, y))
        return [
            _core.convert(asarray(o), a.dtype) for o, a in zip(tree_util.tree_leaves(out), leaves)
        ]

    across = vmap(combine)
    first = [_core.broadcast_to(i, row.shape[1:]) for i, row in zip(inits, rows)]
    while count > 1:  # neighbours in pairs, so that the order is kept
        half = count // 2
        pairs = vmap(across)(
            [row[: 2 * half : 2] for row in rows], [row[1 : 2 * half : 2] for row in rows]
        )
        odd = [row[2 * half :] for row in rows]
        rows = [concatenate([p, o], 0) for p, o in zip(pairs, odd)] if count % 2 else pairs
        count -= half
    out = across(first, [row[0] for row in rows]) if count else first
    return tree_util.tree_unflatten(tree, [o.reshape(rest) for o in out])


def argmax(operand, axis, index_dtype):
    """The index of the first maximum along a dimension."""
    operand = asarray(operand)
    return bind(
        "argmax",
        (operand,),
        axes=(canonical_axis(axis, operand.ndim),),
        index_dtype=_core.requested_dtype(index_dtype, "argmax"),
    )


def argmin(operand, axis, index_dtype):
    """The index of the first minimum along a dimension."""
    operand = asarray(operand)
    return bind(
        "argmin",
        (operand,),
        axes=(canonical_axis(axis, operand.ndim),),
        index_dtype=_core.requested_dtype(index_dtype, "argmin"),
    )


def _cumulative(op):
    def cumulative(operand, axis=0, reverse=False):
        operand = asarray(operand)
        return bind(op, (operand,), axis=canonical_axis(axis, operand.ndim), reverse=bool(reverse))

    cumulative.__name__ = op
    cumulative.__doc__ = f"{op} along a dimension, from its end where `reverse`."
    return cumulative


cumsum, cumprod, cummax, cummin, cumlogsumexp = (
    _cumulative(n) for n in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
)


def sort(operand, dimension=-1, is_stable=True, num_keys=1):
    """Ascending order along a dimension; several arrays are sorted together by the first num_keys."""
    several = isinstance(operand, (tuple, list))
    operands = [asarray(o) for o in operand] if several else [asarray(operand)]
    dimension = canonical_axis(dimension, operands[0].ndim)
    out = bind("sort", operands, dimension=dimension, is_stable=is_stable, num_keys=num_keys)
    return (out if isinstance(out, tuple) else (out,)) if several else out


def sort_key_val(keys, values, dimension=-1, is_stable=True):
    """Keys in order, and the values that go with them."""
    return sort((keys, values), dimension, is_stable, 1)


def top_k(operand, k, *, axis=-1):
    """The k largest elements along the last dimension, in order, and their indices."""
    operand = asarray(operand)
    if not 0 <= k <= (operand.shape[-1] if operand.ndim else 0):
        raise ValueError(
            f"k argument to top_k must be no larger than minor dimension; got k={k} with shape={operand.shape}"
        )
    axis = canonical_axis(axis, operand.ndim)
    return list(bind("top_k", (operand,), k=operator.index(k), axis=axis))


# ---- dynamic indices ---------------------------------------------------------------------------


def _starts(operand, indices):
    if isinstance(indices, (_core.Array, np.ndarray)):
        indices = [indices[i] for i in range(operand.ndim)]
    return [_from_start(asarray(i), n) for i, n in zip(indices, operand.shape)]


def _from_start(i, n):
    """The index `i` of a dimension of size `n`, which counts from the end where it is negative."""
    if i.dtype.kind == "u" or (_core.is_concrete(i) and int(_core.concrete_array(i)) >= 0):
        return i
    negative = _core.functions.less(i, 0)
    return bind("select_n", (negative, i, _core.functions.add(i, np.asarray(n, i.dtype))))


def dynamic_slice(operand, start_indices, slice_sizes):
    """Elements from start indices that may be traced; they are moved so that the slice fits."""
    operand = asarray(operand)
    return bind(
        "dynamic_slice",
        (operand, *_starts(operand, start_indices)),
        slice_sizes=_shape(slice_sizes),
    )


def dynamic_slice_in_dim(operand, start_index, slice_size, axis=0):
    """dynamic_slice along one dimension."""
    operand = asarray(operand)
    axis = canonical_axis(axis, operand.ndim)
    start, size = [0] * operand.ndim, list(operand.shape)
    start[axis], size[axis] = start_index, slice_size
    return dynamic_slice(operand, _same_dtype(start), size)


def _same_dtype(indices):
    dtype = next((i.dtype for i in indices if hasattr(i, "dtype")), np.dtype("int32"))
    return [
        i if hasattr(i, "dtype") and i.dtype == dtype else asarray(i).astype(dtype) for i in indices
    ]


def dynamic_index_in_dim(operand, index, axis=0, keepdims=True):
    """One slice along a dimension, whose index may be traced."""
    out = dynamic_slice_in_dim(operand, index, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def dynamic_update_slice(operand, update, start_indices):
    """`operand` with `update` at start indices, moved so that it fits."""
    operand = asarray(operand)
    return bind(
        "dynamic_update_slice", (operand, asarray(update), *_starts(operand, start_indices))
    )


def dynamic_update_slice_in_dim(operand, update, start_index, axis):
    """dynamic_update_slice along one dimension."""
    operand = asarray(operand)
    start = [0] * operand.ndim
    start[canonical_axis(axis, operand.ndim)] = start_index
    return dynamic_update_slice(operand, update, _same_dtype(start))


def dynamic_update_index_in_dim(operand, update, index, axis):
    """`operand` with one slice along a dimension replaced."""
    operand, update = asarray(operand), asarray(update)
    axis = canonical_axis(axis, operand.ndim)
    if update.ndim != operand.ndim:
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(operand, update, index, axis)


# ---- shardings: metadata only ------------------------------------------------------------------


def with_sharding_constraint(x, shardings):
    """`x`: all devices share one memory."""
    return x


def __getattr__(name):
    """Primitives by JAX's names: `lax.exp_p` is the op exp."""
    if name.endswith("_p"):
        from shardax._core import api

        try:
            return api.primitive({"pjit_p": "jit"}.get(name, name[:-2]))
        except ValueError:
            pass
    raise AttributeError(f"module 'shardax.lax' has no attribute '{name}'")
