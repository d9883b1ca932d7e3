"""tests/lax/test_jacobi.py - eigenvectors and singular vectors of stacks of small matrices,
which are found a vector's lanes at a time."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

DTYPES = ("float32", "float64", "complex64", "complex128")
COUNT = 43  # the last group of lanes is a part of one


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def stack(m, n, dtype):
    """Random matrices, and those that rotations could stumble over."""
    rng = np.random.default_rng(m + n)
    a = rng.standard_normal((COUNT, m, n))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(a.shape)
    a[0], a[1], a[2] = 0, np.eye(m, n), 1
    a[3] *= 1e-30
    a[4] *= 1e30
    a[5] = a[6][:, :1] * a[6][:1]  # of rank one
    a[7, :, -1] = 0
    a[8] *= np.logspace(0, -30, n)
    return a.astype(dtype)


def error(got, want, a, dtype):
    """In the precision of `dtype`, relative to each matrix."""
    got, want = np.asarray(got), np.asarray(want)
    size = np.abs(a).max((1, 2)).astype(np.float64) + 1e-300
    gap = np.abs(got - want).reshape(COUNT, -1).max(1)
    return (gap / size).max() / np.finfo(dtype).eps


def orthonormal(u, dtype):
    u = np.asarray(u)
    gap = np.abs(adjoint(u) @ u - np.eye(u.shape[-1])).max()
    assert gap < 100 * np.finfo(dtype).eps


def same_everywhere(f, a, outs):
    """NaN and infinities stay in their matrix; a matrix has the same bits in any such stack."""
    for part, whole in zip(f(a[9:40]), outs):
        np.testing.assert_array_equal(part, np.asarray(whole)[9:40])
    spoilt = a.copy()
    spoilt[10, 0, 0], spoilt[12, 0, 0] = np.nan, np.inf
    good = np.setdiff1d(np.arange(COUNT), [10, 12])
    for out, whole in zip(f(spoilt), outs):
        assert np.isnan(np.asarray(out)[[10, 12]]).all()
        np.testing.assert_array_equal(np.asarray(out)[good], np.asarray(whole)[good])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", (1, 2, 3, 8, 20, 32))
def test_eigenvectors(n, dtype):
    a = stack(n, n, dtype)
    a = (a + adjoint(a)) / 2
    exact = a.astype(np.complex128)
    values, vectors = map(np.asarray, jnp.linalg.eigh(a, symmetrize_input=False))
    assert (np.diff(values) >= 0).all()
    orthonormal(vectors, dtype)
    assert error(exact @ vectors, vectors * values[:, None].astype(np.float64), a, dtype) < 100
    assert error(values, np.linalg.eigvalsh(exact), a, dtype) < 300
    np.testing.assert_array_equal(jnp.linalg.eigvalsh(a, symmetrize_input=False), values)
    other = np.where(np.tri(n, k=-1, dtype=bool), 7, a)
    upper = jnp.linalg.eigh(other, UPLO="U", symmetrize_input=False)
    assert error(upper[0], values, a, dtype) < 300
    same_everywhere(lambda x: jnp.linalg.eigh(x, symmetrize_input=False), a, (values, vectors))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", ((1, 1), (1, 4), (5, 1), (3, 3), (8, 8), (8, 3), (3, 8), (20, 32), (32, 20)), ids=str
)
def test_singular_vectors(shape, dtype):
    a = stack(*shape, dtype)
    exact, least = a.astype(np.complex128), min(shape)
    for full in (True, False):
        u, s, vh = map(np.asarray, jnp.linalg.svd(a, full_matrices=full))
        assert (np.diff(s) <= 0).all() and (s >= 0).all()
        orthonormal(u, dtype)
        orthonormal(adjoint(vh), dtype)
        scaled = u[..., :least] * s[:, None].astype(np.float64)
        assert error(scaled @ vh[:, :least], a, a, dtype) < 100
    assert error(s, np.linalg.svd(exact, compute_uv=False), a, dtype) < 300
    np.testing.assert_array_equal(jnp.linalg.svdvals(a), s)
    same_everywhere(jnp.linalg.svd, a, map(np.asarray, jnp.linalg.svd(a)))


def test_derivatives_are_those_of_one_matrix():
    a = stack(5, 4, "float64")[9:25]
    values = lambda x: jnp.linalg.svd(x, compute_uv=False).sum() ** 2  # noqa: E731
    one = [shardax.grad(values)(x) for x in a]
    np.testing.assert_allclose(shardax.vmap(shardax.grad(values))(a), one, rtol=1e-9)
    square = lambda x: jnp.abs(lax.linalg.eigh(x.T @ x)[0]).sum()  # noqa: E731
    one = [shardax.grad(square)(x) for x in a]
    np.testing.assert_allclose(shardax.vmap(shardax.grad(square))(a), one, rtol=1e-6, atol=1e-9)
