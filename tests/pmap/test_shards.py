"""tests/pmap/test_shards.py - the shards of results are what each device has."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax


@pytest.mark.filterwarnings("ignore::shardax.debug.VaryingResultWarning")
def test_shards_of_what_is_returned_once_are_what_each_device_has():
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    f = jax.pmap(
        lambda x: (x + 1, lax.psum(x, "i"), x), "i", out_axes=(None, None, 0), donate_argnums=0
    )
    for given in (x, jnp.asarray(x), 2 * x):
        wanted = np.array(given)
        once, total, each = f(given)
        np.testing.assert_array_equal(once, wanted[0] + 1)
        np.testing.assert_array_equal(each, wanted)
        for shards, values in ((once, wanted + 1), (total, wanted.sum(0)[None].repeat(4, 0))):
            for shard, value in zip(shards.addressable_shards, values, strict=True):
                np.testing.assert_array_equal(shard.data, value)
    same_labels = jax.device_put(once, once.sharding)
    np.testing.assert_array_equal(same_labels.addressable_shards[3].data, wanted[3] + 1)
    mesh = once.sharding.mesh
    split = jax.device_put(once[:, None].repeat(4, 1), jax.NamedSharding(mesh, jax.P(None, "i")))
    np.testing.assert_array_equal(split.addressable_shards[3].data[:, 0], wanted[0] + 1)
    halves = jax.device_put(jnp.repeat(once, 2), jax.NamedSharding(mesh, jax.P("i")))
    assert [float(s.data[0]) for s in halves.addressable_shards] == np.repeat(once, 2).tolist()
    np.testing.assert_array_equal((once * 2).addressable_shards[3].data, once * 2)
