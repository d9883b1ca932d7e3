"""tests/transforms/test_custom_vjp.py - custom_vjp: dtypes of cotangents, results that nobody
needs,
functions in place of rules."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.interpreters import partial_eval

X = jnp.arange(3.0)


def with_cotangent(make):
    f = jax.custom_vjp(lambda x: jnp.sum(jnp.sin(x)))
    f.defvjp(lambda x: (jnp.sum(jnp.sin(x)), None), lambda _, g: (make(g),))
    return f


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int32", "complex64", "bool", "uint8"])
def test_cotangents_keep_the_dtype_of_the_rule(dtype):
    f = with_cotangent(lambda g: jnp.ones(3, dtype))
    for slope in (
        jax.grad(f),
        jax.jit(jax.grad(f)),
        jax.grad(jax.jit(f)),
        jax.grad(jax.checkpoint(f)),
        lambda x: jax.vjp(f, x)[1](1.0)[0],
    ):
        assert slope(X).dtype == dtype and slope(X).tolist() == [1, 1, 1]
    assert jax.vmap(jax.grad(f))(jnp.ones((2, 3))).dtype == dtype
    twice = jax.grad(lambda x: f(x) + f(x))(X)
    assert twice.dtype == (dtype if dtype != "bool" else "float32") and twice.tolist() == [2, 2, 2]


@pytest.mark.parametrize("dtype", ["bfloat16", "int32", "complex64", "bool"])
def test_what_comes_before_the_rule_gets_cotangents_of_its_dtype(dtype):
    f = with_cotangent(lambda g: jnp.ones(3, dtype))
    before = {
        "an op": lambda x: f(x * 2),
        "a sum": lambda x: f(x) + jnp.sum(x),
        "scan": lambda x: jax.lax.scan(lambda c, _: (c + f(x), None), 0.0, None, length=2)[0],
        "carry": lambda x: jax.lax.scan(lambda c, _: (c * 0 + f(c), None), x, None, length=1)[0][0],
        "cond": lambda x: jax.lax.cond(True, lambda y: 2 * f(y), lambda y: jnp.sum(y), x),
    }
    for name, function in before.items():
        for slope in (jax.grad(function), jax.jit(jax.grad(function))):
            got = slope(X)
            assert got.dtype == jnp.float32, name
            if name in ("an op", "a sum"):
                np.testing.assert_array_equal(got, [2, 2, 2])


def two_results(rule="custom_vjp"):
    if rule == "custom_jvp":
        f = jax.custom_jvp(lambda x, y: (jnp.sin(x), x + jnp.cos(y)))

        def forward(primals, tangents):
            (x, y), (dx, dy) = primals, tangents
            return f(x, y), (2.0 * jnp.cos(x) * dx, 1.5 * dx - 0.5 * jnp.sin(y) * dy)

        f.defjvp(forward)
        return f
    f = jax.custom_vjp(lambda x, y: (jnp.sin(x), x + jnp.cos(y)))

    def backward(residuals, cotangents):
        cos_x, sin_y = residuals
        a, b = cotangents
        return 2.0 * cos_x * a + 1.5 * b, -0.5 * sin_y * b

    f.defvjp(lambda x, y: (f(x, y), (jnp.cos(x), jnp.sin(y))), backward)
    return f


@pytest.mark.parametrize("rule", ["custom_jvp", "custom_vjp"])
@pytest.mark.parametrize("mapped", [False, True])
def test_calls_lose_results_that_nobody_needs(rule, mapped):
    f = two_results(rule)
    x, y = 0.1, -1.3
    args = (np.float32([x, x]), np.float32([y, y])) if mapped else (x, y)
    program = jax.make_jaxpr(jax.vmap(f) if mapped else f)(*args).jaxpr
    slopes = [(2.0 * np.cos(x), 0.0), (1.5, -0.5 * np.sin(y))]
    for k, wanted in enumerate(slopes):
        keep = [k == 0, k == 1]
        smaller, used = partial_eval.dce_jaxpr(program, keep)
        (eqn,) = smaller.eqns
        names = {e.primitive.name for e in eqn.params["call_jaxpr"].eqns}
        assert used == [True, True] and len(eqn.outvars) == 1
        assert ("sin" in names, "cos" in names) == (k == 0, k == 1)
        run = jax.core.jaxpr_as_fun(partial_eval.close_jaxpr(smaller))
        for left in (
            lambda *a, run=run: run(*a)[0].sum(),
            jax.jit(lambda *a, run=run: run(*a)[0].sum()),
        ):
            got = jax.grad(left, argnums=(0, 1))(*args)
            np.testing.assert_allclose([np.ravel(g)[0] for g in got], wanted, rtol=1e-6)
        over = jax.vmap(lambda a, b, run=run: run(a, b)[0])
        stacked = tuple(np.stack([np.float32(a)] * 2) for a in args)
        got = jax.grad(lambda a, b, over=over: over(a, b).sum(), argnums=(0, 1))(*stacked)
        np.testing.assert_allclose([np.ravel(g)[0] for g in got], wanted, rtol=1e-6)
    smaller, used = partial_eval.dce_jaxpr(program, [False, False])
    assert smaller.eqns == [] and used == [False, False]


def test_symbolic_zeros_of_results_that_are_left_out():
    seen = []
    f = jax.custom_vjp(lambda x: (jnp.sin(x), jnp.cos(x)))

    def backward(x, cotangents):
        seen.append([type(ct).__name__ for ct in cotangents])
        return (cotangents[0] * jnp.cos(x),)

    f.defvjp(lambda x: (f(x.value), x.value), backward, symbolic_zeros=True)
    smaller, _ = partial_eval.dce_jaxpr(jax.make_jaxpr(f)(1.0).jaxpr, [True, False])
    run = jax.core.jaxpr_as_fun(partial_eval.close_jaxpr(smaller))
    np.testing.assert_allclose(jax.grad(lambda x: run(x)[0])(1.0), np.cos(1.0), rtol=1e-6)
    assert seen[-1][1] == "SymbolicZero"


def other_value(optimize=True):
    """A function whose rule gives another value, so that one sees which of the two was computed."""
    f = jax.custom_vjp(lambda x: jnp.sin(x) * 10)
    f.defvjp(
        lambda x: (jnp.cos(x) * 100, jnp.exp(x)), lambda r, g: (g * r,), optimize_remat=optimize
    )
    return f


@pytest.mark.parametrize("optimize", [True, False])
def test_under_checkpoint_the_function_is_computed(optimize):
    f, x = other_value(optimize), np.float32(0.3)
    ten, hundred = np.sin(x) * 10, np.cos(x) * 100
    inside = ten if optimize else hundred
    checkpointed = {
        "alone": jax.checkpoint(f),
        "jit": jax.checkpoint(jax.jit(f)),
        "cond": jax.checkpoint(lambda x: jax.lax.cond(x > 0, f, lambda x: x, x)),
        "scan": lambda x: jax.lax.scan(
            jax.checkpoint(lambda c, _: (f(x) + 0 * c, None)), x, None, length=2
        )[0],
        "vmap": lambda x: jax.vmap(jax.checkpoint(f))(jnp.stack([x, x]))[0],
        "within": lambda x: jax.checkpoint(jax.vmap(f))(jnp.stack([x, x]))[1],
    }
    for name, g in checkpointed.items():
        for run in (jax.value_and_grad(g), jax.jit(jax.value_and_grad(g))):
            value, slope = run(x)
            np.testing.assert_allclose(value, inside, rtol=1e-6, err_msg=name)
            factor = 2 if name == "scan" else 1
            wanted = np.exp(x) * (1 if factor == 1 else slope / np.exp(x))
            np.testing.assert_allclose(slope, wanted, rtol=1e-6, err_msg=name)
    for run in (jax.value_and_grad(f), jax.jit(jax.value_and_grad(f))):
        np.testing.assert_allclose(run(x), (hundred, np.exp(x)), rtol=1e-6)
    everything = jax.checkpoint_policies.everything_saveable
    value, _ = jax.value_and_grad(jax.checkpoint(f, policy=everything))(x)
    np.testing.assert_allclose(value, hundred, rtol=1e-6)
    np.testing.assert_allclose(f(x), ten, rtol=1e-6)


def test_rules_that_close_over_values():
    def outer(x, y):
        f = jax.custom_vjp(lambda x: jnp.sin(x) * y)
        f.defvjp(lambda x: (jnp.cos(x) * y, y * 2), lambda r, g: (g * r,), optimize_remat=True)
        return jax.value_and_grad(jax.checkpoint(f))(x)

    np.testing.assert_allclose(outer(0.3, 3.0), (np.sin(0.3) * 3, 6.0), rtol=1e-6)


def test_symbolic_zeros_and_optimize_remat_do_not_go_together():
    f = jax.custom_vjp(jnp.sin)
    f.defvjp(
        lambda x: (jnp.sin(x.value), x.value),
        lambda x, g: (g * jnp.cos(x),),
        symbolic_zeros=True,
        optimize_remat=True,
    )
    with pytest.raises(NotImplementedError, match="does not support symbolic zeros"):
        jax.grad(f)(1.0)


@pytest.mark.parametrize(
    "within", [jax.jit, jax.checkpoint, lambda f: lambda x: jax.lax.cond(x > 0, f, lambda x: x, x)]
)
def test_rules_within_programs_do_not_close_over_traced_values(within):
    def outer(x, y):
        f = jax.custom_vjp(lambda x: jnp.sin(x) * y)
        f.defvjp(lambda x: (jnp.sin(x) * y, y * jnp.cos(x)), lambda r, g: (g * r,))
        return jax.grad(within(f))(x)

    np.testing.assert_allclose(outer(0.3, 3.0), 3 * np.cos(0.3), rtol=1e-6)
    text = r"closes over a value of type float32\[\] that is traced outside.*closure_convert"
    with pytest.raises(jax.errors.UnexpectedTracerError, match=text):
        jax.jit(outer)(0.3, 3.0)
