# %% [markdown]
# # An ensemble, trained without communication
#
# Eight small networks learn the same curve from different starts and different noise. No device
# talks to another: `pmap` without a collective. The members disagree away from the data, which say
# nothing there.

# %%
import matplotlib.pyplot as plt
import shardax
import shardax.numpy as jnp
from shardax import lax, random

n = shardax.local_device_count()
hidden, samples, steps, learning_rate = 32, 64, 2000, 0.05


# %% [markdown]
# ## One member
#
# All of its training is one function of a key: data, start and all steps.


# %%
def predict(params, x):
    h = jnp.tanh(x[:, None] * params["w"] + params["b"])
    return h @ params["out"]


def train(key):
    w_key, b_key, out_key, x_key, noise_key = random.split(key, 5)
    x = random.uniform(x_key, (samples,), minval=-1.0, maxval=1.0)
    y = jnp.sin(3 * x) + 0.1 * random.normal(noise_key, (samples,))
    params = {
        "w": 3 * random.normal(w_key, (hidden,)),
        "b": random.normal(b_key, (hidden,)),
        "out": random.normal(out_key, (hidden,)) / hidden**0.5,
    }

    def loss(params):
        return jnp.mean((predict(params, x) - y) ** 2)

    def step(params, _):
        value, gradient = shardax.value_and_grad(loss)(params)
        return shardax.tree.map(lambda p, g: p - learning_rate * g, params, gradient), value

    return lax.scan(step, params, None, length=steps)


# %% [markdown]
# ## All members at once

# %%
members, losses = shardax.pmap(train)(random.split(random.PRNGKey(0), n))
print("members:", n)
print("first loss of each:", jnp.round(losses[:, 0], 2))
print("last loss of each: ", jnp.round(losses[:, -1], 3))

# %% [markdown]
# ## Agreement of the members
#
# The mean over members is a good prediction where there were data, between -1 and 1; outside, the
# members go separate ways.

# %%
x = jnp.linspace(-2, 2, 9)
predictions = shardax.vmap(predict, in_axes=(0, None))(members, x)
mean, spread = predictions.mean(0), predictions.std(0)
print("     x   sin 3x    mean   spread")
for values in zip(x, jnp.sin(3 * x), mean, spread):
    print("{:+6.1f}  {:+7.2f} {:+7.2f}  {:7.2f}".format(*map(float, values)))
inside = jnp.abs(x) <= 1
print("close to the curve inside:", bool((jnp.abs(mean - jnp.sin(3 * x))[inside] < 0.25).all()))

# %%
x = jnp.linspace(-2, 2, 200)
predictions = shardax.vmap(predict, in_axes=(0, None))(members, x)
mean, spread = predictions.mean(0), predictions.std(0)
plt.figure(figsize=(6, 3))
plt.axvspan(-1, 1, color="whitesmoke", label="with data")
plt.plot(x, jnp.sin(3 * x), "k:", label="sin 3x")
plt.plot(x, predictions.T, color="lightsteelblue", linewidth=0.7)
plt.plot(x, mean, color="tab:blue", label="mean of members")
plt.fill_between(x, mean - spread, mean + spread, alpha=0.3, label="their spread")
plt.xlabel("x")
plt.ylim(-3.5, 1.8)
plt.legend(loc="lower center", ncols=2)
plt.show()
