"""shardax/nn/_attention.py - scaled dot product attention."""

import math

import numpy as np

from shardax import numpy as jnp
from shardax._base.arrays import asarray, check_arraylike, in_one_program
from shardax.numpy._elementwise.exponentials import plain_logsumexp as logsumexp
from shardax.numpy._elementwise.exponentials import softmax

# Added in place of the logits that a mask leaves out.
_FAR = -0.7 * float(np.finfo(np.float32).max)


def _window(size):
    """(to the left, to the right) of a local window."""
    return (size, size) if isinstance(size, int) else tuple(size)


def _allowed(targets, sources, is_causal, window, query_lengths, source_lengths):
    """The masks that options ask for, each of a shape that broadcasts to (B, N, T, S)."""
    t, s = jnp.arange(targets)[:, None], jnp.arange(sources)
    if is_causal:
        yield s <= t
    if window is not None:
        left, right = _window(window)
        yield s <= t + right
        yield s >= t - left
    for places, lengths in ((t, query_lengths), (s, source_lengths)):
        if lengths is not None:
            yield places < asarray(lengths).reshape((-1, 1, 1, 1))


@in_one_program(
    "scale", "is_causal", "local_window_size", "implementation", "return_residual", at_once=True
)
def dot_product_attention(
    query,
    key,
    value,
    bias=None,
    mask=None,
    *,
    scale=None,
    is_causal=False,
    query_seq_lengths=None,
    key_value_seq_lengths=None,
    local_window_size=None,
    implementation=None,
    return_residual=False,
):
    """Attention of each head: softmax(query key^T * scale + bias) value.

    Args:
      query: (B, T, N, H) or (T, N, H): batch, targets, heads, features.
      key, value: (B, S, K, H) or (S, K, H): sources; N is a multiple of K, whose heads are shared.
      bias: added to the logits; broadcasts to (B, N, T, S).
      mask: booleans that broadcast to (B, N, T, S): pairs that take part.
      scale: of the logits; 1 / sqrt(H) unless given.
      is_causal: whether a target sees only sources up to its own place.
      query_seq_lengths, key_value_seq_lengths: (B,) integers: how many places of each sequence
        count. Targets beyond are 0.
      local_window_size: how far a target sees to the left and to the right, an int or a pair.
      implementation: None or "xla".
      return_residual: whether to return the logsumexp of the logits, (B, T, N), as well.

    Returns:
      An array of the shape and dtype of `query`.

    Raises:
      ValueError: shapes do not fit, `mask` is not boolean, or for another implementation.

    Source: Vaswani et al., "Attention is all you need", 2017.

    Example:
      >>> q = k = v = jnp.ones((2, 1, 4))
      >>> nn.dot_product_attention(q, k, v, is_causal=True).shape
      (2, 1, 4)
    """
    check_arraylike("dot_product_attention", query, key, value)
    if implementation not in (None, "xla"):
        raise ValueError(
            f"Unsupported implementation option: {implementation}; it is None or 'xla'."
        )
    query, key, value = (asarray(x) for x in (query, key, value))
    single = query.ndim == 3
    if single:
        query, key, value = query[None], key[None], value[None]
    if query.ndim != 4 or key.ndim != 4 or key.shape != value.shape:
        raise ValueError(
            "dot_product_attention: query must be of shape (B, T, N, H) and key and value of one "
            f"shape (B, S, K, H), got {query.shape}, {key.shape} and {value.shape}."
        )
    heads, shared = query.shape[2], key.shape[2]
    if heads % shared:
        raise ValueError(
            f"The number of query heads must be a multiple of key/value heads, but got {heads} vs "
            f"{shared}"
        )
    if mask is not None and asarray(mask).dtype != np.bool_:
        raise ValueError(f"mask dtype should be bool, but got {asarray(mask).dtype}")
    if heads != shared:
        key, value = jnp.repeat(key, heads // shared, 2), jnp.repeat(value, heads // shared, 2)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    logits = jnp.einsum("btnh,bsnh->bnts", query, key, preferred_element_type=jnp.float32) * scale
    if bias is not None:
        logits = (logits + bias).astype(logits.dtype)
    masks = [] if mask is None else [asarray(mask)]
    masks += _allowed(
        *logits.shape[2:], is_causal, local_window_size, query_seq_lengths, key_value_seq_lengths
    )
    for allowed in masks:
        logits = jnp.where(allowed, logits, _FAR)
    weights = softmax(logits, axis=-1).astype(query.dtype)
    out = jnp.einsum("bnts,bsnh->btnh", weights, value)
    if query_seq_lengths is not None:
        inside = jnp.arange(out.shape[1])[:, None, None] < asarray(query_seq_lengths).reshape(
            (-1, 1, 1, 1)
        )
        out = jnp.where(inside, out, 0).astype(query.dtype)
    out = out[0] if single else out
    if not return_residual:
        return out
    residual = jnp.swapaxes(logsumexp(logits, axis=-1), 1, 2).astype(query.dtype)
    return out, residual[0] if single else residual
