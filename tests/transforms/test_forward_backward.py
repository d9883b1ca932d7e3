"""tests/transforms/test_forward_backward.py - reverse mode as two functions that are compiled
once."""

import pytest
import shardax as jax
import shardax.numpy as jnp

X, W = jnp.arange(6.0).reshape(2, 3), jnp.linspace(-1.0, 1.0, 9).reshape(3, 3)


def test_is_vjp():
    def f(x, w, scale=1.0):
        return jnp.tanh(x @ w) * scale

    for jitted in (True, False):
        fwd, bwd = jax.fwd_and_bwd(f, argnums=(0, 1), jitted=jitted)
        expected, f_vjp = jax.vjp(lambda x, w: f(x, w, scale=3.0), X, W)
        out, residuals = fwd(X, W, scale=3.0)
        assert jnp.array_equal(out, expected)
        for ours, theirs in zip(bwd(residuals, out), f_vjp(expected), strict=True):
            assert jnp.allclose(ours, theirs, rtol=1e-6)


def test_one_argument_and_aux():
    fwd, bwd = jax.fwd_and_bwd(lambda x, w: (x @ w, {"sum": x.sum()}), argnums=-1, has_aux=True)
    out, residuals, aux = fwd(X, W)
    assert aux["sum"] == 15.0
    assert jnp.array_equal(bwd(residuals, jnp.ones_like(out)), X.T @ jnp.ones_like(out))


def test_traced_once():
    traces = []

    def f(x):
        traces.append(1)
        return jnp.sin(x)

    fwd, bwd = jax.fwd_and_bwd(f, argnums=0)
    for value in (0.1, 0.2, 0.3):
        out, residuals = fwd(value)
        assert bwd(residuals, 1.0) == jnp.cos(value)
    assert len(traces) == 1


def test_errors():
    fwd, _ = jax.fwd_and_bwd(lambda x: x, argnums=1)
    with pytest.raises(ValueError, match="argnums=1 must select positional arguments, of which 1"):
        fwd(1.0)
    with pytest.raises(TypeError):
        jax.fwd_and_bwd(3, argnums=0)
