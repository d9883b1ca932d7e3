# shardax/lax/_reductions.py - reductions, running reductions and sorting.
import operator

import numpy as np

import shardax._core as _core
from shardax import config, tree_util
from shardax._base.arrays import asarray, bind, canonical_axis, is_inexact, operand_of
from shardax._devices.out_sharding import takes_out_sharding
from shardax._transform.pmap_vmap import vmap
from shardax.errors import JaxRuntimeError
from shardax.lax._layout import concatenate, transpose

_lax = _core.lax


def _check_half(operand, axes):
    """ValueError for sums of many half-precision numbers where these are not allowed."""
    if operand.dtype.name not in ("float16", "bfloat16"):
        return
    if any(operand.shape[a] > 1 for a in axes) and not config.jax_allow_f16_reductions:
        raise ValueError(
            f"reduce_sum of {operand.dtype} is not allowed while jax_allow_f16_reductions is "
            "False: convert the operand to float32 first, as jnp.sum does."
        )


_REDUCTION_DOC = """{what} over dimensions.

Args:
  operand: an array of {operands}.
  axes: a tuple of ints, the dimensions, which go away.
  out_sharding: how the result is split, in the explicit mode of meshes.

Returns:
  The shape of `operand` without `axes`, of its dtype.

Raises:
  ValueError: a dimension is out of bounds or occurs twice.

Example:
  >>> lax.{op}(jnp.array([[1, 2], [3, 4]]){example}
"""
# The reduction's result, its operands, and the end of an example.
_REDUCTIONS = {
    "sum": ("The sum", "numbers", ", (0,))\n  Array([4, 6], dtype=int32)"),
    "prod": ("The product", "numbers", ", (0,))\n  Array([3, 8], dtype=int32)"),
    "max": (
        "The maximum, NaN where there is one,",
        "any dtype",
        ", (1,))\n  Array([2, 4], dtype=int32)",
    ),
    "min": (
        "The minimum, NaN where there is one,",
        "any dtype",
        ", (1,))\n  Array([1, 3], dtype=int32)",
    ),
    "and": (
        "The bits set in all elements",
        "integers, or of booleans: whether all are true",
        " > 1, (0,))\n  Array([False,  True], dtype=bool)",
    ),
    "or": (
        "The bits set in any element",
        "integers, or of booleans: whether one is true",
        " > 3, (0,))\n  Array([False,  True], dtype=bool)",
    ),
}


def _reduction(op):
    def reduce(operand, axes, *, out_sharding=None):
        if out_sharding is not None:
            return takes_out_sharding(reduce)(operand, axes, out_sharding=out_sharding)
        operand = operand_of(op, operand)
        axes = tuple(sorted(canonical_axis(a, operand.ndim) for a in axes))
        if len(set(axes)) < len(axes):
            raise ValueError(f"duplicate value in 'axes' of {op}: {axes}")
        if op == "reduce_sum" and operand.dtype.itemsize == 2:
            _check_half(operand, axes)
        return bind(op, (operand,), axes=axes) if axes else _core.another(operand)

    reduce.__name__ = reduce.__qualname__ = op
    what, operands, example = _REDUCTIONS[op.removeprefix("reduce_")]
    reduce.__doc__ = _REDUCTION_DOC.format(op=op, what=what, operands=operands, example=example)
    return reduce


reduce_sum, reduce_prod, reduce_max, reduce_min, reduce_and, reduce_or = (
    _reduction("reduce_" + n) for n in ("sum", "prod", "max", "min", "and", "or")
)


def reduce_xor(operand, axes, *, out_sharding=None):
    """The exclusive or of integers or booleans over dimensions.

    Args:
      operand: an array of integers or booleans.
      axes: a tuple of ints, the dimensions, which go away.
      out_sharding: how the result is split, in the explicit mode of meshes.

    Returns:
      The shape of `operand` without `axes`, of its dtype.

    Example:
      >>> lax.reduce_xor(jnp.array([5, 3]), (0,))
      Array(6, dtype=int32)
    """
    if out_sharding is not None:
        return takes_out_sharding(reduce_xor)(operand, axes, out_sharding=out_sharding)
    operand = operand_of("reduce_xor", operand)
    return reduce(operand, np.zeros((), operand.dtype), _lax.bitwise_xor, axes)


def reduce(operands, init_values, computation, dimensions, out_sharding=None):
    """A reduction over dimensions by an associative function of two elements.

    Args:
      operands: an array, or a tree of arrays of one shape.
      init_values: the value that changes nothing, or a tree like `operands`.
      computation: a function of two scalars, or of two trees of them, that returns one like them.
      dimensions: a sequence of ints, which go away.
      out_sharding: how the result is split, in the explicit mode of meshes.

    Returns:
      Arrays of the shape of `operands` without `dimensions`.

    Example:
      >>> lax.reduce(jnp.array([3, 5, 4]), 0, lax.max, (0,))
      Array(5, dtype=int32)
      >>> lax.reduce(jnp.array([1.0, 2.0, 3.0]), 0.0, lambda x, y: x + y, (0,))
      Array(6., dtype=float32)
    """
    if out_sharding is not None:
        given = takes_out_sharding(reduce)
        return given(operands, init_values, computation, dimensions, out_sharding=out_sharding)
    leaves, tree = tree_util.tree_flatten(operands)
    leaves = [asarray(leaf) for leaf in leaves]
    init_leaves, init_tree = tree_util.tree_flatten(init_values)
    if init_tree != tree:
        raise ValueError(
            f"Operands must have the same tree structure as init_values: {tree} vs. {init_tree}"
        )
    shapes = [asarray(i).shape for i in init_leaves]
    if any(shapes):
        raise ValueError(f"reduce found non-scalar initial value: {shapes}")
    inits = [_core.convert(asarray(i), a.dtype) for i, a in zip(init_leaves, leaves)]
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


def _arg_extremum(name, operand, axis, index_dtype):
    axis = operator.index(axis)
    if not 0 <= axis < operand.ndim:
        raise ValueError(f"Invalid axis {axis} for operand shape {operand.shape}")
    return bind(
        name,
        (operand,),
        axes=(axis,),
        index_dtype=_core.requested_dtype(index_dtype, name),
    )


def argmax(operand, axis, index_dtype):
    """The index of the first maximum (or NaN) along a dimension.

    Args:
      operand: an array of real numbers or booleans.
      axis: the dimension, from 0 on, which goes away.
      index_dtype: the integer type of the result.

    Raises:
      ValueError: `axis` is out of bounds, or its size is 0.
      TypeError: `index_dtype` is no integer type.

    Example:
      >>> lax.argmax(jnp.array([1.0, 5.0, 2.0]), 0, jnp.int32)
      Array(1, dtype=int32)
    """
    return _arg_extremum("argmax", operand_of("argmax", operand), axis, index_dtype)


def argmin(operand, axis, index_dtype):
    """The index of the first minimum (or NaN) along a dimension; arguments as of `lax.argmax`.

    Example:
      >>> lax.argmin(jnp.array([4.0, 1.0, 2.0]), 0, jnp.int32)
      Array(1, dtype=int32)
    """
    return _arg_extremum("argmin", operand_of("argmin", operand), axis, index_dtype)


_CUMULATIVE_DOC = """{what} along a dimension.

Args:
  operand: an array of numbers.
  axis: the dimension, negative from the end.
  reverse: whether to start at its end.

Returns:
  The shape and dtype of `operand`.

Raises:
  ValueError: `axis` is out of bounds.

Example:
  >>> lax.{op}{example}
"""
_CUMULATIVE = {
    "cumsum": ("Running sums", "(jnp.array([1, 2, 3]))\n  Array([1, 3, 6], dtype=int32)"),
    "cumprod": ("Running products", "(jnp.array([1, 2, 3]))\n  Array([1, 2, 6], dtype=int32)"),
    "cummax": ("Running maxima", "(jnp.array([1, 3, 2]))\n  Array([1, 3, 3], dtype=int32)"),
    "cummin": (
        "Running minima",
        "(jnp.array([1, 3, 2]), reverse=True)\n  Array([1, 2, 2], dtype=int32)",
    ),
    "cumlogsumexp": (
        "Logarithms of running sums of exponentials",
        "(jnp.zeros(2)).round(3)\n  Array([0.   , 0.693], dtype=float32)",
    ),
}


def _cumulative(op):
    def cumulative(operand, axis=0, reverse=False):
        operand = operand_of(op, operand)
        return bind(op, (operand,), axis=canonical_axis(axis, operand.ndim), reverse=bool(reverse))

    cumulative.__name__ = cumulative.__qualname__ = op
    what, example = _CUMULATIVE[op]
    cumulative.__doc__ = _CUMULATIVE_DOC.format(op=op, what=what, example=example)
    return cumulative


cumsum, cumprod, cummax, cummin, cumlogsumexp = (
    _cumulative(n) for n in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
)


def sort(operand, dimension=-1, is_stable=True, num_keys=1):
    """Elements in ascending order along a dimension, NaN last.

    Args:
      operand: an array, or a sequence of arrays of one shape, which are sorted together.
      dimension: the dimension, negative from the end.
      is_stable: whether equal elements keep their order.
      num_keys: how many of the arrays decide the order, the first one most.

    Returns:
      An array, or a tuple of arrays, of the same shape.

    Raises:
      ValueError: `num_keys` is not from 1 to the number of arrays.

    Example:
      >>> lax.sort(jnp.array([3, 1, 2]))
      Array([1, 2, 3], dtype=int32)
      >>> lax.sort((jnp.array([3, 1, 2]), jnp.array([30, 10, 20])))
      (Array([1, 2, 3], dtype=int32), Array([10, 20, 30], dtype=int32))
    """
    several = isinstance(operand, (tuple, list))
    operands = [operand_of("sort", o) for o in (operand if several else (operand,))]
    dimension = canonical_axis(dimension, operands[0].ndim)
    out = bind("sort", operands, dimension=dimension, is_stable=is_stable, num_keys=num_keys)
    return (out if isinstance(out, tuple) else (out,)) if several else out


def sort_key_val(keys, values, dimension=-1, is_stable=True):
    """Keys in ascending order along a dimension, and the values that go with them.

    Args:
      keys, values: arrays of one shape.
      dimension: the dimension, negative from the end.
      is_stable: whether equal keys keep their order.

    Returns:
      (keys, values).

    Example:
      >>> lax.sort_key_val(jnp.array([3, 1, 2]), jnp.array([30, 10, 20]))
      (Array([1, 2, 3], dtype=int32), Array([10, 20, 30], dtype=int32))
    """
    return sort((keys, values), dimension, is_stable, 1)


def top_k(operand, k, *, axis=-1):
    """The k largest elements along a dimension, in descending order, and their indices.

    Args:
      operand: an array of real numbers.
      k: how many, an int from 0 to the size of the dimension.
      axis: the dimension; the last one unless given.

    Returns:
      [values, int32 indices], with size `k` along the dimension.

    Raises:
      ValueError: `k` is out of range, or `operand` is a scalar.
      TypeError: for complex numbers.

    Example:
      >>> lax.top_k(jnp.array([1.0, 5.0, 3.0]), 2)
      [Array([5., 3.], dtype=float32), Array([1, 2], dtype=int32)]
    """
    operand = operand_of("top_k", operand)
    if operand.dtype.kind == "c":
        raise ValueError("top_k is not compatible with complex inputs.")
    size = operand.shape[canonical_axis(axis, operand.ndim)] if operand.ndim else 0
    if size > np.iinfo(np.int32).max:
        raise ValueError(
            f"top_k returns int32 indices, which will overflow for array dimensions of size {size}."
        )
    if not 0 <= k <= size:
        raise ValueError(
            f"k argument to top_k must be no larger than size along axis; got k={k} with "
            f"shape={operand.shape} and axis={axis}"
        )
    axis = canonical_axis(axis, operand.ndim)
    return list(bind("top_k", (operand,), k=operator.index(k), axis=axis))


def _floats(operand):
    operand = operand_of("approx_top_k", operand)
    if not is_inexact(operand.dtype) or operand.dtype.kind == "c":
        raise ValueError("operand must be a floating type")
    return operand


def _check_approximation(name, recall_target, input_size_override):
    operator.index(input_size_override)
    if not 0 < float(recall_target) <= 1:
        raise JaxRuntimeError(
            f"{name}: recall_target out of range: got {recall_target}; a number above 0 and up to "
            "1 was expected."
        )


def _refuse_parts(name, aggregate_to_topk):
    if aggregate_to_topk is not True:
        raise NotImplementedError(
            f"{name}: aggregate_to_topk is {aggregate_to_topk!r}; True was expected, since no "
            "partial results are made. Ask for a larger k."
        )


def approx_max_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
):
    """The k largest elements along a dimension and their indices; all of them are found.

    Args:
      operand: floats.
      k: how many.
      reduction_dimension: the dimension.
      recall_target: the share of them that must be found, above 0 and up to 1; it is 1 here.
      reduction_input_size_override: an int, without effect: it chooses the search on accelerators.
      aggregate_to_topk: True; the parts that accelerators find are not to be had.

    Raises:
      ValueError: for complex numbers and integers.
      JaxRuntimeError: for another `recall_target`.
      NotImplementedError: for `aggregate_to_topk=False`.

    Example:
      >>> lax.approx_max_k(jnp.array([1.0, 3.0, 2.0]), 2)
      [Array([3., 2.], dtype=float32), Array([1, 2], dtype=int32)]
    """
    _check_approximation("approx_max_k", recall_target, reduction_input_size_override)
    _refuse_parts("approx_max_k", aggregate_to_topk)
    return top_k(_floats(operand), k, axis=reduction_dimension)


def approx_min_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
):
    """The k smallest elements along a dimension and their indices; all of them are found, whatever
    `recall_target` and `reduction_input_size_override` are. For arguments see `approx_max_k`.

    Example:
      >>> lax.approx_min_k(jnp.array([1.0, 3.0, 2.0]), 2)
      [Array([1., 2.], dtype=float32), Array([0, 2], dtype=int32)]
    """
    _check_approximation("approx_min_k", recall_target, reduction_input_size_override)
    _refuse_parts("approx_min_k", aggregate_to_topk)
    values, indices = top_k(_lax.neg(_floats(operand)), k, axis=reduction_dimension)
    return [_lax.neg(values), indices]
