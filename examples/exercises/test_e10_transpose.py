# examples/exercises/test_e10_transpose.py - grades exercise 10: all to all.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


@pytest.mark.devices(1, 2, 8)
def test_transpose(answer, devices):
    n = len(devices)
    x = jnp.arange(float(n * n)).reshape(n, n)
    np.testing.assert_array_equal(answer.transpose(x), np.asarray(x).T)


def test_each_element_is_sent_once(answer):
    collectives = shardax.explain(answer.transpose)(jnp.arange(64.0).reshape(8, 8)).to_dict()[
        "collectives"
    ]
    hint = "one all_to_all sends each element once, an all_gather sends all to everyone"
    assert [c["op"] for c in collectives] == ["all_to_all"], hint
