"""tests/programs/test_assignment.py - functions lowered for abstract meshes, compiled for
devices."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import AbstractMesh, AxisType, NamedSharding, P, use_abstract_mesh

AUTO = (AxisType.Auto,)


def struct(mesh):
    return jax.ShapeDtypeStruct((8, 2), jnp.float32, sharding=NamedSharding(mesh, P("x")))


@pytest.fixture
def mesh():
    return jax.make_mesh((2,), ("x",), axis_types=AUTO)


@jax.jit
def double(x):
    return x * 2


def test_an_abstract_mesh_gets_its_devices_when_it_is_compiled(mesh):
    lowered = double.trace(struct(mesh.abstract_mesh)).lower(lowering_platforms=("cpu",))
    assert "num_partitions = 2" in lowered.as_text()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="device_assignment cannot be `None` during"):
            lowered.compile()
    with pytest.raises(ValueError, match="size of abstract mesh 2 .* device assignment: 1"):
        lowered.compile(device_assignment=tuple(jax.devices()[:1]))
    x = jax.device_put(np.arange(16, dtype=np.float32).reshape(8, 2), NamedSharding(mesh, P("x")))
    out = lowered.compile(device_assignment=tuple(mesh.devices.flat))(x)
    np.testing.assert_array_equal(out, 2 * np.asarray(x))
    assert out.sharding == NamedSharding(mesh, P("x"))


def test_platforms_are_needed(mesh):
    with pytest.raises(ValueError, match=r"lower\(lowering_platforms=...\) is required"):
        double.lower(struct(mesh.abstract_mesh))


def test_meshes_of_other_sizes(mesh):
    both = jax.jit(lambda x, y: (x, y))
    small = AbstractMesh((1,), ("x",))
    with pytest.raises(ValueError, match="size: 1 does not match the device assignment size: 2"):
        both.lower(struct(small), struct(mesh))
    with use_abstract_mesh(AbstractMesh((2,), ("x",))), pytest.raises(ValueError, match="size: 2"):
        double.trace(struct(small)).lower(lowering_platforms=("cpu",))


def test_other_devices_than_those_of_arguments(mesh):
    lowered = double.lower(struct(mesh))
    with pytest.raises(ValueError, match="must match the device_assignment calculated from"):
        lowered.compile(device_assignment=tuple(jax.devices()[:1]))
    lowered.compile(device_assignment=tuple(mesh.devices.flat))


def test_a_context_mesh_counts(mesh):
    with use_abstract_mesh(mesh.abstract_mesh):
        lowered = double.trace(np.ones(8, np.float32)).lower(lowering_platforms=("cpu",))
    assert "num_partitions = 2" in lowered.as_text()
    with jax.set_mesh(mesh):
        assert "num_partitions = 2" in double.lower(np.ones(8, np.float32)).as_text()
    with use_abstract_mesh(AbstractMesh((1,), ("x",))):
        double.lower(np.ones(8, np.float32)).compile()


def test_structs_like_tracers():
    explicit = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,))

    @jax.jit
    def f(x):
        like = jax.ShapeDtypeStruct.like(x)
        assert like.sharding.spec == P("x")
        return jnp.ones(like.shape, like.dtype, out_sharding=like.sharding)

    with jax.set_mesh(explicit):
        assert f(jax.device_put(np.arange(8), P("x"))).sharding.spec == P("x")
    assert jax.jit(lambda x: jax.ShapeDtypeStruct.like(x).sharding or x)(1.0) == 1.0
