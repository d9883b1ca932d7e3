"""tests/programs/test_core_programs.py - programs put together of equations, their types, and the
state
of tracing."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import api_util, core
from shardax.extend import core as extend_core
from shardax.interpreters import partial_eval

F32 = jnp.float32


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
    assert jaxpr.eqns[0].source_info.text.startswith("test_core_programs.py:") or (
        "test_core_programs" in jaxpr.eqns[0].source_info.text
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
    jax.vmap(note)(jnp.ones(2))
    jax.pmap(note, axis_name="i")(jnp.ones(1))
    assert inside == [
        (False, True, False, []),
        (False, False, True, ["i"]),
        (False, False, True, []),
        (False, True, False, ["i"]),
    ]
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
