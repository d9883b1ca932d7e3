"""tests/pmap/test_orders.py - pmap between any two transformations gives what vmap gives there.

Functions outside of the map take an array of one value per device to another such array. Functions
inside take a device's scalar to a scalar, with collectives on the way.
"""

import itertools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

X = np.float32([0.3, -0.7, 1.2, 0.5])
RING = [(k, (k + 1) % 4) for k in range(4)]


def custom_jvp(h):
    """h with a derivative rule that says what differentiation would."""
    f = jax.custom_jvp(h)
    f.defjvp(lambda primals, tangents: jax.jvp(h, primals, tangents))
    return f


def custom_vjp(h):
    f = jax.custom_vjp(h)
    f.defvjp(lambda v: (h(v), v), lambda v, ct: jax.vjp(h, v)[1](ct))
    return f


OUTSIDE = {
    "jit": lambda g: jax.jit(g),
    "vmap": lambda g: lambda x: jax.vmap(g)(jnp.stack([x, 2 * x]))[1],
    "grad": lambda g: jax.grad(lambda x: (g(x) ** 2).sum()),
    "value_and_grad": lambda g: lambda x: sum(jax.value_and_grad(lambda v: (g(v) * v).sum())(x), 0),
    "jvp": lambda g: lambda x: jax.jvp(g, (x,), (x + 1,))[1],
    "vjp": lambda g: lambda x: jax.vjp(g, x)[1](x)[0],
    "linearize": lambda g: lambda x: jax.linearize(g, x)[1](x),
    "scan": lambda g: lambda x: lax.scan(lambda c, s: (g(c) * s, c), x, jnp.float32([0.1, 0.2]))[0],
    "cond": lambda g: lambda x: lax.cond(x[0] > -5, g, lambda v: v * 0, x),
    "fori_loop": lambda g: lambda x: lax.fori_loop(0, 2, lambda i, c: g(c) * 0.1, x),
    "checkpoint": lambda g: jax.checkpoint(g),
}
INSIDE = {
    "jit": lambda h: jax.jit(h),
    "vmap": lambda h: lambda v: jax.vmap(h, axis_name="k")(jnp.stack([v, 2 * v])).sum(),
    "vmap of psum": lambda h: (
        lambda v: jax.vmap(lambda u: lax.psum(h(u), ("k", "i")) - h(u), axis_name="k")(
            jnp.stack([v, 2 * v])
        ).sum()
    ),
    "grad": lambda h: jax.grad(h),
    "value_and_grad": lambda h: lambda v: sum(jax.value_and_grad(h)(v)),
    "jvp": lambda h: lambda v: jax.jvp(h, (v,), (v + 1,))[1],
    "scan": lambda h: lambda v: lax.scan(lambda c, s: (h(c) * s, c), v, jnp.float32([0.1, 0.2]))[0],
    "cond": lambda h: lambda v: lax.cond(lax.psum(1, "i") > 2, h, lambda u: u, v),
    "switch": lambda h: lambda v: lax.switch(1, [lambda u: u, h, lambda u: -u], v),
    "fori_loop": lambda h: lambda v: lax.fori_loop(0, 2, lambda i, c: h(c) * 0.1, v),
    "checkpoint": lambda h: jax.checkpoint(h),
    "custom_jvp": custom_jvp,
    "custom_vjp": custom_vjp,
}


def body(v):
    return (
        jnp.sin(v) * lax.pmean(v, "i")
        + lax.ppermute(v * v, "i", RING)
        + lax.all_gather(v, "i")[1] * (lax.axis_index("i") + 1)
        + lax.psum(v * v, "i", axis_index_groups=[[0, 2], [1, 3]])
    )


def pmapped(f):
    return jax.pmap(f, axis_name="i")


def vmapped(f):
    return jax.vmap(f, axis_name="i")


def check(around, within, second=lambda g: g):
    got = second(around(pmapped(within(body))))(X)
    want = second(around(vmapped(within(body))))(X)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-4, atol=1e-5)


# custom_vjp has no forward mode.
FORWARD = [("jvp", "custom_vjp"), ("linearize", "custom_vjp")]
FITTING = [o for o in itertools.product(OUTSIDE, INSIDE) if o not in FORWARD]


@pytest.mark.parametrize("outside, inside", FITTING)
def test_one_outside_one_inside(outside, inside):
    check(OUTSIDE[outside], INSIDE[inside])


@pytest.mark.parametrize("first, second", list(itertools.product(OUTSIDE, OUTSIDE)))
def test_two_outside(first, second):
    check(OUTSIDE[first], lambda h: h, OUTSIDE[second])


@pytest.mark.parametrize("first, second", list(itertools.product(INSIDE, INSIDE)))
def test_two_inside(first, second):
    if (first, second) == ("custom_vjp", "jvp"):
        with pytest.raises(TypeError, match="can't apply forward-mode"):
            check(lambda g: g, lambda h: INSIDE[second](INSIDE[first](h)))
        return
    check(lambda g: g, lambda h: INSIDE[second](INSIDE[first](h)))


@pytest.mark.parametrize("outside, inside", FITTING)
def test_between_nested_maps(outside, inside):
    """An inner pmap over two values of each device, transformed on both of its sides."""

    def nested(outer, inner):
        def middle(v):
            values = jnp.stack([v, v * 0.5, v + 1, -v])
            inner_body = lambda u: INSIDE[inside](body)(u) + lax.pmean(u, "o")  # noqa: E731
            return OUTSIDE[outside](inner(inner_body))(values).sum()

        return outer(middle)(np.float32([0.3, -0.8]))

    got = nested(lambda f: jax.pmap(f, "o"), pmapped)
    want = nested(lambda f: jax.vmap(f, axis_name="o"), vmapped)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-4, atol=1e-5)
