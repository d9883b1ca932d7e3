"""tests/mpi/test_devices.py - the devices of all processes, as JAX numbers and shows them."""

PICTURE = """
import shardax as jax
from shardax import _core
from shardax.experimental import mesh_utils

jax.config.update("jax_num_cpu_devices", 2)
jax.distributed.initialize()
me = jax.process_index()
ids = [0, 1, 2048, 2049]
own = [2048 * me, 2048 * me + 1]


def raised(f, kind):
    try:
        f()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


assert (jax.process_count(), jax.process_indices()) == (2, [0, 1])
assert (jax.device_count(), jax.local_device_count()) == (4, 2)
assert [d.id for d in jax.devices()] == ids
assert [d.process_index for d in jax.devices()] == [0, 0, 1, 1]
assert [d.id for d in jax.local_devices()] == own
assert jax.local_devices(process_index=1) == jax.devices()[2:]
assert raised(lambda: jax.local_devices(process_index=7), ValueError) == "Unknown process_index 7"
assert str(jax.devices()[-1]) == "cpu:2049"
hardware = [0, 1, None, None] if me == 0 else [None, None, 0, 1]
assert [d.local_hardware_id for d in jax.devices()] == hardware
assert [d.host_id for d in jax.devices()] == [d.task_id for d in jax.devices()] == [0, 0, 1, 1]

local, remote = jax.devices()[2 * me], jax.devices()[2 - 2 * me]
assert local.memory_stats() is None
assert "only supported for addressable" in raised(remote.memory_stats, jax.errors.JaxRuntimeError)
assert repr(remote.addressable_memories()[0]) == "UNADDRESSABLE_MEMORY_SPACE"
assert repr(local.addressable_memories()[1]) == f"PINNED_HOST_{6144 * me + 1}"
assert (local.client.process_index(), len(local.client.devices())) == (me, 4)
assert local.client.local_devices() == jax.local_devices()
assert jax.numpy.zeros(3).devices() == {local}

mesh = jax.make_mesh((4,), ("x",))
assert mesh.is_multi_process and mesh.local_devices == jax.local_devices()
assert mesh.local_mesh == jax.sharding.Mesh(jax.local_devices(), "x")
assert not mesh.local_mesh.is_multi_process
columns = jax.sharding.Mesh([[jax.devices()[0], jax.devices()[2]]] * 2, ("x", "y"))
assert columns.local_mesh.shape == {"x": 2, "y": 1}
alternating = jax.sharding.Mesh([jax.devices()[i] for i in (0, 2, 1, 3)], "x")
assert "should be one block of it" in raised(lambda: alternating.local_mesh, ValueError)

grid = mesh_utils.create_hybrid_device_mesh((2,), (2,), process_is_granule=True)
assert [d.id for d in grid] == ids
shuffled = [jax.devices()[i] for i in (2, 0, 3, 1)]
grid = mesh_utils.create_hybrid_device_mesh((2,), (2,), shuffled, process_is_granule=True)
assert [d.id for d in grid] == ids
grid = mesh_utils.create_hybrid_device_mesh(
    (2,), (2,), shuffled, process_is_granule=True, should_sort_granules_by_key=False
)
assert [d.id for d in grid] == [2048, 2049, 0, 1]
wrong = lambda: mesh_utils.create_hybrid_device_mesh((1,), (4,), process_is_granule=True)
assert "Number of processes 2 must equal" in raised(wrong, ValueError)
if me == 0:
    print("right")
"""


def test_devices_of_all_processes(start):
    ended = start(PICTURE)
    assert (ended.code, ended.out) == (0, "right\n"), ended.err
