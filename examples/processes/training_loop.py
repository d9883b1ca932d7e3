"""Data parallelism over processes: each has its own samples and devices, gradients are averaged.

    python -m shardax --processes 4 examples/processes/training_loop.py

Every process runs this script. `pmap` maps over the devices of its process, and `pmean` averages
over those of all processes. The program is that of one process, and its data is a part of the data.
"""

import shardax
import shardax.numpy as jnp
from shardax import lax, random

shardax.config.update("jax_num_cpu_devices", 8 // shardax.process_count())
local, total = shardax.local_device_count(), shardax.device_count()
first = local * shardax.process_index()


def step(w, x, y):  # as one device sees it
    loss, gradient = shardax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * lax.pmean(gradient, "batch"), lax.pmean(loss, "batch")


step = shardax.pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
samples = random.normal(random.key(0), (total, 16, 3))  # a process would read its part of a file
x = samples[first : first + local]
w, y = jnp.zeros(3), x @ jnp.array([1.0, -2.0, 3.0])
for _ in range(60):
    w, loss = step(w, x, y)
if shardax.process_index() == 0:
    print(f"{total} devices in {shardax.process_count()} processes:", w, f"loss {loss:.1e}")
