"""tests/array/test_assemble.py - sharded arrays out of parts, meshes, and the one process."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.experimental import multihost_utils
from shardax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, P, SingleDeviceSharding

SPECS = [P(), P("x"), P("y"), P("x", "y"), P(None, "y"), P(("x", "y")), P(("y", "x"), None)]


@pytest.fixture
def mesh():
    return jax.make_mesh((4, 2), ("x", "y"))


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_from_callback(mesh, spec):
    data = np.arange(32).reshape(8, 4)
    where = NamedSharding(mesh, spec)
    asked = []
    out = jax.make_array_from_callback((8, 4), where, lambda i: asked.append(i) or data[i])
    np.testing.assert_array_equal(out, data)
    assert out.sharding.is_equivalent_to(where, 2)
    assert len(asked) == len({str(i) for i in asked})  # each part once
    for shard in out.addressable_shards:
        np.testing.assert_array_equal(shard.data, data[shard.index])
        assert shard.data.sharding == SingleDeviceSharding(shard.device)
    again = jax.make_array_from_single_device_arrays(
        (8, 4), where, [shard.data for shard in out.addressable_shards][::-1]
    )
    np.testing.assert_array_equal(again, data)
    assert where.num_devices == 8


def test_from_callback_dtype_and_keys(mesh):
    where = NamedSharding(mesh, P("x"))
    out = jax.make_array_from_callback((8,), where, lambda i: np.ones(2), dtype=jnp.bfloat16)
    assert out.dtype == jnp.bfloat16
    keys = jax.random.split(jax.random.key(0), 8)
    again = jax.make_array_from_callback((8,), where, lambda i: keys[i])
    assert (jax.random.key_data(again) == jax.random.key_data(keys)).all()


def test_from_process_local_data(mesh):
    data = {"a": np.arange(10).reshape(2, 5)}
    for shape in (None, (2, 5), {"a": (2, 5)}, (None, 5)):
        out = jax.make_array_from_process_local_data(jax.devices()[1], data, shape)
        np.testing.assert_array_equal(out["a"], data["a"])
        assert out["a"].devices() == {jax.devices()[1]}
    for shape in ((2, 8), {"a": (2, 6)}, {"a": (2, 5), "b": (3, 5)}):
        with pytest.raises(ValueError):
            jax.make_array_from_process_local_data(jax.devices()[0], data, shape)


def test_errors(mesh):
    row = NamedSharding(jax.make_mesh((2,), ("x",)), P("x"))
    a, b, c = jax.devices()[:3]
    put = jax.device_put

    def make(arrays, **options):
        return jax.make_array_from_single_device_arrays((4,), row, arrays, **options)

    halves = [put(jnp.ones(2), a), put(jnp.ones(2), b)]
    for error, text, call in [
        (ValueError, "Expected 2 per-device arrays", lambda: make(halves[:1])),
        (ValueError, "must be from distinct", lambda: make([halves[0]] * 2)),
        (
            ValueError,
            r"contains devices \{0\} that are not present in per-device arrays. Per-device "
            r"arrays contain devices \{2\}",
            lambda: make([put(jnp.ones(2), c), halves[1]]),
        ),
        (ValueError, r"shard shape \(2,\) doesn't match", lambda: make([put(1.0, a), halves[1]])),
        (
            ValueError,
            "matching dtypes. Got int32",
            lambda: make([halves[0], put(np.ones(2, int), b)]),
        ),
        (ValueError, "must match the dtype", lambda: make(halves, dtype=int)),
        (ValueError, "`dtype` must be provided", lambda: make([])),
        (
            ValueError,
            r"one shard each. An argument array had 2",
            lambda: make([put(jnp.ones(2), row)] * 2),
        ),
        (TypeError, "must be a list or tuple", lambda: make(jnp.ones(4))),
        (TypeError, "requires a list of arrays", lambda: make([1, 2])),
        (
            ValueError,
            "list of concrete arrays",
            lambda: jax.jit(lambda x: make([x, x]))(jnp.ones(2)),
        ),
        (
            TypeError,
            "an instance of `jax.sharding`",
            lambda: jax.make_array_from_callback((4,), 3, None),
        ),
        (
            ValueError,
            r"Expected shard shape \(2,\) doesn't match the single device array shape \(3,\)",
            lambda: jax.make_array_from_callback((4,), row, lambda i: np.ones(3)),
        ),
        (
            jax.errors.UnexpectedTracerError,
            "within a traced context",
            lambda: jax.jit(lambda x: jax.make_array_from_callback((4,), row, lambda i: x[i]))(
                jnp.ones(4)
            ),
        ),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_meshes(mesh):
    kind = mesh.abstract_mesh.abstract_device
    same = AbstractMesh((4, 2), ("x", "y"), mesh.axis_types, abstract_device=kind)
    assert mesh.abstract_mesh == same
    assert str(AbstractMesh((4, 2), ("x", "y"))) == (
        "AbstractMesh('x': 4, 'y': 2, axis_types=(Auto, Auto))"
    )
    assert str(mesh.abstract_mesh) == (
        "AbstractMesh('x': 4, 'y': 2, axis_types=(Explicit, Explicit), device_kind=cpu, "
        "num_cores=None, platform=cpu)"
    )
    empty = jax.sharding.get_mesh()
    assert empty.empty and empty.size == 0 and repr(empty) == "Mesh()"
    with jax.set_mesh(mesh) as inside:
        assert inside is mesh is jax.sharding.get_mesh()
        assert jax.sharding.get_abstract_mesh() == mesh.abstract_mesh
        assert jax.device_put(jnp.ones(8), P("x")).sharding == NamedSharding(mesh, P("x"))
        assert jax.reshard(jnp.ones(8), P("y")).sharding == NamedSharding(mesh, P("y"))
    assert jax.sharding.get_mesh() is empty
    jax.set_mesh(mesh)
    assert jax.sharding.get_mesh() is mesh
    jax.set_mesh(empty)
    with pytest.raises(ValueError, match="Please set a mesh"):
        jax.device_put(jnp.ones(8), P("x"))
    for error, text, call in [
        (ValueError, "Expected mesh of type", lambda: jax.set_mesh(3)),
        (ValueError, "cannot be None", lambda: Mesh(jax.devices(), (None,))),
        (ValueError, "cannot be None", lambda: AbstractMesh((1,), (None,))),
        (ValueError, "must be distinct", lambda: AbstractMesh((1, 2), ("x", "x"))),
        (ValueError, "axis sizes", lambda: AbstractMesh((1, 2), ("x",))),
        (TypeError, "must be of type", lambda: AbstractMesh((1,), ("x",), "explicit")),
        (
            ValueError,
            "names should match the number of axis_types",
            lambda: AbstractMesh((1, 2), ("x", "y"), AxisType.Auto),
        ),
        (ValueError, "must be a jax.sharding.Mesh", lambda: NamedSharding(None, P())),
        (
            ValueError,
            r"scalars the PartitionSpec should be P\(\)",
            lambda: jax.device_put(1.0, NamedSharding(mesh, P("x"))),
        ),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_partition_specs():
    assert P(("x",), (), None) == P("x", None, None)
    assert repr(P(None, ("mdl",))) == "P(None, 'mdl')"
    with pytest.raises(ValueError, match="nested tuple"):
        P("x", ("z", ("a",)))
    with pytest.raises(TypeError, match="Subclassing"):
        type("Mine", (P,), {})


def test_one_process():
    x = jnp.arange(8.0)
    assert multihost_utils.process_allgather(x).shape == (1, 8)
    assert multihost_utils.process_allgather(x, tiled=True).shape == (8,)
    assert isinstance(multihost_utils.broadcast_one_to_all(x), np.ndarray)
    multihost_utils.sync_global_devices("here")
    multihost_utils.assert_equal(x)
    mesh = jax.make_mesh((2,), ("x",))
    whole = multihost_utils.host_local_array_to_global_array((x,), mesh, P("x"))
    assert whole[0].sharding.spec == P("x")
    assert (multihost_utils.global_array_to_host_local_array(whole, mesh, P("x"))[0] == x).all()


def test_distributed():
    assert not jax.distributed.is_initialized()
    jax.distributed.initialize(num_processes=1, process_id=0)
    assert jax.distributed.is_initialized()
    with pytest.raises(RuntimeError, match="only be called once"):
        jax.distributed.initialize()
    jax.distributed.shutdown()
    with pytest.raises(ValueError, match="number of processes is 1"):
        jax.distributed.initialize(num_processes=2)
    with pytest.raises(ValueError, match="has id 0"):
        jax.distributed.initialize(process_id=1)
