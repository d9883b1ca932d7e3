"""shardax.experimental.multihost_utils - exchange of values between processes."""

import contextlib
import pickle
import zlib

import numpy as np

import shardax._core as _core
from shardax import tree_util
from shardax._devices.device_put import device_put
from shardax._devices.make_array import make_array_from_process_local_data
from shardax.dtypes import canonicalize_dtype
from shardax.sharding import NamedSharding

__all__ = [
    "ProcessFailureError",
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "live_devices",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]


class ProcessFailureError(Exception):
    """A process has failed. It is there for programs that handle it: processes end together."""


def broadcast_one_to_all(in_tree, is_source=None):
    """The tree of one process, as NumPy arrays, in all processes.

    Args:
      in_tree: arrays and numbers; the same structure in all processes.
      is_source: whether this is the process whose tree all get; by default process 0.

    Raises:
      ValueError: where not exactly one process is the source, or structures differ.
      TypeError: for leaves that are no arrays.
      OverflowError: for integers that do not fit the dtype that they get without x64.

    Example:
      >>> int(broadcast_one_to_all(3))
      3
    """
    if _core.process_count() == 1:
        return tree_util.tree_map(np.asarray, in_tree)
    source = _core.process_index() == 0 if is_source is None else bool(is_source)
    leaves, structure = tree_util.tree_flatten(in_tree)
    arrays = [_numpy(leaf, "broadcast_one_to_all") for leaf in leaves]
    sent = (str(structure), arrays if source else None)
    gathered = _gather(sent, "broadcast_one_to_all")
    _check_structures([text for text, _ in gathered], "broadcast_one_to_all")
    sources = [p for p, (_, values) in enumerate(gathered) if values is not None]
    if len(sources) != 1:
        raise ValueError(
            f"broadcast_one_to_all: the processes with is_source=True are {sources}; exactly one "
            "should be."
        )
    return tree_util.tree_unflatten(structure, gathered[sources[0]][1])


def reached_preemption_sync_point(step_id):
    """False: nothing tells the processes that they are about to be stopped.

    `step_id` has no effect: no service announces preemptions.
    """
    return False


def process_allgather(in_tree, tiled=False):
    """Each leaf of all processes, as NumPy arrays in all processes: stacked along a new first
    dimension, or joined along the first one where `tiled`. All of an array that lies across
    processes is given.

    Raises:
      ValueError: where structures, shapes or dtypes differ between processes; for an array that
        lies across processes unless `tiled`.
      TypeError: for leaves that are no arrays.
      OverflowError: for integers that do not fit the dtype that they get without x64.

    Example:
      >>> gathered = process_allgather(jnp.arange(3))
      >>> gathered.shape == (shardax.process_count(), 3)
      True
    """
    if _core.process_count() == 1:
        return tree_util.tree_map(lambda leaf: _stacked([np.asarray(leaf)], tiled), in_tree)
    leaves, structure = tree_util.tree_flatten(in_tree)
    sent = [
        _own_shards(leaf, tiled) if _is_global(leaf) else _numpy(leaf, "process_allgather")
        for leaf in leaves
    ]
    gathered = _gather((str(structure), sent), "process_allgather")
    _check_structures([text for text, _ in gathered], "process_allgather")
    out = []
    for i, leaf in enumerate(leaves):
        parts = [values[i] for _, values in gathered]
        if _is_global(leaf):
            out.append(_assembled(leaf.shape, [shard for shards in parts for shard in shards]))
            continue
        for process, part in enumerate(parts):
            if (part.shape, part.dtype) != (parts[0].shape, parts[0].dtype):
                raise ValueError(
                    f"process_allgather: leaf {i} is {parts[0].dtype}{list(parts[0].shape)} in "
                    f"process 0 and {part.dtype}{list(part.shape)} in process {process}; all "
                    "should be alike."
                )
        out.append(_stacked(parts, tiled))
    return tree_util.tree_unflatten(structure, out)


def sync_global_devices(name):
    """Waits until all processes are here.

    Raises:
      AssertionError: where another process is at one of another name.
    """
    if _core.process_count() > 1:
        hashed = np.uint32(zlib.crc32(name.encode()))
        assert_equal(hashed, f"sync_global_devices name mismatch ('{name}')")


def assert_equal(in_tree, fail_message=""):
    """Checks that all processes have the same values.

    Args:
      in_tree: arrays and numbers.
      fail_message: the beginning of the error's text.

    Raises:
      AssertionError: where values, shapes or structures differ.
    """
    if _core.process_count() == 1:
        return
    leaves, structure = tree_util.tree_flatten(in_tree)
    arrays = [_numpy(leaf, "assert_equal") for leaf in leaves]
    gathered = _gather((str(structure), arrays), "assert_equal")
    if all(text == str(structure) and _all_equal(arrays, values) for text, values in gathered):
        return
    if any(text != str(structure) for text, _ in gathered):
        expected = [text for text, _ in gathered]
    else:
        expected = tree_util.tree_unflatten(
            structure,
            [
                np.concatenate([np.ravel(v) for v in each])
                for each in zip(*(v for _, v in gathered))
            ],
        )
    raise AssertionError(f"{fail_message}. Expected: {expected}; got: {in_tree}.")


def host_local_array_to_global_array(local_inputs, global_mesh, pspecs):
    """Global arrays of which each process gives its part.

    Args:
      local_inputs: this process's arrays.
      global_mesh: a mesh of the devices of all processes.
      pspecs: how the global arrays are split over it: a tree prefix of `local_inputs`.
    """
    where = tree_util.tree_map(lambda spec: NamedSharding(global_mesh, spec), pspecs)
    return make_array_from_process_local_data(where, local_inputs)


def global_array_to_host_local_array(global_inputs, global_mesh, pspecs):
    """The parts of global arrays that this process has, on the part of the mesh that it has.

    Args:
      global_inputs: arrays.
      global_mesh: a mesh of the devices of all processes.
      pspecs: how the arrays are split over it: a tree prefix of `global_inputs`.
    """

    def local(spec, array):
        where = NamedSharding(global_mesh, spec)
        if not global_mesh.is_multi_process:
            return array if getattr(array, "sharding", None) == where else device_put(array, where)
        shards = [
            (shard.index, np.asarray(shard.data))
            for shard in device_put(array, where).addressable_shards
        ]
        return device_put(_part(array.shape, shards), NamedSharding(global_mesh.local_mesh, spec))

    def each(spec, arrays):
        return tree_util.tree_map(lambda array: local(spec, array), arrays)

    return tree_util.tree_map(each, pspecs, global_inputs)


@contextlib.contextmanager
def live_devices(devices):
    """A block for which all processes wait for each other, before and after it. It gives the
    devices that are alive: all, since processes end together.

    Example:
      >>> with live_devices(shardax.devices()) as alive:
      ...     len(alive) == shardax.device_count()
      True
    """
    if _core.process_count() > 1:
        _core.barrier("live_devices: the block begins")
    yield list(devices)
    if _core.process_count() > 1:
        _core.barrier("live_devices: the block ends")


def _gather(value, user):
    """The picklable value of each process, in all."""
    return [pickle.loads(each) for each in _core.gather_bytes(pickle.dumps(value), user)]


def _numpy(leaf, user):
    """A leaf as a NumPy array of the dtype that it has as an array of this package."""
    given = np.asarray(leaf)
    if given.dtype.kind in "OUSMm":
        raise TypeError(
            f"{user}: a leaf is {leaf!r}, of type {type(leaf)}; arrays and numbers can be sent."
        )
    dtype = canonicalize_dtype(given.dtype)
    array = given.astype(dtype)
    if given.dtype.kind in "iu" and not np.array_equal(array, given):
        raise OverflowError(
            f"{user}: an integer of {given.dtype} does not fit {dtype}; 64 bits need "
            'shardax.config.update("jax_enable_x64", True).'
        )
    return array


def _stacked(parts, tiled):
    return np.concatenate(parts) if tiled and parts[0].ndim else np.stack(parts)


def _check_structures(texts, user):
    for process, text in enumerate(texts):
        if text != texts[0]:
            raise ValueError(
                f"{user}: the tree is {texts[0]} in process 0 and {text} in process {process}; all "
                "should have one structure."
            )


def _all_equal(own, theirs):
    return len(own) == len(theirs) and all(
        a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
        for a, b in zip(own, theirs)
    )


def _is_global(leaf):
    return isinstance(leaf, _core.Array) and not leaf.is_fully_addressable


def _own_shards(array, tiled):
    if not tiled:
        raise ValueError("Gathering global non-fully-addressable arrays only supports tiled=True")
    return [
        (shard.index, np.asarray(shard.data))
        for shard in array.addressable_shards
        if shard.replica_id == 0
    ]


def _assembled(shape, shards):
    out = np.empty(shape, shards[0][1].dtype)
    for index, values in shards:
        out[index] = values
    return out


def _part(shape, shards):
    """The block that the shards make up."""
    spans = [
        [s.indices(size)[:2] for s in (index[d] for index, _ in shards)]
        for d, size in enumerate(shape)
    ]
    starts = [min(start for start, _ in each) for each in spans]
    sizes = [max(end for _, end in each) - start for each, start in zip(spans, starts)]
    moved = [
        (
            tuple(
                slice(*(at - start for at in s.indices(size)[:2]))
                for s, start, size in zip(index, starts, shape)
            ),
            values,
        )
        for index, values in shards
    ]
    return _assembled(sizes, moved)
