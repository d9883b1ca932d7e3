"""shardax.experimental.mesh_utils - grids of devices for Mesh."""

import math

import numpy as np

from shardax._devices.devices import devices as _devices


def create_hybrid_device_mesh(
    mesh_shape,
    dcn_mesh_shape,
    devices=None,
    *,
    process_is_granule=False,
    should_sort_granules_by_key=True,
    allow_split_physical_axes=False,
):
    """A grid of groups of devices: `dcn_mesh_shape` groups in each dimension, each of
    `mesh_shape`.

    Args:
      mesh_shape: the sizes of a group.
      dcn_mesh_shape: how many groups there are along each dimension.
      devices: the devices in their order; all of them unless given.
      process_is_granule: whether a group is the devices of a process; otherwise the devices are
        cut in their order.
      should_sort_granules_by_key: whether processes come in the order of their numbers; otherwise
        in that of their first devices.
      allow_split_physical_axes: has no effect, as devices are simulated.

    Raises:
      ValueError: where the two shapes differ in length, or `process_is_granule` and there are more
        or fewer processes than groups.
    """
    groups, sizes = tuple(dcn_mesh_shape), tuple(mesh_shape)
    if len(groups) != len(sizes):
        raise ValueError(
            f"mesh_shape and dcn_mesh_shape must have one length, got {sizes}, {groups}"
        )
    if process_is_granule:
        devices = _by_process(
            _devices() if devices is None else list(devices), groups, should_sort_granules_by_key
        )
    flat = create_device_mesh((*groups, *sizes), devices)
    n = len(sizes)
    order = [d for pair in zip(range(n), range(n, 2 * n)) for d in pair]
    return flat.transpose(order).reshape([g * s for g, s in zip(groups, sizes)])


def _by_process(devices, groups, in_order):
    """The devices of one process after those of another."""
    of_process = {}
    for each in devices:
        of_process.setdefault(each.process_index, []).append(each)
    if len(of_process) != math.prod(groups):
        raise ValueError(
            f"Number of processes {len(of_process)} must equal the product of dcn_mesh_shape "
            f"{groups}."
        )
    order = sorted(of_process) if in_order else of_process
    return [each for index in order for each in of_process[index]]


def create_device_mesh(
    mesh_shape, devices=None, *, contiguous_submeshes=False, allow_split_physical_axes=False
):
    """All devices, in their order, as an array of that shape.

    `allow_split_physical_axes` and `contiguous_submeshes` have no effect: devices share one memory
    and one process.

    Raises:
      ValueError: for a shape of other than integers, or of more or fewer devices than there are.

    Example:
      >>> shardax.experimental.mesh_utils.create_device_mesh((2, 2), shardax.devices()[:4]).shape
      (2, 2)
    """
    if not all(hasattr(size, "__index__") for size in mesh_shape):
        raise ValueError(
            "`mesh_shape` passed to `create_device_mesh` should be a sequence of ints, got "
            f"{mesh_shape}"
        )
    known = _devices() if devices is None else list(devices)
    count = math.prod(mesh_shape)
    if count != len(known):
        more = f'Raise it with shardax.config.update("jax_num_cpu_devices", {count}).'
        fewer = f"Pass devices=shardax.devices()[:{count}]."
        raise ValueError(
            f"Number of devices {len(known)} must equal the product of mesh_shape "
            f"{tuple(mesh_shape)}. {more if count > len(known) else fewer}"
        )
    grid = np.empty(count, dtype=object)
    grid[:] = known
    return grid.reshape(tuple(mesh_shape))
