"""shardax/lax/_indexing.py - gather and scatter with their dimension numbers spelled out.

Both place windows of an array by the rows of an index array. `x.at[...]` and indexing write the
numbers themselves; these are for programs that know better.
"""

import enum
import operator
from typing import Any, NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import where
from shardax._base.arrays import asarray, bind, operand_of
from shardax._transform.pmap_vmap import vmap
from shardax.lax._layout import _ints, concatenate, expand_dims, full
from shardax.lax._reductions import reduce_max

__all__ = [
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "ScatterDimensionNumbers",
    "gather",
    "index_take",
    "scatter",
    "scatter_add",
    "scatter_apply",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_sub",
]


class GatherDimensionNumbers(NamedTuple):
    """The way in which dimensions of gather's operand, indices and result correspond.

    Attributes:
      offset_dims: dimensions of the result that run along a window.
      collapsed_slice_dims: dimensions of the operand, of window size 1, that the result has not.
      start_index_map: the dimension of the operand that each component of an index row counts
        along.
      operand_batching_dims, start_indices_batching_dims: dimensions that operand and indices go
        along together.

    Example:
      >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
      >>> lax.gather(jnp.array([[1, 2], [3, 4]]), jnp.array([[1]]), rows, (1, 2))
      Array([[3, 4]], dtype=int32)
    """

    offset_dims: tuple
    collapsed_slice_dims: tuple
    start_index_map: tuple
    operand_batching_dims: tuple = ()
    start_indices_batching_dims: tuple = ()


class ScatterDimensionNumbers(NamedTuple):
    """The way in which dimensions of scatter's operand, indices and updates correspond.

    Attributes:
      update_window_dims: dimensions of the updates that run along a window.
      inserted_window_dims: dimensions of the operand, of window size 1, that the updates have not.
      scatter_dims_to_operand_dims: the dimension of the operand that each component of an index row
        counts along.
      operand_batching_dims, scatter_indices_batching_dims: dimensions that operand and indices go
        along together.

    Example:
      >>> elements = lax.ScatterDimensionNumbers((), (0,), (0,))
      >>> lax.scatter_add(jnp.zeros(3), jnp.array([[1], [1]]), jnp.array([1.0, 2.0]), elements)
      Array([0., 3., 0.], dtype=float32)
    """

    update_window_dims: tuple
    inserted_window_dims: tuple
    scatter_dims_to_operand_dims: tuple
    operand_batching_dims: tuple = ()
    scatter_indices_batching_dims: tuple = ()


class GatherScatterMode(enum.Enum):
    """The treatment of windows that stick out of the operand.

    CLIP moves them inside; FILL_OR_DROP reads a fill value there and drops updates;
    PROMISE_IN_BOUNDS says that there are none.

    Example:
      >>> lax.GatherScatterMode.from_any("clip")
      <GatherScatterMode.CLIP: 1>
    """

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3
    ONE_HOT = 4

    @staticmethod
    def from_any(mode) -> Any:
        """The mode of that name: clip, fill, drop or promise_in_bounds; None is FILL_OR_DROP."""
        if isinstance(mode, GatherScatterMode):
            return mode
        names = {"clip": 1, "fill": 2, "drop": 2, "promise_in_bounds": 3, None: 2}
        if mode not in names:
            raise ValueError(f'Unknown gather mode "{mode}"')
        return GatherScatterMode(names[mode])


def _mode(mode):
    name = GatherScatterMode.from_any(mode).name.lower()
    return {"fill_or_drop": "fill", "one_hot": "fill"}.get(name, name)


def gather(
    operand,
    start_indices,
    dimension_numbers,
    slice_sizes,
    *,
    unique_indices=False,
    indices_are_sorted=False,
    mode=None,
    fill_value=None,
):
    """Windows of an array.

    Args:
      operand: the array.
      start_indices: integers; the last dimension holds the components of one window's start.
      dimension_numbers: GatherDimensionNumbers.
      slice_sizes: the window's size along each dimension of the operand.
      unique_indices, indices_are_sorted: promises about the starts.
      mode: a GatherScatterMode or its name; PROMISE_IN_BOUNDS by default.
      fill_value: what windows that stick out hold where the mode is FILL_OR_DROP. None: NaN, the
        smallest signed integer, the largest unsigned one, or True.

    Raises:
      TypeError: the dimension numbers do not fit the operands.

    Example:
      >>> numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
      >>> lax.gather(jnp.arange(6).reshape(3, 2), jnp.array([[2], [0]]), numbers, (1, 2))
      Array([[4, 5],
             [0, 1]], dtype=int32)
    """
    numbers = dimension_numbers
    if fill_value is not None:
        fill_value = np.asarray(fill_value).item()
    return bind(
        "gather",
        (operand_of("gather", operand), asarray(start_indices)),
        offset_dims=_ints(numbers.offset_dims),
        collapsed_slice_dims=_ints(numbers.collapsed_slice_dims),
        start_index_map=_ints(numbers.start_index_map),
        operand_batching_dims=_ints(numbers.operand_batching_dims),
        start_indices_batching_dims=_ints(numbers.start_indices_batching_dims),
        slice_sizes=_ints(slice_sizes),
        mode=_mode("promise_in_bounds" if mode is None else mode),
        fill_value=fill_value,
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
    )


def _scatter(op, operand, indices, updates, numbers, sorted, unique, mode):
    return bind(
        op,
        (asarray(operand), asarray(indices), asarray(updates)),
        update_window_dims=_ints(numbers.update_window_dims),
        inserted_window_dims=_ints(numbers.inserted_window_dims),
        scatter_dims_to_operand_dims=_ints(numbers.scatter_dims_to_operand_dims),
        operand_batching_dims=_ints(numbers.operand_batching_dims),
        scatter_indices_batching_dims=_ints(numbers.scatter_indices_batching_dims),
        mode=_mode(mode),
        indices_are_sorted=bool(sorted),
        unique_indices=bool(unique),
    )


def _scattering(name, op, what):
    def scatter(
        operand,
        scatter_indices,
        updates,
        dimension_numbers,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
    ):
        return _scatter(
            op,
            operand,
            scatter_indices,
            updates,
            dimension_numbers,
            indices_are_sorted,
            unique_indices,
            mode,
        )

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"""An array with windows {what}.

    Args:
      operand: the array.
      scatter_indices: integers; the last dimension holds the components of one window's start.
      updates: the windows, of operand's dtype.
      dimension_numbers: ScatterDimensionNumbers.
      indices_are_sorted, unique_indices: promises about the starts.
      mode: a GatherScatterMode or its name; by default windows that stick out are dropped.

    Raises:
      TypeError: the dimension numbers do not fit the operands, or dtypes differ.

    Example:
      >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
      >>> y = lax.{name}(jnp.ones(3), jnp.array([[1]]), jnp.array([5.0]), numbers)
    """
    return scatter


scatter = _scattering("scatter", "scatter", "replaced by updates")
scatter_add = _scattering("scatter_add", "scatter-add", "increased by updates")
scatter_sub = _scattering("scatter_sub", "scatter-sub", "decreased by updates")
scatter_mul = _scattering("scatter_mul", "scatter-mul", "multiplied by updates")
scatter_min = _scattering("scatter_min", "scatter-min", "lowered to updates")
scatter_max = _scattering("scatter_max", "scatter-max", "raised to updates")


def scatter_apply(
    operand,
    scatter_indices,
    func,
    dimension_numbers,
    *,
    update_shape=(),
    indices_are_sorted=False,
    unique_indices=False,
    mode=None,
):
    """An array with `func`, a function of one element, applied to the elements of windows: as often
    as they are named.

    `update_shape` is the shape that updates would have; the rest is as for scatter.

    Example:
      >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
      >>> lax.scatter_apply(jnp.ones(2), jnp.array([[1], [1]]), lambda x: 2 * x, numbers,
      ...                   update_shape=(2,))
      Array([1., 4.], dtype=float32)
    """
    operand, indices, numbers = (
        operand_of("scatter_apply", operand),
        asarray(scatter_indices),
        dimension_numbers,
    )
    windows = iter(numbers.update_window_dims)
    single = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    sizes = [1 if d in single else update_shape[next(windows)] for d in range(operand.ndim)]
    present = gather(
        operand,
        indices,
        GatherDimensionNumbers(*numbers),
        sizes,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )

    def everywhere(x):
        return vmap(func)(x.reshape(-1)).reshape(x.shape).astype(x.dtype)

    options = (numbers, indices_are_sorted, unique_indices, mode)
    once = _scatter("scatter", operand, indices, everywhere(present), *options)
    if unique_indices:
        return once
    ones = full(present.shape, 1, "int32")
    hits = _scatter("scatter-add", full(operand.shape, 0, "int32"), indices, ones, *options)
    return repeated(everywhere, once, hits)


def repeated(func, x, hits):
    """func applied to each element once more for each of its hits after the first."""
    from shardax.lax._loops import while_loop  # at first use: quick import

    most = _core.functions.maximum(reduce_max(hits, range(hits.ndim)), np.int32(0))

    def again(state):
        done, x = state
        return done + 1, where(hits > done, func(x), x)

    if _core.is_concrete(most):
        state = (1, x)
        for _ in range(1, int(most)):
            state = again(state)
        return state[1]
    return while_loop(lambda s: s[0] < most, again, (1, x))[1]


def index_take(src, idxs, axes):
    """The slices of an array at vectors of indices, one vector for each of `axes`.

    Args:
      src: an array.
      idxs: vectors of integers, negative from the end.
      axes: the dimensions.

    Example:
      >>> lax.index_take(jnp.arange(6).reshape(3, 2), (jnp.array([2, -3]),), (0,))
      Array([[4, 5],
             [0, 1]], dtype=int32)
    """
    src, axes = operand_of("index_take", src), tuple(operator.index(a) for a in axes)
    indices = concatenate([expand_dims(asarray(i), (1,)) for i in idxs], 1)
    limits = np.array([src.shape[a] for a in axes], indices.dtype)
    indices = _core.functions.remainder(indices, limits[None])
    sizes = [1 if d in axes else n for d, n in enumerate(src.shape)]
    numbers = GatherDimensionNumbers(tuple(range(1, src.ndim - len(axes) + 1)), axes, axes)
    return gather(src, indices, numbers, sizes)
