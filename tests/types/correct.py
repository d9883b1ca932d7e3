"""tests/types/correct.py - programs that type checkers take as they are, in strict mode too."""

import functools
import pathlib
from typing import Any, NamedTuple

import numpy as np
import shardax
import shardax as jax
import shardax.numpy as jnp
from shardax import distributed, dlpack, lax, nn, random
from shardax.experimental import checkpoints, mesh_utils, multihost_utils
from shardax.sharding import Mesh, NamedSharding
from shardax.sharding import PartitionSpec as P

jax.config.update("jax_num_cpu_devices", 8)


class State(NamedTuple):
    weights: jax.Array
    step: jax.Array


def loss(weights: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((nn.relu(x @ weights) - y) ** 2)


@functools.partial(jax.pmap, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
def train_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    value, gradient = jax.value_and_grad(loss)(state.weights, x, y)
    gradient = lax.pmean(gradient, "batch")
    state = State(state.weights - 0.1 * gradient, state.step + 1)
    return state, lax.pmean(value, axis_name="batch")


@functools.partial(jax.jit, static_argnames=("count",))
def repeated(x: jax.Array, count: int) -> jax.Array:
    def body(carry: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        return carry * 2, carry.sum()

    last, sums = lax.scan(body, x, None, length=count)
    return last + sums.sum()


@jax.jit
def while_positive(x: jax.Array) -> jax.Array:
    return lax.while_loop(lambda v: jnp.all(v > 0), lambda v: v - 1, x)


def arrays() -> None:
    x = jnp.ones((2, 3), dtype=jnp.float32)
    zero = jnp.float32(0)
    table = np.zeros((2, 3), dtype=np.float32)
    _ = jnp.sum(x, axis=0) + jnp.sum(table, axis=(0, 1), keepdims=True) + zero
    jnp.where(x > 0, x, 0.0).at[0, 1].set(5.0).at[..., 0].add(1.0)
    rows, columns = jnp.where(x > 0)
    u, s, vh = jnp.linalg.svd(x, full_matrices=False)
    values = jnp.linalg.svd(x, compute_uv=False)
    _ = (u * s) @ vh + values[0] + x.astype(jnp.int32) + x.reshape(-1)[0] + rows[0] + columns[0]
    q, r = jnp.linalg.qr(x)
    grid, step = jnp.linspace(0.0, 1.0, 5, retstep=True)
    _ = jnp.add.reduce(q @ r) + jnp.add(1, 2) + grid[0] + step
    jnp.concatenate([x, table], axis=1)
    jnp.einsum("ij,kj->ik", x, table)
    jnp.stack([x, x]).mean().item()
    lax.fori_loop(0, 3, lambda i, total: total + i, 0.0)
    lax.cond(zero > 0, jnp.sin, jnp.cos, zero)


def devices() -> None:
    mesh: Mesh = jax.make_mesh((4, 2), ("data", "model"))
    rows = NamedSharding(mesh, P("data", None))
    x = jax.device_put(jnp.ones((8, 4)), rows)
    _ = x.sharding
    _ = x.addressable_shards[0].data.shape

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
    def total(part: jax.Array) -> jax.Array:
        return lax.psum(part.sum(), "data")

    total(x)
    _ = jax.devices()[0].id + jax.device_count()


def keys() -> None:
    key, other = random.split(random.key(0))
    _ = random.normal(key, (2, 3)) + random.uniform(other, (2, 3), minval=-1.0)
    random.permutation(key, jnp.arange(5))


def told() -> None:
    explained = shardax.explain(train_step)(State(jnp.ones(3), jnp.array(0)), jnp.ones(3), 1.0)
    collectives: list[dict[str, Any]] = explained.collectives
    print(collectives, explained.work["here"], explained.devices + 1, explained.summary)


def stored(folder: str) -> dict[str, jax.Array]:
    state = {"weights": jnp.ones((4, 2)), "step": jnp.array(0)}
    checkpoints.save(folder, state, overwrite=True)
    like = jax.ShapeDtypeStruct((4, 2), jnp.float32)
    checkpoints.restore(pathlib.Path(folder), {"weights": like, "step": 0})["weights"].sum()
    restored: dict[str, jax.Array] = checkpoints.restore(folder, state)
    return restored


def processes() -> None:
    distributed.initialize()
    jax.distributed.initialize("localhost:1234", num_processes=2, process_id=0)
    is_first: bool = distributed.is_initialized() and jax.process_index() == 0
    mesh = Mesh(mesh_utils.create_device_mesh((8,)), ("data",))
    rows = NamedSharding(mesh, P("data"))
    x = jax.make_array_from_process_local_data(rows, np.ones(8))
    y = jax.make_array_from_callback((8,), rows, lambda index: np.ones(8)[index])
    parts = [shard.data for shard in y.addressable_shards]
    z = jax.make_array_from_single_device_arrays((8,), rows, parts)
    multihost_utils.sync_global_devices("arrays are made")
    multihost_utils.assert_equal({"is_first": is_first}, fail_message="processes differ")
    gathered = multihost_utils.process_allgather(x + y + z, tiled=True)
    both = multihost_utils.broadcast_one_to_all((gathered, 1), is_source=is_first)
    part = multihost_utils.global_array_to_host_local_array(both[0], mesh, P("data"))
    multihost_utils.host_local_array_to_global_array(part, mesh, P("data"))
    with multihost_utils.live_devices(jax.devices()) as alive:
        print(alive[0].id)
    distributed.shutdown()


def exchanged() -> None:
    x = dlpack.from_dlpack(np.ones(3, np.float32))
    _ = jax.dlpack.from_dlpack(x, copy=True).sum() + np.from_dlpack(x).sum()


def watched(folder: str) -> None:
    with shardax.profile() as times, jax.debug.check_replicas(raises=False) as found:
        repeated(jnp.ones(2), 3)
    times.save(pathlib.Path(folder) / "trace.json")
    _ = times.by_step()[0]["share"] + times.seconds + times.spans[0].own
    print([divergence.message for divergence in found])


def transformed() -> None:
    gradient = jax.grad(loss)
    batched = jax.vmap(loss, in_axes=(None, 0, 0))
    jax.jit(gradient)(jnp.ones(3), jnp.ones((2, 3)), jnp.ones(2))
    batched(jnp.ones(3), jnp.ones((2, 4, 3)), jnp.ones((2, 4)))
    jax.jit(while_positive).lower(jnp.ones(2)).compile()
    jax.tree.map(jnp.zeros_like, {"w": jnp.ones(2)})
    _ = jax.tree.leaves([1, 2])[0]


train_step(State(jnp.ones(3), jnp.array(0)), jnp.ones((8, 4, 3)), jnp.ones((8, 4)))
repeated(jnp.ones(2), 3)
