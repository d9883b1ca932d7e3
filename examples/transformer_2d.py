# %% [markdown]
# # A transformer on a mesh of two dimensions
#
# The batch is split over one axis of the mesh, heads and hidden units over the other:
#
#                 model ->  heads 0, 1 | heads 2, 3 | ...
#     data   rows 0 ..3         0            1
#      v     rows 4 ..7         4            5
#
# Only two sums along `model` are written, one after attention and one after the hidden layer. Sums
# of the gradients along `data` follow: parameters are the same along `data`, so their gradients are
# summed along it.

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax, nn, random
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

n = shardax.device_count()
across = 2 if n % 2 == 0 else 1
mesh = shardax.make_mesh((across, n // across), ("data", "model"))
batch, length, width, heads, head, hidden = 4 * across, 8, 16, 2 * mesh.shape["model"], 4, 8 * n
mesh

# %% [markdown]
# ## Parameters and how they are split

# %%
shapes = {
    "q": (width, heads, head),
    "k": (width, heads, head),
    "v": (width, heads, head),
    "o": (heads, head, width),
    "up": (width, hidden),
    "down": (hidden, width),
}
by_head, by_unit = P(None, "model"), P("model")
specs = {"q": by_head, "k": by_head, "v": by_head, "o": by_unit, "up": by_head, "down": by_unit}
keys = random.split(random.key(3), len(shapes) + 2)
params = {k: 0.3 * random.normal(key, shapes[k]) for k, key in zip(shapes, keys)}
x = random.normal(keys[-2], (batch, length, width))
y = random.normal(keys[-1], (batch, length, width))
placed = {k: shardax.device_put(v, NamedSharding(mesh, specs[k])) for k, v in params.items()}
for name in shapes:
    print(
        f"{name:5}{shapes[name]!s:14} a device has", placed[name].addressable_shards[0].data.shape
    )
placed["up"]

# %% [markdown]
# ## The block
#
# `total` adds up the values of the devices along `model`: nothing, on one device.


# %%
def normed(x):
    return (x - jnp.mean(x, -1, keepdims=True)) / jnp.std(x, -1, keepdims=True)


def block(params, x, total):
    z = normed(x)
    q, k, v = (jnp.einsum("bsd,dhk->bhsk", z, params[name]) for name in "qkv")
    weights = nn.softmax(q @ jnp.swapaxes(k, -1, -2) / head**0.5, axis=-1)
    x = x + total(jnp.einsum("bhsk,hkd->bsd", weights @ v, params["o"]))
    return x + total(nn.gelu(normed(x) @ params["up"]) @ params["down"])


def whole_loss(params, x, y):
    return jnp.mean((block(params, x, lambda part: part) - y) ** 2)


def device_loss(params, x, y):
    out = block(params, x, lambda part: lax.psum(part, "model"))
    return lax.pmean(jnp.mean((out - y) ** 2), "data")


def trained(loss):
    def step(params, x, y):
        value, gradients = shardax.value_and_grad(loss)(params, x, y)
        return {k: params[k] - 0.05 * gradients[k] for k in params}, value

    return step


step = shardax.jit(
    shardax.shard_map(
        trained(device_loss),
        mesh=mesh,
        in_specs=(specs, P("data"), P("data")),
        out_specs=(specs, P()),
    )
)
whole_step = shardax.jit(trained(whole_loss))
for _ in range(4):
    (placed, value), (params, expected) = step(placed, x, y), whole_step(params, x, y)
print(f"loss {float(value):.4f}, on one device {float(expected):.4f}")
same = [bool(jnp.allclose(placed[k], params[k], atol=1e-4)) for k in params]
print("equal to the unsharded steps:", all(same))

# %% [markdown]
# ## The compiled sums

# %%
told = shardax.explain(step)(placed, x, y)
for axis in mesh.axis_names:
    became = sorted({c["became"] for c in told.collectives if c["over"] == [axis]})
    print(f"sums along {axis}:", ", ".join(became))
ratio = sum(told.work["here"].values()) / sum(told.work["apart"].values())
print(f"arithmetic of {told.devices} devices here and apart: {ratio:.2f}")
told
