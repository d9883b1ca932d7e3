# %% [markdown]
# # Fully sharded data parallelism
#
# With plain data parallelism every device keeps all parameters. Here each keeps a part of them, and
# of their gradients; a layer's parameters are gathered when it needs them:
#
#     parameters   p0 | p1 | p2 | p3        each device keeps one part
#                    all_gather             before use: all parts
#     gradients    g0 | g1 | g2 | g3        each device's own, of all parameters
#                    psum_scatter           each keeps its part of the sum
#
# The gradient of `all_gather` is `psum_scatter`, so that nobody has to write the second half.

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax, random
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

n = shardax.device_count()
mesh = shardax.make_mesh((n,), ("data",))
rows, width, hidden = 16 * n, 8 * n, 4 * n
keys = random.split(random.key(0), 4)
whole = {
    "w1": random.normal(keys[0], (width, hidden)) / width**0.5,
    "w2": random.normal(keys[1], (hidden, 1)) / hidden**0.5,
}
x = random.normal(keys[2], (rows, width))
y = random.normal(keys[3], (rows, 1))


def loss(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)


# %% [markdown]
# ## Parts of parameters
#
# Dimension 0 of every parameter is split over the devices. Devices share one memory, so that
# placing the parts moves nothing.

# %%
split = NamedSharding(mesh, P("data"))
params = shardax.device_put(whole, split)
print("w1:", params["w1"].shape, "in parts of", params["w1"].addressable_shards[0].data.shape)
params["w1"]

# %% [markdown]
# ## A step


# %%
def sharded_loss(parts, x, y):
    full = {name: lax.all_gather(part, "data", tiled=True) for name, part in parts.items()}
    return loss(full, x, y)


def step(parts, x, y):
    gradients = shardax.grad(sharded_loss)(parts, x, y)
    return {name: parts[name] - 0.1 * gradients[name] / n for name in parts}


in_specs = (P("data"), P("data"), P("data"))
sharded_step = shardax.jit(
    shardax.shard_map(step, mesh=mesh, in_specs=in_specs, out_specs=P("data"))
)


@shardax.jit
def whole_step(params, x, y):
    gradients = shardax.grad(loss)(params, x, y)
    return {name: params[name] - 0.1 * gradients[name] for name in params}


for _ in range(5):
    params, whole = sharded_step(params, x, y), whole_step(whole, x, y)
same = all(bool(jnp.allclose(params[name], whole[name], atol=1e-5)) for name in whole)
print("loss after 5 steps:", f"{float(loss(whole, x, y)):.4f}")
print("equal to the unsharded steps:", same)

# %% [markdown]
# ## The compiled step
#
# Gathering is free, as the parts lie side by side; the sum of the gradients is part of the product
# that makes them. On devices of their own, each would send the messages of `apart`.

# %%
told = shardax.explain(sharded_step)(params, x, y)
for c in told.collectives:
    print(f"{c['op']:15}{c['became']:10}apart, each device sends {c['traffic']} bytes")
told
