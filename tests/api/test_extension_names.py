"""tests/api/test_extension_names.py - names for libraries: layouts, memories, events, versions."""

import asyncio
import subprocess
import sys

import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import monitoring
from shardax.experimental import layout
from shardax.extend import backend, source_info_util
from shardax.extend import random as extend_random

# ---- layouts, memory, devices


def test_layouts_are_labels():
    x = jnp.ones((2, 3))
    assert x.format == layout.Format(layout.Layout((0, 1), tiling=()), x.sharding)
    label = layout.Format(layout.Layout((1, 0)), x.sharding)
    assert jax.device_put(x, label).tolist() == x.tolist()
    constrained = layout.with_layout_constraint(x, label.layout)
    assert constrained.tolist() == x.tolist()
    assert constrained.format.layout == layout.Layout((1, 0), tiling=())
    with pytest.raises(ValueError, match="rank of the value should match"):
        layout.with_layout_constraint(x, layout.Layout((0,)))
    with pytest.raises(ValueError, match="Sharding has to be concrete"):
        layout.Format(layout.Layout((0,)))
    with pytest.raises(TypeError, match="for the layout argument"):
        layout.Format(3)
    with pytest.raises(TypeError, match="for the sharding argument"):
        layout.Format(None, 3)
    assert hash(label) == hash(layout.Format(layout.Layout((1, 0)), x.sharding))


def test_memories():
    device = jax.devices()[0]
    assert device.default_memory().kind == "device"
    assert device.memory("pinned_host") in device.addressable_memories()
    with pytest.raises(ValueError, match="Could not find memory addressable by device cpu"):
        device.memory("fast")
    assert [repr(s) for s in jax.memory.Space] == [
        "MemorySpace.Device",
        "MemorySpace.Host",
        "MemorySpace.Any",
    ]


def test_attributes_of_arrays_and_shardings():
    x = jnp.ones(4)
    assert not x._committed and x._arrays[0].tolist() == x.tolist()
    assert x.sharding._device_assignment == (jax.devices()[0],)
    spread = jax.NamedSharding(jax.make_mesh((2,), ("i",)), jax.P("i"))
    assert spread._device_assignment == tuple(jax.devices()[:2])
    assert jax.device_put(x, spread)._committed


def test_backends():
    assert backend.get_backend().platform == "cpu" == backend.backends()["cpu"].platform
    assert backend.get_default_device() == jax.devices()[0]
    assert backend.backend_xla_version() is None


# ---- random generators, events, lines, versions


def test_generators_of_random_numbers():
    key = extend_random.seed_with_impl(extend_random.rbg_prng_impl, 3)
    assert key.dtype == jax.random.key(3, impl="rbg").dtype
    words = extend_random.threefry_2x32(jnp.zeros(2, jnp.uint32), jnp.zeros(2, jnp.uint32))
    assert words.tolist() == [0x6B200159, 0x99BA4EFE]  # Salmon et al.'s known answer
    odd = extend_random.threefry_2x32(jnp.zeros(2, jnp.uint32), jnp.arange(3, dtype=jnp.uint32))
    assert odd.shape == (3,)
    with pytest.raises(TypeError, match="requires uint32 arguments, got int32"):
        extend_random.threefry_2x32(jnp.zeros(2, jnp.uint32), jnp.zeros(2, jnp.int32))


def test_events():
    seen = []

    def listen(*what, **about):
        seen.append((what, about))

    monitoring.register_event_listener(listen)
    monitoring.register_event_duration_secs_listener(listen)
    monitoring.register_event_time_span_listener(listen)
    monitoring.register_scalar_listener(listen)
    monitoring.record_event("/a", step=1)
    monitoring.record_event_duration_secs("/b", 0.5)
    monitoring.record_event_time_span("/c", 1.0, 2.0)
    monitoring.record_scalar("/d", 3)
    assert seen == [
        (("/a",), {"step": 1}),
        (("/b", 0.5), {}),
        (("/c", 1.0, 2.0), {}),
        (("/d", 3), {}),
    ]
    monitoring.unregister_event_listener(listen)
    monitoring.record_event("/a")
    monitoring.clear_event_listeners()
    monitoring.record_scalar("/d", 3)
    assert len(seen) == 4
    with pytest.raises(AssertionError, match="is not registered"):
        monitoring.unregister_scalar_listener(listen)


def test_lines():
    line = source_info_util.current()
    assert "test_extension_names.py" in source_info_util.summarize(line)
    eqn = jax.make_jaxpr(lambda x: x + 1)(1.0).eqns[0]
    assert "<lambda>" in source_info_util.summarize(eqn.source_info)
    assert source_info_util.summarize(source_info_util.new_source_info()) == "unknown"
    with source_info_util.user_context(eqn.source_info):
        assert jnp.sin(0.0) == 0


def test_excluded_files_are_left_out_of_tracebacks():
    from shardax._base import tracebacks

    frame = sys._getframe()
    assert tracebacks.include_frame(frame)
    source_info_util.register_exclusion(__file__)
    try:
        assert not tracebacks.include_frame(frame)
    finally:
        tracebacks.excluded.remove(__file__)


def test_versions():
    assert jax.version.__version__ == jax.__version__
    assert len(jax.version.__version_info__) == 3


def test_serialized_arrays(tmp_path):
    pytest.importorskip("tensorstore")
    from shardax.experimental.array_serialization import serialization

    x = jax.device_put(jnp.arange(8.0), jax.NamedSharding(jax.make_mesh((2,), ("i",)), jax.P("i")))
    manager = serialization.GlobalAsyncCheckpointManager()
    done = []
    manager.serialize_with_paths(
        [x], [str(tmp_path / "x")], on_commit_callback=lambda: done.append(1)
    )
    manager.wait_until_finished()
    (y,) = manager.deserialize_with_paths([x.sharding], [str(tmp_path / "x")])
    assert done == [1] and y.tolist() == x.tolist() and y.sharding == x.sharding
    many = [str(tmp_path / "x")] * 3  # one after the other where bytes are few
    for y in manager.deserialize_with_paths([x.sharding] * 3, many, concurrent_gb=1e-9):
        assert y.tolist() == x.tolist()
    with pytest.raises(ValueError, match="primary_host is 1"):
        asyncio.run(serialization.async_serialize(x, {}, primary_host=1))


def test_serialized_arrays_of_a_transaction(tmp_path):
    tensorstore = pytest.importorskip("tensorstore")
    from shardax.experimental.array_serialization import serialization

    x, path = jnp.arange(4.0), str(tmp_path / "x")
    manager = serialization.GlobalAsyncCheckpointManager()
    with tensorstore.Transaction() as transaction:
        manager.serialize_with_paths([x], [path], transaction=transaction)
        manager.wait_until_finished()
        assert not (tmp_path / "x").exists()
    (y,) = manager.deserialize_with_paths([x.sharding], [path])
    assert y.tolist() == x.tolist()


def test_paths_of_serialized_arrays():
    pytest.importorskip("tensorstore")
    from shardax.experimental.array_serialization import serialization

    with pytest.raises(ValueError, match="path should be absolute"):
        serialization.get_tensorstore_spec("x")


def test_colocated_functions():
    from shardax.experimental import colocated_python

    @colocated_python.colocated_python
    def f(x):
        return x + 1

    assert f(jnp.arange(3)).tolist() == [1, 2, 3]
    struct = jax.ShapeDtypeStruct((3,), jnp.int32)
    typed = f.specialize(in_specs=((struct,), {}), out_specs_fn=lambda x: struct)
    assert typed(jnp.arange(3)).tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="argument is float32"):
        typed(jnp.ones(3))
    with pytest.raises(ValueError, match="in_specs already specified"):
        typed.specialize(in_specs=())
    assert colocated_python.colocated_cpu_devices(jax.devices()) == jax.devices()


def test_the_part_of_a_type_that_changes():
    class Box:
        def cur_qdd(self):
            return "two leaves"

    assert jax.experimental.cur_qdd(Box()) == "two leaves"


def test_a_module_is_imported_when_it_is_used():
    code = (
        "import sys, shardax; shardax.numpy.ones(2)\n"
        "print([m for m in sys.modules if m.startswith(('shardax.extend', 'shardax.api_util',"
        " 'shardax.monitoring', 'shardax.core'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
