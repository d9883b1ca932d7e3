# %% [markdown]
# # Pi by throwing points
#
# The share of random points in the unit square that lie within a quarter circle is pi / 4. Devices
# throw independently, each with a key of its own; `psum` counts together.

# %%
import math

import matplotlib.pyplot as plt
import shardax
import shardax.numpy as jnp
from shardax import lax, random

n = shardax.local_device_count()
throws = 800_000  # in all

# %% [markdown]
# ## One device's throws
#
# `fold_in` makes a key for each device out of one that all share.


# %%
def hits(key):
    mine = random.fold_in(key, lax.axis_index("thrower"))
    x, y = random.uniform(mine, (2, throws // n))
    return lax.psum(jnp.sum(x * x + y * y < 1), "thrower")


count = shardax.pmap(hits, axis_name="thrower", in_axes=None, out_axes=None, axis_size=n)

# %% [markdown]
# ## The estimate, and how sure it is

# %%
inside = int(count(random.PRNGKey(0)))
share = inside / throws
error = 4 * math.sqrt(share * (1 - share) / throws)
print(f"{throws} points from {n} devices, {inside} inside")
print(f"pi is about {4 * share:.3f}, give or take {error:.3f}")
print("within four standard errors:", abs(4 * share - math.pi) < 4 * error)

# %% [markdown]
# ## Repeating it
#
# The same key gives the same throws; `vmap` repeats the experiment with many keys, devices and all.

# %%
print("the same again:", int(count(random.PRNGKey(0))) == inside)
estimates = 4 * shardax.vmap(count)(random.split(random.PRNGKey(1), 20)) / throws
print(f"20 repetitions: mean {float(estimates.mean()):.3f}")
print("their spread is the error expected:", 0.5 < float(estimates.std()) / error < 2)

# %% [markdown]
# To the left are some throws of four devices, in a colour each. To the right are the twenty
# estimates, and pi with the expected error.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
for device in range(4):
    points = random.uniform(random.fold_in(random.PRNGKey(0), device), (2, 250))
    left.scatter(*points, s=4)
angle = jnp.linspace(0, jnp.pi / 2, 100)
left.plot(jnp.cos(angle), jnp.sin(angle), "k")
left.set_aspect("equal")
right.plot(estimates, "o")
right.axhline(math.pi, color="black")
right.axhspan(math.pi - error, math.pi + error, color="lightgray", zorder=0)
right.set(xlabel="repetition", ylabel="estimate")
plt.show()
