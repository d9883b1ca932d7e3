"""tests/shard_map/test_cotangents.py - splits of cotangents over axes that types show."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.sharding import AxisType, P


@pytest.fixture(autouse=True)
def mesh():
    with shardax.set_mesh(shardax.make_mesh((4,), ("X",), axis_types=(AxisType.Explicit,))):
        yield


def rows(*shape):
    values = jnp.arange(float(np.prod(shape))).reshape(shape)
    return shardax.device_put(values, P("X", *[None] * (len(shape) - 1)))


def program(f, *args):
    return str(shardax.make_jaxpr(f)(*args))


def test_sums_give_cotangents_back_as_operands_are_split():
    text = program(shardax.grad(lambda x: jnp.sum(x**2)), rows(8, 4))
    assert "mul 2.0:f32[] a" in text and "= reshard 1.0:f32[]" in text
    assert "f32[8@X,4] = broadcast_in_dim" in text and "f32[8,4]" not in text
    assert text.count("reshard") == 1
    x = rows(8, 4)
    gradient = shardax.jit(shardax.grad(lambda x: jnp.sum(x**2)))(x)
    assert gradient.sharding.spec == P("X", None)
    np.testing.assert_array_equal(gradient, 2 * x)
    gradient = shardax.grad(lambda x: jnp.sum(jnp.sum(x, 1) ** 2))(x)
    np.testing.assert_array_equal(np.asarray(gradient)[1], np.full(4, 44))


def test_zeros_are_split_as_what_they_are_like():
    text = program(lambda x: shardax.vmap(jnp.cumsum)(jnp.zeros_like(x) + x), rows(8, 4))
    assert "reshard" not in text
    assert jnp.zeros_like(rows(8, 4)).sharding.spec == P("X", None)


def test_mapped_sums_keep_the_axis_of_the_map_split():
    f = shardax.grad(lambda x: jnp.sum(x * x))
    out = shardax.jit(shardax.vmap(f))(rows(8, 4))
    np.testing.assert_array_equal(out, 2 * rows(8, 4))
    assert out.sharding.spec == P("X", None)


def test_products_leave_the_sums_of_reduced_operands_to_do():
    """The gradient of a weight that is reduced over X is a product that nobody has added up."""

    def loss(w, x):
        w = shardax.reshard(w, P(None, None, reduced={"X"}))
        return jnp.sum((x @ w) ** 2)

    w, x = jnp.ones((4, 2)), rows(8, 4)
    text = program(shardax.grad(loss), w, x)
    assert "f32[2,4]{U:X} = dot_general" in text and "f32[4,2]{U:X} = transpose" in text
    assert text.count("= reshard") == 3  # w, 1.0, and the one sum
    whole = shardax.grad(lambda w, x: jnp.sum((x @ w) ** 2))(w, np.asarray(x))
    for f in (shardax.grad(loss), shardax.jit(shardax.grad(loss))):
        np.testing.assert_allclose(f(w, x), whole)
