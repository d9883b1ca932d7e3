"""tests/shard_map/test_abstract_meshes.py - shard_map over meshes without devices, over results of
eval_shape, and cotangents that vary less than their primals. As JAX 0.10.2 has it."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import AxisType, NamedSharding, P

AUTO = (AxisType.Auto,) * 2


@pytest.fixture
def mesh():
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=AUTO)


@pytest.fixture
def x(mesh):
    return jax.device_put(np.arange(16).reshape(8, 2), NamedSharding(mesh, P("x", "y")))


def identity(mesh, *spec):
    return jax.shard_map(lambda *x: x, mesh=mesh, in_specs=P(*spec), out_specs=P(*spec))


def test_results_lie_on_the_mesh_of_the_arguments(mesh, x):
    f = identity(mesh.abstract_mesh, "x")
    for call in (f, jax.jit(f)):
        (out,) = call(x)
        np.testing.assert_array_equal(out, x)
        assert out.sharding == NamedSharding(mesh, P("x"))
    both = f(np.asarray(x), x)
    assert [out.sharding for out in both] == [NamedSharding(mesh, P("x"))] * 2


def test_arguments_that_lie_elsewhere(mesh, x):
    other = jax.make_mesh((4,), ("z",), axis_types=AUTO[:1])
    with pytest.raises(
        ValueError, match="Mesh shape of the input .* does not match the mesh shape"
    ):
        identity(other.abstract_mesh, "z")(x)
    with jax.set_mesh(other):
        identity(other.abstract_mesh, "z")(np.arange(8))


def test_shapes_vary_as_their_arrays_do(mesh):
    def pulled_back(p, x):
        _, pull = jax.vjp(jnp.dot, p, x)
        shape = jax.eval_shape(jnp.dot, p, x)
        assert jax.typeof(shape).mat.varying == {"x", "y"}
        one = lax.full_like(shape, 1)
        assert jax.typeof(one).mat.varying == {"x", "y"}
        return pull(one)[1]

    f = jax.shard_map(
        pulled_back, mesh=mesh, in_specs=(P(), P(("x", "y"))), out_specs=P(("x", "y"))
    )
    p, xs = jnp.arange(2.0), jnp.ones(8)
    np.testing.assert_array_equal(f(p, xs), jnp.tile(p, 4))


@pytest.mark.parametrize("jit", (False, True))
def test_cotangents_made_like_others(mesh, jit):
    @jax.custom_vjp
    def double(x):
        return 2.0 * x

    double.defvjp(lambda x: (double(x), None), lambda _, ct: (jnp.ones_like(ct) * 3.0,))

    def f(x):
        mapped = jax.shard_map(
            lambda x: double(x) * x, mesh=mesh, in_specs=P("x"), out_specs=P("x")
        )
        return mapped(x).sum()

    x = jnp.arange(4.0)
    gradient = jax.grad(f)
    expected = 3.0 + 2 * x
    np.testing.assert_array_equal((jax.jit(gradient) if jit else gradient)(x), expected)


def test_meshes_whose_devices_nobody_knows(mesh):
    where = NamedSharding(mesh.abstract_mesh, P("x"))
    f = jax.jit(lambda x: lax.with_sharding_constraint(x, where) * 2)
    x = jnp.arange(8.0)
    np.testing.assert_array_equal(f(x), 2 * np.arange(8.0))
    (eqn,) = [
        e for e in jax.make_jaxpr(lambda x: f.__wrapped__(x))(x).eqns if "sharding" in e.params
    ]
    assert eqn.params["sharding"].mesh.shape_tuple == mesh.shape_tuple
    assert "AbstractMesh('x': 2, 'y': 2" in str(jax.make_jaxpr(f)(x))
    assert '<@mesh, [{"x"}]>' in f.lower(x).as_text()
    total = jax.shard_map(
        lambda x: lax.psum(x, "x"), mesh=mesh.abstract_mesh, in_specs=P("x"), out_specs=P()
    )
    (mapped,) = jax.make_jaxpr(total)(x).eqns
    assert mapped.params["mesh"].shape_tuple == mesh.shape_tuple
    np.testing.assert_array_equal(jax.grad(lambda x: total(x).sum())(x), np.ones(8))
