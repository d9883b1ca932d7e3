# tests/lax/test_elementwise.py - elementwise functions whose operands differ in shape.
import shardax
import shardax.numpy as jnp
from shardax import lax


def test_bounds_that_differ_where_what_they_bound_does_not():
    v, x = jnp.arange(4.0), jnp.float32(2)
    between = lambda v: lax.clamp(-v * v, x, 1 + v)  # noqa: E731
    for run in (
        shardax.vmap(between),
        shardax.pmap(between),
        shardax.jit(shardax.pmap(between)),
    ):
        assert run(v).tolist() == [1, 2, 2, 2]
    assert shardax.vmap(lambda low: lax.clamp(low, x, 3.0))(v).tolist() == [2, 2, 2, 3]
