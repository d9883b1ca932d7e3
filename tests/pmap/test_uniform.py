"""tests/pmap/test_uniform.py - replicated values are kept once and computed once."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import _core


def address(x):
    return x.unsafe_buffer_pointer()


def test_stacking_one_array_keeps_it_once():
    w = jnp.ones((1000, 10)) * 2
    for stacked in (jnp.stack([w] * 8), jnp.array([w] * 8), jnp.broadcast_to(w, (8, 1000, 10))):
        assert _core.strides(stacked)[0] == 0
        assert address(stacked[0]) == address(stacked[7])


def test_in_axes_none_gives_results_that_are_kept_once():
    w = jnp.arange(6.0)
    out = jax.pmap(lambda w, x: (w * 2, w + x), in_axes=(None, 0))(w, jnp.arange(8.0))
    assert _core.strides(out[0]) == (0, 1)
    assert np.asarray(out[0]).shape == (8, 6)
    assert _core.strides(out[1])[0] != 0


def step(w, x):
    g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * jax.lax.pmean(g, "i")


def test_parameters_stacked_anew_take_one_copy():
    x = jnp.asarray(np.random.default_rng(0).standard_normal((8, 20, 5)), dtype=jnp.float32)
    w = np.random.default_rng(1).standard_normal(5).astype(np.float32)
    f = jax.pmap(step, axis_name="i")
    # Separate, equal slices: recognised by their bits.
    out = f(np.stack([w] * 8), x)
    assert _core.strides(out)[0] == 0
    again = f(out, x)
    assert _core.strides(again)[0] == 0
    # Elementwise work between calls keeps the one copy.
    assert _core.strides(out * 0.5 + 1.0)[0] == 0
    assert _core.strides(jax.jit(lambda v: v * 0.5)(out))[0] == 0
    reference = f(jnp.asarray(np.stack([w] * 7 + [w + 1])), x)
    assert _core.strides(reference)[0] != 0


def test_uniformity_never_changes_values_or_traces():
    traces = []

    def f(w, x):
        traces.append(1)
        return step(w, x)

    rng = np.random.default_rng(2)
    x = rng.standard_normal((8, 20, 5)).astype(np.float32)
    equal = np.stack([rng.standard_normal(5).astype(np.float32)] * 8)
    unequal = rng.standard_normal((8, 5)).astype(np.float32)
    mapped = jax.pmap(f, axis_name="i")
    expected = {}
    for name, w in (("equal", equal), ("unequal", unequal), ("equal", equal), ("unequal", unequal)):
        out = np.asarray(mapped(w, x))
        reference = np.asarray(jax.vmap(step, axis_name="i")(w, x))
        np.testing.assert_allclose(out, reference, rtol=2e-5, atol=1e-6)
        expected.setdefault(name, out)
        np.testing.assert_allclose(out, expected[name], rtol=2e-5, atol=1e-6)
    assert len(traces) == 1


def test_gradients_of_equal_and_of_unmapped_parameters():
    x = jnp.arange(1.0, 5.0)
    stacked = jax.grad(lambda w: jax.pmap(lambda w, x: w * x)(w, x).sum())(jnp.ones(4))
    assert np.asarray(stacked).tolist() == [1.0, 2.0, 3.0, 4.0]
    unmapped = jax.grad(lambda w: jax.pmap(lambda w, x: w * x, in_axes=(None, 0))(w, x).sum())(1.0)
    assert float(unmapped) == 10.0


def test_numpy_memory_may_change_between_calls():
    w = np.ones((4, 3), np.float32)
    f = jax.pmap(lambda v: v * 2)
    first = f(w)
    w[2] = 5
    assert np.asarray(f(w)).tolist() == (w * 2).tolist()
    assert np.asarray(first).tolist() == np.full((4, 3), 2.0).tolist()


@pytest.mark.parametrize("devices", [1, 3, 1000])
def test_any_number_of_devices(devices):
    before = jax.device_count()
    jax.config.update("jax_num_cpu_devices", devices)
    try:
        out = jax.pmap(lambda x: jax.lax.pmean(x, "i"), axis_name="i")(jnp.arange(float(devices)))
        assert out.shape == (devices,)
        assert float(out[devices - 1]) == pytest.approx((devices - 1) / 2)
    finally:
        jax.config.update("jax_num_cpu_devices", before)
