"""tests/shard_map/test_refs.py - mutable references as arguments of shard-mapped functions."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import AxisType, P


def auto_mesh(*sizes):
    kinds = (AxisType.Auto,) * len(sizes)
    return jax.make_mesh(sizes, ("x", "y")[: len(sizes)], axis_types=kinds)


def count_up(ref):
    ref[...] += lax.axis_index("x").astype("float32")


@pytest.mark.parametrize("jitted", [False, True])
def test_each_device_writes_its_block(jitted):
    f = jax.shard_map(count_up, mesh=auto_mesh(2), in_specs=P("x"), out_specs=None)
    ref = jax.new_ref(jnp.zeros(4))
    for _ in range(2):
        (jax.jit(f) if jitted else f)(ref)
    np.testing.assert_array_equal(ref[...], [0, 0, 2, 2])


@pytest.mark.parametrize("jitted", [False, True])
def test_split_as_the_reference_is(jitted):
    with jax.set_mesh(jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,))):
        ref = jax.new_ref(jnp.zeros(4, "float32", out_sharding=P("x")))
        f = jax.shard_map(count_up, out_specs=None)
        (jax.jit(f) if jitted else f)(ref)
        np.testing.assert_array_equal(ref[...], [0, 0, 1, 1])
        assert jax.typeof(ref[...]).sharding.spec == P("x")


@pytest.mark.parametrize("check", [False, True])
def test_beside_arrays_and_results(check):
    def f(x, refs):
        refs["total"][...] += lax.psum(x.sum(), ("x", "y"))
        refs["rows"][...] = 2 * x
        return refs["rows"][...].sum(0, keepdims=True)

    mapped = jax.shard_map(
        f,
        mesh=auto_mesh(2, 2),
        in_specs=(P("x", "y"), {"total": P(), "rows": P("x", "y")}),
        out_specs=P("x", "y"),
        check_vma=check,
    )
    refs = {"total": jax.new_ref(jnp.float32(1)), "rows": jax.new_ref(jnp.zeros((4, 4)))}
    x = np.arange(16.0, dtype=np.float32).reshape(4, 4)
    out = mapped(x, refs)
    np.testing.assert_array_equal(refs["total"][...], 121)
    np.testing.assert_array_equal(refs["rows"][...], 2 * x)
    np.testing.assert_array_equal(out, 2 * x.reshape(2, 2, 4).sum(1))


def test_references_that_it_closes_over_are_read():
    scale = jax.new_ref(jnp.float32(3))
    f = jax.shard_map(
        lambda x: x * scale[...], mesh=auto_mesh(2), in_specs=P("x"), out_specs=P("x")
    )
    np.testing.assert_array_equal(f(jnp.arange(4.0)), [0, 3, 6, 9])
    scale[...] = 2.0
    np.testing.assert_array_equal(jax.jit(f)(jnp.arange(4.0)), [0, 2, 4, 6])


def test_references_that_it_closes_over_are_not_written():
    total = jax.new_ref(jnp.float32(3))

    def f(x):
        total[...] += lax.psum(x.sum(), "x")
        return x

    mapped = jax.shard_map(f, mesh=auto_mesh(2), in_specs=P("x"), out_specs=P("x"))
    with pytest.raises(ValueError, match="shard_map: the function writes to a mutable array ref"):
        mapped(jnp.arange(4.0))


def test_what_devices_share_holds_one_value():
    f = jax.shard_map(count_up, mesh=auto_mesh(2), in_specs=P(), out_specs=None)
    with pytest.raises(ValueError, match="out_specs"):
        f(jax.new_ref(jnp.zeros(4)))


def test_gradients_through_a_reference():
    @jax.shard_map(mesh=auto_mesh(2), in_specs=(P("x"), P("x")), out_specs=P())
    def f(x, ref):
        ref[...] = x * x
        return lax.psum((ref[...] * x).sum(), "x")

    def loss(x):
        return f(x, jax.new_ref(jnp.zeros(4)))

    np.testing.assert_allclose(jax.grad(loss)(jnp.arange(4.0)), 3 * np.arange(4.0) ** 2)
