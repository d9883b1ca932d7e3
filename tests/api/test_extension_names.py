"""tests/api/test_extension_names.py - names for libraries: functions with transformations around
them, programs put together, the state of tracing, layouts, events."""

import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import api_util, core, monitoring
from shardax.experimental import layout
from shardax.extend import backend, linear_util, source_info_util
from shardax.extend import core as extend_core
from shardax.extend import random as extend_random
from shardax.interpreters import partial_eval

F32 = jnp.float32


# ---- linear_util and api_util


def test_generators_around_functions():
    @linear_util.transformation
    def scaled(factor, *args):
        result = yield args, {}
        yield factor * result

    @linear_util.transformation_with_aux
    def counted(*args):
        result = yield args, {}
        yield result, len(args)

    f = scaled(linear_util.wrap_init(max), 10)
    assert f.call_wrapped(1, 2) == 20 and f.__name__ == "max"
    assert f == scaled(linear_util.wrap_init(max), 10) != scaled(linear_util.wrap_init(max), 11)
    assert hash(f) == hash(scaled(linear_util.wrap_init(max), 10))
    g, count = counted(linear_util.wrap_init(lambda *xs: 10 * max(xs)))
    with pytest.raises(linear_util.StoreException, match="Store empty"):
        count()
    assert g.call_wrapped(1, 2, 3) == 30 and count() == 3
    with pytest.raises(linear_util.StoreException, match="Store occupied"):
        g.call_wrapped(1)


def test_functions_around_functions():
    @linear_util.transformation_with_aux2
    def noted(f, store, note, *args, **kwargs):
        store.store(note)
        return f(*args, **kwargs)

    f, note = noted(linear_util.wrap_init(lambda x, y: x - y, {"y": 1}), "n")
    g, other = noted(linear_util.wrap_init(abs), "m")
    assert f.call_wrapped(3) == 2 and note() == "n"
    assert linear_util.merge_linear_aux(note, other) == (True, "n")
    assert linear_util.merge_linear_aux(other, note) == (False, "n")
    g.call_wrapped(1)
    with pytest.raises(linear_util.StoreException, match="both stores occupied"):
        linear_util.merge_linear_aux(note, other)


def test_remembered_calls():
    calls = []

    @linear_util.cache
    def run(fun, x):
        calls.append(x)
        return fun.call_wrapped(x)

    def f(x):
        return {"a": x}

    def flat():
        tree = jax.tree.structure(((1,), {}))
        return api_util.flatten_fun(linear_util.wrap_init(f), tree)

    (one, tree1), (two, tree2) = flat(), flat()
    assert run(one, 3) == run(two, 3) == [3] and calls == [3]
    assert tree1() == tree2() == jax.tree.structure({"a": 0})


def test_functions_of_leaves():
    args = ({"x": 1, "y": 2},)
    leaves, tree = jax.tree.flatten((args, {"z": 3}))
    f, out_tree = api_util.flatten_fun(
        linear_util.wrap_init(lambda d, z: (d["x"], [d["y"] + z])), tree
    )
    assert f.call_wrapped(*leaves) == [1, 5]
    assert jax.tree.unflatten(out_tree(), [1, 5]) == (1, [5])
    g, out_tree = api_util.flatten_fun_nokwargs(
        linear_util.wrap_init(lambda d: d), jax.tree.structure(args)
    )
    assert g.call_wrapped(7, 8) == [7, 8] and out_tree() == jax.tree.structure(args[0])


def test_what_is_said_of_arguments():
    def f(x, y, *, z):
        return x

    info = api_util.debug_info("jit", f, ({"a": 1}, 2), {"z": 3}, static_argnums=(1,))
    assert info.arg_names == ("x['a']", "z") and info.func_name == "f"
    assert info.traced_for == "jit" and __file__ in info.func_src_info
    assert info.with_unknown_names().arg_names is None
    tree = jax.tree.structure({"a": 1, "b": (1, 2)})
    assert api_util.flatten_axes("axes", tree, {"a": 0, "b": None}) == [0, None, None]
    assert api_util.flatten_axes("axes", tree, 0) == [0, 0, 0]
    with pytest.raises(ValueError, match="axes specification must be a tree prefix"):
        api_util.flatten_axes("axes", tree, {"a": 0})
    assert api_util.rebase_donate_argnums((0, 2, 2), (1,)) == (0, 1)
    with pytest.raises(ValueError, match=r"donate_argnums=\(0, 2\) cannot intersect"):
        api_util.rebase_donate_argnums((0, 2), (1, 2))
    tree = jax.tree.structure(((1, (2, 3)), {"z": 1}))
    assert api_util.donation_vector((0,), ("z",), tree) == (True, False, False, True)
    assert api_util.shaped_abstractify(1.0) == jax.typeof(1.0)
    assert api_util.shaped_abstractify(jax.ShapeDtypeStruct((2,), F32)).shape == (2,)


def test_some_arguments_fixed():
    f, args = api_util.argnums_partial(
        linear_util.wrap_init(lambda a, b, c: (a, b, c)), (0, 2), (1, 2, 3)
    )
    assert args == (1, 3) and f.call_wrapped(10, 30) == (10, 2, 30)
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        api_util.argnums_partial(linear_util.wrap_init(max), 0, (1, [2]))
    f, args = api_util.argnums_partial(
        linear_util.wrap_init(lambda a, b: b), 0, (1, [2]), require_static_args_hashable=False
    )
    assert f.call_wrapped(0) == [2]


# ---- programs and their types


def test_programs_put_together():
    aval = core.ShapedArray((3,), F32)
    new = core.gensym()
    x, y, z = new(aval), new(aval), new(aval)
    one = core.new_jaxpr_eqn([x], [y], jax.lax.sin_p, {})
    two = core.new_jaxpr_eqn([y, x], [z], jax.lax.mul_p, {})
    jaxpr = core.Jaxpr([], [x], [z], [one, two])
    assert jaxpr.invars == [x] and jaxpr.outvars == [z] and jaxpr.eqns[0].outvars == [y]
    assert str(jaxpr) == "{ lambda ; a:f32[3]. let b:f32[3] = sin a; c:f32[3] = mul b a in (c,) }"
    v = jnp.arange(3.0)
    (out,) = core.eval_jaxpr(jaxpr, [], v)
    np.testing.assert_allclose(out, v * np.sin(v), rtol=1e-6)
    assert out.tolist() == jax.jit(core.jaxpr_as_fun(jaxpr))(v)[0].tolist()
    assert jaxpr.eqns[0].source_info.text.startswith("test_extension_names.py:") or (
        "test_extension_names" in jaxpr.eqns[0].source_info.text
    )
    assert [type(v) for v in (x, core.DropVar(aval))] == [core.Var, core.DropVar]


def test_constants_of_programs():
    aval = core.ShapedArray((3,), F32)
    c, x, y = core.Var(aval), core.Var(aval), core.Var(aval)
    eqn = core.new_jaxpr_eqn([c, x], [y], jax.lax.add_p, {})
    jaxpr = core.Jaxpr([c], [x], [y], [eqn])
    assert jaxpr.constvars == [c] and jaxpr.consts == []
    v = jnp.arange(3.0)
    assert core.eval_jaxpr(jaxpr, [v], v)[0].tolist() == [0, 2, 4]
    with pytest.raises(TypeError, match="1 constvars without values"):
        core.eval_jaxpr(jaxpr, [], v)
    closed = core.ClosedJaxpr(jaxpr, [v])
    assert core.eval_jaxpr(closed, closed.consts, v)[0].tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="2 consts for 1 constvars"):
        core.ClosedJaxpr(jaxpr, [v, v])


def test_programs_with_other_parts():
    v = jnp.arange(3.0)
    made = jax.make_jaxpr(lambda x: jnp.cos(x) * v)(v)
    jaxpr = made.jaxpr
    first = jaxpr.eqns[0].replace(primitive=jax.lax.sin_p)
    changed = jaxpr.replace(eqns=[first, *jaxpr.eqns[1:]])
    (out,) = core.eval_jaxpr(changed, made.consts, v)
    np.testing.assert_allclose(out, v * np.sin(v), rtol=1e-6)
    assert changed.invars == jaxpr.invars and changed.outvars == jaxpr.outvars
    only = jaxpr.replace(outvars=[jaxpr.eqns[0].outvars[0]])
    np.testing.assert_allclose(core.eval_jaxpr(only, made.consts, v)[0], np.cos(v), rtol=1e-6)
    doubled = made.replace(consts=[2 * v])
    np.testing.assert_allclose(
        core.eval_jaxpr(doubled, doubled.consts, v)[0], 2 * v * np.cos(v), rtol=1e-6
    )
    assert jaxpr.debug_info.func_name == "<lambda>"
    again = jaxpr.replace(debug_info=api_util.debug_info("vmap", max, (1, 2), {}))
    assert again.debug_info.traced_for == "vmap" and again.debug_info.func_name == "max"
    assert jaxpr.eqns[0].ctx.compute_type is None


def test_programs_that_do_not_fit_together():
    aval = core.ShapedArray((3,), F32)
    x, y = core.Var(aval), core.Var(core.ShapedArray((2,), F32))
    eqn = core.new_jaxpr_eqn([x], [y], jax.lax.sin_p, {})
    with pytest.raises(ValueError, match="nothing before it defines"):
        core.Jaxpr([], [], [y], [eqn])
    with pytest.raises(ValueError, match=r"Jaxpr"):
        core.Jaxpr([], [x], [y], [eqn])
    with pytest.raises(ValueError, match="defined twice"):
        core.Jaxpr([], [x, x], [x], [])
    with pytest.raises(TypeError, match="expected a Primitive"):
        core.new_jaxpr_eqn([x], [y], "sin", {})
    with pytest.raises(TypeError, match="expected a Var or a Literal"):
        core.Jaxpr([], [1.0], [], [])
    with pytest.raises(TypeError, match="Var: expected a ShapedArray"):
        core.Var(3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'equations'"):
        jax.make_jaxpr(jnp.sin)(1.0).replace(equations=[])
    with pytest.raises(TypeError, match="Literal: expected a scalar"):
        core.Literal(jnp.ones(2))
    core.check_jaxpr(jax.make_jaxpr(jnp.sin)(1.0))


def test_programs_within_programs():
    jaxpr = jax.make_jaxpr(lambda x: jax.jit(jnp.sin)(x) + 1)(1.0)
    (inner,) = extend_core.subjaxprs(jaxpr)
    assert [str(e.primitive) for e in inner.eqns] == ["sin"]
    (same,) = extend_core.jaxprs_in_params(jaxpr.eqns[0].params)
    assert str(same) == str(inner)


def test_types():
    aval = core.ShapedArray((3, 2), F32)
    assert isinstance(aval, core.AbstractValue)
    assert core.mapped_aval(3, 0, aval).shape == (2,) and core.mapped_aval(3, None, aval) is aval
    assert core.unmapped_aval(4, 1, aval).shape == (3, 4, 2)
    with pytest.raises(AssertionError, match="dimension 0 .* is not of size 4"):
        core.mapped_aval(4, 0, aval)
    assert aval.to_tangent_aval() == aval == aval.normalize() == aval.to_ct_aval()
    assert aval.at_least_vspace() == aval
    assert core.ShapedArray((2,), "int32").to_tangent_aval().dtype == jax.dtypes.float0
    assert core.primal_dtype_to_tangent_dtype(np.int32) == jax.dtypes.float0
    assert core.physical_aval(jax.typeof(jax.random.key(0))).shape == (2,)
    assert core.physical_aval(aval) is aval
    assert (core.max_dim(2, 3), core.min_dim(2, 3)) == (3, 2)
    assert core.concrete_or_error(int, jnp.array(3)) == 3
    assert aval.memory_space is jax.memory.Space.Device
    assert aval.mat.varying == frozenset()
    inside = []
    jax.pmap(lambda x: inside.append(jax.typeof(x).mat.varying) or x, axis_name="i")(jnp.ones(2))
    assert inside == [frozenset()]  # as in JAX: shard_map alone follows what varies


# ---- what is being traced


def test_states_of_tracing_are_equal_while_nothing_changes():
    state = extend_core.get_opaque_trace_state(convention="test")
    assert state == extend_core.get_opaque_trace_state() and hash(state) == hash(state)
    seen = []

    def note(x):
        seen.append(extend_core.get_opaque_trace_state())
        assert seen[-1] == extend_core.get_opaque_trace_state()
        return x

    for transformed in (jax.jit(note), jax.grad(note), jax.vmap(note)):
        transformed(jnp.ones(() if transformed is not None and len(seen) < 2 else (2,)))
    assert len(seen) == 3 and all(other != state for other in seen)


def test_what_is_in_progress():
    assert core.trace_state_clean() and not extend_core.unsafe_am_i_under_a_jit_DO_NOT_USE()
    inside = []

    def note(x):
        inside.append(
            (
                core.trace_state_clean(),
                extend_core.unsafe_am_i_under_a_jit_DO_NOT_USE(),
                extend_core.unsafe_am_i_under_a_vmap_DO_NOT_USE(),
                extend_core.unsafe_get_axis_names_DO_NOT_USE(),
            )
        )
        return x

    jax.jit(note)(1.0)
    jax.vmap(note, axis_name="i")(jnp.ones(2))
    assert inside == [(False, True, False, []), (False, False, True, ["i"])]
    assert not extend_core.nonempty_axis_env_DO_NOT_USE()

    @jax.jit
    def f(x):
        with core.eval_context():
            count = int(jnp.arange(3).sum())
        return x + count

    assert f(1) == 4


def test_the_trace_that_handles_ops():
    with extend_core.take_current_trace() as trace, extend_core.set_current_trace(trace):
        assert jnp.sin(0.0) == 0
    assert isinstance(extend_core.find_top_trace(()), core.Trace)
    with pytest.raises(NotImplementedError, match="Trace.process_primitive is not defined"):
        with extend_core.set_current_trace(core.Trace()):
            jnp.sin(0.0)


def test_results_that_are_known():
    known = partial_eval.PartialVal.known(jnp.array(2.0))
    unknown = partial_eval.PartialVal.unknown(core.ShapedArray((), F32))
    jaxpr, out, _ = partial_eval.trace_to_jaxpr_nounits(
        lambda x, y: [x + 1, x * y, jnp.float32(3), y], [known, unknown]
    )
    assert [p.is_known() for p in out] == [True, False, True, False]
    assert float(out[0].get_known()) == 3 and float(out[2].get_known()) == 3
    assert len(jaxpr.outvars) == 2 and len(jaxpr.invars) == 1
    _, out, _ = partial_eval.trace_to_jaxpr_nounits(lambda x: [x], [known], instantiate=True)
    assert not out[0].is_known()


# ---- operands of other classes


def test_classes_that_become_operands():
    class Boxed:
        def __init__(self, value):
            self.value = value

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.value, dtype)

    with pytest.raises(TypeError):
        jnp.sin(Boxed([0.0]))
    core.pytype_aval_mappings[Boxed] = core.pytype_aval_mappings[np.ndarray]
    assert jnp.sin(Boxed([0.0])).tolist() == [0.0]
    assert jax.typeof(Boxed(np.float32(1))) == core.ShapedArray((), F32)
    assert np.ndarray in extend_core.array_types


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
