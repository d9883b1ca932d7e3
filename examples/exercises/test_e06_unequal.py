# examples/exercises/test_e06_unequal.py - grades exercise 6: devices with unequal work.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


@pytest.mark.devices(2, 8)
def test_mean(answer, devices, random_key):
    n = len(devices)
    x, count = shardax.random.normal(random_key, (n, 9)), jnp.arange(1, n + 1)
    valid = np.concatenate([np.asarray(x)[i, : i + 1] for i in range(n)])
    hint = "each valid element counts alike, not each device"
    np.testing.assert_allclose(answer.mean(x, count), valid.mean(), rtol=1e-4, err_msg=hint)


def test_devices_without_elements(answer):
    x = jnp.full((8, 3), np.nan).at[0].set(2.0)
    found = float(answer.mean(x, jnp.zeros(8, int).at[0].set(3)))
    assert found == 2.0, "elements behind the valid ones are NaN here, and NaN * 0 is NaN"
