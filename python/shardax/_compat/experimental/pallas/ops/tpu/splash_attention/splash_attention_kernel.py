"""shardax/_compat/experimental/pallas/ops/tpu/splash_attention/splash_attention_kernel.py -
attention under a mask that is known beforehand, all at once or in blocks, for the CPU."""

import dataclasses
import functools
from typing import Any, NamedTuple

from shardax import lax, nn
from shardax import numpy as jnp
from shardax._transform.checkpoint import checkpoint, checkpoint_name
from shardax._transform.jit import jit
from shardax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask import Mask

__all__ = ["BlockSizes", "SegmentIds", "make_splash_mha", "make_splash_mqa"]

_MASKED = -0.7 * float(jnp.finfo(jnp.float32).max)


class SegmentIds(NamedTuple):
    """The segment of each query and of each key; a query sees keys of its own."""

    q: Any
    kv: Any


@dataclasses.dataclass(frozen=True)
class BlockSizes:
    """The number of queries, and of keys, that are worked on at a time: `block_q` and `block_kv`.

    Gradients have the same blocks; the other sizes have no effect.
    """

    block_q: int
    block_kv: int
    block_kv_compute: int | None = None
    block_q_dkv: int | None = None
    block_kv_dkv: int | None = None
    block_kv_dkv_compute: int | None = None
    block_q_dq: int | None = None
    block_kv_dq: int | None = None
    use_fused_bwd_kernel: bool = False


@dataclasses.dataclass(frozen=True)
class _Attention:
    """Softmax of products under a mask, as functions of q, k, v[heads, places, n]."""

    cap: float | None
    masked: float

    def logits(self, q, k, shown, ids):
        x = jnp.einsum("hqd,hkd->hqk", q, k, preferred_element_type=jnp.float32)
        if self.cap is not None:
            x = self.cap * jnp.tanh(x / self.cap)
        if ids is not None:
            shown = shown & (ids.q[:, None] == ids.kv)
        return jnp.where(shown, x, self.masked)

    def whole(self, q, k, v, shown, ids):
        """(the result, the logsumexp of the logits), by all logits at once."""
        x = self.logits(q, k, shown, ids)
        out = jnp.einsum("hqk,hkd->hqd", nn.softmax(x), v.astype(jnp.float32))
        return out, nn.logsumexp(x, -1)

    def in_blocks(self, q, k, v, shown, ids, rows, columns):
        """The same by `rows` queries and `columns` keys at a time: logits of one block are kept,
        and computed again for gradients."""
        heads, queries, _ = q.shape
        ids = SegmentIds(None, None) if ids is None else ids

        def cut(x, axis, size):
            """The blocks along an axis, along a new first one."""
            if x is None:
                return None
            shape = (*x.shape[:axis], -1, size, *x.shape[axis + 1 :])
            return jnp.moveaxis(x.reshape(shape), axis, 0)

        keys = cut(k, 1, columns), cut(v.astype(jnp.float32), 1, columns), cut(ids.kv, 0, columns)

        @checkpoint
        def of_queries(block):
            q, shown, own = block

            def turn(carry, piece):
                top, total, out = carry
                k, v, others, shown = piece
                x = self.logits(q, k, shown, None if own is None else SegmentIds(own, others))
                higher = jnp.maximum(top, x.max(-1))
                shares, kept = jnp.exp(x - higher[..., None]), jnp.exp(top - higher)
                total = total * kept + shares.sum(-1)
                out = out * kept[..., None] + jnp.einsum("hqk,hkd->hqd", shares, v)
                return (higher, total, out), None

            nothing = jnp.full((heads, rows), -jnp.inf), jnp.zeros((heads, rows))
            nothing = (*nothing, jnp.zeros((heads, rows, v.shape[-1])))
            (top, total, out), _ = lax.scan(turn, nothing, (*keys, cut(shown, 2, columns)))
            return out / total[..., None], jnp.log(total) + top

        blocks = cut(q, 1, rows), cut(shown, 1, rows), cut(ids.q, 0, rows)
        out, sums = (jnp.moveaxis(x, 0, 1) for x in lax.map(of_queries, blocks))
        return out.reshape(heads, queries, -1), sums.reshape(heads, queries)


def _check_blocks(sizes, shape):
    """ValueError where blocks do not fill the queries and keys of a mask."""
    for name, size, count in zip(("block_q", "block_kv"), sizes, shape):
        if size < 1 or count % size:
            raise ValueError(
                f"splash_attention: {name} is {size}, which does not divide {count} places; choose "
                "a divisor, or pad the arrays."
            )


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
      block_sizes: a BlockSizes, to work on some queries and keys at a time, which keeps no more
        logits than those; None for all at once.
      residual_checkpoint_name: what policies of `checkpoint` call the result and the logsumexp.
      downcast_smem_data, head_shards, q_seq_shards, interpret: without effect: the program is for
        the CPU.

    Raises:
      ValueError: a mask without heads, or blocks that do not divide its sizes.

    Example:
      >>> attend = make_splash_mha(np.ones((1, 2, 2), bool), head_shards=1, q_seq_shards=1)
      >>> attend(jnp.zeros((1, 2, 3)), jnp.zeros((1, 2, 3)), jnp.ones((1, 2, 3))).shape
      (1, 2, 3)
    """
    shown = jnp.asarray(mask.whole() if isinstance(mask, Mask) else mask, bool)
    if shown.ndim != 3:
        raise ValueError(f"Unexpected mask shape: {shown.shape}; expected heads, queries, keys.")

    blocks = None if block_sizes is None else (block_sizes.block_q, block_sizes.block_kv)
    if blocks is not None:
        _check_blocks(blocks, shown.shape[1:])
    attention = _Attention(attn_logits_soft_cap, mask_value)

    @jit
    def attend(q, k, v, segment_ids=None):
        if is_mqa:
            k, v = k[None], v[None]
        group = q.shape[0] // k.shape[0]
        k, v = (jnp.repeat(x, group, 0) if group > 1 else x for x in (k, v))
        if blocks is None:
            out, sums = attention.whole(q, k, v, shown, segment_ids)
        else:
            out, sums = attention.in_blocks(q, k, v, shown, segment_ids, *blocks)
        out = out.astype(q.dtype)
        if residual_checkpoint_name is not None:
            out, sums = (checkpoint_name(x, residual_checkpoint_name) for x in (out, sums))
        return (out, (sums,)) if save_residuals else out

    return attend


make_splash_mha = functools.partial(_make_splash_attention, is_mqa=False)
make_splash_mqa = functools.partial(_make_splash_attention, is_mqa=True)
