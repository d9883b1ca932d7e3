"""tests/transforms/test_vmappable.py - containers that say themselves how vmap maps what they
hold."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax._transform import vmappable
from shardax.interpreters import batching


class Box:
    """A mapped array, an object within and a number that is not mapped."""

    def __init__(self, x, inner=None, n=0):
        self.x, self.inner, self.n = x, inner, n


def to_elt(cont, get_idx, box, axis):
    return Box(cont(box.x, axis), box.inner and cont(box.inner, axis), box.n)


def from_elt(cont, size, box, axis):
    return Box(cont(size, box.x, axis), box.inner and cont(size, box.inner, axis), (box.n, size))


@pytest.fixture(autouse=True)
def boxes():
    batching.register_vmappable(Box, int, int, to_elt, from_elt, None)
    yield
    vmappable._handlers.clear()


def test_arguments_and_results():
    def f(box, y):
        assert box.x.shape == (3,) and box.inner.x.shape == (2,) and box.n == 7
        return Box(box.x * y, box.inner, box.n), box.x.sum()

    x, z = jnp.arange(6.0).reshape(2, 3), jnp.arange(4.0).reshape(2, 2)
    by_position = jax.vmap(f, in_axes=(0, None), out_axes=(1, 0))
    by_name = jax.vmap(f, out_axes=(1, 0))
    box = Box(x, Box(z), 7)
    for out, total in (by_position(box, 2.0), by_name(box, y=jnp.array([2.0, 2.0]))):
        np.testing.assert_array_equal(out.x, 2 * x.T)
        np.testing.assert_array_equal(out.inner.x, z.T)
        np.testing.assert_array_equal(total, x.sum(1))
        assert out.n == (7, 2) and out.inner.n == (0, 2)


def test_other_arguments():
    np.testing.assert_array_equal(jax.vmap(jnp.sin, in_axes=[0])(jnp.ones(2)), jnp.sin(jnp.ones(2)))


def test_results_that_are_not_mapped():
    with pytest.raises(ValueError, match="out_axes must be integers where arguments are of class"):
        jax.vmap(lambda box: 1.0, out_axes=None)(Box(jnp.ones(2)))


def test_which_containers_are_known():
    assert batching.is_vmappable(Box(jnp.ones(2))) and not batching.is_vmappable(jnp.ones(2))
