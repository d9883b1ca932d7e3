"""One program, unchanged in one process or four: statistics of an array that nobody has whole.

    python -m shardax examples/processes/global_arrays.py
    python -m shardax --processes 4 examples/processes/global_arrays.py

Each process makes the rows of its devices; the mesh is over the devices of all.
"""

import numpy as np
import shardax
import shardax.numpy as jnp
from shardax.sharding import AxisType, NamedSharding
from shardax.sharding import PartitionSpec as P

shardax.config.update("jax_num_cpu_devices", 8 // shardax.process_count())
mesh = shardax.make_mesh((shardax.device_count(),), ("rows",), axis_types=(AxisType.Auto,))


def rows(index):
    """Rows of the table, which are the same whoever computes them."""
    numbers = np.arange(800)[index[0], None] * 7 + np.arange(5)
    return np.sin(numbers).astype(np.float32)


table = shardax.make_array_from_callback((800, 5), NamedSharding(mesh, P("rows")), rows)


@shardax.jit
def statistics(table):
    centred = table - table.mean(0)
    return table.mean(), jnp.linalg.norm(centred.T @ centred), jnp.sort(table[:, 0])[400]


mean, norm, median = statistics(table)
if shardax.process_index() == 0:
    print(f"mean {mean:.5f}, norm {norm:.3f}, median {median:.4f}")
