# %% [markdown]
# # A data-parallel network with Adam
#
# Two spirals, told apart by a network with two hidden layers. Each device sees its part of every
# batch; gradients are averaged; Adam keeps two moments for each parameter. Parameters and moments
# go in whole and come out whole: there is one copy, however many devices.

# %%
import matplotlib.pyplot as plt
import shardax
import shardax.numpy as jnp
from shardax import lax, nn, random

n = shardax.local_device_count()
batch, steps = 256, 400
sizes = (2, 32, 32, 1)


# %% [markdown]
# ## Data


# %%
def spirals(key, count):
    angle_key, label_key, noise_key = random.split(key, 3)
    angle = random.uniform(angle_key, (count,), minval=0.5, maxval=2.5) * jnp.pi
    label = random.bernoulli(label_key, 0.5, (count,))
    turned = angle + jnp.pi * label
    points = jnp.stack([angle * jnp.cos(turned), angle * jnp.sin(turned)], axis=1) / 8
    return points + 0.01 * random.normal(noise_key, (count, 2)), label.astype(jnp.float32)


# %% [markdown]
# ## The network


# %%
def start(key):
    layers = []
    for inputs, outputs, k in zip(sizes[:-1], sizes[1:], random.split(key, len(sizes) - 1)):
        w = random.normal(k, (inputs, outputs)) * (2 / inputs) ** 0.5
        layers.append({"w": w, "b": jnp.zeros(outputs)})
    return layers


def logits(params, x):
    for layer in params[:-1]:
        x = nn.relu(x @ layer["w"] + layer["b"])
    return (x @ params[-1]["w"] + params[-1]["b"])[:, 0]


def loss(params, x, y):
    z = logits(params, x)
    return jnp.mean(nn.softplus(z) - y * z)


# %% [markdown]
# ## Adam


# %%
def adam(params, gradient, state, rate=0.01, b1=0.9, b2=0.999, eps=1e-8):
    count, mean, square = state
    count = count + 1
    tree_map = shardax.tree.map
    mean = tree_map(lambda m, g: b1 * m + (1 - b1) * g, mean, gradient)
    square = tree_map(lambda v, g: b2 * v + (1 - b2) * g * g, square, gradient)
    scale = rate * jnp.sqrt(1 - b2**count) / (1 - b1**count)
    params = tree_map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + eps), params, mean, square)
    return params, (count, mean, square)


# %% [markdown]
# ## One step on all devices
#
# `pmean` is the only line that knows of other devices.


# %%
def step(params, state, x, y):
    value, gradient = shardax.value_and_grad(loss)(params, x, y)
    value, gradient = lax.pmean((value, gradient), "data")
    params, state = adam(params, gradient, state)
    return params, state, value


parallel_step = shardax.pmap(
    step, axis_name="data", in_axes=(None, None, 0, 0), out_axes=None, donate_argnums=(0, 1)
)

# %%
params = start(random.PRNGKey(0))
zeros = shardax.tree.map(jnp.zeros_like, params)
state = (jnp.zeros((), jnp.int32), zeros, shardax.tree.map(jnp.zeros_like, params))
losses = []
for i in range(steps):
    x, y = spirals(random.fold_in(random.PRNGKey(1), i), batch)
    x, y = x.reshape(n, -1, 2), y.reshape(n, -1)
    params, state, value = parallel_step(params, state, x, y)
    losses.append(value)
    if i % 100 == 0 or i == steps - 1:
        print(f"step {i:3d}  loss {float(value):.3f}")

# %% [markdown]
# ## New points

# %%
x, y = spirals(random.PRNGKey(2), 1000)
right = (logits(params, x) > 0) == (y > 0.5)
print(f"right about {100 * float(right.mean()):.0f} % of new points")

# %% [markdown]
# The loss over the steps, and the two spirals with the border that the network has found:

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
left.semilogy(losses)
left.set(xlabel="step", ylabel="loss")
grid = jnp.stack(jnp.meshgrid(*[jnp.linspace(-1, 1, 100)] * 2), axis=-1)
probability = nn.sigmoid(logits(params, grid.reshape(-1, 2))).reshape(100, 100)
right.contourf(grid[..., 0], grid[..., 1], probability, levels=20, cmap="RdBu", alpha=0.7)
right.scatter(x[:, 0], x[:, 1], s=4, c=y, cmap="RdBu", edgecolors="black", linewidths=0.2)
right.set_aspect("equal")
plt.show()
