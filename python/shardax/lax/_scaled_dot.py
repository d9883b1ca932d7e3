"""shardax/lax/_scaled_dot.py - products of operands whose blocks have scales of their own."""

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray
from shardax.lax._dot import dot_general
from shardax.lax._elementwise import convert_element_type

__all__ = ["scaled_dot"]


def _check_scale(side, operand, scale, contracting):
    for d, (n, m) in enumerate(zip(operand.shape, scale.shape)):
        if d in contracting:
            if n % m:
                raise TypeError(
                    f"{side} contracting dim {d} of size {n} must be divisible by its scale's dim "
                    f"size {m}."
                )
            if n // m < 2:
                raise TypeError(
                    f"The ratio of {side} contracting dim {d} to its scale's dim size ({n // m}) "
                    "must be at least 2."
                )
        elif n != m:
            raise TypeError(f"{side} dim {d} of size {n} does not match scale dim size {m}.")


def _check(operands, scales, contracting, batch):
    present = [*operands, *(s for s in scales if s is not None)]
    if len({x.ndim for x in present}) > 1:
        ranks = [x.ndim for x in operands] + ["N/A" if s is None else s.ndim for s in scales]
        raise TypeError(
            "All input tensors must have the same rank. Got lhs rank: {} rhs rank: {} lhs_scale "
            "rank: {} rhs_scale rank: {}.".format(*ranks)
        )
    for name, (left, right) in (("batch", batch), ("contracting", contracting)):
        if len(left) != len(right):
            raise TypeError(
                f"LHS and RHS must have the same number of {name} dimensions, got {len(left)} and "
                f"{len(right)}."
            )
    for i, j in zip(*batch):
        sizes = {x.shape[d] for x, d in zip((*operands, *scales), (i, j, i, j)) if x is not None}
        if len(sizes) > 1:
            raise TypeError(
                "All input tensors must have the same batch dimension size for batch dims "
                f"({i}, {j})."
            )
    lhs, rhs = operands
    for i, j in zip(*contracting):
        if lhs.shape[i] != rhs.shape[j]:
            raise TypeError(
                f"LHS contracting dim {i} of size {lhs.shape[i]} does not match RHS contracting "
                f"dim {j} of size {rhs.shape[j]}."
            )
    for side, x, scale, dims in zip(("LHS", "RHS"), operands, scales, contracting):
        if scale is not None:
            _check_scale(side, x, scale, dims)


def _scaled(x, scale, dtype):
    """Each block of x times its scale."""
    x = convert_element_type(x, dtype)
    if scale is None:
        return x
    blocks = [v for n, m in zip(x.shape, scale.shape) for v in (m, n // m)]
    spread = [v for m in scale.shape for v in (m, 1)]
    factors = convert_element_type(scale, dtype).reshape(spread)
    product = x.reshape(blocks) * _core.broadcast_to(factors, tuple(blocks))
    return product.reshape(x.shape)


def scaled_dot(
    lhs,
    rhs,
    *,
    lhs_scale=None,
    rhs_scale=None,
    dimension_numbers=None,
    preferred_element_type=None,
):
    """The product of lhs * lhs_scale and rhs * rhs_scale in bfloat16; scales stand for blocks.

    Args:
      lhs, rhs: arrays of one rank, of eight-bit floats, say.
      lhs_scale, rhs_scale: None, or arrays of the operand's shape, but for contracted dimensions,
        of which each element stands for a block of two or more.
      dimension_numbers: those of `lax.dot_general`; None: the last dimension of lhs with the last
        but one of rhs, the ones before being batches.
      preferred_element_type: the dtype of the result; None is bfloat16.

    Raises:
      TypeError: ranks or sizes do not fit.

    Example:
      >>> x, scale = jnp.ones((2, 4)), 2 * jnp.ones((2, 2))
      >>> lax.scaled_dot(x, x.T, lhs_scale=scale, preferred_element_type=jnp.float32)
      Array([[8., 8.],
             [8., 8.]], dtype=float32)
    """
    lhs, rhs = asarray(lhs), asarray(rhs)
    scales = tuple(None if s is None else asarray(s) for s in (lhs_scale, rhs_scale))
    if dimension_numbers is None:
        n = lhs.ndim
        if n < 2:
            raise TypeError("scaled_dot does not support 0-rank and 1-rank operands.")
        batch = tuple(range(n - 2))
        dimension_numbers = (((n - 1,), (n - 2,)), (batch, batch))
    contracting, batch = dimension_numbers
    _check((lhs, rhs), scales, contracting, batch)
    dtype = "bfloat16" if preferred_element_type is None else preferred_element_type
    dtype = np.dtype(_core.requested_dtype(dtype, "scaled_dot"))
    half = np.dtype(_core.requested_dtype("bfloat16", "scaled_dot"))
    operands = (_scaled(x, s, half) for x, s in zip((lhs, rhs), scales))
    return dot_general(*operands, dimension_numbers, preferred_element_type=dtype)
