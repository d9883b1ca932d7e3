"""tests/lax/test_decompositions.py - decompositions by LAPACK: their equations for each dtype and
shape, bits, limits, and the library itself."""

import os
import pathlib
import platform
import subprocess
import sys

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax, scipy
from shardax.test_util import check_grads

sys.path.append(str(pathlib.Path(__file__).parents[1]))
import peak_memory  # noqa: E402

DTYPES = ("float32", "float64", "complex64", "complex128")
SHAPES = ((1, 1), (1, 4), (4, 1), (5, 5), (7, 3), (3, 7), (40, 40), (2, 3, 4, 4), (0, 3, 3), (3, 0))


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


def matrix(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def near(got, want, dtype, scale=1):
    eps = np.finfo(dtype).eps * 300 * scale
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=eps, atol=eps)


def identity(shape, n, dtype):
    return np.broadcast_to(np.eye(n, dtype=dtype), (*shape[:-2], n, n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_of_any_shape(shape, dtype):
    a = matrix(shape, dtype)
    m, n = shape[-2:]
    for full in (True, False):
        q, r = map(np.asarray, lax.linalg.qr(a, full_matrices=full))
        near(q @ r, a, dtype)
        near(adjoint(q) @ q, identity(shape, q.shape[-1], dtype), dtype)
        near(r, np.triu(r), dtype)
        assert not np.diagonal(r, axis1=-2, axis2=-1).imag.any()
        q, r, order = map(np.asarray, lax.linalg.qr(a, pivoting=True, full_matrices=full))
        near(q @ r, np.take_along_axis(a, order[..., None, :], -1) if a.size else a, dtype)
        u, s, vh = map(np.asarray, lax.linalg.svd(a, full_matrices=full))
        k = min(m, n)
        near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, dtype)
        near(adjoint(u) @ u, identity(shape, u.shape[-1], dtype), dtype)
        near(vh @ adjoint(vh), identity(shape, vh.shape[-2], dtype), dtype)
    near(lax.linalg.svd(a, compute_uv=False), s, dtype)
    low_up, pivots, order = map(np.asarray, lax.linalg.lu(a))
    low = np.tril(low_up[..., :k], -1) + np.eye(m, k, dtype=dtype)
    near(low @ np.triu(low_up[..., :k, :]), np.take_along_axis(a, order[..., None], -2), dtype)
    assert pivots.shape == (*shape[:-2], k)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[-1] == s[-2]], ids=str)
def test_of_squares(shape, dtype):
    a = matrix(shape, dtype)
    n = shape[-1]
    h = a + adjoint(a)
    v, w = map(np.asarray, lax.linalg.eigh(h))
    near(h @ v, v * w[..., None, :], dtype, 4)
    assert (np.diff(w) >= 0).all()
    w, left, right = map(np.asarray, lax.linalg.eig(a))
    near(a.astype(w.dtype) @ right, right * w[..., None, :], dtype, 4)
    near(adjoint(left) @ a, w[..., None] * adjoint(left), dtype, 4)
    t, z = map(np.asarray, lax.linalg.schur(a))
    near(z @ t @ adjoint(z), a, dtype)
    definite = h @ h + np.eye(n, dtype=dtype)
    low = np.asarray(lax.linalg.cholesky(definite))
    near(low @ adjoint(low), definite, dtype, 30)
    near(jnp.linalg.solve(definite, definite), identity(shape, n, dtype), dtype, 100)
    h, q = map(np.asarray, scipy.linalg.hessenberg(a, calc_q=True))
    near(q @ h @ adjoint(q), a, dtype)


def test_the_triangle_that_is_named_is_read():
    a = matrix((4, 4), "float64")
    for lower, half in ((True, np.tril(a)), (False, np.triu(a))):
        other = np.where(half == 0, np.nan, half) + np.where(np.eye(4), 0, 0)
        whole = half + half.T - np.diag(np.diag(half))
        want = np.linalg.eigvalsh(whole)
        near(lax.linalg.eigh(other, lower=lower, symmetrize_input=False)[1], want, "float64")
        near(jnp.linalg.eigvalsh(other, "L" if lower else "U", symmetrize_input=False), want, "f8")
    definite = a @ a.T
    other = np.where(np.tril(np.ones((4, 4))), definite, np.nan)
    low = lax.linalg.cholesky(other, symmetrize_input=False)
    near(low, np.linalg.cholesky(definite), "float64")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_gives_nan(bad):
    a = np.stack([np.eye(3), np.full((3, 3), bad)]).astype(np.float32)
    for f in (
        jnp.linalg.eigh,
        jnp.linalg.eig,
        jnp.linalg.svd,
        jnp.linalg.inv,
        lax.linalg.schur,
    ):
        for out in shardax.tree_util.tree_leaves(f(a)):
            assert np.isfinite(out[0]).all() and np.isnan(out[1]).all(), f


def test_determinants():
    rng = np.random.default_rng(0)
    for n in range(7):
        a = rng.standard_normal((2, n, n))
        near(jnp.linalg.det(a), np.linalg.det(a), "float64")
        for got, want in zip(jnp.linalg.slogdet(a), np.linalg.slogdet(a)):
            near(got, want, "float64")
    # The derivative is the cofactors, also where the determinant is 0.
    for rank in (4, 3, 2):
        u = rng.standard_normal((4, rank))
        a = u @ rng.standard_normal((rank, 4))
        minors = [
            [np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) * (-1) ** (i + j) for j in range(4)]
            for i in range(4)
        ]
        got = shardax.grad(jnp.linalg.det)(a)
        np.testing.assert_allclose(got, minors, rtol=1e-6, atol=1e-9)
    check_grads(jnp.linalg.det, (rng.standard_normal((4, 4)),), order=2)
    check_grads(lambda a: jnp.linalg.slogdet(a)[1], (rng.standard_normal((3, 3)),), order=2)


def test_second_derivatives_of_compositions():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((4, 4)), rng.standard_normal((4, 2))
    c = a + 1j * rng.standard_normal((4, 4))
    for f, args in (
        (jnp.linalg.inv, (a,)),
        (jnp.linalg.solve, (c, b + 0j)),
        (jnp.linalg.pinv, (a[:, :2],)),
        (jnp.linalg.pinv, (c[:2],)),
        (lambda a, b: jnp.linalg.lstsq(a, b)[0], (a[:, :3], b)),
        (lambda a: jnp.linalg.norm(a, "nuc"), (a,)),
        (lambda a: scipy.linalg.expm(a / 3), (a,)),
        (lambda a, b: scipy.linalg.solve(a @ a.T + 2 * jnp.eye(4), b, assume_a="pos"), (a, b)),
        (lambda a, b: scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, 1), (a, b)),
        (lambda a: scipy.linalg.polar(a, method="svd")[1], (a,)),
    ):
        check_grads(f, args, order=2, rtol=1e-4, atol=1e-4)


@peak_memory.linux_only
def test_pseudo_inverse_of_a_long_matrix_takes_megabytes():
    a = np.random.default_rng(0).standard_normal((2, 400_000)).astype(np.float32)
    peak = peak_memory.Peak()
    near(
        np.asarray(jnp.linalg.pinv(a)).T @ a.T @ a[:, :5], a[:, :5] @ np.eye(5, dtype="f4"), "f4", 9
    )
    moved = shardax.jvp(jnp.linalg.pinv, (a,), (a,))[1]
    near(moved, -np.asarray(jnp.linalg.pinv(a)), "f4", 9)
    assert peak.kilobytes() < 300_000


def test_least_squares_of_lower_rank():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 4))
    b = rng.standard_normal((6, 3))
    x, _, rank, _ = jnp.linalg.lstsq(a, b)
    near(x, np.linalg.lstsq(a, b, rcond=1e-12)[0], "float64", 10)
    assert rank == 2
    assert not np.asarray(jnp.linalg.lstsq(np.zeros((2, 2)), np.ones((2, 2)))[0]).any()


def test_a_stack_has_the_bits_of_its_matrices():
    for n in (6, 170, 260):  # one thread, the border, LAPACK's own threads
        a = matrix((3, n, n), "float32")
        for f in (jnp.linalg.eigh, jnp.linalg.svd, jnp.linalg.qr, lax.linalg.lu, jnp.linalg.solve):
            args = (a, a[::-1]) if f is jnp.linalg.solve else (a,)
            whole = shardax.tree_util.tree_leaves(f(*args))
            for i in range(3):
                one = shardax.tree_util.tree_leaves(f(*(x[i] for x in args)))
                for w, o in zip(whole, one):
                    assert np.array_equal(w[i], o), (n, f)


def test_half_precision_is_computed_in_float32():
    a = matrix((3, 3), "float32")
    for dtype in (jnp.float16, jnp.bfloat16):
        x = jnp.asarray(a, dtype)
        want = jnp.linalg.inv(x.astype(jnp.float32)).astype(dtype)
        assert jnp.linalg.inv(x).dtype == dtype
        np.testing.assert_allclose(
            jnp.linalg.inv(x).astype(jnp.float32), want.astype(jnp.float32), rtol=3e-2, atol=3e-2
        )


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_the_library_is_loaded_at_first_use():
    done = run(
        "import shardax, shardax.numpy as jnp, shardax.lax.linalg\n"
        "maps = lambda: open('/proc/self/maps').read().count('libscipy_openblas.so')\n"
        "jnp.ones(3).sum()\n"
        "assert not maps()\n"
        "jnp.linalg.inv(jnp.eye(2))\n"
        "assert maps()\n"
    )
    assert done.returncode == 0, done.stderr


def test_a_missing_library_is_named():
    done = run(
        "import sys\n"
        "sys.modules['scipy_openblas32'] = None\n"
        "import shardax.numpy as jnp\n"
        "try: jnp.linalg.inv(jnp.eye(2))\n"
        "except ImportError as error: print(error)\n"
    )
    assert "Install it with pip install scipy-openblas32" in done.stdout, done.stderr


def test_forked_children_decompose():
    """Also while another thread is in the library."""
    a = matrix((300, 300), "float64")
    jnp.linalg.eigvalsh(a)
    import threading

    stop = threading.Event()

    def busy():
        while not stop.is_set():
            jnp.linalg.svd(a)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if not child:
                ok = np.isfinite(np.asarray(jnp.linalg.inv(a))).all()
                os._exit(0 if ok else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", (1, 2, 3, 8, 32))
def test_many_small_hessenberg_forms_as_one(n, dtype):
    a = matrix((35, n, n), dtype)
    a[3] = np.eye(n)
    a[4] = 0
    a[5] *= 1e-30
    h, taus = map(np.asarray, lax.linalg.hessenberg(a))
    form, q = np.triu(h, -1), identity(a.shape, n, dtype).copy()
    if n > 1:
        q[:, 1:, 1:] = lax.linalg.householder_product(h[:, 1:, :-1], taus)
    near(adjoint(q) @ q, identity(a.shape, n, dtype), dtype)
    near(q @ form @ adjoint(q), a, dtype)
    if n < 9:
        want, want_taus = map(np.stack, zip(*map(lax.linalg.hessenberg, a)))
        near(h, want, dtype, 30)
        near(taus, want_taus, dtype, 30)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", ((1, 1), (3, 3), (5, 2), (2, 5), (8, 8), (32, 7), (32, 32)), ids=str
)
def test_many_small_matrices_as_one(shape, dtype):
    """A group of lanes, the last of them part of one, gives what LAPACK does for each matrix."""
    a = matrix((35, *shape), dtype)
    a[3] = np.ones(shape)  # of rank one
    a[4] = 0
    for full in (True, False):
        for got, want in zip(
            lax.linalg.qr(a, full_matrices=full),
            zip(*(lax.linalg.qr(x, full_matrices=full) for x in a)),
        ):
            regular = np.r_[0:3, 5:35]
            near(np.asarray(got)[regular], np.stack(want)[regular], dtype, 30)
        q, r = lax.linalg.qr(a, full_matrices=full)
        near(q @ r, a, dtype)
    factors, *swaps = lax.linalg.lu(a)
    want, *want_swaps = map(np.stack, zip(*map(lax.linalg.lu, a)))
    near(factors, want, dtype, 30)
    for got, expected in zip(swaps, want_swaps):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_many_small_systems_as_one(dtype):
    a = matrix((19, 6, 6), dtype) + 6 * np.eye(6, dtype=dtype)
    definite = a @ adjoint(a)
    definite[2] -= 1000 * np.eye(6, dtype=dtype)
    definite[5, 3, 1] = np.nan
    got = lax.linalg.cholesky(definite, symmetrize_input=False)
    want = [lax.linalg.cholesky(x, symmetrize_input=False) for x in definite]
    near(got, np.stack(want), dtype, 30)
    assert np.isnan(got[2]).sum() == 21 and not np.isnan(got[4]).any()
    for left in (True, False):
        b = matrix((19, 6, 3) if left else (19, 3, 6), dtype, 1)
        for flags in np.ndindex(2, 2, 2, 2):
            options = dict(zip(("lower", "transpose_a", "conjugate_a", "unit_diagonal"), flags))
            options = {"left_side": left, **{k: bool(v) for k, v in options.items()}}
            scaled = a / 6 if options["unit_diagonal"] else a
            got = lax.linalg.triangular_solve(scaled, b, **options)
            want = [lax.linalg.triangular_solve(x, y, **options) for x, y in zip(scaled, b)]
            near(got, np.stack(want), dtype, 30)


def test_on_one_processor_the_library_has_one_thread():
    done = run(
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "import numpy as np, shardax.numpy as jnp\n"
        "tasks = lambda: len(os.listdir('/proc/self/task'))\n"
        "jnp.ones(3).block_until_ready(); before = tasks()\n"
        "np.asarray(jnp.linalg.qr(np.eye(400)).R); print(tasks() - before)\n"
    )
    assert done.stdout == "0\n", done.stdout + done.stderr


SHORT_VECTORS = """
import ctypes
set_sme_vector_length, get_sme_vector_length, bytes_ = 63, 64, 16
prctl = ctypes.CDLL(None).prctl
if prctl(set_sme_vector_length, bytes_) < 0 or prctl(get_sme_vector_length) & 0xffff != bytes_:
    print("unknown")
    raise SystemExit
import numpy as np
import shardax.numpy as jnp
a = np.random.default_rng(0).standard_normal((300, 300)).astype(np.float32)
q, r = map(np.float64, jnp.linalg.qr(a))
print(abs(q @ r - a).max() < 1e-4)
"""


@pytest.mark.skipif(platform.machine() != "aarch64", reason="vectors of SME are AArch64's")
def test_float32_on_processors_whose_sme_has_short_vectors():
    done = run(SHORT_VECTORS)
    if done.stdout == "unknown\n":
        pytest.skip("this processor has no vectors of SME with 128 bits")
    assert done.stdout == "True\n", done.stdout + done.stderr


STACK = """
import numpy as np
import shardax.numpy as jnp
a = np.random.default_rng(0).standard_normal((2, 260, 260)).astype(np.float32)
alone = [np.asarray(jnp.linalg.qr(x).R).tobytes() for x in a]
stacks = [[r.tobytes() for r in np.asarray(jnp.linalg.qr(a).R)] for _ in range(4)]
print({stack == alone for stack in stacks})
"""


def test_two_calls_at_once_have_the_bits_of_one():
    done = run(STACK)
    assert done.stdout == "{True}\n", done.stdout + done.stderr


def test_polar_of_short_floats():
    a = jnp.asarray(np.random.default_rng(0).standard_normal((4, 4)), "bfloat16")
    u, p = shardax.scipy.linalg.polar(a)
    assert u.dtype == p.dtype == jnp.bfloat16
    np.testing.assert_allclose(np.float32(u @ p), np.float32(a), atol=0.1)
