"""tests/lax/test_small_spectra.py - eigenvectors and singular vectors of stacks of small matrices,
which are found a vector's lanes at a time."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import _core, lax

IN_LANES = "AVX" in _core.target_info()["kernels"]  # else LAPACK takes one matrix after the other
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
    assert error(exact @ vectors, vectors * values[:, None].astype(np.float64), a, dtype) < 300
    assert error(values, np.linalg.eigvalsh(exact), a, dtype) < 300
    alone = jnp.linalg.eigvalsh(a, symmetrize_input=False)
    if IN_LANES:  # LAPACK finds eigenvalues alone in another way
        np.testing.assert_array_equal(alone, values)
    assert error(alone, values, a, dtype) < 300
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
    values = np.asarray(jnp.linalg.svdvals(a))  # of a bidiagonal form
    assert (np.diff(values) <= 0).all() and (values >= 0).all()
    assert error(values, s, a, dtype) < 300
    same_everywhere(lambda x: (jnp.linalg.svdvals(x),), a, (values,))
    same_everywhere(jnp.linalg.svd, a, map(np.asarray, jnp.linalg.svd(a)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", (1, 2, 3, 8, 32))
def test_tridiagonal_form(n, dtype):
    a = stack(n, n, dtype)
    a = (a + adjoint(a)) / 2
    out = [np.asarray(x) for x in lax.linalg.tridiagonal(a, lower=True)]
    form, d, e, taus = out
    t = np.zeros((COUNT, n, n))
    at = np.arange(n)
    t[:, at, at] = d
    t[:, at[1:], at[:-1]] = t[:, at[:-1], at[1:]] = e
    np.testing.assert_array_equal(form[:, at, at].real, d)
    np.testing.assert_array_equal(form[:, at[1:], at[:-1]].real, e)
    q = np.broadcast_to(np.eye(n), a.shape).astype(np.complex128)
    for k in reversed(range(n - 1)):
        v = np.zeros((COUNT, n, 1), np.complex128)
        v[:, k + 1], v[:, k + 2 :, 0] = 1, form[:, k + 2 :, k]
        q = q - taus[:, k, None, None] * v @ (adjoint(v) @ q)
    assert error(q @ t @ adjoint(q), a, a, dtype) < 300
    other = np.where(np.tri(n, dtype=bool), a, 7)  # the other triangle is not read
    for part, whole in zip(lax.linalg.tridiagonal(other, lower=True)[1:], out[1:], strict=True):
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n, columns", ((1, 1), (2, 3), (5, 32), (32, 1)))
def test_tridiagonal_systems(n, columns, dtype):
    rng = np.random.default_rng(n)
    below, middle, above = stack(3, n, dtype)[9:].swapaxes(0, 1)
    b = rng.standard_normal((len(middle), n, columns)).astype(dtype)
    middle[5] = 0  # rows change places, or the matrix is singular
    middle[7] = below[7] = above[7] = 0
    matrix = np.zeros((len(middle), n, n), np.complex128)
    at = np.arange(n)
    matrix[:, at, at] = middle
    matrix[:, at[1:], at[:-1]], matrix[:, at[:-1], at[1:]] = below[:, 1:], above[:, :-1]
    x = np.asarray(lax.linalg.tridiagonal_solve(below, middle, above, b))
    assert np.isnan(x[7]).all()
    regular = ~np.isnan(x).any((1, 2))
    np.testing.assert_array_equal(regular, np.linalg.det(matrix) != 0)
    x, matrix, b = x[regular], matrix[regular], b[regular]
    gap = np.abs(matrix @ x - b).max((1, 2))
    assert (gap < 100 * np.finfo(dtype).eps * (1 + np.abs(x).max((1, 2)))).all()


def test_derivatives_are_those_of_one_matrix():
    a = stack(5, 4, "float64")[9:25]
    values = lambda x: jnp.linalg.svd(x, compute_uv=False).sum() ** 2  # noqa: E731
    one = [shardax.grad(values)(x) for x in a]
    np.testing.assert_allclose(shardax.vmap(shardax.grad(values))(a), one, rtol=1e-9)
    square = lambda x: jnp.abs(lax.linalg.eigh(x.T @ x)[0]).sum()  # noqa: E731
    one = [shardax.grad(square)(x) for x in a]
    np.testing.assert_allclose(shardax.vmap(shardax.grad(square))(a), one, rtol=1e-6, atol=1e-9)
