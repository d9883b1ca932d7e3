# %% [markdown]
# # Ring attention
#
# A sequence that is too long for one device is split along its length. Each query needs all keys,
# so keys and values go around a ring. Every device attends to the block that is with it, and keeps
# a running maximum and sum, so that the softmax comes out exact.
#
# H. Liu, M. Zaharia, P. Abbeel, "Ring Attention with Blockwise Transformers for Near-Infinite
# Context", 2023.

# %%
import shardax
import shardax.numpy as jnp
from shardax import debug, lax, nn, random

n = shardax.local_device_count()
block, head = 16, 8
q, k, v = random.normal(random.key(4), (3, n * block, head))
around = [(i, (i + 1) % n) for i in range(n)]
debug.visualize_collective("ring", n) if n > 1 else None

# %% [markdown]
# ## Attention over one block after the other


# %%
def attention(q, k, v):
    scores = q @ k.T / head**0.5
    rows = jnp.arange(q.shape[0])[:, None]
    return nn.softmax(jnp.where(rows >= jnp.arange(k.shape[0]), scores, -jnp.inf), axis=-1) @ v


def ring_attention(q, k, v):
    device = lax.axis_index("ring")

    def turn(carry, t):
        k, v, largest, total, out = carry
        source = (device - t) % n  # the device of this block
        ahead = device * block + jnp.arange(block)[:, None] >= source * block + jnp.arange(block)
        scores = jnp.where(ahead, q @ k.T / head**0.5, -jnp.inf)
        top = jnp.maximum(largest, jnp.max(scores, axis=-1))
        weights = jnp.exp(scores - top[:, None])
        fade = jnp.exp(largest - top)
        total = total * fade + jnp.sum(weights, axis=-1)
        out = out * fade[:, None] + weights @ v
        k, v = lax.ppermute((k, v), "ring", around)
        return (k, v, top, total, out), None

    start = k, v, jnp.full(block, -jnp.inf), jnp.zeros(block), jnp.zeros((block, head))
    (_, _, _, total, out), _ = lax.scan(turn, start, jnp.arange(n))
    return out / total[:, None]


def split(x):
    return x.reshape(n, block, head)


run = shardax.pmap(ring_attention, axis_name="ring")
out = run(split(q), split(k), split(v))
whole = attention(q, k, v)
print("sequence of", n * block, "in blocks of", block)
print(
    "equal to attention over all:", bool(jnp.allclose(out.reshape(whole.shape), whole, atol=1e-5))
)

# %% [markdown]
# ## Its gradient goes around the ring backwards


# %%
def ring_loss(q, k, v):
    return jnp.sum(run(q, k, v) ** 2)


ours = shardax.grad(ring_loss, argnums=(0, 1, 2))(split(q), split(k), split(v))
plain = shardax.grad(lambda *qkv: jnp.sum(attention(*qkv) ** 2), argnums=(0, 1, 2))(q, k, v)
same = [bool(jnp.allclose(a.reshape(b.shape), b, atol=1e-4)) for a, b in zip(ours, plain)]
print("same gradients:", all(same))

# %% [markdown]
# ## On machines of its own
#
# Sending keys and values costs nothing as long as computing takes longer.

# %%
told = shardax.explain(run)(split(q), split(k), split(v))
moved = [c for c in told.collectives if c["op"] == "ppermute"]
print("blocks handed over:", sum(int(c["times"]) for c in moved), "by each device")
told
