"""tests/ops/test_gradients_of_samples.py - jnp.gradient beside NumPy's."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp

COORDINATES = np.array([0.0, 1.0, 1.5, 4.0, 7.0])


@pytest.mark.parametrize("order", [None, 1, 2])
@pytest.mark.parametrize("spacing", [(), (0.5,), (COORDINATES, 2.0), (COORDINATES, COORDINATES)])
def test_as_numpy(order, spacing):
    f = np.random.default_rng(0).normal(size=(5, 5)).astype(np.float32)
    wanted = np.gradient(f, *spacing, edge_order=order or 1)
    for call in (jnp.gradient, shardax.jit(jnp.gradient, static_argnames="edge_order")):
        found = call(f, *spacing, edge_order=order)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_second_order_edges_are_exact_for_parabolas():
    x = jnp.arange(5.0)
    assert jnp.gradient(x**2, edge_order=2).tolist() == [0, 2, 4, 6, 8]
    places = jnp.array([0.0, 1.0, 1.5, 4.0])
    np.testing.assert_allclose(jnp.gradient(places**2, places, edge_order=2), 2 * places, atol=1e-5)
    assert jnp.gradient(x**2, edge_order=np.int64(1))[0] == 1
    by_axis = jnp.gradient(jnp.stack([x, x**2], 1), axis=0, edge_order=2)
    assert by_axis[:, 1].tolist() == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jnp.gradient(np.ones(5), edge_order=3), "edge_order is 3; 1 or 2 was expected"),
        (lambda: jnp.gradient(np.ones(2), edge_order=2), "at least three elements"),
        (lambda: jnp.gradient(np.ones(1)), "at least two elements"),
        (lambda: jnp.gradient(np.ones(5), np.arange(4.0)), r"coordinates of shape \(4,\)"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
