"""tests/compile/test_batch_accumulated_dots.py - accumulated products become one after the loop."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

STEPS, BATCH, WIDTH = 12, 4, 64
rng = np.random.default_rng(0)
w = jnp.asarray(rng.standard_normal((WIDTH, WIDTH)) * 0.1, jnp.float32)
xs = jnp.asarray(rng.standard_normal((STEPS, BATCH, WIDTH)), jnp.float32)


def cell(w, h, x):
    return jnp.tanh(h @ w + x)


def looped(w, xs, reverse=False):
    def step(h, x):
        h = cell(w, h, x)
        return h, h.sum()

    h, sums = lax.scan(step, jnp.zeros((BATCH, WIDTH)), xs, reverse=reverse)
    return h.sum() + sums.max()


def unrolled(w, xs, reverse=False):
    h, sums = jnp.zeros((BATCH, WIDTH)), []
    for x in reversed(xs) if reverse else xs:
        h = cell(w, h, x)
        sums.append(h.sum())
    return h.sum() + jnp.stack(sums).max()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_gradients_are_those_of_unrolled_loops(reverse, order):
    def derivative(f):
        g = jax.grad(lambda w: f(w, xs, reverse))
        return g if order == 1 else jax.grad(lambda w: (g(w) ** 2).sum())

    expected = derivative(unrolled)(w)
    np.testing.assert_allclose(jax.jit(derivative(looped))(w), expected, rtol=2e-4, atol=2e-4)


def test_mapped_gradients_are_summed_over_devices():
    many = jnp.stack([xs, 2 * xs, 3 * xs])
    step = jax.pmap(
        lambda w, xs: lax.psum(jax.grad(looped)(w, xs), "i"), axis_name="i", in_axes=(None, 0)
    )
    expected = sum(jax.grad(unrolled)(w, x) for x in many)
    for slope in step(w, many):
        np.testing.assert_allclose(slope, expected, rtol=2e-4, atol=2e-4)


def test_sums_start_where_carries_do():
    """Also of two products with factors that are slices, results, carried or transposed."""

    def f(start, a, b):
        def step(carry, x):
            total, other, h = carry
            y = jnp.sin(x) + h
            return (total + x.T @ y, (other.T + (y.T @ x)).T, y * 0.5), y

        return lax.scan(step, (start, start, jnp.zeros_like(a[0])), a)

    start = jnp.asarray(rng.standard_normal((WIDTH, WIDTH)), jnp.float32)
    (total, other, h), ys = jax.jit(f)(start, xs, xs)
    expected, h_expected = np.array(start), np.zeros((BATCH, WIDTH), np.float32)
    mirrored = expected.copy()
    for x, y in zip(np.asarray(xs), np.asarray(ys)):
        np.testing.assert_allclose(y, np.sin(x) + h_expected, rtol=1e-5, atol=1e-5)
        h_expected = y * 0.5
        expected += x.T @ y
        mirrored += (y.T @ x).T
    np.testing.assert_allclose(total, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(other, mirrored, rtol=1e-4, atol=1e-4)


PROGRAM = """
import numpy as np
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

def f(w, xs):
    def step(h, x):
        i, g = jnp.split(jnp.tanh(h @ w + x), 2, -1)
        return i * g, None
    return lax.scan(step, jnp.ones({start}), xs)[0].sum()

jax.jit(jax.grad(f))(jnp.ones(({width}, {twice})), jnp.ones(({steps}, {batch}, {twice})))
"""


def program(width, batch, steps=8):
    return PROGRAM.format(
        start=(batch, width), width=width, twice=2 * width, batch=batch, steps=steps
    )


def test_the_loop_neither_adds_up_nor_pads(dump_of):
    text = dump_of(program(width=128, batch=4))
    after = text.splitlines()
    last = max(i for i, line in enumerate(after) if "scan of" in line)
    assert any("dot_general -> f32[128,256]" in line for line in after[last:])
    bodies = "\n".join(after[: next(i for i, line in enumerate(after) if "scan of" in line)])
    assert "dot_general -> f32[128,256]" not in bodies and "pad ->" not in bodies


def test_large_factors_are_added_up_in_the_loop(dump_of):
    """Microbatches that are larger than the weights stay in the memory of one."""
    text = dump_of(program(width=16, batch=512))
    before = text[: text.index("scan of")]
    assert "dot_general -> f32[16,32]" in text and "dot_general -> f32[16,32]" in before


def test_parts_are_put_together_once():
    def f(x):
        parts = jnp.split(x, 4)
        return sum((k + 1.0) * (p**2).sum() for k, p in enumerate(parts))

    x = jnp.arange(8.0)
    np.testing.assert_allclose(
        jax.jit(jax.grad(f))(x), 2 * np.arange(8) * np.repeat(np.arange(1, 5), 2)
    )
    apart = jax.jit(jax.grad(lambda x: (x[1:3] * 2 + x[4:6] * 3).sum()))(x)
    np.testing.assert_allclose(apart, [0, 2, 2, 0, 3, 3, 0, 0])
