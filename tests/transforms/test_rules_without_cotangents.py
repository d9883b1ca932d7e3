"""tests/transforms/test_rules_without_cotangents.py - backward rules whose cotangents are all zero.

A rule of the user's is called wherever an output depends on its function, also with zeros. It may
give something other than a derivative, for example a new scale of a quantisation.
"""

import pytest
import shardax as jax
import shardax.numpy as jnp


@jax.custom_vjp
def scaled(x, scale):
    return x * scale


def scaled_bwd(scale, ct):
    return jnp.zeros(()), ct + scale + 7


scaled.defvjp(lambda x, scale: (x * scale, scale), scaled_bwd)


@jax.custom_vjp
def first(x, y):
    return x + y


first.defvjp(lambda x, y: (x + y, None), lambda _, ct: (ct, None))

X, SCALE = jnp.float32(2), jnp.float32(3)


@pytest.mark.parametrize(
    "f",
    [
        scaled,
        lambda x, s: jnp.sin(scaled(x, s)),
        lambda x, s: jax.vmap(lambda x: scaled(x, s))(x[None])[0],
    ],
)
@pytest.mark.parametrize("outer", [lambda f: f, jax.jit])
def test_the_rule_is_called_with_zeros(f, outer):
    gradient = outer(jax.grad(lambda x, s: first(x, f(x, s)), (0, 1)))
    assert gradient(X, SCALE) == (1, 10)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, s: (scaled(x, s), x)[1],
        lambda x, s: x + jax.lax.stop_gradient(scaled(x, s)),
        lambda x, s: first(x, jax.jit(scaled)(x, s)),
        lambda x, s: first(x, jax.lax.cond(s > 0, scaled, lambda x, s: x, x, s)),
    ],
)
def test_the_rule_is_not_called(f):
    assert jax.grad(f, (0, 1))(X, SCALE) == (1, 0)


def test_a_custom_gradient_without_cotangents():
    f = jax.custom_gradient(lambda x: (x * 1, lambda ct: (jnp.float32(5),)))
    assert jax.grad(lambda x: first(X, f(x)))(SCALE) == 5
