"""tests/parity/cases_linalg.py - linalg of jnp, lax and scipy: conventions, corners, derivatives."""

import importlib

import numpy as np

import corpus as parity


def setup(names):
    jax = names["jax"]
    package = jax.__name__
    rng = np.random.default_rng(7)
    general = rng.integers(-9, 10, (4, 4)).astype(np.float32)
    general[0, 0] = 11  # no ties between pivots
    wave = (general + 1j * rng.integers(-9, 10, (4, 4))).astype(np.complex64)
    hermitian = wave @ wave.conj().T + 20 * np.diag([0, 1, 3, 6]).astype(np.complex64)
    names.update(
        a=general,
        c=wave,
        h=hermitian,
        s=hermitian.real.copy(),
        v=general[1],
        nan=np.full((2, 2), np.nan, np.float32),
        low=np.tril(general) + 12 * np.eye(4, dtype=np.float32),
        equal=np.eye(3, dtype=np.float32),
        zero=np.zeros((3, 3), np.float32),
        L=importlib.import_module(f"{package}.lax.linalg"),
        N=jax.numpy.linalg,
        S=importlib.import_module(f"{package}.scipy.linalg"),
        empty=lambda *shape: np.zeros(shape, np.float32),
        grad=jax.grad,
        jvp=jax.jvp,
    )


corpus = parity.Corpus(setup)
EPS = {"rtol": 2e-4, "atol": 2e-4}

corpus.expressions(
    """
[N.eigh(s), N.eigh(h)[0], N.eigvalsh(h, "U")]
[N.eigh(a, UPLO=u, symmetrize_input=False) for u in "LU"]
[N.eigh(a), L.eigh(a, lower=False, symmetrize_input=False)]
[N.svd(a[:2]), N.svd(a[:, :1]), N.svd(a[:1], full_matrices=False), N.svd(c, compute_uv=False)]
[N.svd(s - 60 * np.eye(4, dtype=np.float32), hermitian=True), N.svd(s, hermitian=True, compute_uv=False)]
L.svd(a, algorithm=L.SvdAlgorithm.QR, full_matrices=False)
[N.qr(a), N.qr(a[:, :2], "complete"), N.qr(c[:2]), N.qr(a, "r"), N.qr(a[:, :2], "raw")]
[L.qr(a, pivoting=True), L.qr(c[:, :2], pivoting=True, full_matrices=False)]
[L.lu(a), L.lu(c[:2]), L.lu(a[:, :2]), L.lu(a[:1])]
L.lu_pivots_to_permutation(np.int32([[2, 2], [3, 1]]), 4)
[N.eig(a), N.eigvals(c), L.eig(a, compute_right_eigenvectors=False)]
[L.tridiagonal(s), L.tridiagonal(h, lower=False), L.hessenberg(a)]
[L.householder_product(a, v[:2] / 9), L.ormqr(c, v / 9 + 0j, c, left=False, transpose=True)]
L.cholesky_update(np.triu(np.abs(a)) + 3 * np.eye(4, dtype=np.float32), v)
L.tridiagonal_solve(v, v + 20, v, a)
[L.symmetric_product(a[:, :2], s, alpha=2.0, beta=0.5, symmetrize_output=True)]
[x.shape for x in L.qdwh(a)]
[N.det(a), N.det(c), N.det(a[:2, :2]), N.det(a[:1, :1]), N.det(a[:3, :3]), N.det(zero)]
[N.slogdet(a), N.slogdet(c), N.slogdet(zero), N.slogdet(a, method="qr"), N.slogdet(-a[:1, :1])]
[N.pinv(a[:2]), N.pinv(c[:, :2]), N.pinv(h, hermitian=True), N.pinv(zero), N.pinv(a, 0.5)]
[N.matrix_rank(a), N.matrix_rank(zero), N.matrix_rank(s, hermitian=True), N.matrix_rank(a, tol=9.0), N.matrix_rank(v)]
[N.cond(a, p) for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro")]
[N.cond(zero), N.cond(zero, 1), N.cond(zero, -2)]
[N.lstsq(a[:2], v[:2]), N.lstsq(a[:, :2], a), N.lstsq(zero, v[:3], numpy_resid=True), N.lstsq(a, v, -1)]
[N.vector_norm(a, axis=()), N.vector_norm(a, axis=(0, 1), keepdims=True), N.vector_norm(a, ord=-np.inf)]
[N.norm(c, o, (1, 0), k) for o in (None, 1, -1, 2, -2, "nuc", np.inf, -np.inf) for k in (False, True)]
[jnp.roots(np.float32([0, 2, -6, 4])), jnp.roots(v[:1]), jnp.roots(np.float32([0, 1, 0]), strip_zeros=False)]
[jnp.poly(np.float32([[2, 1], [1, 3]])), jnp.poly(v)]
""",
    **EPS,
)

corpus.expressions(
    """
[N.det(empty(0, 0)), N.slogdet(empty(0, 0)), N.inv(empty(0, 0)), N.solve(empty(0, 0), empty(0, 2))]
[N.eigh(empty(0, 0)), N.cholesky(empty(2, 0, 0)), N.norm(empty(0, 0), 1), N.vector_norm(empty(0, 0), ord=np.inf)]
[N.qr(empty(3, 0), "complete"), N.qr(empty(0, 3)), N.svd(empty(3, 0)), N.svd(empty(0, 3), full_matrices=False)]
[N.pinv(empty(0, 3)), N.lstsq(empty(0, 2), empty(0)), N.matrix_power(empty(0, 0), 2)]
[N.eig(empty(0, 0)), L.schur(empty(0, 0)), L.lu(empty(0, 3)), S.hessenberg(empty(0, 0))]
[N.eigh(nan), N.svd(nan), N.eig(nan), N.qr(nan), L.lu(nan), N.cholesky(nan), N.det(nan), N.inv(nan)]
[N.cholesky(-s), N.inv(zero), N.solve(zero, zero), L.triangular_solve(zero, zero, left_side=True), N.pinv(nan)]
L.tridiagonal_solve(empty(3), empty(3), empty(3), empty(3, 1))
""",
    **EPS,
)

corpus.expressions(
    """
jvp(N.eigh, (equal,), (a[:3, :3],))
jvp(lambda x: N.svd(x, full_matrices=False), (equal,), (a[:3, :3],))
jvp(lambda x: N.svd(x), (a[:2],), (a[:2],)) !! not implemented for full matrices
[grad(lambda x: N.det(x))(x) for x in (a, zero, np.ones((4, 4), np.float32), np.diag(np.float32([1, 2, 3, 0])))]
jvp(N.slogdet, (c,), (c,))
jvp(N.pinv, (a[:2],), (a[2:],))
jax.jacobian(lambda p: N.pinv(jnp.array([[0, 0], [-p, 1]]) / (1 + p * p)))(2.0)
grad(lambda x: N.pinv(x, hermitian=True).sum())(s / 100)
jvp(lambda x: N.qr(x, "complete"), (a[:, :2],), (a[:, 2:],))
jvp(lambda x: L.qr(x, pivoting=True)[:2], (a,), (s,))
jvp(lambda x: L.lu(x)[0], (a[:, :2],), (s[:, :2],))
jvp(N.eigvals, (a,), (s,))
jvp(lambda x: L.eig(x, enable_eigvec_derivs=True), (a,), (s,))
jvp(lambda x: N.eig(x)[1], (a,), (s,)) !! only valid under assumptions on the input
jvp(L.schur, (a,), (a,)) !! Differentiation rule for 'schur' not implemented
grad(lambda b: S.solve(s, b, assume_a="pos").sum())(v)
grad(lambda x: S.expm(x / 20).sum())(a)
grad(lambda x: N.norm(x, "nuc"))(a)
""",
    **EPS,
)

corpus.expressions(
    """
[S.lu(a), S.lu(c[:2], permute_l=True), S.lu_factor(a), S.lu_solve(S.lu_factor(c), v, 2)]
[S.qr(a[:, :2], mode=m, pivoting=p) for m in ("full", "economic", "r") for p in (False, True)]
[S.qr_multiply(c[:, :2], x, mode=m, conjugate=k) for m, x in (("right", c), ("left", c[:2])) for k in (False, True)]
[S.cholesky(h), S.cholesky(h, lower=True), S.cho_solve(S.cho_factor(h), v)]
[S.solve(h, v, assume_a="pos", lower=True), S.solve(a, s), S.solve_triangular(c, v, trans="C")]
[S.hessenberg(a, calc_q=True), S.schur(np.triu(a)), S.eigh(h, eigvals_only=True)]
[S.eigh_tridiagonal(v, v[1:], eigvals_only=True), S.eigh_tridiagonal(v, v[1:], eigvals_only=True, select="i", select_range=(1, 2))]
[S.sqrtm(s), S.funm(s / 50, jnp.exp), S.polar(a, method="svd"), S.polar(a), S.solve_sylvester(s, s, a)]
S.expm_frechet(a / 9, s / 90)
[S.toeplitz(v), S.toeplitz(c[0], c), S.hankel(v), S.hankel(v, a), S.circulant(a)]
[S.leslie(v, v[1:]), S.companion(a), S.fiedler(v), S.fiedler_companion(v), S.fiedler_companion(v[:2])]
[S.convolution_matrix(v, n, mode=m) for n in (2, 6) for m in ("full", "same", "valid")]
[S.hilbert(3), S.invhilbert(3), S.pascal(4), S.pascal(4, "lower"), S.invpascal(4, "upper"), S.helmert(3), S.helmert(3, full=True)]
[S.hadamard(4), S.dft(5), S.dft(4, "sqrtn"), S.dft(4, "n"), S.block_diag(v, a)]
[S.companion(v[:2]), S.companion(a[:, :2]), S.leslie(a[:, :2], v[:1])]
S.funm(a, jnp.exp, disp=False)[0] / 1e4
S.hadamard(6) !! n must be a positive power of 2
S.dft(3, "x") !! scale must be None, 'sqrtn', or 'n'
S.pascal(3, "x") !! Expected kind to be on
S.convolution_matrix(v, 0) !! n must be a positive integer
S.leslie(v, v) !! Incorrect lengths for f and s
S.companion(v[:1]) !! must be at least 2
S.hankel(1.0) !! must be at least 1-dimensional
S.schur(a, "x") !! Expected 'output' to be either 'real' or 'complex'
S.polar(a[:2]) !! method='qdwh' only supports
S.polar(a, "up") !! must be either 'right' or 'left'
S.solve_sylvester(a, a, a[:2]) !! Incompatible shapes for Sylvester equation
S.rsf2csf(a, a[:2]) !! Input 'Z' must be square
S.funm(a[:2], jnp.exp) !! expected square array_like input
S.sqrtm(a, 2) !! Blocked version is not implemented yet
S.expm_frechet(a, a[:2]) !! must?|expected E to be a
S.qr_multiply(a, v[:2]) !! not compatible for c @ Q operation
S.qr(a, mode="x") !! Unsupported QR decomposition mode
S.eigh_tridiagonal(v, v[1:], select="v") !! not implemented
S.solve(a, v, assume_a="x") !! Expected assume_a to be one of
S.solve_triangular(a, v, trans=3) !! Invalid 'trans' value
""",
    **EPS,
)

corpus.expressions(
    """
L.eigh(a[:2], symmetrize_input=False) !! must have shape \\[..., n, n\\]
L.lu(v) !! Input 0 to lu must have rank at least 2
L.lu(np.ones((2, 2), int)) !! lu does not accept dtype int
L.eig(a[:2]) !! The input to eig must be a square matrix
L.schur(a[:2]) !! The input to schur must be a square matrix
L.hessenberg(a[:2]) !! Hessenberg reduction must have shape
L.tridiagonal(a[:2]) !! The input to tridiagonal must be a square matrix
L.householder_product(a[:2], v) !! at least as many rows as columns
L.ormqr(a, v, a[:2]) !! same number of rows as the Householder matrix
L.lu_pivots_to_permutation(np.zeros(3, np.int32), 2) !! Output permutation size 2 has to exceed
L.cholesky_update(a, v[:2]) !! a vector of the same size
L.triangular_solve(a[:2], a) !! must be a square matrix
L.triangular_solve(a, a[:2], left_side=True) !! Incompatible shapes
L.triangular_solve(a, c) !! arguments to have the same dtypes
L.tridiagonal_solve(v, v[:2], v, a) !! all diagonal arguments have the same shape
L.svd(a, algorithm=L.SvdAlgorithm.JACOBI) !! not implemented on CPU
L.svd(a, subset_by_index=(0, 2), full_matrices=False) !! subset_by_index not implemented
L.eigh(a, subset_by_index=(0, 2)) !! subset_by_index not supported
L.eigh(a, implementation=L.EighImplementation.QDWH) !! only supported on TPU
N.inv(a[:2]) !! Argument to inv must have shape
N.det(a[:2]) !! must have shape \\[..., n, n\\]
N.solve(v, v) !! must be at least two dimensional
N.slogdet(a, method="x") !! Unknown slogdet method
N.qr(a, "x") !! Unsupported QR decomposition mode
N.eigh(a, "x") !! UPLO must be one of None, 'L', or 'U'
N.cond(v) !! must be at least 2D
N.cond(a[:2], 1) !! array must be square
N.cond(empty(0, 2)) !! must not be empty
N.lstsq(a, v[:2]) !! Leading dimensions of input arrays must match
N.pinv(a, 0.1, rcond=0.1) !! only one of rtol and rcond
N.matrix_rank(a, 0.1, tol=0.1) !! only one of tol or rtol
N.matrix_power(a, 0.5) !! exponent must be an integer
N.norm(np.ones((1, 1, 1)), axis=(0, 1, 2)) !! Improper number of axes for norm
N.vector_norm(v, ord="inf") !! Invalid order 'inf' for vector norm
jnp.roots(a) !! Input must be a rank-1 array
""",
)
