"""tests/ops/test_near.py - kernels with a fast form for most numbers are right for all of them."""

import cmath

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

RNG = np.random.default_rng(0)
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, -1e-42, 1e30, -3e38, 88.0, np.inf, -np.inf, np.nan]


def complex_numbers():
    edges = [complex(a, b) for a in PARTS for b in PARTS]
    wide = RNG.standard_normal((2, 2000)) * 10.0 ** RNG.integers(-20, 18, (2, 2000))
    usual = RNG.standard_normal((2, 2000))
    found = [np.array(edges)] + [x[0] + 1j * x[1] for x in (wide, usual)]
    return np.concatenate(found).astype("complex64")


def assert_close(found, expected, ulps=8):
    for part in ("real", "imag"):
        a, b = getattr(np.asarray(found), part), getattr(expected, part).astype("float32")
        size = np.abs(expected).astype("float32")
        finite = np.isfinite(b) & np.isfinite(size)
        np.testing.assert_array_less(
            np.abs(a[finite] - b[finite]), ulps * np.spacing(size[finite]) + 1e-44
        )
        np.testing.assert_array_equal(np.isinf(a), np.isinf(b))


@pytest.mark.parametrize("name", ["log", "sqrt"])
def test_functions_of_finite_complex_numbers(name):
    z = complex_numbers()
    z = z[np.isfinite(z) & (z != 0)]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(z.astype("complex128"))
    assert_close(jax.jit(getattr(jnp, name))(z), expected)


def test_exponentials_and_sizes():
    z = complex_numbers()
    z = z[np.isfinite(z) & (np.abs(z.real) < 80)]
    with np.errstate(all="ignore"):
        assert_close(jax.jit(jnp.exp)(z), np.exp(z.astype("complex128")), 16)
        found, expected = jax.jit(jnp.abs)(z), np.abs(z.astype("complex128"))
    np.testing.assert_allclose(found, expected.astype("float32"), rtol=2e-7, atol=1e-45)


def test_sizes_where_a_part_is_infinite_or_nan():
    z = np.array([complex(a, b) for a in PARTS for b in PARTS], "complex64")
    with np.errstate(all="ignore"):
        expected = np.hypot(z.real, z.imag)
    np.testing.assert_array_equal(jax.jit(jnp.abs)(z), expected)


def test_edges_of_complex_functions():
    inf, nan = np.inf, np.nan
    z = np.array([0, complex(-inf, 3), complex(inf, 0), complex(-inf, nan)], "complex64")
    assert np.asarray(jax.jit(jnp.exp)(z))[[0, 1, 3]].tolist() == [1, 0, 0]
    assert jax.jit(jnp.exp)(z)[2].real == inf
    logs = jax.jit(jnp.log)(z)
    assert logs[0].real == -inf
    assert logs[1].real == inf
    assert jax.jit(jnp.sqrt)(z)[:2].tolist() == [0, complex(0, inf)]


def test_quotients():
    a = complex_numbers()
    a = a[np.isfinite(a)]
    b = np.roll(a, 4711)
    a, b = a[b != 0], b[b != 0]
    with np.errstate(all="ignore"):
        expected = a.astype("complex128") / b.astype("complex128")
        fits = np.abs(expected) < 3e38
        assert_close(jax.jit(jnp.divide)(a, b)[fits], expected[fits], 2)
        by_zero = jax.jit(jnp.divide)(np.complex64([1, -1j]), np.complex64([0, 0]))
        assert not np.isfinite(np.asarray(by_zero)).any()
    assert jax.jit(lambda a: a / 2)(np.complex64([1 + 2j, -4j])).tolist() == [0.5 + 1j, -2j]


def test_an_element_does_not_depend_on_its_neighbours():
    z = complex_numbers()
    for f in (jnp.exp, jnp.log, jnp.sqrt, jnp.abs, lambda z: z / (1 + 2j)):
        whole = np.asarray(jax.jit(f)(z))
        for start in (1, 77, 200):
            assert np.asarray(jax.jit(f)(z[start:])).tobytes() == whole[start:].tobytes()


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_double_precision(name):
    x = np.concatenate(
        [
            RNG.standard_normal(3000) * 10.0 ** RNG.integers(-10, 300, 3000),
            np.arange(3000) * (np.pi / 4),
            [0.0, -0.0, 1e-300, 2.0**78, -(2.0**79), np.inf, np.nan],
        ]
    )
    with jax.enable_x64(True), np.errstate(all="ignore"):
        found = np.asarray(jax.jit(getattr(lax, name))(jnp.asarray(x)))
        expected = getattr(np, name)(x)
        np.testing.assert_allclose(found, expected, rtol=4e-16, atol=1e-310)
        part = np.asarray(jax.jit(getattr(lax, name))(jnp.asarray(x[3001:])))
    np.testing.assert_array_equal(part, found[3001:])
    assert np.signbit(found[-6]) == np.signbit(getattr(cmath, name)(-0.0).real)
