"""tests/compile/test_loop_slices.py - slices of scanned operands are read in place."""

import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

PROGRAM = """
import shardax as jax, shardax.numpy as jnp
from shardax import lax

x = jnp.arange(16.0 * 9 * {width}).reshape(16, 9, {width}) % 7
jax.jit(lambda x: lax.scan(lambda h, x: (jnp.tanh(h + x), h * 2), x[:, 0], x.swapaxes(0, 1)))(x)
"""


def test_large_slices_of_a_transposed_array_are_not_copied(dump_of):
    assert "copy f32[9,16,128]" not in dump_of(PROGRAM.format(width=128))
    # Short runs are.
    assert "copy f32[9,16,8]" in dump_of(PROGRAM.format(width=8))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 2, 3), (2, 1, 0, 3), (1, 2, 0, 3)])
def test_slices_of_any_layout(order, reverse):
    """In loops with a carry, and in loops whose turns do not depend on each other."""
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(6, 8, 12, 40)), "float32")
    w = jnp.asarray(rng.normal(size=(40, 40)) / 6, "float32")

    def f(x, w):
        xs = jnp.transpose(x, order)
        h, ys = lax.scan(
            lambda h, x: (jnp.tanh(h + x @ w), jnp.sum(x * h, -1)), xs[0] * 0, xs, reverse=reverse
        )
        _, apart = lax.scan(lambda _, x: (None, jnp.sin(x) @ w), None, xs, reverse=reverse)
        return h, ys, apart

    def turns(x, w):
        xs = jnp.transpose(x, order)
        h, ys = xs[0] * 0, []
        for x in xs[::-1] if reverse else xs:
            ys.append(jnp.sum(x * h, -1))
            h = jnp.tanh(h + x @ w)
        return h, jnp.stack(ys[::-1] if reverse else ys), jnp.sin(xs) @ w

    for a, b in zip(jax.jit(f)(x, w), turns(x, w)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    total = lambda g: lambda *a: sum(jnp.sum(y**2) for y in g(*a))
    slopes = [jax.jit(jax.grad(total(g), (0, 1)))(x, w) for g in (f, turns)]
    for a, b in zip(*slopes):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)


def test_repeated_slices(dump_of):
    plan = dump_of("""
import numpy as np, shardax as jax, shardax.numpy as jnp
from shardax import lax

row = jnp.arange(4.0 * 300).reshape(4, 1, 300)
f = jax.jit(lambda row: lax.scan(lambda h, x: (h + x, None), jnp.zeros((5, 300)),
                                 jnp.broadcast_to(row, (4, 5, 300)))[0])
np.testing.assert_allclose(f(row), np.broadcast_to(np.asarray(row).sum(0), (5, 300)))
""")
    assert not re.search(r"copy f32\[4,5,300\]", plan)
