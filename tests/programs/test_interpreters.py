"""tests/programs/test_interpreters.py - names that tutorials on interpreters of programs import."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax._src.util import safe_map, safe_zip, unzip2


def test_lists_of_one_length():
    assert safe_map(max, [1, 5], (3, 2)) == [3, 5]
    assert safe_zip([1, 2], "ab") == [(1, "a"), (2, "b")]
    assert unzip2([(1, "a"), (2, "b")]) == ((1, 2), ("a", "b")) and unzip2([]) == ((), ())


def test_lists_of_other_lengths():
    for call in (lambda: safe_map(max, [1], [1, 2]), lambda: safe_zip([1], [1, 2], [3])):
        with pytest.raises(ValueError, match=r"lengths differ: \[1, 2"):
            call()


def test_traces_of_tracers():
    from shardax import core
    from shardax.interpreters import ad

    seen = []

    def f(x, y):
        seen.append([core.find_top_trace([x, y]).main, x._trace.main, y])
        shardax.grad(lambda z: (seen.append([z._trace.main]), z * x)[1])(1.0)
        assert isinstance(x, ad.JVPTracer)
        return x * y

    shardax.jvp(lambda x: f(x, 2.0), (1.0,), (1.0,))
    (top, own, _), (inner,) = seen
    assert top is own and inner is not own
    with pytest.raises(AttributeError, match="no attribute '_trace'"):
        getattr(jnp.ones(3), "_trace")  # noqa: B009


def test_batchers_in_the_older_form():
    from shardax.interpreters import batching

    sizes = shardax.extend.core.Primitive("sizes")
    sizes.def_impl(lambda x: x)
    sizes.def_abstract_eval(lambda x: x)
    given = []

    def rule(axis_size, axis_name, main_type, operands, dims):
        given.append((axis_size, axis_name, main_type, type(operands), dims))
        return 10 * operands[0], dims[0]

    batching.axis_primitive_batchers[sizes] = rule
    assert shardax.vmap(sizes.bind, axis_name="i")(jnp.arange(3.0)).tolist() == [0, 10, 20]
    assert given == [(3, "i", None, tuple, (0,))]


def test_functions_with_rules_are_given_to_interpreters():
    @shardax.custom_jvp
    def f(x):
        return jnp.sin(x)

    f.defjvp(lambda primals, tangents: (f(*primals), 7 * tangents[0]))
    (equation,) = shardax.make_jaxpr(f)(1.0).eqns
    params = equation.primitive.get_bind_params(equation.params)
    (out,) = params["subfuns"][0].call_wrapped(0.0)
    assert out == 0
    assert shardax.grad(lambda x: equation.primitive.bind(x, **params)[0])(1.0) == 7


def test_numbers_of_a_program_stay_numbers():
    """A program may be evaluated, or interpreted in Python, under make_jaxpr."""

    def f(x):
        return jnp.where(x > 0, x * np.float32(2.5), x + 1)

    closed = shardax.make_jaxpr(f)(1.0)

    def interpreted(*args):
        env = dict(zip(closed.jaxpr.invars, args))

        def read(v):
            return v.val if isinstance(v, shardax.extend.core.Literal) else env[v]

        for eqn in closed.jaxpr.eqns:
            out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
        return [read(v) for v in closed.jaxpr.outvars]

    for again in (shardax.core.jaxpr_as_fun(closed), interpreted):
        assert str(shardax.make_jaxpr(again)(1.0)) == str(closed)
        assert shardax.make_jaxpr(again)(1.0).consts == []
        assert shardax.jit(again)(2.0)[0] == 5
    with_array = shardax.make_jaxpr(lambda x: x * 2 + np.arange(3.0))(1.0)
    again = lambda x: shardax.core.eval_jaxpr(with_array.jaxpr, with_array.consts, x)  # noqa: E731
    assert len(shardax.make_jaxpr(again)(1.0).consts) == 1


def test_classes_of_tracers():
    """Their names, as JAX 0.10.2 has them."""
    from shardax.interpreters import ad, batching, partial_eval

    seen = []

    def f(x):
        seen.append(type(x))
        return x * 1.0

    shardax.jit(f)(1.0)
    shardax.jvp(f, (1.0,), (1.0,))
    shardax.grad(f)(1.0)
    shardax.vmap(f)(jnp.ones(2))
    assert seen == [
        partial_eval.DynamicJaxprTracer,
        ad.JVPTracer,
        ad.LinearizeTracer,
        batching.BatchTracer,
    ]
    assert str(seen[3]) == "<class 'shardax.interpreters.batching.BatchTracer'>"
    rule = shardax.custom_jvp(lambda x: x)
    rule.defjvp(lambda primals, tangents: (seen.append(tangents[0]), (primals[0], tangents[0]))[1])
    shardax.grad(rule)(1.0)
    assert type(seen[-1]) is partial_eval.JaxprTracer
    assert repr(seen[-1]) == "Traced<~float32[]:JaxprTrace>"


def test_vmap_asks_the_rule_alone():
    p = shardax.extend.core.Primitive("asks_its_rule")
    p.def_impl(lambda x: x)
    p.def_abstract_eval(lambda x: pytest.fail("the abstract evaluation ran"))
    shardax.interpreters.batching.primitive_batchers[p] = lambda xs, dims: (xs[0] + 1, dims[0])
    assert shardax.vmap(p.bind)(jnp.arange(2)).tolist() == [1, 2]


def test_parts_of_tracers():
    seen = []
    shardax.vmap(lambda x: seen.append((x.val, x.batch_dim)))(jnp.arange(3.0))
    assert seen[0][0].tolist() == [0, 1, 2] and seen[0][1] == 0
    shardax.jvp(lambda x: (seen.append((x.primal, x.tangent)), x)[1], (1.0,), (2.0,))
    assert seen[1] == (1.0, 2.0)
    shardax.grad(lambda x: (seen.append((x.primal, repr(x.tangent))), x)[1])(3.0)
    assert seen[2] == (3.0, "Traced<~float32[]:JaxprTrace>")


def test_programs_count_indices_from_the_end_in_jaxs_order():
    """Texts of JAX 0.10.2."""
    text = str(shardax.make_jaxpr(lambda a, i: a[i])(jnp.ones(3), 1))
    assert text.splitlines()[1:5] == [
        "    c:bool[] = lt b 0:i32[]",
        "    d:i32[] = convert_element_type[new_dtype=int32 weak_type=False] b",
        "    e:i32[] = add d 3:i32[]",
        "    f:i32[] = select_n c b e",
    ]
    text = str(shardax.make_jaxpr(lambda a, i: a[i])(jnp.ones(3), jnp.int32(1)))
    assert text.splitlines()[1:4] == [
        "    c:bool[] = lt b 0:i32[]",
        "    d:i32[] = add b 3:i32[]",
        "    e:i32[] = select_n c b d",
    ]
