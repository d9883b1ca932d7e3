"""tests/array/test_unnamed_shardings.py - tiles of shardings, as JAX 0.10.2's XLA prints them,
GSPMDSharding, which is made of them, and PositionalSharding.
"""

import math

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import (
    GSPMDSharding,
    Mesh,
    NamedSharding,
    P,
    PositionalSharding,
    SingleDeviceSharding,
)

# mesh, spec, rank: JAX's text, and the smallest mesh
TILES = [
    ((4, 2), P("x", "y"), 2, "{devices=[4,2]<=[8]}", [4, 2]),
    ((4, 2), P("y", "x"), 2, "{devices=[2,4]<=[4,2]T(1,0)}", [4, 2]),
    ((4, 2), P("x"), 2, "{devices=[4,1,2]<=[8] last_tile_dim_replicate}", [4, 2]),
    ((4, 2), P(("y", "x")), 1, "{devices=[8]<=[4,2]T(1,0)}", [4, 2]),
    (
        (2, 2, 2),
        P("z", None, "x"),
        3,
        "{devices=[2,1,2,2]<=[4,2]T(1,0) last_tile_dim_replicate}",
        [2, 2, 2],
    ),
    (
        (2, 2, 2),
        P("y"),
        1,
        "{devices=[2,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}",
        [2, 2, 2],
    ),
    ((1, 8), P("x", "y"), 2, "{devices=[1,8]<=[8]}", [8]),
    ((2, 1, 4), P("z"), 2, "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}", [2, 4]),
    ((4, 2), P(), 2, "{replicated}", []),
]


def mesh_of(shape):
    devices = np.array(jax.devices()[: math.prod(shape)], dtype=object).reshape(shape)
    return Mesh(devices, ("x", "y", "z")[: len(shape)])


@pytest.fixture(autouse=True)
def eight_devices():
    if jax.device_count() < 8:
        pytest.skip("needs 8 devices")


@pytest.mark.parametrize("shape,spec,rank,text,smallest", TILES)
def test_tiles(shape, spec, rank, text, smallest):
    named = NamedSharding(mesh_of(shape), spec)
    tiles = named._to_xla_hlo_sharding(rank)
    assert repr(tiles) == text and tiles.get_axis_sizes() == smallest
    same = GSPMDSharding(named._device_assignment, tiles)
    extents = (8,) * rank
    assert same.devices_indices_map(extents) == named.devices_indices_map(extents)
    assert same.shard_shape(extents) == named.shard_shape(extents)
    assert same.is_equivalent_to(named, rank)
    assert same.is_fully_replicated == named.is_fully_replicated
    assert repr(same) == f"GSPMDSharding({text}, memory_kind=device)"


def test_arrays_in_tiles():
    named = NamedSharding(mesh_of((4, 2)), P("y", "x"))
    tiles = GSPMDSharding(named._device_assignment, named._to_xla_hlo_sharding(2))
    values = np.arange(32.0).reshape(4, 8)
    x = jax.device_put(values, tiles)
    for shard in x.addressable_shards:
        np.testing.assert_array_equal(shard.data, values[shard.index])
    assert jax.jit(lambda x: x * 2, out_shardings=tiles)(values).sharding.is_equivalent_to(named, 2)


def test_replicated():
    one = jax.devices()[:1]
    assert GSPMDSharding.get_replicated(one).is_equivalent_to(SingleDeviceSharding(one[0]), 2)
    all_of_it = GSPMDSharding.get_replicated(jax.devices())
    assert all_of_it.is_fully_replicated and all_of_it.shard_shape((3, 2)) == (3, 2)
    single = NamedSharding(mesh_of((1, 1)), P("x", "y"))._to_xla_hlo_sharding(2)
    assert GSPMDSharding(one, single) == GSPMDSharding.get_replicated(one)
    assert hash(GSPMDSharding(one, single)) == hash(GSPMDSharding.get_replicated(one))
    assert all_of_it != GSPMDSharding.get_replicated(one) and jnp.ones(2).sharding != all_of_it


def test_tiles_and_devices_go_together():
    tiles = NamedSharding(mesh_of((4, 2)), P("x"))._to_xla_hlo_sharding(1)
    with pytest.raises(ValueError, match="is for 8 devices, but got 4"):
        GSPMDSharding(jax.devices()[:4], tiles)
    with pytest.raises(ValueError, match="only valid for values of rank at least 1"):
        GSPMDSharding(jax.devices(), tiles).shard_shape(())


def test_positions_of_grids():
    # As JAX 0.4.20's.
    grid = PositionalSharding(np.array(jax.devices()[:8]).reshape(4, 2))
    assert grid.shape == (4, 2) and grid.ndim == 2
    assert grid.reshape(8, 1).shape == grid.reshape((8, 1)).shape == grid.reshape(-1, 1).shape
    assert grid.T == grid.transpose() == grid.transpose(1, 0) and grid.T.shape == (2, 4)
    assert repr(grid.T.reshape(4, 2)) == (
        "PositionalSharding([[{CPU 0} {CPU 2}]\n"
        "                    [{CPU 4} {CPU 6}]\n"
        "                    [{CPU 1} {CPU 3}]\n"
        "                    [{CPU 5} {CPU 7}]], shape=(4, 2))"
    )
    assert repr(grid.replicate(0)) == (
        "PositionalSharding([[{CPU 0, 2, 4, 6} {CPU 1, 3, 5, 7}]], shape=(1, 2))"
    )
    assert grid.replicate(-1, keepdims=False).shape == (4,)
    assert grid.replicate(0).replicate(1) == grid.replicate() == grid.replicate((0, 1))
    assert grid.replicate().is_fully_replicated and not grid.replicate(1).is_fully_replicated
    assert grid.with_memory_kind("pinned_host").memory_kind == "pinned_host" != grid.memory_kind
    with pytest.raises(ValueError, match="requires at least one device"):
        PositionalSharding([])


def test_arrays_on_grids():
    grid = PositionalSharding(np.array(jax.devices()[:8]).reshape(4, 2))
    x = jnp.arange(64.0).reshape(8, 8)
    for where in (grid, grid.T, grid.replicate(0), grid.replicate(1), grid.reshape(2, 4).T):
        y = jax.device_put(x, where)
        assert y.sharding == where and hash(y.sharding) == hash(where)
        assert jnp.sin(y).sharding == where and y.T.sharding == where.T
        for shard in y.addressable_shards:
            np.testing.assert_array_equal(shard.data, x[shard.index])
            assert where.devices_indices_map((8, 8))[shard.device] == shard.index
    assert jax.jit(lambda a: 2 * a, in_shardings=grid, out_shardings=grid.T)(x).sharding == grid.T
    held = jax.jit(lambda a: jax.lax.with_sharding_constraint(a, grid.replicate(1)))(x)
    assert held.sharding == grid.replicate(1)
    with pytest.raises(ValueError, match="only valid for values of rank 2.*value of rank 1"):
        jax.device_put(jnp.arange(8.0), grid)
    everywhere = jax.device_put(jnp.arange(8.0), grid.replicate())  # of any rank
    assert everywhere.sharding.is_fully_replicated and everywhere.sharding.shape == (1,)


def test_memory_of_tiles():
    tiles = NamedSharding(mesh_of((2, 4)), P("x"))._to_xla_hlo_sharding(1)
    host = GSPMDSharding(jax.devices()[:8], tiles, memory_kind="pinned_host")
    assert host.with_memory_kind("device") == GSPMDSharding(jax.devices()[:8], tiles) != host
    assert jax.device_put(jnp.arange(8), host).sharding.memory_kind == "pinned_host"
    assert host.has_addressable_devices and repr(host).endswith("}, memory_kind=pinned_host)")
    with pytest.raises(ValueError, match="Could not find memory addressable by device cpu"):
        GSPMDSharding(jax.devices()[:8], tiles, memory_kind="hot")
