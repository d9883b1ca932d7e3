"""tests/array/test_memory_spaces.py - kinds of memory as types, programs and results show them."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.memory import Space
from shardax.sharding import NamedSharding, SingleDeviceSharding
from shardax.sharding import PartitionSpec as P

HOST = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")


def on_host(n=4):
    return jax.device_put(jnp.arange(float(n)), HOST)


def kind(x):
    return x.sharding.memory_kind


def test_types_of_arrays():
    x = on_host()
    assert str(jax.typeof(x)) == "float32<host>[4]" and x.aval.memory_space is Space.Host
    assert jax.typeof(jnp.ones(4)).memory_space is Space.Device
    assert jax.typeof(jax.device_put(x, Space.Device)) == jax.typeof(jnp.ones(4))
    aval = jax.core.ShapedArray((2,), "float32", memory_space=Space.Host)
    assert repr(aval) == "ShapedArray(float32<host>[2])" and aval != aval.update(
        memory_space=Space.Device
    )
    assert aval.update(shape=(3,)).memory_space is Space.Host
    assert aval.str_short(short_dtypes=True) == "f32<host>[2]"


def test_programs_show_where_values_lie():
    text = str(jax.make_jaxpr(lambda x: jax.device_put(x, Space.Host) * 2)(jnp.arange(4.0)))
    assert "b:f32<host>[4] = device_put[" in text and "devices=(MemorySpace.Host,)" in text
    assert "c:f32<host>[4] = mul b 2.0:f32[]" in text
    text = str(jax.make_jaxpr(jax.vmap(lambda x: jax.device_put(x, Space.Device)))(on_host()))
    assert "a:f32<host>[4]" in text and "b:f32[4] = device_put" in text
    lowered = jax.jit(lambda x: x).lower(on_host())
    assert lowered.in_avals[0][0].memory_space is Space.Host

    def body(c, a):
        assert jax.typeof(a).memory_space is Space.Host
        return c + jax.device_put(a, Space.Device), None

    assert jax.lax.scan(body, 0.0, on_host())[0] == 6


def test_results_lie_where_operands_do():
    x = on_host()
    for f in (lambda x: x * 2, jnp.sin, lambda x: x[0], lambda x: x[1:] + 1, jnp.cumsum):
        assert kind(f(x)) == kind(jax.jit(f)(x)) == "pinned_host"
    there = jax.jit(lambda x: (jax.device_put(x, Space.Host) * 2, x + 1))(jnp.arange(4.0))
    assert list(map(kind, there)) == ["pinned_host", "device"]
    back = jax.jit(lambda x: jax.device_put(x, Space.Device) + jnp.ones(4))(x)
    assert kind(back) == "device" and back.tolist() == [1, 2, 3, 4]
    mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    split = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, P("i")))
    moved = jax.jit(lambda x: jax.device_put(x, Space.Host))(split)
    assert moved.sharding == NamedSharding(mesh, P("i"), memory_kind="pinned_host")


def test_operands_of_several_kinds():
    x = on_host()
    for f in (jnp.add, jax.jit(jnp.add), jax.jit(lambda x, y: jnp.concatenate([x, y]))):
        with pytest.raises(ValueError, match=r"memory_space of all inputs passed to `\w+` must"):
            f(x, jnp.ones(4))
    assert kind(x + 1) == "pinned_host" and kind(x * jnp.float32(2)) == "pinned_host"


def test_gradients_go_back_to_where_operands_lie():
    def loss(x):
        return jnp.sum(jax.device_put(x, Space.Device) ** 2)

    for grad in (jax.grad(loss), jax.jit(jax.grad(loss))):
        found = grad(on_host())
        assert kind(found) == "pinned_host" and found.tolist() == [0, 2, 4, 6]

    def away(x):
        y = jax.device_put(jnp.sin(x), Space.Host)
        return jnp.sum(x * jax.device_put(y, Space.Device))

    x = jnp.arange(4.0)
    for grad in (jax.grad(away), jax.jit(jax.grad(away))):
        found = grad(x)
        assert kind(found) == "device"
        np.testing.assert_allclose(found, jnp.sin(x) + x * jnp.cos(x), rtol=1e-6)
    _, tangent = jax.jvp(away, (x,), (jnp.ones(4),))
    np.testing.assert_allclose(tangent, jnp.sum(jnp.sin(x) + x * jnp.cos(x)), rtol=1e-6)


def test_exported_functions_know_it():
    exported = jax.export.export(jax.jit(lambda x: x))(on_host())
    read = jax.export.deserialize(exported.serialize())
    for made in (exported, read):
        assert made.in_avals[0].memory_space is made.out_avals[0].memory_space is Space.Host
    out = jax.export.export(jax.jit(lambda: jnp.ones(2), out_shardings=HOST))()
    assert out.out_avals[0].memory_space is Space.Host
    mesh = jax.sharding.AbstractMesh((), ())
    there = NamedSharding(mesh, P(None), memory_kind="pinned_host")
    assert exported.in_shardings_jax(mesh) == out.out_shardings_jax(mesh) == (there,)
    assert exported.out_shardings_jax(mesh) == (None,)  # nobody has said where
