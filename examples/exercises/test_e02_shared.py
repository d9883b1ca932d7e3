# examples/exercises/test_e02_shared.py - grades exercise 2: values that all devices share.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


@pytest.mark.devices(1, 8)
def test_predictions(answer, devices, random_key):
    w_key, b_key, x_key = shardax.random.split(random_key, 3)
    params = {
        "w": shardax.random.normal(w_key, (3, 2)),
        "b": shardax.random.normal(b_key, (2,)),
    }
    x = shardax.random.normal(x_key, (len(devices), 4, 3))
    np.testing.assert_allclose(
        answer.predict(params, x), x @ params["w"] + params["b"], rtol=1e-4, atol=1e-5
    )


def test_parameters_exist_once(answer):
    params, x = {"w": jnp.ones((3, 2)), "b": jnp.arange(2.0)}, jnp.ones((8, 4, 3))
    arguments = shardax.explain(answer.predict)(params, x).to_dict()["arguments"]
    shared = [a for a in arguments if a["name"].startswith("params")]
    hint = "w and b go to all 8 devices as they are: in_axes says so, without copies"
    assert [(a["devices"], a["copies"]) for a in shared] == [(8, 1), (8, 1)], hint
