# %% [markdown]
# # Rule 30 on a ring of devices
#
# A row of cells, each on or off, is cut into pieces, one for each device. The next row follows from
# three neighbouring cells, so a device needs one cell from either side. This is its *halo*, which
# it gets from the devices beside it.

# %%
import matplotlib.pyplot as plt
import shardax
import shardax.numpy as jnp
from shardax import lax

n = shardax.local_device_count()
width, rows = 64, 24
per_device = width // n

# %% [markdown]
# ## Halo exchange
#
# `ppermute` sends along pairs (from, to). All devices send their last cell to the right and their
# first to the left; the ends of the row meet.

# %%
to_right = [(i, (i + 1) % n) for i in range(n)]
to_left = [(i, (i - 1) % n) for i in range(n)]


def with_halo(cells):
    left = lax.ppermute(cells[-1:], "ring", to_right)
    right = lax.ppermute(cells[:1], "ring", to_left)
    return jnp.concatenate([left, cells, right])


def step(cells):
    padded = with_halo(cells)
    left, middle, right = padded[:-2], padded[1:-1], padded[2:]
    return left ^ (middle | right)


# %% [markdown]
# ## A single cell grows
#
# The loop over rows runs on the devices too: `scan` collects the rows.


# %%
def grow(cells):
    def next_row(cells, _):
        return step(cells), cells

    return lax.scan(next_row, cells, None, length=rows)[1]


start = jnp.zeros(width, bool).at[width // 2].set(True)
pieces = shardax.pmap(grow, axis_name="ring", out_axes=1)(start.reshape(n, per_device))
picture = pieces.reshape(rows, width)
plt.figure(figsize=(6, 2.5))
plt.imshow(picture, cmap="binary", interpolation="none")
for border in range(1, n):
    plt.axvline(border * per_device - 0.5, color="tab:blue", linewidth=0.5)
plt.ylabel("row")
plt.xlabel("cell; blue lines are borders of devices")
plt.show()

# %% [markdown]
# Each device has its own columns, one row below the other:

# %%
pieces

# %% [markdown]
# ## The same on one device


# %%
def whole_step(cells, _):
    return jnp.roll(cells, 1) ^ (cells | jnp.roll(cells, -1)), cells


whole = lax.scan(whole_step, start, None, length=rows)[1]
print("cells that are on:", int(picture.sum()))
print("equal to one device's picture:", bool((whole == picture).all()))
