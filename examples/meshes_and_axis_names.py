# %% [markdown]
# # Meshes and axis names
#
# A mesh arranges devices in a grid and names its dimensions. Arrays are laid out over a mesh by
# saying which mesh axis splits which of their dimensions; functions reduce over an axis by name.

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

n = shardax.device_count()
if n % 2:
    raise SystemExit(f"this page arranges devices in two rows, and {n} do not fill them")

mesh = shardax.make_mesh((2, n // 2), ("data", "model"))
print("mesh axes:", dict(mesh.shape))
mesh

# %% [markdown]
# ## Shards of an array
#
# Dimension 0 of this matrix is split over `data`, dimension 1 over `model`: every device holds one
# tile. All devices of this machine share one memory, so tiles are windows on the same matrix.

# %%
matrix = jnp.arange(4 * n).reshape(4, n)


def picture(array):
    """Draws which device holds which elements."""
    tiles = {}
    for shard in array.addressable_shards:
        rows, columns = (range(array.shape[d])[shard.index[d]] for d in (0, 1))
        for r in rows:
            for c in columns:
                tiles.setdefault((r, c), []).append(shard.device.id)
    lines = []
    for r in range(array.shape[0]):
        holders = [",".join(map(str, tiles[r, c])) for c in range(array.shape[1])]
        lines.append(" ".join(f"{int(array[r, c]):3d}@{who}" for c, who in enumerate(holders)))
    return "\n".join(lines)


tiled = shardax.device_put(matrix, NamedSharding(mesh, P("data", "model")))
print("element@device, split over both axes:")
print(picture(tiled))
tiled

# %% [markdown]
# A mesh axis that the spec leaves out does not split anything: the shards repeat along it.

# %%
by_rows = shardax.device_put(matrix, NamedSharding(mesh, P("data")))
shard = by_rows.addressable_shards[0]
print(f"split over data only: shards of {shard.data.shape}, each on {n // 2} devices")

# %% [markdown]
# ## One named axis
#
# `pmap` makes a mesh of one dimension. A collective refers to its name; any name will do, as long
# as both sides agree.

# %%
rows = jnp.arange(n * 3.0).reshape(n, 3)
centre = shardax.pmap(lambda row: row - lax.pmean(row, "workers"), axis_name="workers")
centred = centre(rows)
where = centred.sharding
print("result lies on:", dict(where.mesh.shape), "split by", tuple(where.spec))
print("columns now sum to", jnp.sum(centred, axis=0))

try:
    shardax.pmap(lambda row: lax.pmean(row, "devices"), axis_name="workers")(rows)
except NameError as error:
    print("error:", str(error).split(". ")[0].split("\n")[0])

# %% [markdown]
# ## Two named axes
#
# A `pmap` within a `pmap` gives two names. A collective goes along a row of the grid, along a
# column, or over all of it.
#
#               model ->
#     data   0   1   2   3     sum over "model": 6
#      |     4   5   6   7                       22
#      v
#     sum over "data": 4 6 8 10


# %%
def totals(x):
    return lax.psum(x, "model"), lax.psum(x, "data"), lax.psum(x, ("data", "model"))


over_grid = shardax.pmap(shardax.pmap(totals, axis_name="model"), axis_name="data")
grid = jnp.arange(n).reshape(2, n // 2)
along_model, along_data, over_all = over_grid(grid)
print("sum over model:", along_model[:, 0])
print("sum over data: ", along_data[0])
print("sum over both: ", over_all[0, 0])
