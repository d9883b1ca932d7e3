"""tests/programs/test_jaxpr_objects.py - programs as data: variables, literals, equations."""

import re
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental import checkify, io_callback
from shardax.extend import core
from shardax.test_util import check_grads


def evaluate(jaxpr, consts, *args):
    """An interpreter as users write it."""
    env = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))

    def read(var):
        return var.val if type(var) is core.Literal else env[var]

    for eqn in jaxpr.eqns:
        out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
        env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    return [read(v) for v in jaxpr.outvars]


CONSTANT = np.arange(3.0, dtype=np.float32)


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: jnp.exp(jnp.tanh(x)) * 2,
        lambda x: (x @ x + CONSTANT, x.sum(axis=0)),
        lambda x: x[1:] + x[0] * jnp.float32(3),
        lambda x: jnp.sort(x)[::-1].reshape(1, 3),
        lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
        lambda x: lax.scan(lambda c, v: (c + v, c * 2), 0.0, x),
        lambda x: lax.while_loop(lambda v: v[0] < 3, lambda v: v + 1, x),
        lambda x: jax.jit(lambda v: v * 2)(x) + jax.checkpoint(jnp.sin)(x),
        lambda x: x.astype(jnp.int32) // 2,
        lambda x: jax.nn.relu(x).at[1].set(5),
        lambda x: jax.pmap(lambda v: lax.psum(v, "i"), "i")(x),
    ],
)
def test_interpreters_of_users_run_programs(fun):
    x = jnp.array([0.5, -1.0, 2.0])
    closed = jax.make_jaxpr(fun)(x)
    got = evaluate(closed.jaxpr, closed.literals, x)
    want = jax.tree.leaves(fun(x))
    assert len(got) == len(want)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=1e-6)
    for g, w in zip(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, x), want):
        np.testing.assert_allclose(g, w, rtol=1e-6)


def test_variables():
    jaxpr = jax.make_jaxpr(lambda x, y: (x * y + 1.0, y))(jnp.ones(2), jnp.ones(2)).jaxpr
    multiply, add = jaxpr.eqns
    assert multiply.invars == jaxpr.invars and multiply.outvars[0] == add.invars[0]
    assert jaxpr.outvars == [add.outvars[0], jaxpr.invars[1]]
    assert isinstance(add.invars[1], core.Literal) and add.invars[1].val == 1.0
    assert len({*jaxpr.invars, *multiply.invars, multiply.outvars[0]}) == 3
    assert str(jaxpr.invars[0].aval) == "float32[2]" and "Var(id=" in repr(jaxpr.invars[0])


def test_primitives():
    (eqn,) = jax.make_jaxpr(jnp.sin)(1.0).eqns
    assert eqn.primitive == lax.sin_p and str(eqn.primitive) == eqn.primitive.name == "sin"
    assert {lax.sin_p: 1}[eqn.primitive] == 1 and lax.sin_p != lax.cos_p
    with pytest.raises(AttributeError, match="no attribute 'nothing_p'"):
        lax.nothing_p  # noqa: B018


def test_types():
    aval = jax.typeof(2.0)
    assert repr(aval) == "ShapedArray(float32[], weak_type=True)" and type(aval) is type(
        jnp.ones(1).aval
    )
    assert aval.strip_weak_type() == aval.update(weak_type=False) != aval
    assert aval.update(shape=(2, 3)).str_short(True) == "f32[2,3]"
    with pytest.raises(TypeError):
        aval.update(size=3)


@pytest.mark.parametrize("number, text", [(2j, "2j"), (1 - 2j, "(1-2j)"), (-0.5 + 0j, "(-0.5+0j)")])
def test_complex_literals(number, text):
    shown = str(jax.make_jaxpr(lambda x: x * number)(np.complex64(1)))
    assert f"mul a {text}:c64[]" in shown


def test_cotangents_of_several_uses_are_added():
    shown = str(jax.make_jaxpr(jax.grad(lambda x: x * x))(1.0))
    assert "= mul a 1.0:f32[]" in shown and "= mul 1.0:f32[] a" in shown
    assert "= add_any " in shown


def test_products_of_the_operands_dtype():
    def product(preferred):
        dims = (((0,), (0,)), ((), ()))
        return lambda x: lax.dot_general(x, x, dims, preferred_element_type=preferred)

    x = np.ones(3, np.float32)
    assert "preferred" not in str(jax.make_jaxpr(product(None))(x))
    assert "preferred_element_type=float32" in str(jax.make_jaxpr(product(np.float32))(x))
    assert "preferred" not in str(jax.make_jaxpr(jax.vmap(product(None)))(x[None]))
    assert jax.grad(product(None))(x).dtype == np.float32


def test_text_with_lines_and_effects():
    def f(x):
        jax.debug.print("{}", x)
        return jnp.sin(x) * 2

    jaxpr = jax.make_jaxpr(f)(1.0)
    lines = jaxpr.pretty_print(source_info=True).splitlines()
    place = r"\d+:15 \(\S+<locals>\.f\)" if sys.version_info >= (3, 11) else r"\d+ \(f\)"
    assert re.search(rf"= sin a +# {re.escape(__file__)}:{place}$", lines[2])
    assert lines[2].index("#") == lines[3].index("#")
    assert jaxpr.pretty_print() == str(jaxpr) and jaxpr.effects == {"Debug"}
    assert jaxpr.pretty_print(print_effects=True).endswith("in (c,) : { Debug } }")


def test_effects_of_bodies():
    def body(c, x):
        return c, io_callback(lambda v: v, x, x)

    def f(x):
        checkify.check(x[0] > 0, "positive")
        return lax.scan(body, 0, x)

    jaxpr = jax.make_jaxpr(f)(jnp.ones(2))
    assert jaxpr.effects == {"Check", "IO"}
    assert [sorted(e.effects) for e in jaxpr.eqns if e.effects] == [["Check"], ["IO"]]


def test_bodies_take_what_they_close_over():
    w = jnp.arange(3.0)

    def f(x):
        scanned, _ = lax.scan(lambda c, v: (c + w * x, None), w, length=2)
        looped = lax.while_loop(lambda v: (v * w).sum() < x, lambda v: v + w, w)
        chosen = lax.cond(x > 0, lambda v: v + w, lambda v: v * x, w)
        called = jax.jit(lambda v: v * w + x)(w)
        return scanned + looped + chosen + called + jax.checkpoint(lambda v: v * w * x)(w)

    jaxpr = jax.make_jaxpr(f)(2.0)
    assert len(jaxpr.consts) == 1
    for eqn in jaxpr.eqns:
        for body in [*eqn.params.values(), *eqn.params.get("branches", ())]:
            assert not getattr(body, "consts", None)
    np.testing.assert_allclose(jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, 2.0)[0], f(2.0))
    check_grads(f, (2.0,), order=2, rtol=1e-2)


def test_other_constants_take_the_places_of_a_programs_own():
    jaxpr = jax.make_jaxpr(lambda x: x + jnp.arange(3.0) * CONSTANT)(jnp.ones(3))
    assert len(jaxpr.consts) == 1
    for consts, want in ((jaxpr.consts, [1, 2, 5]), ([], [1, 2, 5]), ([jnp.ones(3)], [1, 2, 3])):
        assert jax.core.eval_jaxpr(jaxpr.jaxpr, consts, jnp.ones(3))[0].tolist() == want
    with pytest.raises(TypeError, match="the program has 1 constants, got 2"):
        jax.core.eval_jaxpr(jaxpr.jaxpr, [CONSTANT, CONSTANT], jnp.ones(3))


def test_programs_hold_what_they_capture():
    @jax.jit
    def f(w, x):
        closed = jax.make_jaxpr(lambda v: v * w + CONSTANT)(x)
        assert len(closed.consts) == len(closed.jaxpr.constvars) == 2
        assert len(closed.jaxpr.invars) == len(closed.in_avals) == 1
        own = evaluate(closed.jaxpr, closed.consts, x)[0]
        (doubled,) = jax.core.eval_jaxpr(closed.jaxpr, [2 * c for c in closed.consts], x)
        return own, doubled, jax.core.jaxpr_as_fun(closed)(x)[0]

    w, x = jnp.full(3, 2.0), jnp.ones(3)
    for got, want in zip(f(w, x), (2 + CONSTANT, 4 + 2 * CONSTANT, 2 + CONSTANT)):
        np.testing.assert_array_equal(got, want)
    (out,) = jax.vmap(lambda v: jax.core.jaxpr_as_fun(jax.make_jaxpr(lambda: v * 2)())())(x)
    np.testing.assert_array_equal(out, [2, 2, 2])


def test_literals():
    (eqn,) = jax.make_jaxpr(lambda x: 2.5 * x)(1.0).eqns
    assert repr(eqn.invars[0]) == "Literal(2.5)" and repr(eqn) == "a:f32[] = mul 2.5:f32[] b"


def test_dimension_numbers_of_products():
    x, y = jnp.ones((5, 2, 3)), jnp.ones((5, 3, 4))
    dims = (((2,), (1,)), ((0,), (0,)))
    (eqn,) = jax.make_jaxpr(lambda x, y: lax.dot_general(x, y, dims))(x, y).eqns
    assert eqn.params["dimension_numbers"] == dims
    np.testing.assert_array_equal(eqn.primitive.bind(x, y, **eqn.params), x @ y)
    with pytest.raises(TypeError, match=r"dimension_numbers: expected .* got \(\(1,\),\)"):
        eqn.primitive.bind(x, y, **{**eqn.params, "dimension_numbers": ((1,),)})


@pytest.mark.parametrize("kind", ["shard_map", "pmap"])
def test_axes_of_equations_are_those_in_scope(kind):
    def f(w, x):
        return lax.psum(jnp.sin(w * x), "i")

    def interpreted(w, x):
        closed = jax.make_jaxpr(f)(w, x)
        return evaluate(closed.jaxpr, closed.consts, w, x)[0]

    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    specs = dict(in_specs=(jax.P(), jax.P("i")), out_specs=jax.P())
    want = np.sin([[6.0]])
    if kind == "pmap":
        found = jax.pmap(interpreted, "i", in_axes=(None, 0))(2.0, jnp.full((1, 1), 3.0))
    else:
        mapped = jax.shard_map(interpreted, mesh=mesh, **specs)
        found = mapped(2.0, jnp.full((1, 1), 3.0))
    np.testing.assert_allclose(found, want, rtol=1e-6)


def test_parameters_of_batched_loops():
    def f(x, n):
        return lax.while_loop(lambda y: y < n, lambda y: y + 1, x)

    jaxpr = jax.make_jaxpr(jax.vmap(f))(jnp.arange(3), jnp.arange(3) + 2)
    (loop,) = (eqn for eqn in jaxpr.eqns if eqn.primitive.name == "while")
    assert sorted(loop.params) == ["body_jaxpr", "body_nconsts", "cond_jaxpr", "cond_nconsts"]


def test_parameters_in_the_form_that_interpreters_of_jax_expect():
    x, at = jnp.arange(12.0).reshape(3, 4), jnp.array([0, 2])

    def f(x):
        y = lax.pad(x[at].at[at].add(2.0), 0.0, ((1, 1, 0), (0, 0, 1)))
        y = lax.broadcast_in_dim(y[:2, ::2], (2, 4, 1), (0, 1)) + jnp.exp(x.sum())
        return lax.convert_element_type(lax.reshape(y, (8,)), jnp.int32)

    closed = jax.make_jaxpr(f)(x)
    params = {eqn.primitive.name: eqn.params for eqn in closed.eqns}
    numbers = params["gather"]["dimension_numbers"]
    assert numbers == lax.GatherDimensionNumbers((1,), (0,), (0,))
    assert params["gather"]["mode"] is lax.GatherScatterMode.PROMISE_IN_BOUNDS
    assert sorted(params["scatter-add"]) == [
        "dimension_numbers",
        "indices_are_sorted",
        "mode",
        "unique_indices",
        "update_consts",
        "update_jaxpr",
    ]
    assert params["pad"] == {"padding_config": ((1, 1, 0), (0, 0, 1))}
    assert params["slice"]["strides"] == (1, 2)
    shape = {"shape": (2, 4, 1), "broadcast_dimensions": (0, 1), "sharding": None}
    assert shape in [e.params for e in closed.eqns if e.primitive.name == "broadcast_in_dim"]
    assert params["exp"] == {"accuracy": None}
    assert params["reduce_sum"] == {"axes": (0, 1), "out_sharding": None}
    assert params["reshape"] == {"new_sizes": (8,), "dimensions": None, "sharding": None}
    assert params["convert_element_type"]["sharding"] is None
    (out,) = evaluate(closed.jaxpr, closed.consts, x)
    np.testing.assert_array_equal(out, f(x))


def test_steps_of_one_are_none():
    closed = jax.make_jaxpr(lambda x: lax.slice(x, (1,), (3,), (1,)))(jnp.arange(4.0))
    assert closed.eqns[0].params["strides"] is None
    (out,) = evaluate(closed.jaxpr, closed.consts, jnp.arange(4.0))
    assert out.tolist() == [1, 2]


def test_each_call_of_a_library_function_has_its_line():
    def inner(x):
        return jnp.dot(x, x)

    def f(x):
        return jnp.dot(inner(x), x)

    closed = jax.make_jaxpr(f)(jnp.ones((2, 2)))
    shown = [jax.extend.source_info_util.summarize(eqn.source_info) for eqn in closed.eqns]
    lines = [f.__code__.co_firstlineno + offset for offset in (-2, 1)]
    assert [int(re.search(r":(\d+)", text)[1]) for text in shown] == lines


def test_converted_numbers_are_literals():
    program = jax.make_jaxpr(lambda x: x * jnp.asarray(3) + lax.convert_element_type(2, "int8"))(
        1.0
    )
    assert [eqn.primitive.name for eqn in program.eqns] == ["mul", "add"]
    assert [eqn.invars[1].val for eqn in program.eqns] == [3, 2]


def test_precisions_are_those_of_lax():
    x = jnp.ones((2, 2))
    with jax.default_matmul_precision("bfloat16"):
        program = jax.make_jaxpr(lambda x: x @ x + jnp.matmul(x, x))(x)
    for eqn in program.eqns[:2]:
        assert eqn.params["precision"] == (lax.Precision.DEFAULT,) * 2
    np.testing.assert_array_equal(core.jaxpr_as_fun(program)(x)[0], 4)
    preset = lax.DotAlgorithmPreset.BF16_BF16_F32
    (eqn, *_) = jax.make_jaxpr(lambda x: lax.dot(x, x, precision=preset))(x.astype("bfloat16")).eqns
    assert eqn.params["precision"] is preset
    assert jax.make_jaxpr(jnp.dot)(x, x).eqns[0].params["precision"] is None


def test_numpy_arrays_are_kept_once():
    kept = np.ones((2, 3), np.float32)

    def f():
        first = jnp.sin(kept), jnp.tan(kept), jax.jit(jnp.cos)(kept), kept
        kept[0] = 5
        return first, jnp.sum(kept), kept.copy(), np.ones((2, 3), np.float32)

    program = jax.make_jaxpr(f)()
    assert [c[0, 0] for c in program.consts] == [1, 5, 5, 1]
    first, total, _, _ = jax.jit(f)()
    np.testing.assert_array_equal(first[3], [[5] * 3, [1] * 3])
    assert total == 18


def test_einsum_shows_its_products():
    (eqn,) = jax.make_jaxpr(lambda x, y: jnp.einsum("ij,j->i", x, y))(
        jnp.ones((2, 3)), CONSTANT
    ).eqns
    assert eqn.primitive is core.primitives.dot_general_p


def test_captured_arrays_are_constants_in_the_order_of_their_use():
    number, row = jnp.float32(3), jnp.arange(2.0)
    made = jax.make_jaxpr(lambda x: x * number + row + np.float32(4) + jnp.array(5.0))(row)
    assert [c.shape for c in made.consts] == [(), (2,)] and len(made.in_avals) == 1
    text = str(made)
    assert text.startswith("{ lambda a:f32[] b:f32[2]; c:f32[2]. let")
    assert "4.0:f32[]" in text and "5.0:f32[]" in text and "3.0:f32[]" not in text
    assert jax.core.jaxpr_as_fun(made)(row)[0].tolist() == [9, 13]
    assert jax.core.eval_jaxpr(made.jaxpr, [2 * number, row], row)[0].tolist() == [9, 16]
    assert jax.jit(jax.core.jaxpr_as_fun(made))(row)[0].tolist() == [9, 13]


def test_a_variable_is_one_object():
    """Interpreters of programs compare variables with `is`."""
    jaxpr = jax.make_jaxpr(lambda x: jnp.sin(jnp.cos(x)))(1.0).jaxpr
    first, second = jaxpr.eqns
    assert first.outvars[0] is second.invars[0]
    assert jaxpr.invars[0] is first.invars[0] and jaxpr.outvars[0] is second.outvars[0]
    assert jaxpr.invars[0] is not jaxpr.outvars[0]
    held = jaxpr.invars[0]
    assert held is jaxpr.invars[0] and {held: 1}[first.invars[0]] == 1


def test_equations_are_the_same_or_not():
    program = jax.make_jaxpr(lambda x: jnp.sin(x) + x)(1.0)
    sin, add = program.eqns
    again = program.jaxpr.eqns[0]
    assert sin == again and hash(sin) == hash(again)
    assert sin != add and sin != "sin" and [sin, add].index(program.eqns[1]) == 1
    assert {sin: 1}[again] == 1
    rebuilt = program.jaxpr.replace(eqns=list(program.eqns))
    assert rebuilt.eqns == program.eqns and rebuilt.replace(outvars=add.outvars).eqns[1] == add
    assert add.replace(invars=add.invars[::-1]) != add and sin.replace(params={"a": 1}) != sin
    other = jax.make_jaxpr(lambda x: jnp.sin(x) + x)(1.0)
    assert other.eqns[0] != sin


def test_maps_that_rules_stand_for_say_which_arguments_have_no_tangent():
    @jax.custom_vjp
    def f(x, y):
        return x + y

    def f_bwd(_, g):
        return g, g

    f.defvjp(lambda x, y: (f(x, y), ()), f_bwd)
    program = jax.make_jaxpr(lambda x: jax.jvp(lambda x: f(x, 2.0), (x,), (x,)))(jnp.ones(1))
    smaller, _ = jax.interpreters.partial_eval.dce_jaxpr(program.jaxpr, [False, True])
    assert "custom_lin[\n      bwd=f_bwd\n      in_zeros=[False, True]\n      num_res=0\n" in str(
        smaller
    )
    assert "linear" not in str(smaller) and "out_types" not in str(smaller)
