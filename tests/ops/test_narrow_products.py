"""tests/ops/test_narrow_products.py - products of bfloat16 and of 8 bits: parts have the bits of
the whole, whichever instructions multiply; integers are exact."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

SHAPES = [(1, 40, 70), (70, 40, 1), (3, 1, 5), (100, 33, 64), (130, 300, 90), (64, 1000, 50)]


def operands(m, k, n, dtype):
    rng = np.random.default_rng(m + k + n)
    if dtype == "bfloat16":
        a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    else:
        info = np.iinfo(dtype)
        a, b = (rng.integers(info.min, info.max + 1, s) for s in ((m, k), (k, n)))
    return jnp.asarray(a).astype(dtype), jnp.asarray(b).astype(dtype)


def product(a, b):
    out = "float32" if a.dtype == "bfloat16" else "int32"
    return jax.jit(lambda a, b: lax.dot(a, b, preferred_element_type=out))(a, b)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "uint8"])
def test_parts_are_the_whole(shape, dtype):
    a, b = operands(*shape, dtype)
    whole = np.asarray(product(a, b))
    m, k, n = shape
    np.testing.assert_array_equal(product(a[: m // 2 + 1], b), whole[: m // 2 + 1])
    np.testing.assert_array_equal(product(a[m - 1 :], b), whole[m - 1 :])
    np.testing.assert_array_equal(product(a, b[:, n // 3 :]), whole[:, n // 3 :])
    np.testing.assert_array_equal(product(a, b[:, :1]), whole[:, :1])
    # Each operand laid out the other way, and the product turned.
    turned = jax.jit(lambda a, b: lax.dot_general(
        a, b, (((0,), (1,)), ((), ())), preferred_element_type=whole.dtype))  # fmt: skip
    np.testing.assert_array_equal(turned(jnp.array(a.T), jnp.array(b.T)), whole)
    np.testing.assert_array_equal(turned(b, a).T, whole)
    # In a stack, and with any number of threads.
    stack = jax.vmap(lambda a: product(a, b))(jnp.stack([a, a[::-1], a]))
    np.testing.assert_array_equal(stack[0], whole)
    np.testing.assert_array_equal(stack[1], whole[::-1])
    for threads in (1, 3):
        with jax.threads(threads):
            np.testing.assert_array_equal(product(a, b), whole)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_integers_are_exact(shape, dtype):
    a, b = operands(*shape, dtype)
    exact = np.asarray(a).astype(np.int64) @ np.asarray(b).astype(np.int64)
    np.testing.assert_array_equal(product(a, b), exact)


@pytest.mark.parametrize("shape", SHAPES)
def test_bfloat16_are_added_up_as_float32(shape):
    a, b = operands(*shape, "bfloat16")
    wide = [np.asarray(x).astype(np.float64) for x in (a, b)]
    bound = np.abs(wide[0]) @ np.abs(wide[1]) * shape[1] * 2.0**-24
    assert (np.abs(np.asarray(product(a, b)) - wide[0] @ wide[1]) <= bound + 1e-30).all()


def test_nan_and_infinity_stay_in_their_rows():
    a, b = operands(40, 70, 50, "bfloat16")
    a = a.at[3, 69].set(jnp.nan).at[20, 5].set(jnp.inf)
    found = np.asarray(product(a, b))
    assert np.isnan(found[3]).all()
    assert np.isinf(found[20]).all()
    rest = np.delete(np.arange(40), [3, 20])
    assert np.isfinite(found[rest]).all()
