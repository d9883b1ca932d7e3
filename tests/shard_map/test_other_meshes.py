"""tests/shard_map/test_other_meshes.py - between meshes; other names for their axes."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import AxisType, Mesh, NamedSharding, reshard, use_abstract_mesh
from shardax.sharding import PartitionSpec as P


def explicit(*shape):
    names = "xy"[: len(shape)]
    return jax.make_mesh(shape, tuple(names), axis_types=(AxisType.Explicit,) * len(shape))


@pytest.mark.parametrize("jitted", [False, True])
def test_gradients_go_back_to_the_devices_they_came_from(jitted):
    first, second = (
        NamedSharding(Mesh(np.array(jax.devices()[i : i + 4]), "x"), P("x")) for i in (0, 4)
    )
    stage = jax.jit if jitted else lambda f: f
    squared, tripled = stage(lambda x: x**2), stage(lambda x: 3 * x)

    def f(x):
        return tripled(jax.device_put(squared(x), second)).sum()

    x = jax.device_put(np.arange(4.0, dtype=np.float32), first)
    assert {d.id for d in f(x).devices()} == {4, 5, 6, 7} and f(x) == 42
    gradient = jax.grad(f)(x)
    assert gradient.sharding == first
    np.testing.assert_array_equal(gradient, 6 * np.arange(4))
    primal, tangent = jax.jvp(f, (x,), (x,))
    assert tangent == 84 and tangent.devices() == primal.devices()


def test_second_derivatives_of_moved_arrays():
    first, second = (
        NamedSharding(Mesh(np.array(jax.devices()[i : i + 4]), "x"), P("x")) for i in (0, 4)
    )

    def f(x):
        return jnp.sum(3 * jax.device_put(x**2, second, src=first))

    x = jax.device_put(np.arange(4.0, dtype=np.float32), first)
    slope, change = jax.jvp(jax.grad(f), (x,), (x,))
    np.testing.assert_array_equal(slope, 6 * np.arange(4))
    np.testing.assert_array_equal(change, 6 * np.arange(4))
    assert slope.devices() == change.devices() == x.devices()


def test_gradients_go_back_to_a_single_device():
    first, second = jax.devices()[:2]
    x = jax.device_put(2.0, first)
    y, gradient = jax.value_and_grad(lambda v: jax.device_put(v, second))(x)
    assert y.devices() == {second} and gradient.devices() == {first}


def test_an_abstract_mesh_names_other_axes_of_the_same_devices():
    mesh = explicit(2, 2)
    other = mesh.abstract_mesh.update(axis_sizes=(4, 1), axis_names=("a", "b"))

    @jax.jit
    def f(x):
        x = jnp.sin(x)
        with use_abstract_mesh(other):
            out = reshard(x, P(("a", "b"), None)) * 2
            assert jax.typeof(out).sharding.spec == P(("a", "b"), None)
        return out, reshard(out, P("y", None))

    x = np.arange(16.0, dtype=np.float32).reshape(8, 2)
    with jax.set_mesh(mesh):
        out, back = f(jax.device_put(x, P("x", "y")))
        assert out.sharding.spec == P(("a", "b"), None) and back.sharding.spec == P("y", None)
        assert out.sharding.mesh.axis_names == ("a", "b")
        np.testing.assert_array_equal(out, back)
        with use_abstract_mesh(other):
            made = jnp.arange(8)
        assert made.sharding.mesh.axis_names == ("a", "b")
        assert made.sharding.mesh.devices.shape == (4, 1)
        assert jnp.arange(8).sharding.mesh == mesh


def test_sums_that_are_left_to_do_are_not_replicated():
    with jax.set_mesh(explicit(2, 2)):
        for axes, whole in (("x", False), ("xy", False), ("", True)):
            x = reshard(jnp.arange(8), P(unreduced=set(axes)))
            assert x.is_fully_replicated == x.sharding.is_fully_replicated == whole, axes


@pytest.mark.parametrize("stage", [lambda f: f, jax.jit])
def test_operands_that_vary_differently_are_refused_where_a_flag_says_so(stage):
    mesh = jax.make_mesh((2,), ("x",))
    f = stage(
        jax.shard_map(lambda a, b: a * b, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"))
    )
    a, b = jnp.ones(4), jnp.ones(2)
    np.testing.assert_array_equal(f(a, b), np.ones(4))
    with jax.auto_pcast(False):
        with pytest.raises(
            ValueError,
            match=r"Primitive mul requires varying manual axes to match, but got \[.*pcast",
        ):
            f(a, b)
    np.testing.assert_array_equal(f(a, b), np.ones(4))
