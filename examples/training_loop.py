# %% [markdown]
# # A training loop on eight devices
#
# Linear regression by stochastic gradient descent: each device sees its own hundred samples, all of
# them take the same step.

# %%
import matplotlib.pyplot as plt
import shardax
import shardax.numpy as jnp
from shardax import lax, random

n = shardax.local_device_count()
features, per_device, steps, learning_rate = 5, 100, 50, 0.05
w_key, x_key, noise_key, start_key = random.split(random.PRNGKey(42), 4)

# %% [markdown]
# ## Data
#
# Targets follow a hidden linear rule, with some noise on top. The leading dimension is the
# devices'.

# %%
true_w, true_b = random.normal(w_key, (features,)), 1.5
x = random.normal(x_key, (n, per_device, features))
y = x @ true_w + true_b + 0.1 * random.normal(noise_key, (n, per_device))
print(f"{n} devices x {per_device} samples x {features} features")

# %% [markdown]
# ## One step
#
# A loss, its gradient, an average over all devices, a step downhill. The function reads as for one
# device; only `pmean` knows of the others.


# %%
def loss(params, x, y):
    predictions = x @ params["w"] + params["b"]
    return jnp.mean((predictions - y) ** 2)


def step(params, x, y):
    value, gradient = shardax.value_and_grad(loss)(params, x, y)
    value, gradient = lax.pmean((value, gradient), axis_name="batch")
    return shardax.tree.map(lambda p, g: p - learning_rate * g, params, gradient), value


parallel_step = shardax.pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)

# %% [markdown]
# ## The loop
#
# Parameters go in whole and come out whole: there is one copy of them, and one update, whatever the
# number of devices.

# %%
params = {"w": random.normal(start_key, (features,)), "b": jnp.zeros(())}
losses = []
for i in range(steps):
    params, value = parallel_step(params, x, y)
    losses.append(float(value))
    if (i + 1) % 10 == 0:
        print(f"step {i + 1:2d}  loss {losses[-1]:.4f}")

# %% [markdown]
# ## The learned weights
#
# Noise of 0.1 leaves a loss of about 0.01: the loop ends there.

# %%
print("true    w", true_w, " b", true_b)
print("learned w", params["w"], f" b {float(params['b']):.4f}")

# %% [markdown]
# The loss falls to that of the noise:

# %%
plt.figure(figsize=(6, 3))
plt.semilogy(range(1, steps + 1), losses, label="loss")
plt.axhline(0.01, color="gray", linestyle=":", label="noise")
plt.xlabel("step")
plt.legend()
plt.show()

# %% [markdown]
# ## The cost of eight devices
#
# `shardax.explain(parallel_step)(params, x, y)` shows that the parameters, which all devices share,
# exist once. The average over devices is part of the sums over samples, so that nothing is sent.
# [Data parallelism](data_parallelism.ipynb) shows such an explanation, [how it
# scales](how_it_scales.ipynb) what the same step would take on devices apart.
