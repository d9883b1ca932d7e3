# %% [markdown]
# # Gradient accumulation
#
# A batch that is too large for memory is cut into microbatches. Gradients are added up over them,
# and one update is made of the sum. Here each device does so for its part of the batch, before
# devices average.

# %%
import matplotlib.pyplot as plt
import shardax
import shardax.numpy as jnp
from shardax import lax, random

n = shardax.local_device_count()
batch, microbatches, features = 512, 4, 6

# %%
w_key, x_key, noise_key = random.split(random.PRNGKey(0), 3)
true_w = random.normal(w_key, (features,))
x = random.normal(x_key, (batch, features))
y = jnp.tanh(x @ true_w) + 0.05 * random.normal(noise_key, (batch,))


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


# %% [markdown]
# ## The sum over microbatches
#
# `scan` runs over the leading dimension and carries the sum along. Activations of one microbatch
# are alive at a time.


# %%
def accumulated(w, x, y):
    x, y = x.reshape(microbatches, -1, features), y.reshape(microbatches, -1)

    def add(total, part):
        value, gradient = shardax.value_and_grad(loss)(w, *part)
        return shardax.tree.map(jnp.add, total, (value, gradient)), None

    total, _ = lax.scan(add, (jnp.zeros(()), jnp.zeros_like(w)), (x, y))
    return shardax.tree.map(lambda v: v / microbatches, total)


def step(w, x, y):
    value, gradient = lax.pmean(accumulated(w, x, y), "data")
    return w - 0.5 * gradient, value, gradient


parallel_step = shardax.pmap(step, axis_name="data", in_axes=(None, 0, 0), out_axes=None)

# %% [markdown]
# ## It is the gradient of the whole batch

# %%
w = jnp.zeros(features)
parts = x.reshape(n, -1, features), y.reshape(n, -1)
_, value, gradient = parallel_step(w, *parts)
whole_value, whole_gradient = shardax.value_and_grad(loss)(w, x, y)
each = batch // n // microbatches
print(f"{batch} samples = {n} devices x {microbatches} microbatches x {each}")
print("same loss:    ", bool(jnp.allclose(value, whole_value, rtol=1e-5)))
print("same gradient:", bool(jnp.allclose(gradient, whole_gradient, rtol=1e-4, atol=1e-6)))

# %% [markdown]
# ## Training with it

# %%
losses = []
for i in range(101):
    w, value, _ = parallel_step(w, *parts)
    losses.append(value)
    if i % 25 == 0:
        print(f"step {i:3d}  loss {float(value):.4f}")
print(f"largest error of a weight: {float(jnp.abs(w - true_w).max()):.2f}")

# %%
plt.figure(figsize=(6, 3))
plt.semilogy(losses)
plt.xlabel("step")
plt.ylabel("loss")
plt.show()
