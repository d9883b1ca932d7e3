# examples/exercises/test_e01_rows.py - grades exercise 1: a function on every device.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


@pytest.mark.devices(2, 8)
def test_lengths(answer, devices, random_key):
    rows = shardax.random.normal(random_key, (len(devices), 5))
    found = answer.lengths(rows)
    assert found.shape == (len(devices),)
    np.testing.assert_allclose(found, np.linalg.norm(rows, axis=1), rtol=1e-5)


def test_each_is_computed_on_a_device_of_its_own(answer):
    held_by = answer.lengths(jnp.ones((8, 3))).sharding.device_set
    assert len(held_by) == 8, "pmap computes each row on a device of its own"
