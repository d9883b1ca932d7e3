"""tests/transforms/test_checkpoint_control.py - checkpoint policies choose values inside
loops, branches and mapped functions; values that nothing needs are not computed."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.ad_checkpoint import checkpoint_name

from .test_checkpoint import count

policies = jax.checkpoint_policies
W = jnp.linspace(-1.0, 1.0, 16).reshape(4, 4)
X = jnp.linspace(0.1, 0.9, 4)


def layer(x, w):
    return jnp.sin(jnp.dot(x, w))


def scanned(x, w):
    return lax.scan(lambda c, _: (layer(c, w), c), x, None, length=3)[0].sum()


def scanned_twice(x, w):
    def outer(c, _):
        return lax.scan(lambda c, _: (layer(c, w), None), c, None, length=2)[0], None

    return lax.scan(outer, x, None, length=2)[0].sum()


def branched(x, w):
    return lax.cond(x.sum() > 0, layer, lambda x, w: jnp.cos(jnp.dot(w, x)), x, w).sum()


def mapped(x, w):
    return jax.pmap(layer, in_axes=(0, None))(jnp.stack([x, 2 * x]), w).sum()


def switched(x, w):
    branches = [layer, lambda x, w: x, lambda x, w: jnp.dot(layer(x, w), w)]
    return lax.switch(2, branches, x, w).sum() + branched(x, w)


FUNCTIONS = [scanned, scanned_twice, branched, mapped, switched]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize(
    "policy",
    [None, policies.dots_saveable, policies.everything_saveable],
    ids=["none", "dots", "all"],
)
def test_gradients_are_those_without_it(f, policy):
    expected = jax.grad(f, (0, 1))(X, W)
    kept = jax.checkpoint(f, policy=policy)
    for g in (jax.grad(kept, (0, 1)), jax.jit(jax.grad(kept, (0, 1)))):
        for ours, theirs in zip(g(X, W), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-6)
    batch = jnp.stack([X, -X])
    ours = jax.vmap(jax.grad(kept), (0, None))(batch, W)
    theirs = jax.vmap(jax.grad(f), (0, None))(batch, W)
    np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("f", FUNCTIONS[:4])
def test_kept_products_are_not_computed_again(f):
    """Backwards, a product has two: one per operand; computing it again would make it three."""
    plain = count(jax.grad(f, (0, 1)), "dot_general", X, W)
    dots = jax.checkpoint(f, policy=policies.dots_saveable)
    nothing = jax.checkpoint(f)
    assert count(jax.grad(dots, (0, 1)), "dot_general", X, W) == plain
    assert count(jax.grad(nothing, (0, 1)), "dot_general", X, W) > plain


def test_names_inside_a_loop():
    def f(x):
        def step(c, _):
            return jnp.sin(checkpoint_name(jnp.sin(c), "inner")), None

        return lax.scan(step, x, None, length=3)[0]

    named = policies.save_only_these_names("inner")
    other = policies.save_only_these_names("another")
    # Forward two sines; anew, the inner one only where it was not kept.
    assert count(jax.grad(jax.checkpoint(f, policy=named)), "sin", 0.3) == 3
    assert count(jax.grad(jax.checkpoint(f, policy=other)), "sin", 0.3) == 4
    expected = jax.grad(f)(0.3)
    assert jax.grad(jax.checkpoint(f, policy=named))(0.3) == pytest.approx(float(expected))


def test_kept_values_in_loops_are_residuals():
    def f(x, w):
        return scanned(x, w)

    kept = jax.ad_checkpoint.saved_residuals(jax.checkpoint(f, policy=policies.dots_saveable), X, W)
    assert (3, 4) in [aval.shape for aval, _ in kept]
    none = jax.ad_checkpoint.saved_residuals(jax.checkpoint(f), X, W)
    assert sorted(aval.shape for aval, _ in none) == [(4,), (4, 4)]


def test_only_used_inputs_are_kept():
    """The derivative of a product of x and w by x alone needs w only."""
    f = jax.checkpoint(lambda x, w: 2.0 * x + jnp.sin(w).sum())
    assert jax.ad_checkpoint.saved_residuals(lambda x: f(x, W).sum(), X) == []


@pytest.mark.parametrize("inside", ["scan", "while_loop", "cond", "pmap", "jit"])
def test_unused_parts_are_not_computed(inside):
    """Of two results only the first is used: nothing calls what the second alone needs."""
    calls = []

    def seen(y):
        calls.append(1)
        return np.sin(y)

    def two(x, y):
        shape = jax.ShapeDtypeStruct((), jnp.float32)
        return jnp.sin(x), jax.pure_callback(seen, shape, y, vmap_method="sequential")

    def both(x):
        if inside == "scan":
            return lax.scan(lambda c, _: (two(*c), c[1]), (x, x), None, length=4)[0]
        if inside == "while_loop":
            body = lambda c: (c[0] + 1, *two(*c[1:]))  # noqa: E731
            return lax.while_loop(lambda c: c[0] < 4, body, (0, x, x))[1:]
        if inside == "cond":
            return lax.cond(x > 0, two, lambda x, y: (x, y), x, x)
        if inside == "pmap":
            return [out[0] for out in jax.pmap(two)(x[None], x[None])]
        return jax.jit(two)(x, x)

    expected = [float(v) for v in jax.jit(both)(jnp.float32(0.3))]
    assert calls
    calls.clear()
    assert float(jax.jit(lambda x: both(x)[0])(jnp.float32(0.3))) == expected[0]
    assert not calls


def test_prevent_cse_by_argument():
    def f(w, x):
        return jnp.sin(jnp.dot(jnp.sin(w), x)).sum()

    expected = jax.grad(f)(W, X)
    barriers = {}
    for prevent in (True, False, (True, False), (False, True), [False, False]):
        g = jax.grad(jax.checkpoint(f, prevent_cse=prevent))
        np.testing.assert_allclose(g(W, X), expected, rtol=1e-6)
        barriers[str(prevent)] = count(g, "optimization_barrier", W, X)
    assert barriers == {
        "True": 2,
        "False": 0,
        "(True, False)": 1,
        "(False, True)": 1,
        "[False, False]": 0,
    }
    tree = jax.checkpoint(lambda p: f(p["w"], p["x"]), prevent_cse=({"w": False, "x": True},))
    assert count(jax.grad(tree), "optimization_barrier", {"w": W, "x": X}) == 1
    second = jax.grad(lambda w: jax.grad(jax.checkpoint(f, prevent_cse=(True, False)))(w, X).sum())
    reference = jax.grad(lambda w: jax.grad(f)(w, X).sum())
    np.testing.assert_allclose(second(W), reference(W), rtol=2e-5, atol=1e-6)
    with pytest.raises(TypeError, match="prevent_cse must be a bool or tuple of bools, got"):
        jax.checkpoint(f, prevent_cse=1)
