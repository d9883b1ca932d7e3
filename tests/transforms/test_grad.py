"""tests/transforms/test_grad.py - gradients, vjp, jvp, linearize, Jacobians, and their errors."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax


def cube(x):
    return x * x * x


def test_values_and_nesting():
    assert repr(shardax.grad(cube)(2.0)) == "Array(12., dtype=float32, weak_type=True)"
    assert float(shardax.grad(shardax.grad(shardax.grad(cube)))(2.0)) == 6
    assert float(shardax.jit(shardax.grad(shardax.jit(cube)))(2.0)) == 12
    np.testing.assert_allclose(shardax.vmap(shardax.grad(cube))(jnp.arange(3.0)), [0, 3, 12])


def test_python_control_flow_sees_concrete_values():
    def f(x):
        while x < 10:
            x = x * 2
        return x if x > 11 else -x

    assert float(shardax.grad(f)(3.0)) == 4
    assert float(shardax.grad(shardax.grad(f))(3.0)) == 0


def test_the_size_of_a_complex_number_is_differentiated_at_zero():
    def size(v):
        return abs((v * (0.5 + 1j)).astype("complex64"))

    slope = shardax.grad(size)
    for v, first, second in [(0.0, 0, 1.25), (1.0, 1.118034, 0)]:  # as in JAX
        v = jnp.float32(v)
        derivatives = [
            shardax.grad(slope),
            shardax.jacfwd(slope),
            shardax.jacfwd(shardax.jacfwd(size)),
        ]
        np.testing.assert_allclose(slope(v), first, rtol=1e-6)
        for f in derivatives:
            np.testing.assert_allclose(f(v), second, rtol=1e-6, atol=1e-6)
    across = shardax.jvp(jnp.sign, (jnp.array([0j, 1 + 2j]),), (jnp.array([1j, 1j]),))[1]
    np.testing.assert_allclose(across, [0, (-0.4 + 0.2j) / 5**0.5], rtol=1e-6)


def test_argnums_and_trees():
    def f(t, y, *, k):
        return t["a"] * t["b"][0] * y * k

    t = {"a": 2.0, "b": [3.0]}
    g = shardax.grad(f, argnums=(0, -1))(t, 5.0, k=7.0)
    assert [float(v) for v in (g[0]["a"], g[0]["b"][0], g[1])] == [105, 70, 42]
    assert isinstance(shardax.grad(f, argnums=(0,))(t, 5.0, k=7.0), tuple)


def test_aux():
    value, aux = shardax.grad(lambda x: (x * x, {"s": "text", "y": x * 2}), has_aux=True)(3.0)
    assert float(value) == 6 and aux["s"] == "text" and float(aux["y"]) == 6
    (y, aux), g = shardax.value_and_grad(lambda x: (x * x, x), has_aux=True)(3.0)
    assert (float(y), float(aux), float(g)) == (9, 3, 6)


def test_independent_of_the_argument():
    assert float(shardax.grad(lambda x: 2.0)(1.0)) == 0
    assert shardax.grad(lambda x, y: y, argnums=0)(jnp.ones((2, 3)), 1.0).shape == (2, 3)


@pytest.mark.parametrize(
    "make, text",
    [
        (
            lambda: shardax.grad(lambda x: x)(1),
            "grad requires real- or complex-valued inputs .* but got int32",
        ),
        (
            lambda: shardax.grad(lambda x: x)(jnp.ones(4)),
            r"Gradient only defined for scalar-output functions. Output had shape: \(4,\).",
        ),
        (
            lambda: shardax.grad(lambda x: (x, x))(1.0),
            r"Gradient only defined for scalar-output functions. Output was \(",
        ),
        (lambda: shardax.grad(lambda x: None)(1.0), "Output was None"),
        (
            lambda: shardax.grad(lambda x: x.astype(int))(1.0),
            "grad requires real-valued outputs .* but got int32",
        ),
        (
            lambda: shardax.grad(lambda x: x, holomorphic=True)(1.0),
            "with holomorphic=True requires inputs with complex dtype",
        ),
        (
            lambda: shardax.grad(lambda x: x, argnums=(0, 2))(1.0),
            r"argnums=\(0, 2\) requires at least 3 positional arguments",
        ),
        (lambda: shardax.grad(lambda x: x, has_aux=True)(1.0), "to return a two-element tuple"),
        (
            lambda: shardax.grad(lambda x: x)("a"),
            "Argument 'a' of type <class 'str'> is not a valid JAX type",
        ),
        (lambda: shardax.grad(3), "Expected a callable value, got 3"),
        (
            lambda: shardax.jvp(lambda x: x, 1.0, 1.0),
            "must be tuples or lists; found float and float",
        ),
        (
            lambda: shardax.jvp(lambda x: x, (1.0,), (1,)),
            "expected tangent dtype float32, but got tangent dtype int32",
        ),
        (lambda: shardax.jvp(lambda x: x, (1.0,), ([1.0],)), "must have the same tree structure"),
        (
            lambda: shardax.vjp(lambda x: x, 1.0)[1](1.0, 2.0),
            "must be called with a single argument",
        ),
    ],
)
def test_type_errors(make, text):
    with pytest.raises(TypeError, match=text):
        make()


def test_value_errors():
    with pytest.raises(ValueError, match=r"got float32\[2\], but expected float32\[3\]"):
        shardax.vjp(lambda x: x, jnp.ones(3))[1](jnp.ones(2))
    with pytest.raises(ValueError, match="unexpected tree structure"):
        shardax.vjp(lambda x: (x, x), 1.0)[1]([1.0, 1.0])
    with pytest.raises(ValueError, match="different primal and tangent shapes"):
        shardax.jvp(lambda x: x, (jnp.ones(3),), (jnp.ones(4),))
    with pytest.raises(ValueError, match="inconsistent with the original primal"):
        shardax.linearize(lambda x: x, 1.0)[1](jnp.ones(2))


def test_vjp_of_weak_and_integer_inputs():
    _, f = shardax.vjp(lambda x, y, n: x * y * n, 2.0, jnp.ones(3), 3)
    x, y, n = f(jnp.ones(3))
    assert repr(x) == "Array(9., dtype=float32, weak_type=True)"
    np.testing.assert_array_equal(y, [6, 6, 6])
    assert n.dtype == [("float0", "V")]


def test_jvp_linearize_and_transpose_agree():
    def f(x, y):
        return jnp.sin(x) * y, x + 1

    out, tangents = shardax.jvp(f, [2.0, 3.0], [1.0, 0.5])
    same, linear = shardax.linearize(f, 2.0, 3.0)
    for a, b in zip(out + tangents, same + linear(1.0, 0.5), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    pulled = shardax.linear_transpose(lambda x, y: (2 * x + y, x), 1.0, 1.0)((3.0, 4.0))
    assert [float(v) for v in pulled] == [10, 3]


def test_jacobians():
    x = jnp.array([1.0, 2.0])
    np.testing.assert_allclose(shardax.jacfwd(lambda x: x**2)(x), [[2, 0], [0, 4]])
    by = shardax.jacrev(lambda t: {"s": t["a"].sum() * t["b"], "v": t["a"]})({"a": x, "b": 3.0})
    np.testing.assert_allclose(by["s"]["a"], [3, 3])
    assert by["v"]["b"].shape == (2,) and by["v"]["a"].shape == (2, 2)
    np.testing.assert_allclose(shardax.hessian(lambda x: (x**3).sum())(x), [[6, 0], [0, 12]])


def test_gradients_through_control_flow():
    assert float(shardax.grad(lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, 1.0))(2.0)) == 12
    assert (
        float(
            shardax.grad(lambda x: lax.scan(lambda c, t: (c * x + t, c), 0.0, jnp.arange(3.0))[0])(
                2.0
            )
        )
        == 1
    )
    assert float(shardax.grad(lambda x: lax.cond(x > 1, lambda y: y * y, lambda y: y, x))(3.0)) == 6
    with pytest.raises(
        ValueError, match="Reverse-mode differentiation does not work for lax.while_loop"
    ):
        shardax.grad(lambda x: lax.while_loop(lambda c: c < 9.0, lambda c: c * x, x))(2.0)


@pytest.mark.parametrize(
    "function, op",
    [
        (lambda x: x * x, "mul"),
        (lambda x: 1 / x, "div"),
        (lambda x: jnp.where(x > 0, x, 0), "select_n"),
        (lambda x: x[x.astype(int)], "gather"),
        (lambda x: lax.cond(x[0] > 0, lambda x: x, lambda x: 2 * x, x), "cond"),
    ],
)
def test_transposes_of_what_is_not_linear(function, op):
    with pytest.raises(ValueError, match=f"the function is not linear: '{op}' needs the values"):
        shardax.linear_transpose(function, jnp.ones(2))(jnp.ones(2))


def test_the_transpose_of_a_solution_of_linear_equations():
    a = jnp.array([[2.0, 1.0], [0.0, 4.0]])
    (back,) = shardax.linear_transpose(lambda b: jnp.linalg.solve(a, b), jnp.ones(2))(jnp.ones(2))
    np.testing.assert_allclose(back, jnp.linalg.solve(a.T, jnp.ones(2)))


def test_jacfwd_of_integers_is_zero():
    out = shardax.jacfwd(lambda x: {"a": (2 * x).astype(int), "b": x})(jnp.ones(3))
    assert out["a"].dtype == np.int32 and not out["a"].any() and out["a"].shape == (3, 3)
    np.testing.assert_array_equal(out["b"], np.eye(3))


def test_second_derivatives_that_do_not_exist_are_refused():
    """As JAX refuses them; they are not 0."""
    from shardax.scipy import special

    with pytest.raises(NotImplementedError, match="Differentiation rule"):
        shardax.grad(shardax.grad(lambda a: special.gammainc(a, 1.0)))(2.0)


def test_gradient_of_zeta():
    from shardax.scipy import special

    by_s, by_q = shardax.grad(special.zeta, (0, 1))(2.5, 1.5)
    np.testing.assert_allclose([by_s, by_q], [-0.46481237, -0.7677404], rtol=1e-5)


def test_differentiated_arrays_show_their_elements():
    seen = []

    def f(x):
        seen.append(repr(x))
        return x.sum()

    shardax.jacrev(f)(jnp.arange(4.0))
    shardax.jvp(f, (jnp.arange(2.0),), (jnp.ones(2),))
    assert seen == [
        "GradTracer(primal=[0. 1. 2. 3.], typeof(tangent)=f32[4])",
        "JVPTracer(primal=[0. 1.], tangent=[1. 1.])",
    ]
