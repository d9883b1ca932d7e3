"""tests/ops/test_scaled_products.py - products of operands that are rounded in blocks."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import nn

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 64, 32)).astype(np.float32)
B = RNG.normal(size=(64, 3, 96)).astype(np.float32)
DIMENSIONS = (((1,), (0,)), ((0,), (1,)))


def exact(a, b):
    return jax.lax.dot_general(a, b, DIMENSIONS)


@pytest.mark.parametrize("mode, error", [("mxfp8", 0.06), ("nvfp4", 0.2)])
def test_close_to_the_product(mode, error):
    configs = [nn.get_scaled_dot_general_config(mode)] * 3

    def product(a, b):
        return nn.scaled_dot_general(a, b, DIMENSIONS, configs=configs)

    def relative(x, y):
        return np.abs(x - y).mean() / np.abs(y).mean()

    expected = exact(A, B)
    assert 0.01 < relative(product(A, B), expected) < error
    np.testing.assert_allclose(jax.jit(product)(A, B), product(A, B), rtol=1e-5, atol=1e-4)
    weighted = [lambda a, b, f=f: jnp.sum(f(a, b) * expected) for f in (product, exact)]
    for ours, theirs in zip(*(jax.grad(f, (0, 1))(A, B) for f in weighted)):
        assert ours.shape == theirs.shape and relative(ours, theirs) < error
    half = nn.scaled_dot_general(A, B, DIMENSIONS, jnp.bfloat16, configs)
    assert half.dtype == jnp.bfloat16
    np.testing.assert_array_equal(nn.scaled_dot_general(A, B, DIMENSIONS), exact(A, B))


def test_what_blocks_can_say_is_exact():
    # Small integers times a power of two for each block.
    numbers = RNG.integers(-6, 7, (1, 4, 2, 32))
    x = (numbers * 2.0 ** RNG.integers(-40, 40, (1, 4, 2, 1))).astype(np.float32).reshape(4, 64)
    x[0, :32] = 0
    configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
    numbers = (((1,), (0,)), ((), ()))
    found = nn.scaled_dot_general(x, np.eye(64, dtype=np.float32), numbers, configs=configs)
    np.testing.assert_array_equal(found, x)


def test_cotangents_of_what_is_too_large_are_zero():
    scale = jnp.full(1, 2.0**-10, jnp.float32)
    configs = [nn.get_scaled_dot_general_config("nvfp4", scale)] * 3
    numbers = (((1,), (1,)), ((), ()))
    x = np.full((1, 16), 1.0, np.float32)
    x[0, 3] = 2.0**-10 * 6 * 448 * 1.5
    slopes = jax.grad(lambda x: nn.scaled_dot_general(x, x * 0 + 1, numbers, configs=configs).sum())
    np.testing.assert_array_equal(np.flatnonzero(slopes(x) == 0), [3])


def test_errors():
    configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
    with pytest.raises(ValueError, match="blocks of 32 elements that are summed, got 24"):
        numbers = (((1,), (1,)), ((), ()))
        nn.scaled_dot_general(jnp.ones((2, 24)), jnp.ones((2, 24)), numbers, configs=configs)
    with pytest.raises(ValueError, match="Unsupported mode: fp8"):
        nn.get_scaled_dot_general_config("fp8")
