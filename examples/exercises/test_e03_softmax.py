# examples/exercises/test_e03_softmax.py - grades exercise 3: sums over devices.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


@pytest.mark.devices(1, 2, 8)
def test_softmax(answer, devices, random_key):
    x = shardax.random.normal(random_key, (len(devices), 6))
    whole = shardax.nn.softmax(x.reshape(-1)).reshape(x.shape)
    hint = "the sum is over all elements of all devices"
    np.testing.assert_allclose(answer.softmax(x), whole, rtol=1e-5, err_msg=hint)


def test_large_values(answer):
    found = answer.softmax(jnp.full((8, 2), 1000.0))
    hint = "exp(1000) is inf: subtract the largest element of all devices first"
    np.testing.assert_allclose(found, np.full((8, 2), 1 / 16), rtol=1e-6, err_msg=hint)
