"""tests/array/test_placed.py - functions that make arrays on a device or with a sharding."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp


@pytest.mark.parametrize(
    "make",
    [
        lambda d: jnp.zeros(8, device=d),
        lambda d: jnp.ones(8, device=d),
        lambda d: jnp.empty(8, device=d),
        lambda d: jnp.full(8, 2, device=d),
        lambda d: jnp.arange(8, device=d),
        lambda d: jnp.arange(0.0, 4, 0.5, device=d),
        lambda d: jnp.linspace(0, 1, 8, device=d),
        lambda d: jnp.eye(8, device=d),
        lambda d: jnp.array(np.arange(8), device=d),
        lambda d: jnp.asarray(np.arange(8), device=d),
        lambda d: jnp.zeros_like(np.arange(8), device=d),
        lambda d: jnp.ones_like(jnp.arange(8), device=d),
        lambda d: jnp.full_like(jnp.arange(8), 3, device=d),
        lambda d: jnp.empty_like(jnp.arange(8), device=d),
        lambda d: jnp.astype(jnp.arange(8), float, device=d),
    ],
)
def test_places(make):
    device = jax.devices()[1]
    assert make(device).devices() == {device}
    spread = jax.NamedSharding(jax.make_mesh((4,), ("x",)), jax.P("x"))
    assert make(spread).sharding == spread
    assert not make(None).committed
    assert jax.jit(lambda: make(device))().shape == make(None).shape  # labels do not enter programs


def test_like_keeps_the_sharding():
    spread = jax.NamedSharding(jax.make_mesh((4,), ("x",)), jax.P("x"))
    x = jax.device_put(jnp.arange(8), spread)
    assert jnp.zeros_like(x).sharding == spread
    assert jnp.ones_like(x, dtype=float).sharding == spread
    assert not jnp.zeros_like(x, shape=(3,)).committed
    assert jnp.zeros_like(x, device=jax.devices()[2]).devices() == {jax.devices()[2]}
    assert jnp.zeros(8, out_sharding=spread).sharding == spread
