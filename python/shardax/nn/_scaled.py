"""shardax/nn/_scaled.py - products of matrices whose blocks have scales of their own."""

import dataclasses
import math
import warnings

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp
from shardax._transform.custom.vjp import custom_vjp


def scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type=np.float32):
    """The products of lhs (B, M, K) and rhs (B, N, K), each block of K times its scale.

    Args:
      lhs, rhs: the operands, usually of an 8-bit float dtype.
      lhs_scales, rhs_scales: (B, M, k) and (B, N, k), where k divides K.
      preferred_element_type: the dtype of the result; products are summed in float32.

    Returns:
      An array of shape (B, M, N).

    Raises:
      ValueError: shapes do not fit.

    Example:
      >>> ones = jnp.ones((1, 1, 4))
      >>> nn.scaled_matmul(ones, ones, ones[..., :1] * 2, ones[..., :1])
      Array([[[8.]]], dtype=float32)
    """
    a, b, a_scales, b_scales = map(jnp.asarray, (lhs, rhs, lhs_scales, rhs_scales))
    if any(x.ndim != 3 for x in (a, b, a_scales, b_scales)):
        raise ValueError("scaled_matmul requires all inputs to be 3-dimensional arrays")
    if a.shape[2] != b.shape[2] or a.shape[0] != b.shape[0]:
        raise ValueError(
            "scaled_matmul requires inputs a and b to have matching batch (B) and contract (K) "
            f"dimensions, but got shapes {a.shape} and {b.shape}"
        )
    if a_scales.shape[2] != b_scales.shape[2] or a_scales.shape[0] != b_scales.shape[0]:
        raise ValueError(
            "scaled_matmul requires scales to have matching batch (B) and contract (K) "
            f"dimensions, but got shapes {a_scales.shape} and {b_scales.shape}"
        )
    if a_scales.shape[1] != a.shape[1] or b_scales.shape[1] != b.shape[1]:
        raise ValueError(
            "scaled_matmul requires scales to match non-contract dimensions of inputs, but got "
            f"shapes a: {a.shape}, b: {b.shape}, a_scales: {a_scales.shape}, b_scales: "
            f"{b_scales.shape}"
        )
    dtype = np.dtype(_core.requested_dtype(preferred_element_type, "scaled_matmul"))
    a, b = (
        x.astype(np.float32) * jnp.repeat(s.astype(np.float32), x.shape[2] // s.shape[2], axis=2)
        for x, s in ((a, a_scales), (b, b_scales))
    )
    return lax.dot_general(a, b, (((2,), (2,)), ((0,), (0,)))).astype(dtype)


_ROWS_BY_ROWS = (((2,), (2,)), ((0,), (0,)))


@dataclasses.dataclass(frozen=True)
class BlockScaleConfig:
    """The rounding of operands of scaled_dot_general: each `block_size` elements of a row to
    `data_type`, times a scale of `scale_type`.
    """

    mode: str
    block_size: int
    data_type: object
    scale_type: object
    global_scale: object
    infer_only: bool


def get_scaled_dot_general_config(mode, global_scale=None):
    """The way in which `nn.scaled_dot_general` rounds an operand, or a cotangent.

    Args:
      mode: "mxfp8": 32 numbers of float8_e4m3fn have a power of two as their scale; "nvfp4": 16 of
        float4_e2m1fn one of float8_e4m3fn.
      global_scale: of "nvfp4", a float32 array (1,) that all are divided by first; None: one.

    Raises:
      ValueError: for another mode.

    Example:
      >>> nn.get_scaled_dot_general_config("mxfp8").block_size
      32
    """
    if mode == "nvfp4":
        scale = jnp.ones(1, np.float32) if global_scale is None else global_scale
        return BlockScaleConfig(mode, 16, jnp.float4_e2m1fn, jnp.float8_e4m3fn, scale, False)
    if mode == "mxfp8":
        return BlockScaleConfig(mode, 32, jnp.float8_e4m3fn, jnp.float8_e8m0fnu, None, False)
    raise ValueError(f"Unsupported mode: {mode}; expected 'nvfp4' or 'mxfp8'.")


def _largest(dtype):
    return np.float32(jnp.finfo(dtype).max)


def _block_scales(blocks, config):
    """The scale of each block, such that its largest element fits."""
    wanted = jnp.max(jnp.abs(blocks), axis=-1, keepdims=True) / _largest(config.data_type)
    if config.mode == "nvfp4":
        wanted = jnp.minimum(wanted, _largest(config.scale_type))
        return wanted.astype(config.scale_type).astype(np.float32)
    mantissa, exponent = jnp.frexp(wanted)  # the next power of two
    exponent = jnp.clip(jnp.where(mantissa == 0.5, exponent - 1, exponent), -127, 127)
    return jnp.ldexp(np.float32(1), jnp.where(mantissa == 0, -127, exponent))


def _rounded(x, config):
    """The float32 values that are left of x (B, M, K), of its global scale's size."""
    if x.shape[-1] % config.block_size:
        raise ValueError(
            f"scaled_dot_general: {config.mode} takes blocks of {config.block_size} elements that "
            f"are summed, got {x.shape[-1]}; their number must be a multiple, in gradients too."
        )
    blocks = x.astype(np.float32).reshape((*x.shape[:-1], -1, config.block_size))
    if config.mode == "nvfp4":
        blocks = blocks / config.global_scale
    scales = _block_scales(blocks, config)
    most = _largest(config.data_type)
    inside = jnp.clip(blocks / jnp.where(scales == 0, 1, scales), -most, most)
    return (inside.astype(config.data_type).astype(np.float32) * scales).reshape(x.shape)


def _rounded_product(lhs, rhs, left, right, dtype):
    """(B, M, K) times (B, N, K) after rounding: (B, M, N)."""
    out = lax.dot_general(_rounded(lhs, left), _rounded(rhs, right), _ROWS_BY_ROWS)
    if left.mode == "nvfp4":
        out = out * (left.global_scale * right.global_scale)
    return out.astype(dtype)


def _product_gradients(lhs, rhs, g, configs):
    """The cotangents of both operands."""
    left, right, back = configs
    of_lhs, of_rhs = (g, rhs.mT), (g.mT, lhs.mT)
    if back.mode != "nvfp4":
        return (
            _rounded_product(*of_lhs, back, right, lhs.dtype),
            _rounded_product(*of_rhs, back, left, rhs.dtype),
        )
    # Products of elements that were not rounded; nothing for elements that were too large.
    cotangents = []
    for x, operands, config in ((lhs, of_lhs, left), (rhs, of_rhs, right)):
        out = lax.dot_general(*(o.astype(np.float32) for o in operands), _ROWS_BY_ROWS)
        most = config.global_scale * _largest(config.data_type) * _largest(config.scale_type)
        cotangents.append(jnp.where(jnp.abs(x) <= most, out, 0).astype(x.dtype))
    return tuple(cotangents)


def scaled_dot_general(
    lhs,
    rhs,
    dimension_numbers,
    preferred_element_type=np.float32,
    configs=None,
    implementation=None,
):
    """The product of `lax.dot_general` of operands that are rounded to few bits, in blocks with
    scales.

    Args:
      lhs, rhs: the operands.
      dimension_numbers: as of `lax.dot_general`.
      preferred_element_type: the dtype of the result; sums are in float32.
      configs: three of `nn.get_scaled_dot_general_config`: for lhs, for rhs, and for the cotangent
        of the result. None: nothing is rounded.
      implementation: deprecated, and without effect but a warning.

    Returns:
      The result of `lax.dot_general`: batch dimensions, those of lhs, those of rhs. In gradients
      the rounding counts as the identity.

    Raises:
      ValueError: contracted sizes do not divide into blocks.

    Example:
      >>> configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
      >>> contract = (((1,), (0,)), ((), ()))
      >>> nn.scaled_dot_general(jnp.ones((2, 32)), jnp.ones((32, 1)), contract, configs=configs)
      Array([[32.],
             [32.]], dtype=float32)
    """
    if implementation is not None:
        warnings.warn(
            "Backend selector, now ignored. The system chooses the backend automatically.",
            DeprecationWarning,
            stacklevel=2,
        )
    dtype = np.dtype(_core.requested_dtype(preferred_element_type, "scaled_dot_general"))
    if configs is None:
        return lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=dtype)
    lhs, rhs = jnp.asarray(lhs), jnp.asarray(rhs)
    (left_sum, right_sum), (left_batch, right_batch) = dimension_numbers

    def matrices(x, summed, batch):
        """(B, M, K), and the sizes that M stands for."""
        kept = [d for d in range(x.ndim) if d not in (*summed, *batch)]
        sizes = [[x.shape[d] for d in dims] for dims in (batch, kept, summed)]
        out = jnp.transpose(x, (*batch, *kept, *summed))
        return out.reshape([math.prod(n) for n in sizes]), sizes[:2]

    a, (batch, rows) = matrices(lhs, left_sum, left_batch)
    b, (_, columns) = matrices(rhs, right_sum, right_batch)

    @custom_vjp
    def product(a, b):
        return _rounded_product(a, b, configs[0], configs[1], dtype)

    product.defvjp(
        lambda a, b: (product(a, b), (a, b)),
        lambda operands, g: _product_gradients(*operands, g, configs),
    )
    return product(a, b).reshape((*batch, *rows, *columns))
