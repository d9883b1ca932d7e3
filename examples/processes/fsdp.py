"""Parameters, optimizer state and samples are split over all devices of all processes.

    python -m shardax --processes 4 examples/processes/fsdp.py

`jit` over arrays that are split over a mesh says nothing of processes. Each keeps its part of every
array. Parts that a step needs of others travel in messages, which `SHARDAX_DUMP=plan` shows.
"""

import shardax
import shardax.numpy as jnp
from shardax import random
from shardax.sharding import AxisType, NamedSharding
from shardax.sharding import PartitionSpec as P

shardax.config.update("jax_num_cpu_devices", 8 // shardax.process_count())
mesh = shardax.make_mesh((shardax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
split = NamedSharding(mesh, P("data"))


def loss(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)


@shardax.jit
def step(params, momentum, x, y):
    value, gradient = shardax.value_and_grad(loss)(params, x, y)
    momentum = shardax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    params = shardax.tree.map(lambda p, m: p - 0.02 * m, params, momentum)
    return params, momentum, value


keys = random.split(random.key(0), 3)
x = random.normal(keys[0], (256, 32))
y = jnp.sin(x[:, :1])
params = {
    "w1": random.normal(keys[1], (32, 64)) / 32**0.5,
    "w2": random.normal(keys[2], (64, 1)) / 64**0.5,
}
momentum = shardax.tree.map(jnp.zeros_like, params)
params, momentum, x, y = shardax.device_put((params, momentum, x, y), split)
for i in range(101):
    params, momentum, value = step(params, momentum, x, y)
    if i % 50 == 0 and shardax.process_index() == 0:
        print(f"step {i:3d}  loss {value:.4f}")
if shardax.process_index() == 0:
    part = params["w1"].addressable_shards[0].data.shape
    print("w1:", params["w1"].shape, "in parts of", part)
