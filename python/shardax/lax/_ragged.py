"""shardax/lax/_ragged.py - products in which rows belong to groups of different sizes.

Rows of other groups are zeros to a group. With a mask by group and row, a ragged product is thus an
ordinary one that also sums over groups.
"""

import dataclasses

import shardax._core as _core
from shardax._base.arrays import asarray, bind
from shardax._devices.out_sharding import takes_out_sharding
from shardax.lax._dot import dot_general
from shardax.lax._layout import _ints, broadcast_in_dim, iota
from shardax.lax._reductions import cumsum

__all__ = ["RaggedDotDimensionNumbers", "ragged_dot", "ragged_dot_general"]

_functions = _core.functions


@dataclasses.dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """The dimensions of a ragged product that are contracted, batches, ragged and groups.

    Attributes:
      dot_dimension_numbers: those of `lax.dot_general`.
      lhs_ragged_dimensions: the one dimension of lhs that is cut into groups.
      rhs_group_dimensions: the dimension of rhs that runs over groups, if the ragged dimension is
        neither contracted nor a batch.

    Example:
      >>> numbers = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
      >>> rhs = jnp.array([[[1.0]], [[10.0]]])
      >>> lax.ragged_dot_general(jnp.ones((3, 1)), rhs, jnp.array([2, 1]), numbers)
      Array([[ 1.],
             [ 1.],
             [10.]], dtype=float32)
    """

    dot_dimension_numbers: tuple
    lhs_ragged_dimensions: tuple
    rhs_group_dimensions: tuple

    def __post_init__(self):
        dims = tuple(tuple(_ints(part) for part in pair) for pair in self.dot_dimension_numbers)
        object.__setattr__(self, "dot_dimension_numbers", dims)
        for name in ("lhs_ragged_dimensions", "rhs_group_dimensions"):
            object.__setattr__(self, name, _ints(getattr(self, name)))


def _check_groups(lhs, rhs, group_sizes, numbers, mode):
    name, group_dims = "ragged_dot_general", numbers.rhs_group_dimensions
    (_, rhs_contract), (_, rhs_batch) = numbers.dot_dimension_numbers
    if mode != "free":
        if group_dims:
            raise TypeError(
                f"{name} requires zero group dimensions in the rhs when lhs ragged dimension is "
                f"contracting or batch, got {group_dims}."
            )
        return
    if len(group_dims) != 1:
        raise TypeError(
            f"{name} requires exactly one rhs group dimension when lhs ragged dimension is "
            f"noncontracting, got {group_dims}."
        )
    (dim,) = group_dims
    if not 0 <= dim < rhs.ndim:
        raise TypeError(
            f"{name} requires rhs group dimension numbers to be nonnegative and less than the "
            f"number of axes of the rhs value, got {dim} for rhs of rank {rhs.ndim}."
        )
    if dim in rhs_batch or dim in rhs_contract:
        raise TypeError(
            f"{name} requires rhs group dimension numbers to be distinct from contracting and "
            f"batch dimensions, got {dim}."
        )
    if rhs.shape[dim] != group_sizes.shape[-1]:
        raise TypeError(
            f"expected rhs group dimension size to be {group_sizes.shape[-1]}, got "
            f"{rhs.shape[dim]}."
        )


def _masked(lhs, group_sizes, ragged, prefix):
    """lhs once per group, with zeros for other groups' rows; groups are the new dimension 0."""
    expected = (*(lhs.shape[d] for d in prefix), group_sizes.shape[-1])
    if group_sizes.ndim == 1:
        prefix = ()
    elif group_sizes.shape != expected:
        raise TypeError(f"expected group_sizes to have shape {expected}, got {group_sizes.shape}.")
    ends = cumsum(group_sizes, group_sizes.ndim - 1)
    rows = iota(group_sizes.dtype, lhs.shape[ragged])
    starts = _functions.subtract(ends, group_sizes)[..., None]
    inside = _functions.logical_and(rows >= starts, rows < ends[..., None])
    inside = bind(
        "transpose",
        (inside,),
        permutation=(inside.ndim - 2, *range(inside.ndim - 2), inside.ndim - 1),
    )
    shape = (group_sizes.shape[-1], *lhs.shape)
    mask = broadcast_in_dim(inside, shape, (0, *(d + 1 for d in (*prefix, ragged))))
    return bind("select_n", (mask, _core.full(shape, 0, lhs.dtype), _core.broadcast_to(lhs, shape)))


def _after(dims):
    return tuple(d + 1 for d in dims)


@takes_out_sharding
def ragged_dot_general(
    lhs,
    rhs,
    group_sizes,
    ragged_dot_dimension_numbers,
    precision=None,
    preferred_element_type=None,
    group_offset=None,
    out_sharding=None,
):
    """dot_general in which a dimension of lhs is cut into groups.

    Args:
      lhs, rhs: arrays.
      group_sizes: integers (g,), or (..., g) with the batch dimensions and the dimensions of the
        ragged one's kind in front of it.
      ragged_dot_dimension_numbers: RaggedDotDimensionNumbers. If the ragged dimension is neither
        contracted nor a batch, its rows are multiplied with their group's slice of rhs. If it is
        contracted, the result has one sum per group, as dimension 0.
      precision, preferred_element_type: as for dot_general.
      group_offset: must be None.
      out_sharding: how the result is split over the mesh, where operands leave that open.

    Raises:
      TypeError: dimensions or sizes do not fit.

    Example:
      >>> numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())
      >>> lax.ragged_dot_general(jnp.ones((3, 1)), jnp.ones((3, 1)), jnp.array([2, 1]), numbers)
      Array([[[2.]],
      <BLANKLINE>
             [[1.]]], dtype=float32)
    """
    if group_offset is not None:
        raise NotImplementedError("ragged_dot_general: group_offset must be None.")
    lhs, rhs, group_sizes = asarray(lhs), asarray(rhs), asarray(group_sizes)
    numbers = ragged_dot_dimension_numbers
    if group_sizes.dtype.kind not in "iu":
        raise TypeError(
            "ragged_dot_general requires that group_sizes.dtype is subtype of np.integer, got "
            f"{group_sizes.dtype}."
        )
    if group_sizes.ndim == 0:
        raise TypeError("expected rank of group_sizes to be >=1.")
    if len(numbers.lhs_ragged_dimensions) != 1:
        raise TypeError("ragged_dot_general expects exactly one lhs ragged dimension.")
    (ragged,) = numbers.lhs_ragged_dimensions
    if not 0 <= ragged < lhs.ndim:
        raise TypeError(
            "ragged_dot_general requires lhs ragged dimension numbers to be nonnegative and less "
            f"than the number of axes of the lhs value, got {ragged} for lhs of rank {lhs.ndim}."
        )
    dims = numbers.dot_dimension_numbers
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dims
    free = tuple(d for d in range(lhs.ndim) if d not in lhs_contract and d not in lhs_batch)
    mode = "batch" if ragged in lhs_batch else "contract" if ragged in lhs_contract else "free"
    _check_groups(lhs, rhs, group_sizes, numbers, mode)
    options = (precision, preferred_element_type)
    if mode == "batch":
        return dot_general(lhs, rhs, dims, *options)
    own = free if mode == "free" else lhs_contract
    each = _masked(lhs, group_sizes, ragged, (*lhs_batch, *own[: own.index(ragged)]))
    if mode == "free":
        contract = ((0, *_after(lhs_contract)), (*numbers.rhs_group_dimensions, *rhs_contract))
        return dot_general(each, rhs, (contract, (_after(lhs_batch), rhs_batch)), *options)
    rhs = _core.broadcast_to(rhs, (each.shape[0], *rhs.shape))
    contract = (_after(lhs_contract), _after(rhs_contract))
    batch = ((0, *_after(lhs_batch)), (0, *_after(rhs_batch)))
    return dot_general(each, rhs, (contract, batch), *options)


_PLAIN = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


@takes_out_sharding
def ragged_dot(
    lhs,
    rhs,
    group_sizes,
    precision=None,
    preferred_element_type=None,
    group_offset=None,
    out_sharding=None,
):
    """Rows of lhs (m, k), the first group_sizes[0] of them times rhs[0], the next group_sizes[1]
    times rhs[1], and so on; rhs is (g, k, n). Rows of no group give zeros.

    Example:
      >>> rhs = jnp.array([[[1.0]], [[10.0]]])
      >>> lax.ragged_dot(jnp.ones((3, 1)), rhs, jnp.array([2, 1]))
      Array([[ 1.],
             [ 1.],
             [10.]], dtype=float32)
    """
    return ragged_dot_general(
        lhs, rhs, group_sizes, _PLAIN, precision, preferred_element_type, group_offset
    )
