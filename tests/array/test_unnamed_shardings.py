"""tests/array/test_unnamed_shardings.py - tiles of shardings, as JAX 0.10.2's XLA prints them, and
GSPMDSharding, which is made of them."""

import math

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import GSPMDSharding, Mesh, NamedSharding, P, SingleDeviceSharding

# mesh, spec, rank: what JAX prints, and the smallest mesh
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
    assert repr(same) == f"GSPMDSharding({text})"


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
