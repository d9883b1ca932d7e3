"""tests/compile/test_nested.py - compile time of branches within branches."""

import time

import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax


def nested(x, depth):
    if depth == 0:
        return jnp.sin(x)
    return lax.cond(x > 0.5 * depth, lambda x: nested(x, depth - 1) * 2, lambda x: x + 1, x)


def seconds(depth):
    def once():
        start = time.process_time()
        gradient = jax.jit(jax.grad(lambda x: nested(x, depth)))(1.0)
        assert gradient == (1.0 if depth > 1 else 2.0)
        return time.process_time() - start

    return min(once() for _ in range(3))


@pytest.mark.alone
def test_the_gradient_of_nested_branches():
    seconds(4)
    # Each passes on the objects that those within it keep, so that 4 times the depth takes 7 times
    # as long. Going through all of them for each would take 20 times as long.
    assert seconds(64) < 16 * seconds(16)
