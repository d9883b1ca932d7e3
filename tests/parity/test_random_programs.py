"""tests/parity/test_random_programs.py - random programs agree with themselves under
transformations, and with JAX where it is installed."""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs  # noqa: E402

JAX = importlib.util.find_spec("jax") is not None
X = np.array([0.3, -0.7, 1.1, 0.05], np.float32)


@pytest.fixture(scope="module")
def shardax():
    import shardax

    return shardax


def function(jax, seed):
    names = {"jax": jax, "jnp": jax.numpy, "lax": jax.lax}
    names["m44"] = jax.numpy.sin(jax.numpy.arange(16.0)).reshape(4, 4)
    return eval(f"lambda x: {programs.program(seed)}", names)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)


some = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
seeds = st.integers(1000, 10**9)


@some
@given(seed=seeds)
def test_transformations_agree(shardax, seed):
    jnp = shardax.numpy
    f, x = function(shardax, seed), jnp.asarray(X)
    out = f(x)
    assert out.shape == (4,)
    close(shardax.jit(f)(x), out)
    both = jnp.stack([x, -x])
    close(shardax.vmap(f)(both), jnp.stack([out, f(-x)]))
    close(shardax.pmap(f)(both), shardax.vmap(f)(both))
    t = jnp.array([1.0, -2.0, 0.5, 3.0])
    primal, tangent = shardax.jvp(f, (x,), (t,))
    close(primal, out)
    gradient = shardax.grad(lambda v: f(v).sum())(x)
    close(gradient @ t, tangent.sum())
    close(shardax.jit(shardax.grad(lambda v: f(v).sum()))(x), gradient)
    close(shardax.grad(lambda v: shardax.checkpoint(f)(v).sum())(x), gradient)


@pytest.mark.skipif(not JAX, reason="JAX is not installed")
@some
@given(seed=seeds)
def test_jax_agrees(shardax, seed):
    import jax

    x = jax.numpy.asarray(X)
    close(function(shardax, seed)(shardax.numpy.asarray(X)), function(jax, seed)(x))
