# %% [markdown]
# # How it scales
#
# Here all devices share one memory, and eight cost what one does. On machines of their own they
# would have to talk. `explain` tells the messages of a training step; `on` predicts their time on
# accelerators of given speed.

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax, random

n = shardax.local_device_count()
width, rows, layers = 64, 32, 4
keys = random.split(random.key(6), layers + 2)
weights = [random.normal(key, (width, width)) / width**0.5 for key in keys[:layers]]
x, y = random.normal(keys[-2], (n, rows, width)), random.normal(keys[-1], (n, rows, width))


def loss(weights, x, y):
    for w in weights:
        x = jnp.tanh(x @ w)
    return jnp.mean((x - y) ** 2)


def step(weights, x, y):
    gradients = lax.pmean(shardax.grad(loss)(weights, x, y), "data")
    return [w - 0.1 * g for w, g in zip(weights, gradients)]


parallel = shardax.pmap(step, axis_name="data", in_axes=(None, 0, 0), out_axes=None)


@shardax.jit
def one_device(weights, x, y):
    gradients = shardax.grad(loss)(weights, jnp.concatenate(x), jnp.concatenate(y))
    return [w - 0.1 * g for w, g in zip(weights, gradients)]


both = zip(parallel(weights, x, y), one_device(weights, x, y))
print("equal to one device:", all(bool(jnp.allclose(a, b, atol=1e-5)) for a, b in both))

# %% [markdown]
# ## Here

# %%
told = shardax.explain(parallel)(weights, x, y)
print("\n".join(told.summary))

# %% [markdown]
# Types are enough to explain a program. So the model may be one that would not fit here: layers of
# 4096 x 4096, 2048 rows for each device.

# %%
width, rows = 4096, 2048
layer = shardax.ShapeDtypeStruct((width, width), jnp.float32)
data = shardax.ShapeDtypeStruct((n, rows, width), jnp.float32)
told = shardax.explain(parallel)([layer] * layers, data, data)
told

# %% [markdown]
# ## On eight accelerators
#
# The figures are those of a machine room, not of a product. They are a hundred teraflops, two
# terabytes a second to memory, and a hundred gigabytes a second over a link. A message of n bytes
# takes `latency + n / bandwidth` (Hockney 1994); the collectives' formulas are those of Thakur,
# Rabenseifner and Gropp (2005).

# %%
machines = shardax.Accelerators(
    flops=1e14, memory_bandwidth=2e12, link_bandwidth=1e11, latency=2e-6, memory=16e9
)
predicted = told.on(machines)
print("\n".join(predicted.sentences()))
predicted

# %% [markdown]
# Gradients of the last layer are ready first; they travel while those of the others are computed.
#
# ## More devices
#
# With as much work for each as now, a step takes longer because of the messages alone. With the
# same work for all together, each has less to hide them behind.

# %%
print("devices   same work each   same work in all")
for weak, strong in zip(predicted.scaling(kind="weak"), predicted.scaling(kind="strong")):
    print(f"{weak['devices']:7}{weak['efficiency']:17.0%}{strong['efficiency']:19.0%}")

# %% [markdown]
# ## Other wires

# %%
for topology in ("ring", "torus", "tree", "hierarchical"):
    joined = shardax.Accelerators(
        flops=1e14, memory_bandwidth=2e12, link_bandwidth=1e11, latency=2e-6, topology=topology
    )
    times = [told.on(joined).scaling([count])[0]["time"] for count in (8, 64, 1024)]
    print(f"{topology:13}", *(f"{1e6 * time:7.1f} us" for time in times))
