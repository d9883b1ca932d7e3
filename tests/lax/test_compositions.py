"""tests/lax/test_compositions.py - functions of lax made of others: ragged products, roots,
named compositions, joining and splitting, checks of reductions.
"""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.test_util import check_grads

rng = np.random.default_rng(0)
LHS = rng.standard_normal((7, 3)).astype(np.float32)
RHS = rng.standard_normal((3, 3, 2)).astype(np.float32)
SIZES = np.array([2, 0, 4])


def test_ragged_dot():
    expected = np.zeros((7, 2), np.float32)
    expected[:2], expected[2:6] = LHS[:2] @ RHS[0], LHS[2:6] @ RHS[2]
    np.testing.assert_allclose(lax.ragged_dot(LHS, RHS, SIZES), expected, atol=1e-6)
    check_grads(lambda a, b: lax.ragged_dot(a, b, SIZES), (LHS, RHS), order=1, rtol=1e-2, atol=1e-2)
    many = shardax.vmap(lax.ragged_dot, (0, None, 0))(
        np.stack([LHS, LHS]), RHS, np.stack([SIZES] * 2)
    )
    np.testing.assert_allclose(many[1], expected, atol=1e-6)


def test_ragged_sums():
    numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())
    other = rng.standard_normal((7, 2)).astype(np.float32)
    out = lax.ragged_dot_general(LHS, other, SIZES, numbers)
    expected = np.stack([LHS[:2].T @ other[:2], np.zeros((3, 2)), LHS[2:6].T @ other[2:6]])
    np.testing.assert_allclose(out, expected, atol=1e-5)
    with pytest.raises(TypeError, match="zero group dimensions in the rhs"):
        lax.ragged_dot_general(
            LHS, other, SIZES, lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), (1,))
        )
    with pytest.raises(TypeError, match="expected rhs group dimension size to be 2, got 3"):
        lax.ragged_dot(LHS, RHS, SIZES[:2])
    with pytest.raises(TypeError, match="group_sizes.dtype is subtype of np.integer"):
        lax.ragged_dot(LHS, RHS, SIZES.astype(np.float32))


def newton(f, x):
    slope = shardax.grad(lambda x: f(x))
    return lax.fori_loop(0, 30, lambda i, x: x - f(x) / slope(x), x)


def test_custom_root():
    def cube_root(a):
        return lax.custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0))

    assert abs(float(cube_root(8.0)) - 2) < 1e-5
    check_grads(cube_root, (jnp.float32(8.0),), order=2, rtol=1e-2)
    np.testing.assert_allclose(
        shardax.vmap(shardax.grad(cube_root))(jnp.array([1.0, 8.0])), [1 / 3, 1 / 12], rtol=1e-5
    )

    def with_steps(a):
        return lax.custom_root(
            lambda x: x * x - a, 1.0, lambda f, x: (newton(f, x), 30), lambda g, y: y / g(1.0), True
        )

    (root, steps), (slope, _) = shardax.jvp(with_steps, (4.0,), (1.0,))
    assert steps == 30 and abs(float(root) - 2) < 1e-5 and abs(float(slope) - 0.25) < 1e-5
    with pytest.raises(TypeError, match="f.. output pytree structure must match initial_guess"):
        lax.custom_root(lambda x: (x, x), 1.0, newton, lambda g, y: y)


def test_composite():
    scaled = lax.composite(lambda x, *, by, **_: x * by, "my.scaled", version=2)
    assert float(scaled(2.0, by=3)) == 6
    assert shardax.vmap(lambda x: scaled(x, by=3))(np.ones(2)).tolist() == [3, 3]
    options = {"by": 3, "dtype": np.dtype("float32"), "no": None, "how": "well"}
    f = lambda x: scaled(x, **options, table=np.zeros((1, 2), np.float32), flag=True)
    shown = str(shardax.make_jaxpr(f)(2.0))
    assert "composite[" in shown and "name=my.scaled" in shown and "version=2" in shown
    text = shardax.jit(f).lower(np.float32(2)).as_text()
    assert (
        'stablehlo.composite "my.scaled" %arg0 {composite_attributes = {by = 3 : i64, '
        'dtype = f32, flag = true, how = "well", table = dense<0.000000e+00> : tensor<1x2xf32>}, '
        "decomposition = @my.scaled, version = 2 : i32} : (tensor<f32>) -> tensor<f32>" in text
    )
    assert "func.func private @my.scaled(%arg0: tensor<f32>) -> tensor<f32> {" in text
    assert float(shardax.jit(f)(2.0)) == 6


def test_composite_of_what_is_traced_or_differentiated():
    scaled = lax.composite(lambda x, *, by: x * by, "my.scaled")
    shift = lambda x, by: lax.composite(lambda y: y + by, "my.shift")(x)
    with pytest.raises(ValueError, match="JVP rule for composite not implemented"):
        shardax.grad(lambda x: scaled(x, by=3))(2.0)
    assert float(shift(1.0, np.float32(2))) == 3
    by = jnp.arange(2.0) + 1
    assert shardax.jit(lambda x: shift(x, by))(jnp.ones(2)).tolist() == [2, 3]
    with pytest.raises(shardax.errors.UnexpectedTracerError, match="a constant in the decompos"):
        shardax.jit(shift)(1.0, 2.0)
    with pytest.raises(shardax.errors.UnexpectedTracerError, match="use numpy arrays instead"):
        shardax.jit(lambda x: scaled(1.0, by=x))(1.0)


def test_joining_and_splitting():
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(lax.stack([x, x], 1), np.stack([x, x], 1))
    parts = lax.unstack(x, 1)
    assert isinstance(parts, tuple) and [p.tolist() for p in parts] == x.T.tolist()
    assert lax.empty((2, 3), "int8").dtype == np.int8
    values, indices = lax.approx_max_k(jnp.array([1.0, 3.0, 2.0]), 2)
    assert values.tolist() == [3, 2] and indices.tolist() == [1, 2]
    values, indices = lax.approx_min_k(jnp.array([1.0, 3.0, 2.0]), 2)
    assert values.tolist() == [1, 2] and indices.tolist() == [0, 2]


def test_special_functions_broadcast_and_differentiate():
    a, x = jnp.array([[0.5], [2.0]]), jnp.array([[0.1, 1.0, 30.0]])
    np.testing.assert_allclose(lax.igamma(a, x) + lax.igammac(a, x), np.ones((2, 3)), rtol=1e-6)
    assert lax.betainc(a, 1.0, x / 30).shape == (2, 3)
    assert shardax.dtypes.itemsize_bits("complex64") == 64
    assert int(lax.mulhi(jnp.int32(2**30), jnp.int32(8))) == 2
    edges = lax.igamma(jnp.array([1.0, 1.0, 0.0, 1.0]), jnp.array([0.0, np.inf, 1.0, -1.0]))
    np.testing.assert_array_equal(edges, [0, 1, 1, np.nan])
    with pytest.raises(ValueError, match="gradient of betainc with respect to a and b"):
        shardax.grad(lax.betainc)(1.0, 1.0, 0.5)


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: lax.split(np.arange(5), [-1]), ValueError, "must be nonnegative, got"),
        (lambda: lax.split(np.arange(5), [6]), ValueError, "Sum of sizes 6 must be equal"),
        (lambda: lax.squeeze(np.ones((1, 2)), (0, 0)), ValueError, "dimensions are not unique"),
        (lambda: lax.stack([]), ValueError, "requires a non-empty sequence"),
        (lambda: lax.stack([np.ones(2), np.ones(3)]), TypeError, "must have the same shape"),
        (lambda: lax.unstack(1.0), ValueError, "requires an array of one or more dimensions"),
        (lambda: lax.argmax(np.ones((2, 3)), -1, "int32"), ValueError, "Invalid axis -1 for opera"),
        (
            lambda: lax.reduce({"x": np.ones(5)}, {"y": 0.0}, lambda a, b: a, [0]),
            ValueError,
            "Operands must have the same tree structure as init_values",
        ),
        (
            lambda: lax.reduce(np.ones(5), np.ones(5), lax.add, [0]),
            ValueError,
            r"reduce found non-scalar initial value: \[\(5,\)\]",
        ),
        (
            lambda: lax.reduce_window(np.ones(5), np.ones(1), lax.add, (2,)),
            TypeError,
            r"init_values to be scalars but init_values have shapes \[\(1,\)\]",
        ),
        (
            lambda: lax.reduce_window(np.ones(5), 0.0, lambda a, b: [a], (2,)),
            ValueError,
            "output must have the same tree structure as the operands",
        ),
        (
            lambda: lax.broadcast_in_dim(np.ones((2, 2)), (2, 2), (0, 0)),
            TypeError,
            "broadcast_dimensions must not contain duplicates",
        ),
        (
            lambda: shardax.eval_shape(
                lambda x: lax.top_k(x, 2), shardax.ShapeDtypeStruct((2**31 + 1,), "float32")
            ),
            ValueError,
            "top_k returns int32 indices, which will overflow",
        ),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    "shape, axis, want", [((2, 0), 0, (0,)), ((0, 2), 0, (2,)), ((0,), None, ())]
)
def test_logsumexp_of_nothing(shape, axis, want):
    out = shardax.nn.logsumexp(jnp.zeros(shape), axis)
    assert out.shape == want and not np.isfinite(out).any()


def test_largest_along_any_axis():
    x = jnp.arange(12.0).reshape(6, 2)
    for find in (lambda x, k: lax.top_k(x, k, axis=0), lambda x, k: lax.approx_max_k(x, k, 0)):
        assert find(x, 4)[0].shape == (4, 2)
        with pytest.raises(ValueError, match="no larger than size along axis; got k=7"):
            find(x, 7)
    with pytest.raises(ValueError, match="must be a floating type"):
        lax.approx_min_k(jnp.arange(4), 2)
    with pytest.raises(ValueError, match="not compatible with complex"):
        lax.top_k(jnp.ones(3, "complex64"), 2)


def test_nested_sequences_are_no_operands():
    for f in (
        lambda x: lax.integer_pow(x, 2),
        lambda x: lax.cumsum(x),
        lambda x: lax.argmax(x, 0, "int32"),
        lambda x: lax.reduce_sum(x, (0,)),
        lambda x: lax.reshape(x, (2, 1)),
        lambda x: lax.convert_element_type(x, "float32"),
        lambda x: lax.concatenate([x, jnp.ones(2)], 0) if x is None else lax.rev(x, (0,)),
        lambda x: lax.dot(jnp.ones(2), x),
        lambda x: lax.sort([None, jnp.ones(2)]) if x is None else lax.top_k(x, 1),
    ):
        for x in (None, [1.0, 2.0], (1.0, 2.0)):
            with pytest.raises(TypeError):
                f(x)


def test_tokens():
    token = lax.create_token(jnp.ones(2))
    assert token.size == 0
    assert lax.after_all(token, lax.create_token()).shape == lax.after_all().shape == token.shape
    assert shardax.jit(lambda t, x: (lax.after_all(t), x + 1))(token, 1.0)[1] == 2
