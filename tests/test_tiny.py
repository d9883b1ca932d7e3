"""A smoke test through every layer, in about a second: run it first."""

import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import lax


def test_eager():
    x = jnp.arange(4) + 1
    np.testing.assert_array_equal(np.asarray(x), [1, 2, 3, 4])
    assert x.dtype == np.int32


def test_jit():
    f = shardax.jit(lambda x, y: jnp.sum(x * y + 1.0))
    assert float(f(jnp.ones(3), jnp.arange(3.0))) == 6.0


def test_grad():
    slopes = shardax.grad(lambda x: jnp.sum(x**3))(jnp.array([1.0, 2.0]))
    np.testing.assert_allclose(np.asarray(slopes), [3.0, 12.0], rtol=1e-6)


def test_vmap():
    dots = shardax.vmap(jnp.dot, in_axes=(0, None))(jnp.eye(3), jnp.arange(3.0))
    np.testing.assert_array_equal(np.asarray(dots), [0.0, 1.0, 2.0])


def test_pmap_and_psum():
    centred = shardax.pmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")
    np.testing.assert_array_equal(np.asarray(centred(jnp.arange(4.0))), [-1.5, -0.5, 0.5, 1.5])


def test_data_parallel_step():
    def loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)

    def step(w, x, y):
        return w - 0.1 * lax.pmean(shardax.grad(loss)(w, x, y), "batch")

    x = np.random.default_rng(0).normal(size=(4, 8, 3)).astype(np.float32)
    y = x @ np.array([1.0, -2.0, 3.0], np.float32)
    w = np.zeros(3, np.float32)
    split = shardax.pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)(w, x, y)
    whole = w - 0.1 * shardax.grad(loss)(w, x.reshape(32, 3), y.reshape(32))
    np.testing.assert_allclose(np.asarray(split), np.asarray(whole), rtol=1e-5, atol=1e-6)


def test_threefry():
    bits = shardax.random.bits(shardax.random.PRNGKey(0), (2,))
    assert bits.dtype == np.uint32
    np.testing.assert_array_equal(
        np.asarray(shardax.random.bits(shardax.random.PRNGKey(0), (2,))), np.asarray(bits)
    )
