"""Written by python/stubs.py."""

from typing import Any

import numpy as np

from shardax._core import Array
from shardax.lax._eigen import EigImplementation as EigImplementation
from shardax.lax._eigen import EighImplementation as EighImplementation
from shardax.lax._eigen import SvdAlgorithm as SvdAlgorithm
from shardax.typing import ArrayLike

def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular L with L L* = x, for Hermitian positive definite (..., n, n); NaN for others. If `symmetrize_input` is false, the lower triangle alone is read."""
cholesky_p: Any
def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The upper triangular factor of R^T R + w w^T, for real upper triangular R (..., n, n) and w (..., n)."""
cholesky_update_p: Any
def eig(x: ArrayLike, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True, enable_eigvec_derivs: bool = False, implementation: Any = None, use_magma: Any = None) -> Any:
    """[eigenvalues, left eigenvectors, right eigenvectors] of (..., n, n), all complex; the vectors stand in columns, and are there where asked for. NaN where x is not finite."""
eig_p: Any
def eigh(x: ArrayLike, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True, subset_by_index: Any = None, implementation: Any = None) -> Any:
    """(eigenvectors in columns, eigenvalues ascending) of Hermitian (..., n, n); NaN where x is not finite."""
eigh_p: Any
def hessenberg(a: ArrayLike) -> Array:
    """[a, taus]: (..., n, n) in upper Hessenberg form, below it the reflectors that make it, and their factors (..., n - 1)."""
hessenberg_p: Any
def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """The product of Householder reflections, as a decomposition into q and r leaves them."""
householder_product_p: Any
def lu(x: ArrayLike) -> Any:
    """[lu, pivots, permutation] of (..., m, n), with x[permutation] = L U. lu has L without its diagonal of ones and U in one matrix. pivots are the swaps of rows i <-> pivots[i], int32 (..., min(m, n)), permutation is the order of rows that they make, int32 (..., m)."""
lu_p: Any
def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: Any) -> Array:
    """The order of `permutation_size` rows that the swaps (..., k) of lu make, int32."""
lu_pivots_to_permutation_p: Any
def ormqr(a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False) -> Array:
    """Q c (`left`) or c Q, or with Q* (`transpose`), for the product Q of reflectors as jnp.linalg.qr(mode="raw") gives them (transposed), without making Q."""
ormqr_p: Any
def qdwh(x: ArrayLike, *, is_hermitian: bool = False, max_iterations: Any = None, eps: Any = None, dynamic_shape: Any = None) -> Any:
    """(u, h, iterations, whether they converged) with u h = x, u* u = 1 and h Hermitian positive semidefinite."""
def qr(x: ArrayLike, *, pivoting: bool = False, full_matrices: bool = True, use_magma: Any = None) -> Any:
    """(q, r) with q r = x, q orthogonal and r upper triangular; square q where `full_matrices`."""
qr_p: Any
def schur(x: ArrayLike, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False, select_callable: Any = None) -> Any:
    """[T, Q] with Q T Q* = x, for (..., n, n); [T] alone if the vectors are not wanted. T is upper triangular, of real x with blocks of size 2 for pairs of eigenvalues. NaN where x is not finite."""
schur_p: Any
def svd(x: ArrayLike, *, full_matrices: bool = True, compute_uv: bool = True, subset_by_index: Any = None, algorithm: Any = None) -> Any:
    """(u, s, v*) with u diag(s) v* = x and s descending; compute_uv=False: s alone. NaN where x is not finite."""
svd_p: Any
def symmetric_product(a_matrix: ArrayLike, c_matrix: ArrayLike, *, alpha: ArrayLike = 1.0, beta: ArrayLike = 0.0, symmetrize_output: bool = False) -> Array:
    """alpha a a^T + beta c, for a (..., n, m) and a symmetric c (..., n, n)."""
def triangular_solve(a: ArrayLike, b: ArrayLike, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False, conjugate_a: bool = False, unit_diagonal: bool = False) -> Array:
    """x with op(a) x = b (`left_side`), or x op(a) = b."""
triangular_solve_p: Any
def tridiagonal(a: ArrayLike, *, lower: bool = True) -> Any:
    """[a, d, e, taus]: Hermitian (..., n, n), of which one triangle is read, in tridiagonal form. a has the reflectors that make it, d is the diagonal (..., n), e the off-diagonal (..., n - 1), both real, taus are the reflectors' factors."""
tridiagonal_p: Any
def tridiagonal_solve(dl: ArrayLike, d: Any, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False) -> Array:
    """x with A x = b, for A with the diagonal d, dl below and du above; NaN where A is singular."""
tridiagonal_solve_p: Any
