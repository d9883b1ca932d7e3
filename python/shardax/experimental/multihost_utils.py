"""shardax.experimental.multihost_utils - exchange between processes, of which there is one."""

import numpy as np

from shardax import tree_util
from shardax._devices.make_array import make_array_from_process_local_data
from shardax.sharding import NamedSharding

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]


def broadcast_one_to_all(in_tree, is_source=None):
    """The first process's tree, as NumPy arrays.

    `is_source` has no effect: devices share one memory and one process.
    """
    return tree_util.tree_map(np.asarray, in_tree)


def reached_preemption_sync_point(step_id):
    """False: nothing tells a process on one machine that it is about to be stopped.

    `step_id` has no effect: devices share one memory and one process.
    """
    return False


def process_allgather(in_tree, tiled=False):
    """Each leaf of all processes, as NumPy arrays with a leading dimension of 1; joined along the
    first dimension where `tiled`.

    Example:
      >>> process_allgather(jnp.arange(3)).shape, process_allgather(jnp.arange(3), tiled=True).shape
      ((1, 3), (3,))
    """

    def gather(leaf):
        array = np.asarray(leaf)
        return array if tiled and array.ndim else array[None]

    return tree_util.tree_map(gather, in_tree)


def sync_global_devices(name):
    """Nothing: devices do not run ahead of each other.

    `name` has no effect: devices share one memory and one process.
    """


def assert_equal(in_tree, fail_message=""):
    """Nothing: one process's values equal themselves.

    `fail_message` and `in_tree` have no effect: devices share one memory and one process.
    """


def host_local_array_to_global_array(local_inputs, global_mesh, pspecs):
    """This process's arrays, labelled with a mesh and specs (a tree prefix of them)."""
    where = tree_util.tree_map(lambda spec: NamedSharding(global_mesh, spec), pspecs)
    return make_array_from_process_local_data(where, local_inputs)


def global_array_to_host_local_array(global_inputs, global_mesh, pspecs):
    """The part of this process, which is the whole."""

    def part(spec, array):
        where = NamedSharding(global_mesh, spec)
        return array if getattr(array, "sharding", None) == where else local(where, array)

    local = make_array_from_process_local_data
    return tree_util.tree_map(part, pspecs, global_inputs)
