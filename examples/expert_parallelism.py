# %% [markdown]
# # Expert parallelism
#
# A mixture of experts: a router sends each token to one of several small networks. Every device
# has one expert and a part of the tokens. Two `all_to_all`s bring tokens to their experts and
# results back.

# %%
import shardax
import shardax.numpy as jnp
from shardax import debug, lax, nn, random

n = shardax.local_device_count()
tokens, width, hidden = 24, 8, 16  # tokens of a device
keys = random.split(random.key(5), 4)
x = random.normal(keys[0], (n, tokens, width))
router = random.normal(keys[1], (width, n))
up = random.normal(keys[2], (n, width, hidden)) / width**0.5
down = random.normal(keys[3], (n, hidden, width)) / hidden**0.5
debug.visualize_collective("all_to_all", min(n, 4)) if n > 1 else None

# %% [markdown]
# ## Routing
#
# A device has `capacity` places for each expert. Here they suffice for all tokens, so that the
# result is that of one device; with fewer, tokens that find no place would pass unchanged.

# %%
capacity = tokens


def expert(up, down, x):
    return nn.relu(x @ up) @ down


def places(x):
    """The place of each token at its expert, and its weight."""
    chances = nn.softmax(x @ router, axis=-1)
    choice = nn.one_hot(jnp.argmax(chances, axis=-1), n)
    position = jnp.cumsum(choice, axis=0) * choice - 1
    place = nn.one_hot(position.astype(int), capacity)  # [tokens, experts, places]
    return place, jnp.max(chances, axis=-1)


def layer(x, up, down):
    place, weight = places(x)
    sent = jnp.einsum("td,tec->ecd", x, place)
    received = lax.all_to_all(sent, "expert", 0, 0)  # [devices, places, width]
    done = expert(up, down, received)
    returned = lax.all_to_all(done, "expert", 0, 0)
    return weight[:, None] * jnp.einsum("ecd,tec->td", returned, place)


run = shardax.pmap(layer, axis_name="expert")
out = run(x, up, down)


# %% [markdown]
# ## The same on one device


# %%
def one_device(token):
    chances = nn.softmax(token @ router)
    chosen = jnp.argmax(chances)
    return chances[chosen] * expert(up[chosen], down[chosen], token)


whole = shardax.vmap(shardax.vmap(one_device))(x)
print("equal to one device:", bool(jnp.allclose(out, whole, atol=1e-5)))
loads = jnp.bincount(jnp.argmax(x.reshape(-1, width) @ router, axis=-1), length=n)
print("tokens of each expert:", loads, "of", n * tokens)

# %% [markdown]
# ## Moved data

# %%
told = shardax.explain(run)(x, up, down)
for c in told.collectives:
    print(f"{c['op']}: {c['became']}; apart, each device sends {c['traffic']} bytes")
told
