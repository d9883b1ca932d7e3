# %% [markdown]
# # Tensor parallelism
#
# A layer that is too large for one device is split itself. The first matrix is split by columns,
# the second by rows, so that the two need one sum:
#
#     x [rows, width]          the same on all devices
#     h = tanh(x @ w1)         each device: its columns of w1, its columns of h
#     y = psum(h @ w2)         each device: its rows of w2; the sum is the product with all of w2

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax, random
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

n = shardax.device_count()
mesh = shardax.make_mesh((n,), ("model",))
rows, width, hidden = 32, 16, 12 * n
keys = random.split(random.key(1), 4)
w1 = random.normal(keys[0], (width, hidden)) / width**0.5
w2 = random.normal(keys[1], (hidden, width)) / hidden**0.5
x, y = random.normal(keys[2], (rows, width)), random.normal(keys[3], (rows, width))
mesh

# %% [markdown]
# ## The layer


# %%
def layer(w1, w2, x):
    return jnp.tanh(x @ w1) @ w2


def part_of_layer(w1, w2, x):
    return lax.psum(layer(w1, w2, x), "model")


columns, lines = P(None, "model"), P("model", None)
parallel = shardax.shard_map(
    part_of_layer, mesh=mesh, in_specs=(columns, lines, P()), out_specs=P()
)
w1 = shardax.device_put(w1, NamedSharding(mesh, columns))
w2 = shardax.device_put(w2, NamedSharding(mesh, lines))
print("each device has", w1.addressable_shards[0].data.shape, "of", w1.shape)
print("same result:  ", bool(jnp.allclose(parallel(w1, w2, x), layer(w1, w2, x), atol=1e-5)))
w1

# %% [markdown]
# ## Its gradient
#
# Each device gets the gradient of its own columns and rows. The sum transposes into nothing: the
# cotangent of `y` is the same on all devices already.


# %%
def gradients(layer):
    def loss(w1, w2):
        return jnp.mean((layer(w1, w2, x) - y) ** 2)

    return shardax.jit(shardax.grad(loss, argnums=(0, 1)))


ours, plain = gradients(parallel), gradients(layer)
same = [bool(jnp.allclose(a, b, atol=1e-5)) for a, b in zip(ours(w1, w2), plain(w1, w2))]
print("same gradients:", all(same))

# %% [markdown]
# ## Why it costs what one device does
#
# A sum of products of parts is the product of the whole: the two become one matrix product.

# %%
told = shardax.explain(parallel)(w1, w2, x)
print("\n".join(told.summary))
told
