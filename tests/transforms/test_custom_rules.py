"""tests/transforms/test_custom_rules.py - custom_jvp and custom_vjp: errors, trees, closures,
nesting."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp


def jvp_function(rule):
    f = jax.custom_jvp(lambda x, y: jnp.sin(x) * y)
    f.defjvp(rule)
    return jax.grad(f)


def vjp_function(forward, backward):
    f = jax.custom_vjp(lambda x, y: jnp.sin(x) * y)
    f.defvjp(forward, backward)
    return jax.grad(f)


@pytest.mark.parametrize(
    "rule, text",
    [
        (lambda p, t: p[0], "must produce a pair .* but got 1.0"),
        (lambda p, t: (p[0], (t[0], t[0])), "equal container .* structures"),
        (lambda p, t: (p[0], jnp.ones(2)), r"Expected float32\[\] .* but got float32\[2\]"),
        (lambda p, t: (p[0], jnp.int32(1)), r"Expected float32\[\] .* but got int32\[\]"),
    ],
)
def test_wrong_jvp_rules(rule, text):
    with pytest.raises(TypeError, match=text):
        jvp_function(rule)(1.0, 2.0)


@pytest.mark.parametrize(
    "forward, backward, error, text",
    [
        (lambda x, y: x, lambda r, g: (g, g), TypeError, "fwd rule .* must produce a pair"),
        (lambda x, y: (x, 1), lambda r, g: g, TypeError, "bwd rule must produce an output"),
        (lambda x, y: (x, 1), lambda r, g: (g,), TypeError, r"PyTreeDef\(\(\*,\)\)"),
        (
            lambda x, y: (x, 1),
            lambda r, g: (jnp.ones(2), g),
            ValueError,
            r"output\[0\] .* float32\[2\] .* float32\[\]",
        ),
    ],
)
def test_wrong_vjp_rules(forward, backward, error, text):
    with pytest.raises(error, match=text):
        vjp_function(forward, backward)(1.0, 2.0)


@pytest.mark.parametrize(
    "primal, text",
    [
        (lambda x: (x, x), r"pytree structure:\n    \(float32\[\], float32\[\]\)\nwhile"),
        (lambda x: x.astype(int), r"shapes/dtypes of:\n    int32\[\]\nwhile"),
        (lambda x: jnp.stack([x, x]), r"dtypes of:\n    float32\[2\]\nwhile the custom_"),
    ],
)
def test_rules_that_do_not_fit_a_staged_function(primal, text):
    f, g = jax.custom_jvp(lambda x: x), jax.custom_vjp(lambda x: x)
    f.defjvp(lambda p, t: (primal(*p), primal(*t)))
    g.defvjp(lambda x: (primal(x), None), lambda r, ct: (ct,))
    for function in (f, g):
        step = lambda c, _, function=function: (function(c), None)
        loop = lambda x, step=step: jax.lax.scan(step, x, None, length=1)[0]
        with pytest.raises(TypeError, match=text):
            jax.grad(loop)(1.0)


def test_calls_without_rules():
    with pytest.raises(AttributeError, match="No JVP defined for custom_jvp function <lambda>"):
        jax.custom_jvp(lambda x: x)(1.0)
    with pytest.raises(AttributeError, match="No VJP defined for custom_vjp function <lambda>"):
        jax.custom_vjp(lambda x: x)(1.0)


def test_arguments_that_do_not_bind():
    f = jax.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, None), lambda r, g: (g, g))
    with pytest.raises(TypeError, match="could not be resolved to positional-only"):
        f(1.0, z=2.0)
    assert f(y=2.0, x=3.0) == 6.0


def test_traced_nondiff_argument():
    f = jax.custom_vjp(lambda n, x: n * x, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (n * x, None), lambda n, r, g: (n * g,))
    assert jax.grad(f, 1)(2.0, 1.0) == 2.0
    with pytest.raises(jax.errors.UnexpectedTracerError, match="nondiff_argnums"):
        jax.jit(lambda n: jax.grad(f, 1)(n, 1.0))(2.0)


def test_nondiff_functions_by_position_and_name():
    f = jax.custom_jvp(lambda fun, x: fun(x), nondiff_argnums=(0,))
    f.defjvp(lambda fun, primals, tangents: (fun(*primals), 7 * tangents[0]))
    assert jax.grad(f, 1)(jnp.sin, 1.0) == 7.0
    g = jax.custom_jvp(lambda x, fun: fun(x), nondiff_argnames=("fun",))
    g.defjvp(lambda fun, primals, tangents: (fun(*primals), 5 * tangents[0]))
    assert jax.grad(g)(1.0, jnp.sin) == 5.0


def test_closed_over_value_in_a_program():
    def outer(y):
        f = jax.custom_jvp(lambda x: x * y)
        f.defjvp(lambda p, t: (f(*p), t[0] * y))
        return jax.jit(f)(2.0)

    with pytest.raises(jax.errors.UnexpectedTracerError, match="closed-over value"):
        jax.grad(outer)(3.0)


def test_jvp_of_custom_vjp_inside_jit():
    f = jax.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda r, g: (g,))
    with pytest.raises(TypeError, match="can't apply forward-mode autodiff"):
        jax.jit(lambda x: jax.jvp(f, (x,), (x,)))(1.0)


def test_integer_arguments_have_no_tangent():
    seen = []

    @jax.custom_jvp
    def f(x, n):
        return x * n

    @f.defjvp
    def rule(primals, tangents):
        seen.append(tangents[1].dtype)
        return f(*primals), tangents[0] * primals[1]

    assert jax.grad(f)(2.0, 3) == 3.0
    assert seen == [jax.dtypes.float0]


def test_none_means_zero_also_for_trees():
    f = jax.custom_vjp(lambda p, x: p["a"] * x)
    f.defvjp(lambda p, x: (p["a"] * x, p["a"]), lambda a, g: (None, a * g))
    gradient = jax.grad(f, (0, 1))({"a": 2.0, "b": jnp.ones(2)}, 3.0)
    assert gradient[0]["a"] == 0.0 and gradient[1] == 2.0
    np.testing.assert_array_equal(gradient[0]["b"], np.zeros(2))


def test_rule_runs_once_per_transformation_not_per_call():
    calls = []
    f = jax.custom_jvp(lambda x: x * 1)

    @f.defjvp
    def rule(primals, tangents):
        calls.append(1)
        return f(*primals), tangents[0]

    g = jax.jit(jax.grad(f))
    for x in (1.0, 2.0, 3.0):
        g(x)
    assert len(calls) == 1


def test_methods():
    @jax.tree_util.register_pytree_node_class
    class Box:
        def __init__(self, value):
            self.value = value

        def tree_flatten(self):
            return (self.value,), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

        @jax.custom_vjp
        def times(self, x):
            return self.value * x

    Box.times.defvjp(
        lambda self, x: (self.value * x, (self.value, x)),
        lambda res, g: (Box(g * res[1]), 10 * g * res[0]),
    )
    assert jax.grad(lambda x: Box(2.0).times(x))(3.0) == 20.0


def test_pmap_keeps_uniform_values_uniform():
    f = jax.custom_jvp(lambda x: x * 2)
    f.defjvp(lambda p, t: (f(*p), t[0]))
    out = jax.pmap(lambda x, w: (f(w), x), in_axes=(0, None))(jnp.arange(4.0), jnp.ones(3))[0]
    assert np.asarray(out).strides[0] == 0


def test_symbolic_zeros_in_reverse_rules():
    from shardax.custom_derivatives import CustomVJPPrimal, SymbolicZero
    from shardax.custom_derivatives import custom_vjp_primal_tree_values as values

    seen = []
    f = jax.custom_vjp(lambda x, y: (x * y, x + y))

    def forward(x, y):
        assert isinstance(x, CustomVJPPrimal)
        seen.append((x.perturbed, y.perturbed))
        x, y = values((x, y))
        return (x * y, x + y), (x, y)

    def backward(residuals, cotangents):
        seen.append(tuple(isinstance(ct, SymbolicZero) for ct in cotangents))
        return cotangents[0] * residuals[1], None

    f.defvjp(forward, backward, symbolic_zeros=True)
    first = jax.grad(lambda x, y: f(x, y)[0])
    assert first(2.0, 3.0) == jax.jit(first)(2.0, 3.0) == 3
    np.testing.assert_array_equal(jax.vmap(first)(jnp.ones(2), jnp.arange(2.0)), [0, 1])
    assert seen == [(True, False), (False, True)] * 3
    with pytest.raises(TypeError, match="unexpected leaf type"):
        values(1.0)


def test_zero_from_primal():
    from shardax.custom_derivatives import SymbolicZero, zero_from_primal

    assert zero_from_primal(2.0) == 0 and zero_from_primal(2).dtype == jax.float0
    assert isinstance(zero_from_primal(2.0, symbolic_zeros=True), SymbolicZero)
    tree = zero_from_primal({"a": 1.0, "b": (None, jnp.ones(2))})
    assert tree["a"] == 0 and tree["b"][0] is None and tree["b"][1].shape == (2,)


def test_computing_while_tracing():
    @jax.jit
    def f(x):
        with jax.ensure_compile_time_eval():
            count = int(jnp.arange(3).sum())
            y = x + count
        return y * len(range(count))

    assert f(1) == 12


def test_the_transpose_of_a_custom_jvp_function_is_that_of_the_function():
    f = jax.custom_jvp(lambda x: 3 * x)
    f.defjvp(lambda p, t: (f(*p), f(*t)))
    assert jax.grad(f)(1.0) == 3
    assert jax.linear_transpose(jax.jit(f), 1.0)(2.0)[0] == 6
    loop = lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0]
    assert jax.grad(loop)(1.0) == 9


def test_gradients_of_integers_go_through_jit():
    gradient = jax.jit(lambda x: jax.grad(lambda n, y: n * y, (0, 1), allow_int=True)(x, 2.0))(3)
    assert gradient[0].dtype == jax.float0 and gradient[1] == 3


def test_keyword_only_arguments_of_custom_functions():
    f = jax.custom_jvp(lambda x, *, scale=2: scale * x)
    f.defjvp(lambda p, t: (f(*p), 5 * t[0]))
    assert jax.grad(f)(1.0) == 5
    with pytest.raises(TypeError, match="could not be resolved to positions: scale"):
        f(1.0, scale=3)


def test_symbolic_zeros_of_other_shapes():
    f = jax.custom_vjp(lambda x, y: (x, y))
    swapped = lambda _, cts: (cts[1], None)  # noqa: E731
    f.defvjp(lambda x, y: ((x.value, y.value), None), swapped, symbolic_zeros=True)
    with pytest.raises(ValueError, match=r"at output\[0\].*just returning a None here"):
        jax.grad(lambda x, y: f(x, y)[0].sum())(jnp.ones(1), jnp.ones(2))


class TestClosuresOverVmap:
    """A rule closes over a value that vmap maps, wherever the derivative is taken."""

    x = jnp.arange(1.0, 4.0)
    y = jnp.arange(10.0, 13.0)

    @staticmethod
    def with_jvp(x, y):
        f = jax.custom_jvp(lambda y: x * y)
        f.defjvp(lambda p, t: (x * p[0], 2 * x * t[0]))
        return f(y)

    @staticmethod
    def with_vjp(x, y):
        f = jax.custom_vjp(lambda y: x * y)
        f.defvjp(lambda y: (x * y, (x,)), lambda r, ct: (2 * r[0] * ct,))
        return f(y)

    @pytest.mark.parametrize("mapped", [True, False])
    @pytest.mark.parametrize("rule", ["with_jvp", "with_vjp"])
    def test_values_and_derivatives(self, rule, mapped):
        f = getattr(self, rule)
        axes, y = ((0, 0), self.y) if mapped else ((0, None), 2.0)
        expected = self.x * y
        g = jax.vmap(f, axes)
        np.testing.assert_array_equal(g(self.x, y), expected)
        np.testing.assert_array_equal(jax.jit(g)(self.x, y), expected)
        total = jax.grad(lambda y: g(self.x, y).sum())
        slope = 2 * self.x if mapped else 2 * self.x.sum()
        np.testing.assert_array_equal(total(y), slope)
        np.testing.assert_array_equal(jax.jit(total)(y), slope)
        np.testing.assert_array_equal(jax.vmap(jax.grad(f, 1), axes)(self.x, y), 2 * self.x)

    @pytest.mark.parametrize("mapped", [True, False])
    def test_forward_mode(self, mapped):
        axes, y = ((0, 0), self.y) if mapped else ((0, None), 2.0)
        run = lambda y: jax.jvp(  # noqa: E731
            lambda y: jax.vmap(self.with_jvp, axes)(self.x, y), (y,), (jnp.ones_like(y),)
        )
        for form in (run, jax.jit(run)):
            out, slope = form(y)
            np.testing.assert_array_equal(out, self.x * y)
            np.testing.assert_array_equal(slope, 2 * self.x)

    def test_argument_that_is_not_differentiated(self):
        f = jax.custom_jvp(lambda x, y: x * y, nondiff_argnums=(0,))
        f.defjvp(lambda x, p, t: (f(x, p[0]), 5 * t[0]))
        g = jax.vmap(f, (0, None))
        out, slope = jax.jvp(lambda y: g(self.x, y), (2.0,), (1.0,))
        np.testing.assert_array_equal(out, 2 * self.x)
        np.testing.assert_array_equal(slope, [5, 5, 5])

    def test_nested(self):
        def outer(x, y):
            f = jax.custom_jvp(lambda y: self.with_jvp(x, y))
            f.defjvp(lambda p, t: (f(p[0]), self.with_jvp(x, t[0])))
            return f(y)

        g = jax.vmap(outer, (0, None))
        np.testing.assert_array_equal(jax.jacfwd(lambda y: g(self.x, y))(2.0), self.x)
        two = jax.vmap(jax.vmap(self.with_jvp, (0, None)), (None, 0))
        slopes = jax.jacfwd(lambda s: two(self.x, self.y + s))(0.0)
        np.testing.assert_array_equal(slopes, jnp.tile(2 * self.x, (3, 1)))

    def test_results_that_are_not_mapped_stay_so(self):
        f = jax.custom_jvp(jnp.sin)
        f.defjvp(lambda p, t: (f(p[0]), 3 * t[0]))
        g = jax.vmap(lambda x, y: (x, f(y)), (0, None), (0, None))
        assert g(self.x, 1.0)[1].shape == ()
        assert jax.grad(lambda y: g(self.x, y)[1])(1.0) == 3

    def test_staged_before_the_axis_is_bound(self):
        f = jax.custom_jvp(lambda x: jax.lax.psum(x, "i"))
        f.defjvp(lambda p, t: (f(p[0]), t[0]))
        program = jax.make_jaxpr(f, axis_env=[("i", 3)])(1.0)
        run = jax.vmap(
            lambda _, x: jax.core.eval_jaxpr(program.jaxpr, [], x)[0],
            (0, None),
            None,
            axis_name="i",
        )
        assert run(self.x, 2.0) == 6


class Box(list):
    """A node that holds no None."""


def boxed(_, children):
    assert None not in children
    return Box(children)


jax.tree_util.register_pytree_node(Box, lambda box: (tuple(box), None), boxed)


@pytest.mark.parametrize("cotangent", [lambda g: Box([g, 2 * g]), lambda g: g, lambda g: None])
def test_cotangents_of_trees(cotangent):
    f = jax.custom_vjp(lambda box: box[0] * box[1])
    f.defvjp(lambda box: (box[0] * box[1], None), lambda _, g: (cotangent(g),))
    gradient = jax.grad(f)(Box([2.0, 3.0]))
    assert type(gradient) is Box
    one = cotangent(1.0)
    assert list(gradient) == (list(one) if isinstance(one, Box) else [one or 0.0] * 2)


def test_linearize_past_a_custom_vjp_function_that_nothing_needs():
    f = jax.custom_vjp(lambda x: 2 * x)
    f.defvjp(lambda x: (f(x), None), lambda _, g: (2 * g,))
    value, linear = jax.linearize(lambda x: (f(x), jnp.sin(x))[1], 1.0)
    np.testing.assert_allclose(linear(1.0), np.cos(1), rtol=1e-6)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.linearize(f, 1.0)[1](1.0)


def test_a_jvp_rule_may_differentiate_a_loop():
    """Its primal results come together with the tangents; they are known when linearised."""
    inner = lambda v: jax.lax.map(lambda u: jnp.sin(u) * 0.5, v)
    f = jax.custom_jvp(inner)
    f.defjvp(lambda primals, tangents: jax.jvp(inner, primals, tangents))
    x, t = jnp.arange(3.0), jnp.array([1.0, 2.0, 3.0])
    want = 0.5 * np.cos(x)
    for g in (f, jax.jit(f), jax.checkpoint(f)):
        np.testing.assert_allclose(jax.linearize(g, x)[1](t), want * t, rtol=1e-6)
        np.testing.assert_allclose(jax.grad(lambda x, g=g: g(x).sum())(x), want, rtol=1e-6)
        value, pull = jax.vjp(g, x)
        np.testing.assert_allclose(value, inner(x), rtol=1e-6)


def test_python_scalars_among_residuals_stay_python_scalars():
    seen = []

    @jax.custom_vjp
    def f(x):
        return x * 2

    def backward(residuals, g):
        flag, times, x = residuals
        seen.append((type(flag), type(times)))
        return (g * times if flag else g,)

    f.defvjp(lambda x: (f(x), (True, 3, x)), backward)
    for g in (jax.grad(f), jax.jit(jax.grad(f)), jax.grad(jax.jit(f))):
        assert g(1.0) == 3
    assert seen and set(seen) == {(bool, int)}
