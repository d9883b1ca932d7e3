# %% [markdown]
# # Halo exchange on a grid
#
# Heat spreads over a square whose opposite edges are joined. Every device has one tile; to compute
# its edge it needs a row or column of each neighbour, its halo:
#
#            up's last row
#           +-------------+
#     left  |    tile     |  right's first column
#           +-------------+
#            down's first row

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

n = shardax.device_count()
across = 2 if n % 2 == 0 else 1
mesh = shardax.make_mesh((across, n // across), ("rows", "columns"))
size = 16 * (n // across)
steps, rate = 40, 0.2
at = jnp.arange(size) / size
heat = jnp.exp(-50 * ((at[:, None] - 0.5) ** 2 + (at - 0.25) ** 2))
heat = shardax.device_put(heat, NamedSharding(mesh, P("rows", "columns")))
heat

# %% [markdown]
# ## One step
#
# Sending my last row to the device below gives it the row above its first.


# %%
def halo(tile, axis, dimension):
    """The tile between the last slice of the device before it and the first of the one after."""
    count = mesh.shape[axis]
    after = [(i, (i + 1) % count) for i in range(count)]
    before = [(i, (i - 1) % count) for i in range(count)]
    first, last = (lax.slice_in_dim(tile, *at, axis=dimension) for at in ((0, 1), (-1, None)))
    parts = lax.ppermute(last, axis, after), tile, lax.ppermute(first, axis, before)
    return jnp.concatenate(parts, axis=dimension)


def device_step(tile):
    tall, wide = halo(tile, "rows", 0), halo(tile, "columns", 1)
    around = tall[:-2] + tall[2:] + wide[:, :-2] + wide[:, 2:]
    return tile + rate * (around - 4 * tile)


def spread(tile):
    return lax.fori_loop(0, steps, lambda _, tile: device_step(tile), tile)


grid = P("rows", "columns")
parallel = shardax.jit(shardax.shard_map(spread, mesh=mesh, in_specs=grid, out_specs=grid))
result = parallel(heat)


# %% [markdown]
# ## The same on one device


# %%
@shardax.jit
def one_device(heat):
    def step(_, heat):
        around = sum(jnp.roll(heat, by, axis) for by in (1, -1) for axis in (0, 1))
        return heat + rate * (around - 4 * heat)

    return lax.fori_loop(0, steps, step, heat)


print("equal to one device:", bool(jnp.allclose(result, one_device(heat), atol=1e-6)))
print("heat is conserved:  ", bool(jnp.allclose(jnp.sum(result), jnp.sum(heat), rtol=1e-4)))
print(f"highest: {float(jnp.max(heat)):.2f} before, {float(jnp.max(result)):.2f} after")
result

# %% [markdown]
# ## Surface and volume
#
# A tile's halo grows as its edge, its work as its area: the larger the tiles, the less is sent for
# the same work.

# %%
told = shardax.explain(parallel)(heat)
sent = sum(c["traffic"] for c in told.collectives)
tile = told.arguments[0]["device_bytes"]
print(f"a device has {tile} bytes, and would send {sent} in each step")
told
