# %% [markdown]
# # Automatic parallelism
#
# `jit` and shardings take the place of `pmap`. The function is written for whole arrays, shardings
# give each device's part, and the messages between devices follow. Here all devices share one
# memory and nothing is told. `explain(f)(x).apart` is the program that each device would run if it
# had a memory of its own. It shows the messages that a choice of shardings costs.

# %%
import shardax
import shardax.numpy as jnp
from shardax import random
from shardax.sharding import AxisType, NamedSharding
from shardax.sharding import PartitionSpec as P

n = shardax.device_count()
across = 2 if n % 2 == 0 else 1
mesh = shardax.make_mesh((across, n // across), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
width, hidden, rows = 64, 256, 128
keys = random.split(random.key(0), 4)
weights = {
    "first": random.normal(keys[0], (width, hidden)) / width**0.5,
    "second": random.normal(keys[1], (hidden, width)) / hidden**0.5,
}
x, y = random.normal(keys[2], (rows, width)), random.normal(keys[3], (rows, width))


def loss(weights, x, y):
    hidden = jnp.tanh(x @ weights["first"])
    return jnp.mean((hidden @ weights["second"] - y) ** 2)


@shardax.jit
def step(weights, x, y):
    gradients = shardax.grad(loss)(weights, x, y)
    return shardax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)


# %% [markdown]
# ## Three ways to split the same step
#
# The data over all devices; the parameters too, each device keeping an eighth of them; and the
# hidden layer over `model`, the data over `data`.

# %%
everything = ("data", "model")
ways = {
    "data parallel": (P(), P(), P(everything)),
    "parameters sharded": (P(everything), P(everything), P(everything)),
    "tensor parallel": (P(None, "model"), P("model", None), P("data")),
}


def placed(first, second, data):
    def put(array, spec):
        return shardax.device_put(array, NamedSharding(mesh, spec))

    split = {"first": put(weights["first"], first), "second": put(weights["second"], second)}
    return split, put(x, data), put(y, data)


alone = step(weights, x, y)
for name, specs in ways.items():
    new = step(*placed(*specs))
    same = all(bool(jnp.allclose(new[key], alone[key], atol=1e-6)) for key in new)
    parts = {key: array.addressable_shards[0].data.shape for key, array in new.items()}
    print(f"{name}: equal to one device: {same}, a device has {parts}")

# %% [markdown]
# ## Messages of separate devices
#
# Data parallelism adds up gradients. With sharded parameters the weights are gathered before they
# are used, and gradients are added up where they are kept. Split in the hidden layer, devices add
# up the layer's result, and gradients over `data` only.

# %%
for name, specs in ways.items():
    told = shardax.explain(step)(*placed(*specs))
    messages = told.apart.collectives if told.apart else []
    print(f"{name}: {sum(c['traffic'] for c in messages)} bytes from each device")
    for c in messages:
        print(f"    {c['op']} over {', '.join(c['over'])}: {c['operand']} bytes on each device")

# %% [markdown]
# All that is said of the last of them:

# %%
told

# %% [markdown]
# ## On machines of their own
#
# Types are enough for a prediction: layers of 8192 x 32768 and 16384 rows.

# %%
machines = shardax.Accelerators(flops=2e14, memory_bandwidth=2e12, link_bandwidth=1e11, memory=8e10)


def shape(rows, columns, spec):
    return shardax.ShapeDtypeStruct(
        (rows, columns), jnp.float32, sharding=NamedSharding(mesh, spec)
    )


for name, (first, second, data) in ways.items():
    large = {"first": shape(8192, 32768, first), "second": shape(32768, 8192, second)}
    batch = shape(16384, 8192, data)
    predicted = shardax.explain(step)(large, batch, batch).on(machines)
    print(
        f"{name}: {predicted.time * 1e3:.0f} ms, of which {predicted.communication * 1e3:.0f} ms "
        f"of messages; {predicted.memory['peak'] / 1e9:.1f} GB on each device"
    )

# %% [markdown]
# The text of a compiled function is that of one device, as it is in JAX.

# %%
text = step.lower(*placed(*ways["tensor parallel"])).compile().as_text()
print([op for op in ("all-reduce", "all-gather", "reduce-scatter") if op in text])
