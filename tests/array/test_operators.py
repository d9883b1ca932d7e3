"""tests/array/test_operators.py - the number protocol: promotion, broadcasting, Python operands."""

import operator

import numpy as np
import pytest
import shardax.numpy as jnp
from shardax import lax

F4, I4 = jnp.arange(4.0), jnp.arange(4)


def described(x):
    return x.dtype.name, x.weak_type, x.tolist()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: I4 / 2, ("float32", False, [0, 0.5, 1, 1.5])),
        (lambda: I4 // 0, ("int32", False, [-1, -2, -2, -2])),
        (lambda: I4 % 0, ("int32", False, [0, 0, 0, 0])),
        (lambda: -I4 // 2, ("int32", False, [0, -1, -1, -2])),
        (lambda: -I4 % 3, ("int32", False, [0, 2, 1, 0])),
        (lambda: I4**2.0, ("float32", True, [0, 1, 4, 9])),
        (lambda: 2**I4, ("int32", False, [1, 2, 4, 8])),
        (lambda: F4**I4, ("float32", False, [1, 1, 4, 27])),
        (lambda: (I4 > 1) + (I4 > 1), ("bool", False, [False, False, True, True])),
        (lambda: (I4 > 1) * 2.5, ("float32", True, [0, 0, 2.5, 2.5])),
        (lambda: I4.astype("uint8") + 300, ("uint8", False, [44, 45, 46, 47])),
        (lambda: jnp.uint32(1) + (-1), ("uint32", False, 0)),
        (lambda: jnp.int8(1) + jnp.uint8(1), ("int16", False, 2)),
        (lambda: jnp.int32(1) + jnp.uint32(1), ("int32", False, 2)),
        (lambda: jnp.bfloat16(1) + jnp.float16(1), ("float32", False, 2)),
        (lambda: np.float64(2) * F4.astype("float16"), ("float32", False, [0, 2, 4, 6])),
        (lambda: np.int64(2) * F4.astype("float16"), ("float16", False, [0, 2, 4, 6])),
        (lambda: F4 * 1j, ("complex64", False, [0j, 1j, 2j, 3j])),
        (lambda: ~(I4 > 1), ("bool", False, [True, True, False, False])),
        (lambda: 8 >> I4, ("int32", False, [8, 4, 2, 1])),
        (lambda: abs(-F4), ("float32", False, [0, 1, 2, 3])),
        (lambda: jnp.asarray(1.0) + jnp.asarray(2), ("float32", True, 3)),
    ],
)
def test_values(make, expected):
    assert described(make()) == expected


def test_divmod_and_signs_of_zero():
    quotient, remainder = divmod(-F4, 3.0)
    assert repr(quotient) == "Array([ 0., -1., -1., -1.], dtype=float32)"
    assert repr(remainder) == "Array([-0.,  2.,  1., -0.], dtype=float32)"
    assert [x.tolist() for x in divmod(7, jnp.array([1, 2, 3]))] == [[7, 3, 2], [0, 1, 1]]


def test_broadcasting():
    column = jnp.ones((3, 1))
    assert (column + F4).shape == (3, 4)
    assert (column + F4).tolist() == [[1, 2, 3, 4]] * 3
    assert (jnp.ones(()) + column).shape == (3, 1)


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [
        ((2, 3), (3, 4), (2, 4)),
        ((5, 2, 3), (3, 4), (5, 2, 4)),
        ((5, 1, 2, 3), (6, 3, 4), (5, 6, 2, 4)),
        ((3,), (3,), ()),
        ((2, 3), (3,), (2,)),
        ((3,), (5, 3, 2), (5, 2)),
        ((1, 2, 3), (5, 3, 4), (5, 2, 4)),
    ],
)
def test_matmul(a, b, shape):
    x = np.random.default_rng(0).normal(size=a).astype(np.float32)
    y = np.random.default_rng(1).normal(size=b).astype(np.float32)
    out = jnp.asarray(x) @ jnp.asarray(y)
    assert out.shape == shape
    np.testing.assert_allclose(out, x @ y, rtol=1e-5, atol=1e-6)


def test_comparisons_with_other_objects():
    assert (F4 == None) is False  # noqa: E711
    assert (F4 != "a") is True
    assert (F4 == I4).tolist() == [True] * 4
    with pytest.raises(TypeError):
        assert F4 < "a"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: F4 + [1, 2, 3, 4],
            TypeError,
            "unsupported operand type(s) for +: 'ArrayImpl' and 'list'",
        ),
        (lambda: [1] + F4, TypeError, "unsupported operand type(s) for +: 'list' and 'ArrayImpl'"),
        (lambda: F4 + None, TypeError, "unsupported operand type(s) for +"),
        (
            lambda: I4**-1,
            TypeError,
            "Integers cannot be raised to negative powers, got integer_pow(int32[4], -1)",
        ),
        (
            lambda: jnp.ones((2, 3)) + F4,
            ValueError,
            "Incompatible shapes for broadcasting: shapes=[(2, 3), (4,)]",
        ),
        (
            lambda: jnp.ones((2, 3)) + jnp.ones((2, 4)),
            TypeError,
            "add got incompatible shapes for broadcasting: (2, 3), (2, 4).",
        ),
        (
            lambda: F4 @ 2,
            ValueError,
            "matmul input operand 1 must have ndim at least 1, but it has ndim 0",
        ),
        (
            lambda: I4 + 2**40,
            OverflowError,
            "Python int 1099511627776 too large to convert to int32",
        ),
        (lambda: F4 & 1, TypeError, "and does not accept dtype float32"),
        (lambda: lax.lt(F4 * 1j, F4 * 1j), TypeError, "lt does not accept dtype complex64"),
        (lambda: jnp.gcd(F4, F4[:2]), ValueError, "Arguments to jax.numpy.gcd must be integers"),
        (lambda: jnp.clip(), ValueError, "no array was given"),
        (lambda: jnp.stack(F4[0]), TypeError, "expected a sequence of arrays, got one of shape ()"),
        (
            lambda: jnp.median(jnp.zeros((0, 2)), axis=0),
            TypeError,
            "shape (0, 2) has no elements along axis 0",
        ),
        (
            lambda: jnp.einsum("ij,jk->ik", np.ones((2, 3)), np.ones((2, 3))),
            ValueError,
            "Size of label 'j' for operand 1 (2) does not match previous terms (3).",
        ),
        (
            lambda: lax.slice(F4, (1,), (6,)),
            TypeError,
            "limit_indices (6,), which must be less than or equal to operand shape (4,)",
        ),
        (lambda: pow(jnp.int32(2), 3, 5), TypeError, "takes 2 arguments"),
        (lambda: hash(F4), TypeError, "unhashable type"),
        (lambda: operator.setitem(F4, 0, 1.0), TypeError, "JAX arrays are immutable"),
        (lambda: F4 in F4, ValueError, "query value must be a scalar"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_complex_numbers_are_ordered_by_real_then_imaginary_parts():
    a, b = np.complex64([1 + 2j, 1 - 2j, 3, 0]), np.complex64([1 + 3j, 1 - 2j, 2j, 1j])
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        np.testing.assert_array_equal(compare(jnp.asarray(a), b), compare(a, b))
        np.testing.assert_array_equal(compare(jnp.asarray(a), 1), compare(a, 1))
    np.testing.assert_array_equal(jnp.less(a, b), np.less(a, b))


def test_complex_logarithms_of_zero():
    zero = jnp.complex64(0)
    assert jnp.log2(zero) == jnp.log10(zero) == complex(-np.inf, 0)


def test_functions_promote_and_lax_does_not():
    assert jnp.add(F4, 1).dtype == np.float32
    assert jnp.maximum(1, 2.5).weak_type
    assert lax.add(F4, 2.0).tolist() == [2, 3, 4, 5]
    with pytest.raises(
        TypeError, match=r"lax.add requires arguments to have the same dtypes, got float32, int32"
    ):
        lax.add(F4, 1)
    with pytest.raises(
        TypeError,
        match=r"add requires ndarray or scalar arguments, got <class 'list'> at position 0",
    ):
        jnp.add([1], F4)
    with pytest.raises(TypeError, match=r"exp\(\) missing 1 required positional argument: 'x'"):
        jnp.exp()
    with pytest.raises(
        TypeError, match=r"subtract\(\) missing 1 required positional argument: 'y'"
    ):
        jnp.subtract(F4)


def test_functions_describe_themselves():
    import inspect

    assert jnp.exp.__name__ == "exp"
    assert list(inspect.signature(jnp.arctan2).parameters) == ["x1", "x2"]
    assert "exponential" in jnp.exp.__doc__
