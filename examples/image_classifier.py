# %% [markdown]
# # An image classifier with flax, optax and orbax
#
# Libraries for JAX run as they are: after `install_as_jax`, `import jax` means shardax. Here flax's
# network learns to tell four shapes apart, with optax's optimizer, data-parallel over all devices
# by `pmap`. orbax writes checkpoints, and training goes on from one.

# %%
import tempfile

import shardax

shardax.install_as_jax()

import flax.linen as nn
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax
import orbax.checkpoint as ocp
from flax import jax_utils
from flax.training import train_state
from tqdm import tqdm

n = jax.local_device_count()
size, batch, steps = 12, 128, 120

# %% [markdown]
# ## Images
#
# A disc, a frame, a cross or a triangle, somewhere in the picture, of some size, under noise.

# %%
KINDS = ("disc", "frame", "cross", "triangle")


def images(rng, count):
    kind = rng.integers(len(KINDS), size=count)
    y, x = np.mgrid[:size, :size]
    row, column = rng.uniform(4, size - 5, (2, count, 1, 1))
    radius = rng.uniform(2.5, 4, (count, 1, 1))
    y, x = y - row, x - column
    box = np.maximum(abs(x), abs(y))
    shapes = [
        x**2 + y**2 <= radius**2,
        (box <= radius) & (box >= radius - 1.2),
        (box <= radius) & (np.minimum(abs(x), abs(y)) <= 0.8),
        (abs(y) <= radius) & (abs(x) <= (y + radius) / 2),
    ]
    clean = np.select([kind[:, None, None] == k for k in range(len(KINDS))], shapes)
    noisy = clean + rng.normal(0, 0.2, clean.shape)
    return noisy[..., None].astype(np.float32), kind


rng = np.random.default_rng(0)
x, kind = images(np.random.default_rng(2), 12)
figure, axes = plt.subplots(2, 6, figsize=(8, 3), layout="constrained")
for axis, picture, k in zip(axes.flat, x, kind):
    axis.imshow(picture[..., 0], cmap="gray")
    axis.set_title(KINDS[k], size=9)
    axis.axis("off")
plt.show()

# %% [markdown]
# ## The network and its training state


# %%
class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        for features in (8, 16):
            x = nn.relu(nn.Conv(features, (3, 3))(x))
            x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.relu(nn.Dense(32)(x.reshape(len(x), -1)))
        return nn.Dense(len(KINDS))(x)


model = Classifier()
variables = model.init(jax.random.key(0), jnp.zeros((1, size, size, 1)))
schedule = optax.cosine_decay_schedule(1e-2, steps)
state = train_state.TrainState.create(
    apply_fn=model.apply, params=variables["params"], tx=optax.adam(schedule)
)
print("parameters:", sum(p.size for p in jax.tree.leaves(state.params)))

# %% [markdown]
# ## One step on all devices
#
# Each device has its part of the batch; `pmean` averages the gradients.


# %%
def train_step(state, x, kind):
    def loss(params):
        logits = state.apply_fn({"params": params}, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, kind).mean()

    value, gradient = jax.value_and_grad(loss)(state.params)
    value, gradient = jax.lax.pmean((value, gradient), "devices")
    return state.apply_gradients(grads=gradient), value


parallel_step = jax.pmap(train_step, axis_name="devices")


losses = []


def train(state, rng, first, last):
    replicated = jax_utils.replicate(state)
    for step in (bar := tqdm(range(first, last), mininterval=0.5)):
        x, kind = images(rng, batch)
        split = x.reshape(n, -1, size, size, 1), kind.reshape(n, -1)
        replicated, loss = parallel_step(replicated, *split)
        losses.append(loss[0])
        bar.set_postfix(loss=f"{loss[0]:.3f}", refresh=False)
        if step % 40 == 0:
            print(f"step {step:2d}  loss {loss[0]:.2f}")
    return jax_utils.unreplicate(replicated)


# %% [markdown]
# ## Half of the training, a checkpoint, and the rest
#
# The second half starts from the state that orbax reads back.

# %%
state = train(state, rng, 0, steps // 2)
with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as checkpointer:
    kept = {"params": state.params, "opt_state": state.opt_state, "step": state.step}
    checkpointer.save(folder + "/half", kept)
    checkpointer.wait_until_finished()
    restored = checkpointer.restore(folder + "/half", kept)
same = jax.tree.map(lambda a, b: bool((a == b).all()), kept, restored)
print("checkpoint is the same:", all(jax.tree.leaves(same)))
state = train(state.replace(**restored), rng, steps // 2, steps)

# %% [markdown]
# ## New images

# %%
x, kind = images(np.random.default_rng(1), 400)
found = jnp.argmax(model.apply({"params": state.params}, x), axis=1)
right = float((found == kind).mean())
print("steps:", int(state.step))
print("right more than 95 % of the time:", right > 0.95)

# %% [markdown]
# The loss over both halves of the training:

# %%
plt.figure(figsize=(6, 3))
plt.semilogy(losses)
plt.axvline(steps // 2, color="gray", linestyle=":", label="checkpoint")
plt.xlabel("step")
plt.ylabel("loss")
plt.legend()
plt.show()
