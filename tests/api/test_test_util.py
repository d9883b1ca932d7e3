"""tests/api/test_test_util.py - check_grads finds wrong derivatives and passes right ones."""

import functools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.test_util import check_grads, check_jvp, check_vjp

x = jnp.array([0.3, -0.7, 1.2])
loose = {"atol": 2e-2, "rtol": 2e-2, "eps": 1e-2}


@jax.custom_jvp
def doubled_slope(x):
    return jnp.sin(x)


doubled_slope.defjvp(lambda p, t: (jnp.sin(p[0]), 2 * jnp.cos(p[0]) * t[0]))


@pytest.mark.parametrize("modes", [("fwd",), ("rev",), ("lin",), ("fwd", "rev")])
@pytest.mark.parametrize("order", [1, 2])
def test_right_derivatives(modes, order):
    check_grads(lambda x: jnp.sum(jnp.sin(x) * x), (x,), order, modes, **loose)


def test_trees():
    def f(p, y):
        return {"a": jnp.tanh(p["w"] * y), "b": (p["w"].sum(),)}

    check_grads(f, ({"w": x}, 0.5), 2, **loose)


def test_complex():
    z = jnp.array([0.3 + 0.1j, -0.2 + 0.7j])
    check_grads(lambda z: z * z, (z,), 1, **loose)


def test_float16():
    check_grads(lambda x: x * x, (x.astype(jnp.float16),), 1, eps=0.1, atol=0.1, rtol=0.1)


@pytest.mark.parametrize(
    ("modes", "text"),
    [("fwd", "JVP tangent"), ("lin", "LIN tangent"), ("rev", "VJP cotangent projection")],
)
def test_wrong_derivative(modes, text):
    with pytest.raises(AssertionError, match=text):
        check_grads(doubled_slope, (x,), 1, (modes,), **loose)


def test_wrong_second_derivative():
    @jax.custom_jvp
    def slope(x):
        return jnp.cos(x)

    slope.defjvp(lambda p, t: (slope(p[0]), 3 * t[0]))

    @jax.custom_jvp
    def f(x):
        return jnp.sin(x)

    f.defjvp(lambda p, t: (f(p[0]), slope(p[0]) * t[0]))
    check_grads(f, (x,), 1, **loose)
    with pytest.raises(AssertionError, match="JVP of JVP tangent"):
        check_grads(f, (x,), 2, **loose)


def test_single_checks():
    check_jvp(jnp.sin, functools.partial(jax.jvp, jnp.sin), (x,), **loose)
    check_vjp(jnp.sin, functools.partial(jax.vjp, jnp.sin), (x,), **loose)
    with pytest.raises(AssertionError, match="mine primal"):
        check_vjp(jnp.cos, functools.partial(jax.vjp, jnp.sin), (x,), err_msg="mine")


def test_dtypes_must_agree():
    def wrong(p, t):
        return jnp.sin(p[0]), t[0].astype(jnp.float16)

    with pytest.raises(AssertionError, match="primal and tangent: dtypes float32 and float16"):
        check_jvp(jnp.sin, wrong, (x,))


def test_equal_infinities_have_no_slope():
    check_grads(lambda x: jnp.where(x > 0, jnp.inf, x), (jnp.float32(2.0),), 1, **loose)


def test_directions_are_those_of_jax():
    """A gradient that passes there by its direction passes here."""
    seen = []

    def derivative(args, direction):
        seen.append(direction)
        return jax.jvp(jnp.sin, args, direction)

    check_jvp(jnp.sin, derivative, (jnp.zeros(3),))
    expected = np.random.RandomState(0).randn(3).astype(np.float32)
    np.testing.assert_array_equal(seen[0][0], expected)
