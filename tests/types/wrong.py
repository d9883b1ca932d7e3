"""tests/types/wrong.py - mistakes that type checkers point out: the lines that say so."""

import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import lax, nn, random
from shardax.experimental import checkpoints, multihost_utils

x = jnp.ones((2, 3))

jnp.sum(x, axis="rows")  # wrong
jnp.argmax(x, axis=(0, 1))  # wrong
jnp.mean(x, keepdims=3.5)  # wrong
jnp.sum([1, 2])  # wrong
jnp.zeros(shape=None)  # wrong
jnp.no_such_function()  # wrong
jnp.where(x > 0, x)  # wrong
jnp.linalg.svd(x, full_matrices="yes")  # wrong
jnp.linalg.svd(x, compute_uv=False).U  # wrong
jnp.linalg.norm(x, axis="rows")  # wrong
x.sum(axis="rows")  # wrong
x.at[0].set("five")  # wrong
x.at[0].put(5)  # wrong
x.no_such_method()  # wrong
lax.scan(lambda c, a: c, x, x)  # wrong
lax.add(x, "one")  # wrong
lax.psum(x)  # wrong
lax.slice(x, (0, 0), 3)  # wrong
nn.softmax(x, axis="rows")  # wrong
random.normal(0, (2,))  # wrong
random.uniform(random.key(0), (2,), minval="low")  # wrong
shardax.vmap("text")  # wrong
shardax.jit(fun=lambda: 1, static=0)  # wrong
shardax.device_count() + "8"  # wrong


def doubled(a: shardax.Array, n: int) -> shardax.Array:
    return a * n


shardax.jit(doubled)("text", 2)  # wrong
shardax.jit(doubled)(x, n="2")  # wrong
shardax.distributed.initialize(num_processes="2")  # wrong
shardax.distributed.initialize(processes=2)  # wrong
checkpoints.save(3, {})  # wrong
checkpoints.save("folder", {}, True)  # wrong
multihost_utils.sync_global_devices(1)  # wrong
shardax.dlpack.from_dlpack(jnp.ones(3)).shapes  # wrong
shardax.make_array_from_callback((8,), None, np.ones(8))  # wrong
