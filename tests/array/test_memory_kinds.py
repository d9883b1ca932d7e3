"""tests/array/test_memory_kinds.py - kinds of memory: arrays show which they were brought to."""

import pickle

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import Mesh, NamedSharding, P

X = jnp.arange(8.0)


def split(*spec):
    return NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), P(*spec))


def test_arrays_show_the_memory_that_they_were_brought_to():
    """Nothing moves; results computed with them stay where they are, as in JAX."""
    host = split("x").with_memory_kind("pinned_host")
    there = jax.device_put(X, host)
    assert there.sharding == host and there.sharding != split("x")
    assert not there.sharding.is_equivalent_to(split("x"), 1)
    assert (2 * there).sharding.memory_kind == jnp.sum(there).sharding.memory_kind == "pinned_host"
    assert jax.jit(lambda x: x + 1)(there).sharding.memory_kind == "pinned_host"
    assert jax.jit(lambda x: x, out_shardings=host)(X).sharding == host
    assert jax.device_put(there, split("x")).sharding.memory_kind == "device"
    np.testing.assert_array_equal(jax.device_put(there, split("x")) + X, 2 * X)

    single = jax.sharding.SingleDeviceSharding(jax.devices()[1], memory_kind="unpinned_host")
    assert jax.device_put(X, single).sharding == single
    assert pickle.loads(pickle.dumps(single)).memory_kind == "unpinned_host"


def test_device_put_takes_spaces_of_memory():
    Space = jax.memory.Space
    there = jax.device_put(jax.device_put(X, split("x")), Space.Host)
    assert there.sharding == split("x").with_memory_kind("pinned_host")
    assert jax.device_put(there, Space.Device).sharding == split("x")
    assert jax.device_put(jnp.ones(3), Space.Host).sharding.memory_kind == "pinned_host"
    assert jax.jit(lambda x: jax.device_put(x, Space.Host) * 2)(jnp.ones(2)).tolist() == [2, 2]
    with pytest.raises(ValueError, match="a Sharding, a memory.Space or a tree"):
        jax.device_put(X, "host")


def test_memories_have_names():
    first, second = jax.devices()[:2]
    assert str(first.default_memory()) == "CpuDeviceMemory(id=0, process_index=0, client=cpu)"
    assert repr(second.addressable_memories()) == "[CPU_DEVICE_3, PINNED_HOST_4, UNPINNED_HOST_5]"
    with pytest.raises(ValueError, match="Device cpu can address the following memory kinds"):
        first.memory("tape")
