"""tests/lax/test_products.py - dot_general and its kin: dtypes of results, precision, errors."""

import itertools

import ml_dtypes
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

A = np.arange(6).reshape(2, 3)
B = np.arange(12).reshape(3, 4) % 5
KINDS = ("bool", "int8", "uint8", "int32", "bfloat16", "float16", "float32", "complex64")


@pytest.mark.parametrize("dtype, wanted", list(itertools.product(KINDS[1:], KINDS[1:])))
def test_preferred_element_type(dtype, wanted):
    """Sums of any kind, also of another one than the operands'."""
    a, b = jnp.asarray(A, dtype), jnp.asarray(B, dtype)
    bits = {d: np.dtype(jnp.dtype(d)).itemsize // (2 if "complex" in d else 1) for d in KINDS}
    if dtype not in ("bfloat16", "float16", "float32") and bits[wanted] < bits[dtype]:
        with pytest.raises(TypeError, match="`preferred_element_type` must not be narrower than"):
            lax.dot(a, b, preferred_element_type=wanted)
        return
    for out in (
        lax.dot(a, b, preferred_element_type=wanted),
        jnp.dot(a, b, preferred_element_type=wanted),
        shardax.vmap(lambda x: lax.dot(x, b, preferred_element_type=wanted))(a),
    ):
        assert out.dtype == jnp.dtype(wanted)
        np.testing.assert_array_equal(np.asarray(out).astype(np.complex64), A @ B)


@pytest.mark.parametrize("wanted", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("m, k, n", [(2, 3, 4), (1, 50, 1), (7, 5, 2), (40, 50, 40), (1, 9, 300)])
def test_sums_of_float64_are_rounded_to_what_is_preferred(m, k, n, wanted):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, m, k)), rng.standard_normal((3, k, n))
    with shardax.enable_x64(True):
        tolerance = 4 * float(jnp.finfo(wanted).eps)
        for x, y in ((a, b), (a[0], b[0]), (a, b.swapaxes(1, 2).copy().swapaxes(1, 2))):
            out = jnp.matmul(x, y, preferred_element_type=wanted)
            assert out.dtype == jnp.dtype(wanted)
            np.testing.assert_allclose(
                np.asarray(out, np.float64), x @ y, rtol=tolerance, atol=tolerance
            )
    with shardax.enable_x64(True):
        large = rng.standard_normal((500, 400)), rng.standard_normal((400, 300))
        out = jnp.matmul(*large, preferred_element_type=wanted)
        np.testing.assert_allclose(
            np.asarray(out, np.float64), large[0] @ large[1], rtol=0.01, atol=0.1
        )


def test_attention_of_float64():
    with shardax.enable_x64(True):
        q, k, v = np.random.default_rng(0).standard_normal((3, 2, 5, 2, 3))
        weights = shardax.nn.softmax(np.einsum("btnh,bsnh->bnts", q, k) / np.sqrt(3))
        want = np.einsum("bnts,bsnh->btnh", weights, v)
        got = shardax.nn.dot_product_attention(q, k, v)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)


def test_operands_of_different_dtypes():
    out = lax.dot(jnp.asarray(A, "int8"), jnp.asarray(B, "bfloat16"))
    assert out.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(out.astype("float32"), A @ B)
    assert lax.dot(jnp.asarray(A, "float32"), jnp.asarray(B, "complex64")).dtype == np.complex64


def test_precision_is_shown_and_kept():
    def dot(a, b):
        return lax.dot(a, b, precision=lax.Precision.HIGHEST)

    a, b = jnp.ones((2, 3)), jnp.ones((3, 4))
    shown = "precision=(Precision.HIGHEST, Precision.HIGHEST)"
    assert shown in str(shardax.make_jaxpr(dot)(a, b))
    assert shown in str(shardax.make_jaxpr(shardax.vjp(dot, a, b)[1])(jnp.ones((2, 4))))
    text = str(shardax.make_jaxpr(lambda a, b: lax.dot(a, b, precision=("high", "default")))(a, b))
    assert "precision=(Precision.HIGH, Precision.DEFAULT)" in text
    assert lax.Precision("float32") is lax.Precision.HIGHEST


def test_algorithms_round_operands():
    x = jnp.asarray([1 + 2**-9], jnp.float32)
    exact = float(lax.dot(x, x))
    rounded = lax.dot(
        x, x, precision=lax.DotAlgorithm(ml_dtypes.bfloat16, ml_dtypes.bfloat16, np.float32)
    )
    assert exact != 1 and float(rounded) == 1 and rounded.dtype == np.float32
    half = lax.dot(x, x, precision=lax.DotAlgorithmPreset.F16_F16_F32)
    assert half.dtype == np.float32
    assert float(lax.dot(x, x, precision="F32_F32_F32")) == exact


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((2, 3), (3,)), ((3,), (4, 3, 2)), ((4, 1, 2, 3), (5, 3, 2))]
)
def test_matmul_of_a_kind(shapes):
    a, b = (np.arange(np.prod(s)).reshape(s).astype(np.int8) % 7 for s in shapes)
    out = jnp.matmul(a, b, precision="highest", preferred_element_type="float32")
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, a.astype(int) @ b.astype(int))
    text = str(shardax.make_jaxpr(lambda a, b: jnp.matmul(a, b, precision="highest"))(a, b))
    assert "Precision.HIGHEST" in text
    assert jnp.matmul(a, b).dtype == np.int8


def test_empty_products():
    dims = (((1,), (1,)), ((0,), (0,)))
    assert lax.dot_general(jnp.ones((0, 2, 3)), jnp.ones((0, 2, 4)), dims).shape == (0, 3, 4)
    assert (lax.dot_general(jnp.ones((2, 0, 3)), jnp.ones((2, 0, 4)), dims) == 0).all()


@pytest.mark.parametrize(
    "dims, text",
    [
        ((((2,), (0,)), ((), ())), "requires lhs dimension numbers to be nonnegative and less"),
        ((((1, 1), (0, 0)), ((), ())), "requires lhs contracting dimensions to be distinct"),
        ((((1,), ()), ((), ())), "requires equal numbers of lhs and rhs contracting dimensions"),
        ((((1,), (0,)), ((1,), (1,))), "lhs batch dimensions to be disjoint from contracting"),
        ((((1,), (1,)), ((), ())), "contracting dimensions to have the same shape, got"),
    ],
)
def test_errors(dims, text):
    with pytest.raises(TypeError, match=text):
        lax.dot_general(jnp.ones((2, 3)), jnp.ones((3, 4)), dims)


def test_errors_of_names():
    with pytest.raises(ValueError, match="Precision argument must be one of"):
        lax.dot(jnp.ones(2), jnp.ones(2), precision="exact")
    with pytest.raises(ValueError, match="Arguments to batch_matmul must be at least 2D, got 1, 1"):
        lax.batch_matmul(jnp.ones(2), jnp.ones(2))
    with pytest.raises(ValueError, match="must have same ndim, got 2, 3"):
        lax.batch_matmul(jnp.ones((2, 2)), jnp.ones((2, 2, 2)))


def test_narrow_floats_with_others():
    a = jnp.full((2, 3), 2.0, jnp.float8_e4m3fn)
    for other, expected in (
        (jnp.float32, "float32"),
        (jnp.bfloat16, "bfloat16"),
        (jnp.float8_e5m2, "float8_e5m2"),
        (jnp.int8, "float8_e4m3fn"),
    ):
        b = jnp.ones((3, 2), other)
        for x, y in ((a, b), (b.T, a.T)):
            out = lax.dot_general(x, y, (((1,), (0,)), ((), ())))
            assert (str(out.dtype), float(out[0, 0])) == (expected, 6.0)


@pytest.mark.parametrize("f", [jnp.dot, jnp.matmul, jnp.inner, jnp.tensordot, jnp.vdot, jnp.vecdot])
def test_precision_reaches_the_program(f):
    x = jnp.ones((2, 2))
    text = str(shardax.make_jaxpr(lambda x: f(x, x, precision="highest"))(x))
    assert "precision=(Precision.HIGHEST, Precision.HIGHEST)" in text
    np.testing.assert_array_equal(f(x, x, precision="highest"), f(x, x))


@pytest.mark.parametrize("a, b", [("ik", "kj"), ("ki", "kj"), ("ik", "jk")])
def test_long_sums(a, b):
    """Of more steps than are packed at a time."""
    rng = np.random.default_rng(0)
    sizes = {"i": 300, "j": 500, "k": 12000}
    x, y = (rng.integers(-3, 4, [sizes[d] for d in dims]).astype(np.float32) for dims in (a, b))
    np.testing.assert_array_equal(jnp.einsum(f"{a},{b}->ij", x, y), np.einsum(f"{a},{b}->ij", x, y))


TRANSPOSED = """
import shardax as jax
import shardax.numpy as jnp

f = jax.jit(jax.grad(lambda w, x: ((x @ w) ** 3).sum()))
f(jnp.ones((7, 5)), jnp.ones((3, 7)))
g = jax.jit(lambda x, y: jnp.einsum("nik,njk->nij", x, y).swapaxes(1, 2))
g(jnp.ones((2, 3, 4)), jnp.ones((2, 5, 4)))
"""


def test_a_product_is_made_in_the_order_of_its_use(dump_of):
    dump = dump_of(TRANSPOSED)
    assert "dot_general -> f32[7,5]\n" in dump
    assert "dot_general -> f32[2,5,3]\n" in dump


def test_transposed_products_have_the_same_bits():
    rng = np.random.default_rng(0)
    x, y = (jnp.asarray(rng.standard_normal(s), jnp.float32) for s in ((4, 9, 300), (4, 11, 300)))
    product = shardax.jit(lambda x, y: jnp.einsum("nik,njk->nij", x, y))(x, y)
    for order in ((0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0)):
        turned = shardax.jit(lambda x, y: jnp.einsum("nik,njk->nij", x, y).transpose(order))  # noqa: B023
        np.testing.assert_array_equal(turned(x, y), np.asarray(product).transpose(order))


@pytest.mark.parametrize(
    "types",
    [("float8_e4m3fn", "float8_e5m2"), ("float16", "bfloat16"), ("bfloat16", "float8_e4m3fn")],
)
def test_narrow_floats_of_two_kinds_lose_nothing(types):
    numbers = np.random.default_rng(0)
    x, y = (jnp.asarray(numbers.normal(size=(4, 4)), dtype=t) for t in types)
    exact = np.float64(x) @ np.float64(y)
    out = lax.dot(x, y, preferred_element_type="float32")
    np.testing.assert_allclose(out, exact, rtol=1e-5, atol=1e-5)
    assert lax.dot(x, y).dtype == types[1] if "float8" not in types[1] else types[0]


def test_dot_splits_its_result_as_asked():
    mesh = shardax.make_mesh((2,), ("x",), axis_types=(shardax.sharding.AxisType.Explicit,))
    with shardax.set_mesh(mesh):
        out = lax.dot(jnp.ones((4, 3)), jnp.ones((3, 2)), out_sharding=shardax.P("x", None))
    assert out.sharding.spec == shardax.P("x", None) and np.asarray(out).tolist() == [[3.0] * 2] * 4


@pytest.mark.parametrize("k", [65_535, 65_536, 65_537, 1_000_003])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_long_dot_products_have_the_bits_of_rows(k, dtype):
    with shardax.enable_x64(True):
        rng = np.random.default_rng(k)
        a, b = (jnp.asarray(rng.normal(size=(2, k)).astype(dtype)) for _ in range(2))
        rows = a @ b[0]
        for threads in (1, 2, 3):
            with shardax.threads(threads):
                alone = jnp.stack([a[0] @ b[0], jnp.dot(a[1], b[0])])
                apart = a[0, ::-1] @ b[0, ::-1]
            assert np.asarray(alone).tobytes() == np.asarray(rows).tobytes()
            if dtype != "float16":
                exact = np.dot(np.asarray(a[0], "float64"), np.asarray(b[0], "float64"))
                np.testing.assert_allclose(apart, exact, rtol=1e-2 if dtype == "float32" else 1e-9)
        negative = jnp.full(k, -0.0, dtype)
        assert np.signbit(negative @ jnp.ones(k, dtype)) == np.signbit(
            (negative[None] @ jnp.ones(k, dtype))[0]
        )
