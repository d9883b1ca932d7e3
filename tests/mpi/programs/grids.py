"""tests/mpi/programs/grids.py - meshes of two axes in several processes, beside one process.

Axes lie across processes, within them, or are cut between both. Process 0 prints what differs.
"""

import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import _core, lax
from shardax.sharding import Mesh, NamedSharding
from shardax.sharding import PartitionSpec as P

ME = shardax.process_index()
shardax.config.update("jax_num_cpu_devices", 4)
DEVICES = np.array(shardax.devices())
N = len(DEVICES)
X = np.random.RandomState(0).randn(N * 4, N * 2).astype(np.float32)
GRIDS = [(2, N // 2), (N // 2, 2), (1, N), (N, 1)]
FUNCTIONS = {
    "sum a": lambda v: lax.psum(v, "a"),
    "sum b": lambda v: lax.psum(v, "b"),
    "sum a, b": lambda v: lax.psum(v, ("a", "b")),
    "mean b, a": lambda v: lax.pmean(v, ("b", "a")),
    "most": lambda v: lax.pmax(v, "a") + lax.pmin(v, "b"),
    "index": lambda v: v + 10 * lax.axis_index("a") + lax.axis_index("b"),
    "gather a": lambda v: lax.all_gather(v, "a").sum(0) + v,
    "gather b, a": lambda v: lax.all_gather(v, ("b", "a"))[1] + v,
    "shift a": lambda v: lax.ppermute(v, "a", cyclic("a")),
    "shift b": lambda v: lax.ppermute(v, "b", cyclic("b")),
    "exchange": lambda v: lax.all_to_all(
        jnp.tile(v, (lax.axis_size("b"), 1)), "b", 0, 1, tiled=True
    )[:, : v.shape[1]],
    "scatter": lambda v: lax.psum_scatter(jnp.tile(v, (lax.axis_size("a"), 1)), "a", tiled=True),
    "gradient": lambda v: shardax.grad(lambda w: lax.psum(jnp.sin(w * v).sum(), "b"))(v),
}


def cyclic(axis):
    size = lax.axis_size(axis)
    return [(k, (k + 1) % size) for k in range(size)]


def blocks_of(x, grid):
    rows = np.stack(np.split(x, grid[0], 0))
    return np.stack([np.stack(np.split(r, grid[1], 1)) for r in rows])


def joined(blocks):
    return np.concatenate([np.concatenate(list(row), 1) for row in np.asarray(blocks)], 0)


differ = []
for grid in GRIDS:
    mesh = Mesh(DEVICES.reshape(grid), ("a", "b"))
    placed = shardax.device_put(X, NamedSharding(mesh, P("a", "b")))
    for name, function in FUNCTIONS.items():
        mapped = shardax.shard_map(
            function, mesh=mesh, in_specs=P("a", "b"), out_specs=P("a", "b"), check_vma=False
        )
        ours = shardax.jit(mapped)(placed)
        theirs = shardax.vmap(shardax.vmap(function, axis_name="b"), axis_name="a")
        whole = joined(theirs(blocks_of(X, grid)))
        for shard in ours.addressable_shards:
            if not np.allclose(np.asarray(shard.data), whole[shard.index], 1e-4, 1e-4):
                differ.append(f"{grid} {name}")
                break
    for specs in ((P("a"), P(None, "b")), (P("b", "a"), P("b")), (P(("a", "b")), P("b"))):
        try:
            one = shardax.device_put(X, NamedSharding(mesh, specs[0]))
            two = shardax.device_put(X.T.copy(), NamedSharding(mesh, specs[1]))
            product = shardax.jit(lambda a, b: jnp.tanh(a @ b).sum(1))(one, two)
        except NotImplementedError as error:  # parts of processes would be interleaved
            assert "interleaved" in str(error), error
            continue
        whole = np.tanh(X @ X.T).sum(1)
        for shard in product.addressable_shards:
            if not np.allclose(np.asarray(shard.data), whole[shard.index], 1e-3, 1e-3):
                differ.append(f"{grid} product {specs}")
                break
found = _core.gather_bytes("\n".join(differ).encode(), "what differs")
if ME == 0:
    names = {n for f in found for n in f.decode().split("\n") if n}
    print(len(GRIDS), "grids; differ:", *sorted(names))
