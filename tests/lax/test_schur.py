"""tests/lax/test_schur.py - eigenvectors and Schur forms of stacks of small matrices, which are
found a vector's lanes at a time."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax, scipy

DTYPES = ("float32", "float64", "complex64", "complex128")
COUNT = 43  # the last group of lanes is a part of one
SIZES = (1, 2, 3, 4, 8, 13, 32)


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def stack(n, dtype):
    """Random matrices, and those that steps could stumble over."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((COUNT, n, n))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(a.shape)
    a[0], a[1], a[2] = 0, np.eye(n), 1
    a[3] *= 1e-10
    a[4] *= 1e30
    a[5], a[6] = np.triu(a[5]), np.tril(a[6])
    a[7], a[8] = np.eye(n, k=1), np.eye(n, k=-1)
    a[9] = np.roll(np.eye(n), 1, 0)  # no shift of the usual kind moves it
    a[10], a[11] = a[10] + adjoint(a[10]), a[11] - adjoint(a[11])
    q = np.linalg.qr(a[12])[0]
    a[12] = q
    a[13] = q @ np.diag(np.arange(n) // 2) @ adjoint(q)  # pairs of equal eigenvalues
    a[14] = 2 * np.eye(n) + np.eye(n, k=1)
    a[14, -1, 0] = 1e-3
    a[15] = np.round(a[15].real)
    return a.astype(dtype)


def sizes(a, dtype):
    """One unit of rounding for each matrix."""
    size = np.abs(a).max((1, 2), keepdims=True).astype(np.float64)
    return np.where(size == 0, 1, size) * np.finfo(dtype).eps * a.shape[-1]


def wide(*values):
    return [np.asarray(x).astype("complex128") for x in values]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_eigenvectors(n, dtype):
    a = stack(n, dtype)
    w, v = map(np.asarray, jnp.linalg.eig(a))
    assert (np.abs(np.subtract(*wide(a @ v, v * w[:, None]))) < 10 * sizes(a, dtype)).all()
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), 1, rtol=30 * np.finfo(dtype).eps)
    real = np.where(np.abs(v.imag) < 30 * np.finfo(dtype).eps, np.abs(v), 0)
    assert (real.max(1) > 0.999 * np.abs(v).max(1)).all()  # the largest component
    np.testing.assert_array_equal(jnp.linalg.eigvals(a), w)
    if np.dtype(dtype).kind == "f":
        np.testing.assert_array_equal(np.sort_complex(w), np.sort_complex(w.conj()))
        assert not v.imag[np.broadcast_to(w.imag[:, None] == 0, v.shape)].any()
    upper = np.sort_complex(np.diagonal(a[5]))
    np.testing.assert_array_equal(np.sort_complex(w[5]), upper)
    np.testing.assert_array_equal(w[8], 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_schur_forms(n, dtype):
    a = stack(n, dtype)
    t, z = map(np.asarray, scipy.linalg.schur(a))
    assert (np.abs(np.subtract(*wide(z @ t @ adjoint(z), a))) < 10 * sizes(a, dtype)).all()
    assert np.abs(adjoint(z) @ z - np.eye(n)).max() < 10 * n * np.finfo(dtype).eps
    np.testing.assert_array_equal(lax.linalg.schur(a, compute_schur_vectors=False)[0], t)
    if np.dtype(dtype).kind == "c":
        return np.testing.assert_array_equal(np.tril(t, -1), 0)
    np.testing.assert_array_equal(np.tril(t, -2), 0)
    below, above = np.diagonal(t, -1, 1, 2), np.diagonal(t, 1, 1, 2)
    diagonal, pair = np.diagonal(t, 0, 1, 2), below != 0
    assert not (pair[:, 1:] & pair[:, :-1]).any()
    assert (np.sign(below) != np.sign(above))[pair].all()
    np.testing.assert_array_equal(diagonal[:, 1:][pair], diagonal[:, :-1][pair])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_matrix_does_not_depend_on_its_neighbours(dtype):
    a = stack(7, dtype)
    spoilt = a.copy()
    spoilt[20, 0, 0], spoilt[22, 1, 0] = np.nan, np.inf
    good = np.setdiff1d(np.arange(COUNT), [20, 22])
    for f in (jnp.linalg.eig, scipy.linalg.schur):
        whole = f(a)
        for part, out in zip(f(a[9:40]), whole):
            np.testing.assert_array_equal(part, np.asarray(out)[9:40])
        for bad, out in zip(f(spoilt), whole):
            assert np.isnan(np.asarray(bad)[[20, 22]]).all()
            np.testing.assert_array_equal(np.asarray(bad)[good], np.asarray(out)[good])


@pytest.mark.parametrize("dtype", ("float64", "complex128"))
def test_rows_of_very_different_sizes(dtype):
    """Eigenvalues are those of the balanced matrix: small ones keep their digits."""
    a = stack(5, dtype)[16:]
    scale = 10.0 ** np.arange(0, 50, 10)
    scaled = a * scale[:, None] / scale
    got = np.sort_complex(np.asarray(jnp.linalg.eigvals(scaled)))
    np.testing.assert_allclose(got, np.sort_complex(np.asarray(jnp.linalg.eigvals(a))), rtol=1e-9)
