"""tests/array/test_another.py - a function that has nothing to do returns an array of its own.

If JAX runs a function as a program, its result can be deleted, or donated, without its argument.
"""

import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

NOTHING_TO_DO = """
+x
jnp.positive(x)
jnp.real(x)
jnp.conj(x)
x.real
x.conj()
x.ravel()
x.flatten()
jnp.ravel(x)
jnp.squeeze(x)
x.squeeze()
jnp.clip(x)
jnp.hstack([x])
jnp.atleast_1d(x)
jnp.broadcast_arrays(x)[0]
jnp.broadcast_arrays(x, x)[1]
jnp.roll(x, 0)
jnp.flip(x, ())
jnp.rot90(x.reshape(2, 2), 0)
jnp.sum(x, axis=())
x.sum(axis=())
jnp.max(x, axis=())
jnp.prod(x, axis=())
lax.reduce_sum(x, ())
jnp.split(x, 1)[0]
jnp.diff(x, 0)
jnp.vectorize(lambda v: v)(x)
jnp.ix_(x)[0]
jnp.meshgrid(x)[0]
jnp.block([x])
jnp.block(x)
x.astype(x.dtype, copy=True)
jnp.array(x)
x.copy()
""".strip().splitlines()


@pytest.mark.parametrize("source", NOTHING_TO_DO)
def test_deleting_the_result_keeps_the_argument(source):
    x = jnp.arange(4.0)
    result = eval(source, {"jnp": jnp, "lax": lax, "x": x})
    assert result is not x
    result.delete()
    assert x.tolist() == [0, 1, 2, 3]


def test_donating_the_result_keeps_the_argument():
    x = jnp.arange(4.0)
    assert shardax.jit(lambda v: v + 1, donate_argnums=0)(+x).tolist() == [1, 2, 3, 4]
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("source", ["jnp.asarray(x)", "x.reshape(4)", "jnp.broadcast_to(x, (4,))"])
def test_some_are_the_argument_as_in_jax(source):
    x = jnp.arange(4.0)
    eval(source, {"jnp": jnp, "x": x}).delete()
    assert x.is_deleted()
