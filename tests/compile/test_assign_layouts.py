"""tests/compile/test_assign_layouts.py - short rows change places with the long dimension."""

import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from numpy.testing import assert_allclose

PROGRAM = """
import shardax as jax, shardax.numpy as jnp

x = jnp.arange({n} * {k} * 1.0).reshape({n}, {k})
jax.jit(lambda x: {what})(x)
"""
PAIRS = "((x[:, None] - x[None]) ** 2).sum(-1)"


@pytest.mark.parametrize(
    "n, k, what, turned",
    [
        (300, 3, PAIRS, True),
        (300, 32, PAIRS, True),
        (300, 33, PAIRS, False),  # long enough as they are
        (10, 3, PAIRS, False),  # nothing is long
        (300, 3, "x - x.mean(0)", False),  # operands and results are as large
        (300, 3, "x[:, None] - x[None]", False),
        (300, 3, "jnp.exp(-jnp.abs(x[:, None] - x[None])).sum(1)", True),
        # the transpose turns it anyway, or the product sums over what is long
        (300, 3, "(x * jnp.sin(x @ x.T)[:, :, None]).transpose(0, 2, 1) @ x", True),
        (300, 3, "jnp.einsum('jik,il->jkl', x * jnp.sin(x @ x.T)[:, :, None], x)", True),
    ],
)
def test_rows_are_turned_where_it_spares_short_ones(dump_of, n, k, what, turned):
    passes = dump_of(PROGRAM.format(n=n, k=k, what=what), "passes")
    assert passes.count("-- assign_layouts:\n{") == turned, passes
    if turned:
        after = passes.split("-- assign_layouts:\n")[-1]
        assert re.search(rf"\[{n},{k},{n}\] = (sub|mul)", after), after


def turning(x, y):
    """Everything that turns: x of points, y of others."""
    d = x[:, None] - y[None]
    r = jnp.sqrt((d**2).sum(-1) + 0.1)
    first, last = d[..., 0] * 2, d[..., 1:]
    joined = jnp.concatenate([d, r[..., None], last], -1)
    padded = jnp.pad(last, ((0, 0), (0, 0), (1, 2)), constant_values=0.5)
    kept = jnp.tanh(d).sum(1, keepdims=True) / y.shape[0]
    return {
        "distances": r,
        "first": first.sum(0),
        "last": last.max(-1),
        "joined": (joined * jnp.arange(1.0, joined.shape[-1] + 1)).sum((0, 2)),
        "padded": jnp.cos(padded).sum(1),
        "whole": (d / r[..., None]).sum(0),
        "all": jnp.tanh((d * kept).prod(-1)).sum(),
        "outer": (d[..., :, None] * d[..., None, :]).sum(1),
        "selected": jnp.where(r[..., None] > 1, d, -1.0).min(1),
        "product": jnp.swapaxes(d * r[..., None], 1, 2) @ y,
    }


def points(n, m, k):
    rng = np.random.default_rng(n + m + k)
    return rng.normal(size=(n, k)), rng.normal(size=(m, k))


@pytest.mark.parametrize("n, m, k", [(40, 150, 3), (7, 700, 2), (33, 100, 5)])
def test_values(n, m, k):
    with jax.enable_x64(True):
        x, y = points(n, m, k)
        d = x[:, None] - y[None]
        r = np.sqrt((d**2).sum(-1) + 0.1)
        joined = np.concatenate([d, r[..., None], d[..., 1:]], -1)
        padded = np.pad(d[..., 1:], ((0, 0), (0, 0), (1, 2)), constant_values=0.5)
        expected = {
            "distances": r,
            "first": 2 * d[..., 0].sum(0),
            "last": d[..., 1:].max(-1),
            "joined": (joined * np.arange(1, joined.shape[-1] + 1)).sum((0, 2)),
            "padded": np.cos(padded).sum(1),
            "whole": (d / r[..., None]).sum(0),
            "all": np.tanh((d * np.tanh(d).mean(1, keepdims=True)).prod(-1)).sum(),
            "outer": (d[..., :, None] * d[..., None, :]).sum(1),
            "selected": np.where(r[..., None] > 1, d, -1).min(1),
            "product": np.swapaxes(d * r[..., None], 1, 2) @ y,
        }
        found = jax.jit(turning)(x, y)
        for name, value in expected.items():
            assert_allclose(found[name], value, rtol=1e-12, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("name", sorted(turning(*points(3, 4, 3))))
def test_derivatives_are_those_of_few_points(name):
    """Points are few enough to stay as they are, one by one: sums of their derivatives."""
    with jax.enable_x64(True):
        x, y = points(24, 96, 3)
        w = jnp.asarray(np.random.default_rng(0).normal(size=turning(x, y)[name].shape))

        def loss(x, y):
            return (jnp.sin(turning(x, y)[name]) * w).sum()

        for wrt in (0, 1):
            together = jax.jit(jax.grad(loss, wrt))(x, y)
            direction = np.random.default_rng(1).normal(size=together.shape)

            def moved(t, wrt=wrt, direction=direction):
                at = [x, y]
                at[wrt] = at[wrt] + t * direction
                return loss(*at)

            numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6
            assert_allclose((together * direction).sum(), numeric, rtol=1e-4, atol=1e-6)
            curved = jax.jit(jax.grad(jax.grad(moved)))(0.0)
            slope = jax.grad(moved)
            assert_allclose(curved, (slope(1e-5) - slope(-1e-5)) / 2e-5, rtol=1e-4, atol=1e-4)


def test_maps_and_loops_hold_them_the_same_way():
    """Equal slices have equal bits, under pmap, vmap and scan."""
    x, y = (jnp.asarray(a, "float32") for a in points(40, 150, 3))

    def force(x, y):
        d = x[:, None] - y[None]
        r = (d**2).sum(-1) + 0.1
        return (d * (r**-1.5)[..., None]).sum(1)

    expected = jax.jit(force)(x, y)
    four = jnp.stack([x] * 4)
    for mapped in (
        jax.pmap(force, in_axes=(0, None)),
        jax.jit(jax.vmap(force, (0, None))),
        jax.jit(lambda xs, y: jax.lax.map(lambda x: force(x, y), xs)),
    ):
        for one in mapped(four, y):
            np.testing.assert_array_equal(one, expected)
