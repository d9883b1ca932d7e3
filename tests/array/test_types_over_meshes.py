"""tests/array/test_types_over_meshes.py - types over meshes, and grids of devices."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.experimental import mesh_utils
from shardax.sharding import AxisType, NamedSharding, P, SingleDeviceSharding

AUTO = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
MIXED = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto, AxisType.Explicit))


def placed(mesh=AUTO, *spec):
    return jax.device_put(np.ones((4, 4), np.float32), NamedSharding(mesh, P(*spec)))


def test_over_automatic_axes_types_show_the_mesh():
    where = jax.typeof(placed(AUTO, "x")).sharding
    assert where == NamedSharding(AUTO.abstract_mesh, P(None, None))
    assert jax.typeof(jnp.ones(3)).sharding.mesh.empty
    assert jax.typeof(np.ones(3)).sharding.mesh.empty
    seen = []

    @jax.jit
    def f(x):
        seen.append([jax.typeof(v).sharding for v in (x, 2 * x, x[0])])
        return x

    f(placed(AUTO, "x"))
    rows = NamedSharding(AUTO.abstract_mesh, P(None, None))
    assert seen == [[rows, rows, NamedSharding(AUTO.abstract_mesh, P(None))]]
    f(jnp.ones(3, jnp.int32).reshape(3, 1))
    assert seen[1][0].mesh.empty
    jax.eval_shape(f, placed(AUTO, None, "y"))


def test_types_are_equal_whatever_automatic_axes_do():
    assert jax.typeof(placed(AUTO, "x")) == jax.typeof(placed(AUTO, None, "y"))


def test_explicit_axes_show_what_they_split():
    where = jax.typeof(placed(MIXED, "x", "y")).sharding
    assert where.mesh == MIXED.abstract_mesh and where.spec == P(None, "y")


def test_in_functions_of_blocks_types_show_its_mesh():
    seen = []

    def f(x):
        seen.append(jax.typeof(x).sharding.mesh)
        return x

    mapped = jax.shard_map(f, mesh=AUTO, in_specs=P("x"), out_specs=P("x"))
    jax.jit(mapped)(placed(AUTO, "x"))
    assert seen[0].axis_types == (AxisType.Manual,) * 2


def test_replicated_axes():
    assert NamedSharding(AUTO, P("x")).replicated_axes == {"y"}
    assert NamedSharding(AUTO, P(("x", "y"))).replicated_axes == frozenset()
    explicit = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    assert NamedSharding(explicit, P(unreduced={"y"})).replicated_axes == {"x"}
    assert NamedSharding(explicit, P(reduced={"y"})).replicated_axes == {"x"}
    assert NamedSharding(explicit, P()).has_addressable_devices


def test_grids_take_all_devices():
    with pytest.raises(ValueError, match=r"Number of devices 8 must equal.*devices\(\)\[:6\]"):
        mesh_utils.create_device_mesh((3, 2))
    with pytest.raises(ValueError, match='must equal.*update."jax_num_cpu_devices", 12'):
        mesh_utils.create_device_mesh((3, 4))
    assert mesh_utils.create_device_mesh((3, 2), jax.devices()[:6]).shape == (3, 2)
    assert jax.make_mesh((3, 2), ("a", "b")).shape == {"a": 3, "b": 2}


def test_one_device_in_another_memory():
    where = jax.sharding.make_single_device_sharding(jax.devices()[1], memory_kind="pinned_host")
    assert where == SingleDeviceSharding(jax.devices()[1], memory_kind="pinned_host")
