# examples/exercises/test_e09_tensor_parallel.py - grades exercise 9: a product over a mesh.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


@pytest.mark.devices(2, 8)
def test_product(answer, devices, random_key):
    x_key, w_key = shardax.random.split(random_key)
    x, w = shardax.random.normal(x_key, (3, 16)), shardax.random.normal(w_key, (16, 5))
    mesh = shardax.make_mesh((len(devices),), ("model",))
    found = answer.product(x, w, mesh)
    hint = "the product is the sum of the devices' products"
    np.testing.assert_allclose(found, x @ w, rtol=1e-4, atol=1e-5, err_msg=hint)
    assert found.sharding.is_fully_replicated


def test_devices_have_parts(answer):
    mesh = shardax.make_mesh((8,), ("model",))
    told = shardax.explain(lambda x, w: answer.product(x, w, mesh))(
        jnp.arange(48.0).reshape(3, 16), jnp.arange(80.0).reshape(16, 5)
    ).to_dict()
    (psum,) = told["collectives"]
    assert psum["op"] == "psum" and psum["participants"] == 8
