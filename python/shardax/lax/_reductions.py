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

    reduce.__name__ = op
    reduce.__doc__ = f"{op} over `axes`, a tuple of ints."
    return reduce


reduce_sum, reduce_prod, reduce_max, reduce_min, reduce_and, reduce_or = (
    _reduction("reduce_" + n) for n in ("sum", "prod", "max", "min", "and", "or")
)


def reduce_xor(operand, axes, *, out_sharding=None):
    """reduce_xor over `axes`, a tuple of ints."""
    if out_sharding is not None:
        return takes_out_sharding(reduce_xor)(operand, axes, out_sharding=out_sharding)
    operand = operand_of("reduce_xor", operand)
    return reduce(operand, np.zeros((), operand.dtype), _lax.bitwise_xor, axes)


def reduce(operands, init_values, computation, dimensions, out_sharding=None):
    """A reduction by an associative `computation` of two scalars, or of two trees of scalars like
    `operands`.
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
    """The index of the first maximum along a dimension."""
    return _arg_extremum("argmax", operand_of("argmax", operand), axis, index_dtype)


def argmin(operand, axis, index_dtype):
    """The index of the first minimum along a dimension."""
    return _arg_extremum("argmin", operand_of("argmin", operand), axis, index_dtype)


def _cumulative(op):
    def cumulative(operand, axis=0, reverse=False):
        operand = operand_of(op, operand)
        return bind(op, (operand,), axis=canonical_axis(axis, operand.ndim), reverse=bool(reverse))

    cumulative.__name__ = op
    cumulative.__doc__ = f"{op} along a dimension, from its end where `reverse`."
    return cumulative


cumsum, cumprod, cummax, cummin, cumlogsumexp = (
    _cumulative(n) for n in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
)


def sort(operand, dimension=-1, is_stable=True, num_keys=1):
    """Ascending order along a dimension.

    Several arrays are sorted together by the first num_keys.
    """
    several = isinstance(operand, (tuple, list))
    operands = [operand_of("sort", o) for o in (operand if several else (operand,))]
    dimension = canonical_axis(dimension, operands[0].ndim)
    out = bind("sort", operands, dimension=dimension, is_stable=is_stable, num_keys=num_keys)
    return (out if isinstance(out, tuple) else (out,)) if several else out


def sort_key_val(keys, values, dimension=-1, is_stable=True):
    """Keys in order, and the values that go with them."""
    return sort((keys, values), dimension, is_stable, 1)


def top_k(operand, k, *, axis=-1):
    """The k largest elements along the last dimension, in order, and their indices."""
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
