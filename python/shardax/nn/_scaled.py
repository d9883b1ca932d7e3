"""shardax/nn/_scaled.py - products of matrices whose blocks have scales of their own."""

import numpy as np

import shardax._core as _core
from shardax import lax
from shardax import numpy as jnp


def scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type=np.float32):
    """The products of lhs (B, M, K) and rhs (B, N, K), each block of K times its scale: (B, M, N).

    Args:
      lhs_scales, rhs_scales: (B, M, k) and (B, N, k), where k divides K.
      preferred_element_type: the result's dtype; products are summed in float32.

    Raises:
      ValueError: shapes that do not go together.

    >>> ones = jnp.ones((1, 1, 4))
    >>> scaled_matmul(ones, ones, ones[..., :1] * 2, ones[..., :1])
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
