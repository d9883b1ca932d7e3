"""shardax/experimental/pallas/ops/tpu/splash_attention/splash_attention_kernel.py - attention under
a mask that is known beforehand, as a function of arrays."""

import dataclasses
import functools
from typing import Any, NamedTuple

from shardax import nn
from shardax import numpy as jnp
from shardax._transform.jit import jit
from shardax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask import Mask

__all__ = ["BlockSizes", "SegmentIds", "make_splash_mha", "make_splash_mqa"]

_MASKED = -0.7 * float(jnp.finfo(jnp.float32).max)


class SegmentIds(NamedTuple):
    """Which segment each query and each key is of; a query sees keys of its own."""

    q: Any
    kv: Any


@dataclasses.dataclass(frozen=True)
class BlockSizes:
    """How accelerators cut queries and keys; accepted."""

    block_q: int
    block_kv: int
    block_kv_compute: int | None = None
    block_q_dkv: int | None = None
    block_kv_dkv: int | None = None
    block_kv_dkv_compute: int | None = None
    block_q_dq: int | None = None
    block_kv_dq: int | None = None
    use_fused_bwd_kernel: bool = False


def _attention(mask, cap, masked, save_residuals, q, k, v, segment_ids):
    group = q.shape[0] // k.shape[0]
    k, v = (jnp.repeat(x, group, 0) if group > 1 else x for x in (k, v))
    logits = jnp.einsum("hqd,hkd->hqk", q, k, preferred_element_type=jnp.float32)
    if cap is not None:
        logits = cap * jnp.tanh(logits / cap)
    if segment_ids is not None:
        mask = mask & (segment_ids.q[:, None] == segment_ids.kv)
    logits = jnp.where(mask, logits, masked)
    shares = nn.softmax(logits)
    out = jnp.einsum("hqk,hkd->hqd", shares, v.astype(jnp.float32)).astype(q.dtype)
    return (out, (nn.logsumexp(logits, -1),)) if save_residuals else out


def _make_splash_attention(
    mask,
    *,
    block_sizes=None,
    is_mqa,
    save_residuals=False,
    mask_value=_MASKED,
    attn_logits_soft_cap=None,
    downcast_smem_data=True,
    head_shards,
    q_seq_shards,
    residual_checkpoint_name=None,
    interpret=False,
):
    """A function of q[heads, queries, n], k and v[heads, keys, n] (without heads for
    `make_splash_mqa`), and `segment_ids`: softmax(q k^T) v where the mask is True.

    Args:
      mask: booleans by head, query and key, or a MultiHeadMask.
      save_residuals: whether results are (out, (logsumexp of the logits,)).
      mask_value: the logit of what the mask hides.
      attn_logits_soft_cap: c, where logits x are to be c tanh(x / c).
      block_sizes, downcast_smem_data, head_shards, q_seq_shards, residual_checkpoint_name,
        interpret: accepted.

    Raises:
      ValueError: a mask without heads.

    Example:
      >>> attend = make_splash_mha(np.ones((1, 2, 2), bool), head_shards=1, q_seq_shards=1)
      >>> attend(jnp.zeros((1, 2, 3)), jnp.zeros((1, 2, 3)), jnp.ones((1, 2, 3))).shape
      (1, 2, 3)
    """
    shown = jnp.asarray(mask.whole() if isinstance(mask, Mask) else mask, bool)
    if shown.ndim != 3:
        raise ValueError(f"Unexpected mask shape: {shown.shape}; expected heads, queries, keys.")

    @jit
    def attend(q, k, v, segment_ids=None):
        if is_mqa:
            k, v = k[None], v[None]
        return _attention(
            shown, attn_logits_soft_cap, mask_value, save_residuals, q, k, v, segment_ids
        )

    return attend


make_splash_mha = functools.partial(_make_splash_attention, is_mqa=False)
make_splash_mqa = functools.partial(_make_splash_attention, is_mqa=True)
