"""tests/lax/test_linalg.py - decompositions and triangular systems: values, derivatives, errors."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax, scipy
from shardax.test_util import check_grads

rng = np.random.default_rng(0)
A = rng.standard_normal((2, 4, 4)).astype(np.float32)
SPD = A @ A.swapaxes(-1, -2) + 4 * np.eye(4, dtype=np.float32)
LOW = np.tril(A) + 3 * np.eye(4, dtype=np.float32)
B = rng.standard_normal((2, 4, 3)).astype(np.float32)


def test_cholesky():
    np.testing.assert_allclose(
        lax.linalg.cholesky(SPD), np.linalg.cholesky(SPD), rtol=1e-5, atol=1e-5
    )
    half = np.tril(SPD) + np.triu(np.ones((4, 4)), 1).astype(np.float32)
    lower_only = lax.linalg.cholesky(half, symmetrize_input=False)
    np.testing.assert_allclose(lower_only, np.linalg.cholesky(SPD), rtol=1e-5, atol=1e-5)
    assert np.isnan(np.asarray(lax.linalg.cholesky(-SPD))[:, 0, 0]).all()
    assert lax.linalg.cholesky(np.zeros((0, 0), np.float32)).shape == (0, 0)
    check_grads(lax.linalg.cholesky, (SPD,), order=2, modes=("fwd", "rev"), rtol=2e-2, atol=2e-2)
    with pytest.raises(ValueError, match=r"must be a square matrix. Got shape \(2, 3\)"):
        lax.linalg.cholesky(np.ones((2, 3), np.float32))


def test_triangular_solve():
    x = lax.linalg.triangular_solve(LOW, B, left_side=True, lower=True)
    np.testing.assert_allclose(LOW @ x, B, atol=1e-5)
    vector = lax.linalg.triangular_solve(LOW, B[..., 0], left_side=True, lower=True)
    np.testing.assert_allclose(vector, x[..., 0], atol=1e-6)
    for trans, matrix in (("N", LOW), ("T", LOW.swapaxes(-1, -2))):
        for one in (LOW, LOW[0]):
            out = scipy.linalg.solve_triangular(one, B, trans, lower=True)
            wanted = np.linalg.solve(matrix if one is LOW else matrix[0], B)
            np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)

    def both_sides(a, b):
        left = lax.linalg.triangular_solve(a, b, left_side=True, lower=True, unit_diagonal=True)
        return left, lax.linalg.triangular_solve(
            a, b.swapaxes(-1, -2), lower=True, transpose_a=True
        )

    check_grads(both_sides, (LOW, B), order=2, modes=("fwd", "rev"), rtol=2e-2, atol=2e-2)
    once = shardax.vmap(
        lambda b: lax.linalg.triangular_solve(LOW[0], b, left_side=True, lower=True)
    )
    np.testing.assert_allclose(LOW[0] @ once(B), B, atol=1e-5)


def test_the_others():
    q, r = lax.linalg.qr(B, full_matrices=False)
    np.testing.assert_allclose(q @ r, B, atol=1e-5)
    u, s, vh = lax.linalg.svd(B, full_matrices=False)
    np.testing.assert_allclose(u * s[:, None] @ vh, B, atol=1e-4)
    vectors, values = lax.linalg.eigh(SPD)
    np.testing.assert_allclose(SPD @ vectors, vectors * values[:, None], atol=1e-3)
    product = lax.linalg.symmetric_product(B, SPD, alpha=2, beta=-1)
    np.testing.assert_allclose(product, 2 * B @ B.swapaxes(-1, -2) - SPD, rtol=1e-4, atol=1e-4)


def test_tridiagonal_solve():
    dl, d, du = (rng.standard_normal((2, 5)).astype(np.float32) for _ in range(3))
    d[:, 0] = 0
    b = rng.standard_normal((2, 5, 3)).astype(np.float32)
    matrices = np.stack(
        [np.diag(y) + np.diag(x[1:], -1) + np.diag(z[:-1], 1) for x, y, z in zip(dl, d, du)]
    )
    x = lax.linalg.tridiagonal_solve(dl, d, du, b)
    np.testing.assert_allclose(matrices @ x, b, atol=1e-5)
    check_grads(lax.linalg.tridiagonal_solve, (dl, d, du, b), order=1, rtol=2e-2, atol=2e-2)
    with pytest.raises(TypeError, match="all diagonal arguments have the same shape"):
        lax.linalg.tridiagonal_solve(dl[:1], d, du, b)
    with pytest.raises(TypeError, match="leading ndim-1 dimensions of b equal the dimensions of"):
        lax.linalg.tridiagonal_solve(dl, d, du, b[:, :, 0])
    with pytest.raises(TypeError, match="arguments to have the same dtypes, got float32, "):
        lax.linalg.tridiagonal_solve(dl, d, du, b.astype(np.complex64))


@pytest.mark.parametrize("rows", [1, 2, 33, 1639])
@pytest.mark.parametrize("count", [3, 4, 17])
@pytest.mark.parametrize("columns", [1, 2])
def test_tridiagonal_systems_of_a_stack(rows, count, columns):
    """They are solved in the lanes of vectors, with row pivots, and differ by rounding alone."""
    dl, d, du = (rng.standard_normal((count, rows)).astype(np.float32) for _ in range(3))
    d[:, 0] *= 0.01
    dl[:, 0] = du[:, -1] = 0
    b = rng.standard_normal((count, rows, columns)).astype(np.float32)
    x = np.asarray(lax.linalg.tridiagonal_solve(dl, d, du, b))
    # The solution is that of a system nearby. This bounds its error by the condition number, too.
    lower, middle, upper = (v[..., None].astype(np.float64) for v in (dl, d, du))
    before, after = np.roll(x, 1, 1), np.roll(x, -1, 1)
    left = lower * before + middle * x + upper * after - b
    norm = (np.abs(lower) + np.abs(middle) + np.abs(upper)).max((1, 2), keepdims=True)
    sizes = norm * np.abs(x).max(1, keepdims=True) + np.abs(b).max(1, keepdims=True)
    assert (np.abs(left) <= 1e-6 * sizes).all()
    if rows > 100:  # NumPy's condition number takes a second for each
        return
    matrices = np.zeros((count, rows, rows))
    k = np.arange(rows)
    matrices[:, k, k] = d
    matrices[:, k[:-1], k[1:]] = du[:, :-1]
    matrices[:, k[1:], k[:-1]] = dl[:, 1:]
    expected = np.linalg.solve(matrices, b.astype(np.float64))
    size = np.abs(expected).max((1, 2), keepdims=True)
    worst = np.linalg.cond(matrices).reshape(-1, 1, 1)
    assert (np.abs(x - expected) <= 1e-6 * worst * size).all()


@pytest.mark.parametrize(
    "a, b, text",
    [
        (LOW[:, :2], B, "must be a square matrix. Got shape .2, 2, 4."),
        (LOW, B[0, 0], "Input 1 to triangular_solve must have rank at least 2"),
        (LOW, B[0, :, :, None, None], "must have the same number of batch dimensions"),
        (LOW, B[:1], "requires all arguments to have the same batch dimensions"),
        (LOW, B[:, :3], "Incompatible shapes for arguments to triangular_solve: .* left_side=True"),
        (
            LOW,
            B.astype(np.complex64),
            "requires arguments to have the same dtypes, got float32, com",
        ),
    ],
)
def test_errors(a, b, text):
    with pytest.raises((TypeError, ValueError), match=text):
        lax.linalg.triangular_solve(jnp.asarray(a), jnp.asarray(b), left_side=True)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("layout", ["rows", "columns", "cut", "reversed"])
@pytest.mark.parametrize("sides", [1, 2])
def test_triangular_systems_wherever_the_matrix_lies(dtype, layout, sides):
    n = 40
    a = rng.standard_normal((50, 50)).astype(dtype) + 8 * np.eye(50, dtype=dtype)
    if dtype == "complex64":
        a += 1j * rng.standard_normal((50, 50)).astype("float32")
    x = {
        "rows": lambda: jnp.asarray(a[:n, :n]),
        "columns": lambda: jnp.asarray(a[:n, :n]).T,
        "cut": lambda: jnp.asarray(a)[5 : 5 + n, 5 : 5 + n],
        "reversed": lambda: jnp.asarray(a)[n - 1 :: -1, n - 1 :: -1],
    }[layout]()
    b = rng.standard_normal((n, sides)).astype(dtype)
    flags = [
        (left, low, t, c, u)
        for left in (0, 1)
        for low in (0, 1)
        for t in (0, 1)
        for c in (0, 1)
        for u in (0, 1)
    ]
    for left, lower, transpose, conjugate, unit in flags:
        options = dict(left_side=bool(left), lower=bool(lower), transpose_a=bool(transpose))
        options |= dict(conjugate_a=bool(conjugate), unit_diagonal=bool(unit))
        full = np.tril(x) if lower else np.triu(x)
        if unit:
            full = full - np.diag(np.diag(full)) + np.eye(n)
            full = np.eye(n) + 0.1 * (full - np.eye(n))
        scaled = jnp.asarray(full.astype(dtype)) if unit else x
        op = full.conj() if conjugate else full
        op = op.T if transpose else op
        expected = np.linalg.solve(op, b) if left else np.linalg.solve(op.T, b).T
        found = lax.linalg.triangular_solve(scaled, b if left else b.T, **options)
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


def test_products_take_what_the_array_api_says():
    x, y = jnp.eye(3)[0], jnp.eye(3)
    np.testing.assert_array_equal(jnp.linalg.cross(x, y), np.cross(x, y))
    np.testing.assert_array_equal(jnp.linalg.cross(x, y, axis=0), np.cross(x, y.T).T)
    np.testing.assert_array_equal(jnp.linalg.tensordot(y, y, axes=1), y)
    np.testing.assert_array_equal(jnp.linalg.matmul(y, y, precision="highest"), y)
    with pytest.raises(ValueError, match="arrays of. 3-dimensional vectors, but they have x1"):
        jnp.linalg.cross(jnp.ones(2), jnp.ones(2))
    with pytest.raises(TypeError):
        jnp.linalg.tensordot(y, y, 1)
