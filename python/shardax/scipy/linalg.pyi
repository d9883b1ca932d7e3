"""Written by python/stubs.py."""

from typing import Any

from shardax.typing import ArrayLike

def block_diag(*arrs: Any) -> Any:
    """A matrix with these blocks along its diagonal; vectors are rows."""
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """(the Cholesky factor of a, `lower`), for `cho_solve`."""
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """x with a x = b, given `cho_factor` of a."""
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The upper triangular U with U* U = a (`lower`: L with L L* = a); that triangle of a alone is read."""
def circulant(c: Any) -> Any:
    """The matrices (..., n, n) whose columns are `c` (..., n), turned by one place each."""
def companion(a: Any) -> Any:
    """The companion matrices (..., n, n) of polynomials with coefficients `a` (..., n + 1), highest first."""
def convolution_matrix(a: Any, n: Any, mode: str = 'full') -> Any:
    """The matrices A (..., k, n) with A @ v = convolve(a, v, mode), for a (..., m) and v of n elements."""
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant of (..., n, n)."""
def dft(n: Any, scale: Any = None, *, dtype: Any = None) -> Any:
    """The matrix of the discrete Fourier transform of n numbers; `scale`: None, "sqrtn" or "n", by which it is divided."""
def eigh(a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True, eigvals: Any = None, type: int = 1, check_finite: bool = True) -> Any:
    """(eigenvalues ascending, eigenvectors in columns) of Hermitian (..., n, n)."""
def eigh_tridiagonal(d: Any, e: Any, *, eigvals_only: bool = False, select: str = 'a', select_range: Any = None, tol: Any = None, key: Any = None) -> Any:
    """(eigenvalues ascending, eigenvectors in columns) of the Hermitian matrix with the diagonal `d` (n,) and `e` (n - 1,) above it; eigvals_only: the eigenvalues."""
def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
    """The exponential of square matrices (..., n, n), by scaling and squaring; NaN where more than `max_squarings` would be needed."""
def expm_frechet(A: Any, E: Any, *, method: Any = None, compute_expm: bool = True) -> Any:
    """(expm(A), its derivative in the direction E), for (..., n, n); compute_expm=False: the derivative alone."""
def fiedler(a: Any) -> Any:
    """The matrices (..., n, n) of distances between the numbers of `a` (..., n)."""
def fiedler_companion(a: Any) -> Any:
    """Fiedler's companion matrices (..., n, n), with five diagonals, of polynomials with coefficients `a` (..., n + 1), highest first."""
def funm(A: Any, func: Any, disp: bool = True) -> Any:
    """func of (n, n), complex: `func` takes the eigenvalues as a vector; by Parlett's recurrence, so that they have to differ."""
def hadamard(n: Any, dtype: Any = ...) -> Any:
    """The Hadamard matrix of a power of 2, of ones and minus ones."""
def hankel(c: Any, r: Any = None) -> Any:
    """The matrix (..., n, m) with first column `c`, last row `r` (without its first element) and constant antidiagonals; without `r`, the row is zeros."""
def helmert(n: Any, full: bool = False) -> Any:
    """The Helmert matrix (n - 1, n), whose rows are orthonormal contrasts; `full`: (n, n), with the mean first."""
def hessenberg(a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """h, upper triangular but for one diagonal below, with q h q* = a; `calc_q`: (h, q)."""
def hilbert(n: Any) -> Any:
    """The Hilbert matrix, 1 / (i + j + 1)."""
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The inverse of (..., n, n)."""
def invhilbert(n: Any) -> Any:
    """The inverse of the Hilbert matrix."""
def invpascal(n: Any, kind: Any = None) -> Any:
    """The inverse of `pascal(n, kind)`."""
def leslie(f: Any, s: Any) -> Any:
    """The matrices (..., n, n) with first row `f` (..., n) and `s` (..., n - 1) below the diagonal."""
def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """(p, l, u) with p l u = a, for (..., m, n); `permute_l`: (p l, u). p is a permutation matrix, l has a diagonal of ones, u is upper triangular."""
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """(L and U in one matrix, swaps of rows) of (..., m, n), for `lu_solve`."""
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """x with a x = b, given `lu_factor` of a; trans 1: a^T x = b, 2: a* x = b."""
def pascal(n: Any, kind: Any = None) -> Any:
    """Pascal's triangle as a matrix: "lower", "upper", or their product ("symmetric")."""
def polar(a: Any, side: str = 'right', *, method: str = 'qdwh', eps: Any = None, max_iterations: Any = None) -> Any:
    """(u, p) with a = u p ("right") or a = p u ("left"), for (..., m, n), u with orthonormal rows or columns and p positive semidefinite."""
def qr(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = 'full', pivoting: bool = False, check_finite: bool = True) -> Any:
    """(q, r) with q r = a."""
def qr_multiply(a: Any, c: Any, mode: str = 'right', pivoting: bool = False, conjugate: bool = False, overwrite_a: bool = False, overwrite_c: bool = False) -> Any:
    """(c q, r) ("right") or (q c, r) ("left") of the economic decomposition q r = a, without making q."""
def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> Any:
    """The complex Schur form and vectors (T, Z) out of the real ones (..., n, n): rotations make the blocks of size 2 triangular."""
def schur(a: Any, output: str = 'real') -> Any:
    """[T, Z] with Z T Z* = a. T is upper triangular, for real a and output "real" with blocks of size 2 for pairs of eigenvalues. "complex": complex and triangular."""
def solve(a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, debug: bool = False, check_finite: bool = True, assume_a: str = 'gen') -> Any:
    """x with a x = b, for (..., n, n) and (..., n, m) or (n,)."""
def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = 'schur', tol: ArrayLike = 1e-08) -> Any:
    """x with A x + x B = C, for (..., m, m), (..., n, n) and (..., m, n); NaN where an eigenvalue of A and one of B have a sum smaller than `tol`."""
def solve_triangular(a: Any, b: Any, trans: int = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False, debug: Any = None, check_finite: bool = True) -> Any:
    """x with a x = b, for a triangular (..., n, n)."""
def sqrtm(A: Any, blocksize: int = 1) -> Any:
    """The principal square root of (n, n), complex."""
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True, lapack_driver: str = 'gesdd') -> Any:
    """(u, s, v*) with u diag(s) v* = a and s descending; compute_uv=False: s alone."""
def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix (..., n, m) with first column `c`, first row `r` (without its first element) and constant diagonals; without `r`, the row is conj(c)."""
