"""tests/programs/test_stages.py - stages of jitted functions: traced, lowered and compiled
programs."""

import functools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


def test_stages():
    f = shardax.jit(lambda x, n: x * n, static_argnums=1)
    compiled = f.lower(1.0, 3).compile()
    assert isinstance(f, shardax.stages.Wrapped)
    assert float(compiled(2.0)) == 6
    assert "mul" in f.lower(1.0, 3).as_text()
    assert len(f.trace(1.0, 3).jaxpr.eqns) == 1
    assert f.eval_shape(jnp.ones(4), 2).shape == (4,)
    struct = shardax.ShapeDtypeStruct((2, 3), jnp.float32)
    assert f.lower(struct, 2).out_info == struct
    assert str(compiled.in_avals) == "((ShapedArray(float32[], weak_type=True),), {})"
    named = shardax.jit(lambda x, *, n, y: x * n + y, static_argnames="n", donate_argnames="y")
    lowered = named.lower(1.0, n=2, y=jnp.ones(3))
    assert lowered.donate_argnums == (1,)
    info = lowered.args_info[1]["y"]
    assert (info.shape, info.dtype, info.donated) == ((3,), jnp.float32, True)
    y = jnp.ones(3)
    assert lowered.compile()(3.0, y=y).tolist() == [7, 7, 7]
    assert y.is_deleted()


def test_wrong_calls_of_compiled_functions():
    compiled = shardax.jit(lambda x, n: x * n, static_argnums=1).lower(1.0, 3).compile()
    with pytest.raises(
        TypeError, match=r"Argument 'x' compiled with float32\[\] and called with float32\[2\]"
    ):
        compiled(jnp.ones(2))
    with pytest.raises(
        TypeError,
        match="(?s)input pytree .* 1 mismatches.* at args, seen a tuple of length 1 but now",
    ):
        compiled(1.0, 3)
    with pytest.raises(TypeError, match="Cannot apply JAX transformations"):
        shardax.vmap(compiled)(jnp.ones(2))
    with pytest.raises(shardax.errors.JaxRuntimeError, match="No such compile option: 'fast'"):
        shardax.jit(lambda x: x).lower(1).compile({"fast": True})


def test_inlined_functions_leave_no_call():
    @functools.partial(shardax.jit, inline=True)
    def f(x):
        return jnp.sin(x) * 2

    for g in (f, shardax.grad(f), shardax.jit(f), lambda x: shardax.jvp(f, (x,), (x,))):
        equations = shardax.make_jaxpr(g)(1.0).eqns
        if len(equations) == 1:  # the outer jit
            equations = equations[0].params["jaxpr"].eqns
        assert not any(str(e.primitive) == "jit" for e in equations)
    assert float(shardax.vmap(f)(jnp.zeros(3))[1]) == 0


def test_eval_shape_and_make_jaxpr():
    out = shardax.eval_shape(lambda x: {"a": x.sum()}, shardax.ShapeDtypeStruct((2,), "int8"))
    assert repr(out) == "{'a': ShapeDtypeStruct(shape=(), dtype=int32)}"
    program = shardax.make_jaxpr(lambda x: x * 2.0 + 1.0)(1.0)
    assert str(program).split() == (
        "{ lambda ; a:f32[]. let b:f32[] = mul a 2.0:f32[] "
        "c:f32[] = add b 1.0:f32[] in (c,) }".split()
    )
    assert [e.primitive.name for e in program.eqns] == ["mul", "add"]
    assert str(program.in_avals) == "[ShapedArray(float32[], weak_type=True)]"


def test_log_of_compilations(caplog):
    f = shardax.jit(lambda x: shardax.numpy.where(x > 0, x, 0))
    x = shardax.numpy.ones(3)
    with shardax.log_compiles():
        f(x)
        f(x + 1)  # known
        shardax.pmap(lambda x: x)(x)
    f(shardax.numpy.ones(4))
    lines = [line for line in caplog.messages if line.startswith("Compiling")]
    assert lines == [
        f"Compiling {name}(<lambda>) with global shapes and types (ShapedArray(float32[3]),)."
        for name in ("jit", "pmap")
    ]
    assert "Finished tracing <lambda> for jit in 0.0" in caplog.text
    assert "Finished XLA compilation of jit(<lambda>) in 0.0" in caplog.text


def test_a_signature_is_traced_once_by_calls_and_stages():
    traced = []

    @shardax.jit
    def f(x):
        traced.append(x)
        return x * 2

    x = jnp.ones(3)
    f.lower(x)
    f.lower(shardax.ShapeDtypeStruct((3,), jnp.float32)).compile()
    f.trace(x)
    f(x)
    shardax.eval_shape(f, x)
    shardax.make_jaxpr(f)(x)
    assert len(traced) == 1
    f.clear_cache()
    f.lower(x)
    assert len(traced) == 2


@pytest.mark.parametrize("fun", [jnp.dot, lambda x, y: jnp.exp(y)])
def test_residuals_that_are_operands_or_results_are_no_others(fun):
    """The known half of a call gives its results alone; the linear half takes them."""
    fun = shardax.jit(fun)

    def both(x, y):
        out, tangents = shardax.linearize(lambda y: fun(x, y), y)
        return out, tangents(y)

    x = jnp.arange(9.0).reshape(3, 3)
    known, linear = shardax.make_jaxpr(both)(x, x).eqns
    assert len(known.outvars) == 1
    assert set(linear.invars) <= {*known.invars, *known.outvars}
    want = shardax.jvp(lambda y: fun(x, y), (x,), (x,))
    for a, b in zip(both(x, x), want, strict=True):
        np.testing.assert_array_equal(a, b)
