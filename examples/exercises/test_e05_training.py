# examples/exercises/test_e05_training.py - grades exercise 5: data parallelism.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


def data(n, key):
    x_key, y_key = shardax.random.split(key)
    x = shardax.random.normal(x_key, (n, 8, 3))
    return x, x @ jnp.array([1.0, -2.0, 3.0]) + 0.1 * shardax.random.normal(y_key, (n, 8))


@pytest.mark.devices(2, 8)
@pytest.mark.check_replicas
def test_as_one_device_with_all_samples(answer, devices, random_key):
    x, y = data(len(devices), random_key)
    found = answer.train(jnp.zeros(3), x, y, steps=5)
    w, x, y = jnp.zeros(3), x.reshape(-1, 3), y.reshape(-1)
    for _ in range(5):
        w = w - 0.1 * shardax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    assert found.shape == (3,), "one w for all devices, not a stack of them: out_axes"
    hint = "the gradient is the mean over the samples of all devices"
    np.testing.assert_allclose(found, w, rtol=1e-4, err_msg=hint)


def test_it_learns(answer, random_key):
    found = answer.train(jnp.zeros(3), *data(8, random_key))
    np.testing.assert_allclose(found, [1.0, -2.0, 3.0], atol=0.15)
