# %% [markdown]
# # Data parallelism
#
# Every device has the same parameters and its own part of the batch. Predictions need no
# communication at all; gradients need one average.
#
#     parameters ---+--------+--------+---  the same everywhere
#                   |        |        |
#     batch      rows 0..  rows 4..  rows 8..
#                   |        |        |
#     gradients    g0       g1       g2
#                   +--------+--------+---> pmean -> one gradient

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax, random

n = shardax.local_device_count()
per_device, features, outputs = 4, 3, 2
w_key, x_key, y_key = random.split(random.PRNGKey(7), 3)
params = {"w": random.normal(w_key, (features, outputs)), "b": jnp.zeros(outputs)}
x = random.normal(x_key, (n * per_device, features))
y = random.normal(y_key, (n * per_device, outputs))

# %% [markdown]
# ## Splitting a batch
#
# A batch of `n * 4` rows becomes `n` batches of 4 rows. The reshape moves nothing: the shards are
# views of the batch.


# %%
def split(batch):
    return batch.reshape(n, -1, *batch.shape[1:])


print("batch", x.shape, "-> shards", split(x).shape)

# %% [markdown]
# ## Predicting
#
# `in_axes` may be a prefix of the arguments' structure: one `None` covers the whole dictionary of
# parameters.


# %%
def predict(params, x):
    return x @ params["w"] + params["b"]


predictions = shardax.pmap(predict, in_axes=(None, 0))(params, split(x))
whole = predict(params, x)
difference = jnp.max(jnp.abs(predictions.reshape(whole.shape) - whole))
print("predictions", predictions.shape, f"differ from one device's by {float(difference):.0e}")

# %% [markdown]
# ## Gradients
#
# With parts of equal size, the average of the parts' gradients is the gradient of the whole batch.
# `out_axes=None` returns the average once rather than stacked, as it is the same on all devices.


# %%
def loss(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def average_gradient(params, x, y):
    return lax.pmean(shardax.grad(loss)(params, x, y), axis_name="batch")


parallel_gradient = shardax.pmap(
    average_gradient, axis_name="batch", in_axes=(None, 0, 0), out_axes=None
)
split_gradient = parallel_gradient(params, split(x), split(y))
whole_gradient = shardax.grad(loss)(params, x, y)
for name in sorted(params):
    same = bool(jnp.allclose(split_gradient[name], whole_gradient[name], atol=1e-6))
    shape = split_gradient[name].shape
    print(f"gradient of {name}: shape {shape}, equals the whole batch's: {same}")

# %% [markdown]
# ## Costs
#
# Nothing runs eight times, and nothing is copied: the devices' gradients and their average become
# one product, that of the whole batch.

# %%
told = shardax.explain(parallel_gradient)(params, split(x), split(y))
print("\n".join(told.summary))
told

# %% [markdown]
# ## Without the average
#
# Left out, each device would step by its own gradient, and the parameters would drift apart:

# %%
own = shardax.pmap(shardax.grad(loss), in_axes=(None, 0, 0))(params, split(x), split(y))
spread = jnp.max(own["b"], axis=0) - jnp.min(own["b"], axis=0)
print("gradients of b differ between devices by up to", f"{float(jnp.max(spread)):.2f}")
