"""Written by python/stubs.py."""

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from shardax._core import Array
from shardax.numpy._linear_algebra.decompositions import EigResult as EigResult
from shardax.numpy._linear_algebra.decompositions import EighResult as EighResult
from shardax.numpy._linear_algebra.decompositions import QRResult as QRResult
from shardax.numpy._linear_algebra.decompositions import SVDResult as SVDResult
from shardax.numpy._linear_algebra.determinants import SlogdetResult as SlogdetResult
from shardax.typing import ArrayLike
from shardax.typing import DTypeLike

def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The Cholesky factor of matrices: the lower triangular L with L L* = a."""
def cond(x: ArrayLike, p: Any = None) -> Array:
    """The condition number of matrices; infinite for singular ones."""
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three components along `axis`."""
def det(a: ArrayLike) -> Array:
    """The determinants of square matrices."""
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices."""
def eig(a: ArrayLike) -> EigResult:
    """The eigenvalues and eigenvectors of square matrices: a v = v diag(w)."""
def eigh(a: ArrayLike, UPLO: Any = None, symmetrize_input: bool = True) -> EighResult:
    """The eigenvalues and eigenvectors of Hermitian matrices: a v = v diag(w)."""
def eigvals(a: ArrayLike) -> Array:
    """The eigenvalues of square matrices, complex."""
def eigvalsh(a: ArrayLike, UPLO: str = 'L', *, symmetrize_input: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices, ascending; arguments are those of `jnp.linalg.eigh`."""
def inv(a: ArrayLike) -> Array:
    """The inverses of square matrices; infinities or NaN for singular ones."""
def lstsq(a: ArrayLike, b: ArrayLike, rcond: Any = None, *, numpy_resid: bool = False) -> tuple[Array, Array, Array, Array]:
    """The solution of a linear system by least squares: x that minimizes |a x - b|, and among those |x|."""
def matmul(x1: ArrayLike, x2: ArrayLike, /, *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The products of matrices in stacks: `jnp.matmul` in the array API standard."""
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = 'fro') -> Array:
    """The norm of matrices, as the array API standard defines it."""
def matrix_power(a: ArrayLike, n: int) -> Array:
    """The power of square matrices, by repeated squaring."""
def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Array:
    """The rank of matrices: the number of singular values above a bound."""
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The transposed matrices of a stack: the last two dimensions exchanged."""
def multi_dot(arrays: Sequence[ArrayLike], *, precision: Any = None) -> Array:
    """The product of matrices, in the order that needs the fewest multiplications."""
def norm(x: ArrayLike, ord: Any = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """The norm of vectors or matrices along `axis`; by default the square root of the sum of squares."""
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """All products of an element of one vector with one of another."""
def pinv(a: ArrayLike, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Array:
    """The pseudo-inverse (Moore and Penrose) of matrices, out of their singular value decomposition."""
@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete", "full"] = "reduced") -> QRResult: ...
@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> Array: ...
@overload
def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """The QR decomposition of matrices: q r = a, with q orthogonal and r upper triangular."""
def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """The sign and the logarithm of the size of determinants, which do not overflow."""
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The solution of linear systems: x with a x = b."""
@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: Literal[True] = True,
    hermitian: bool = False, subset_by_index: tuple[int, int] | None = None,
) -> SVDResult: ...
@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, *, compute_uv: Literal[False],
    hermitian: bool = False, subset_by_index: tuple[int, int] | None = None,
) -> Array: ...
@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True,
    hermitian: bool = False, subset_by_index: tuple[int, int] | None = None,
) -> Array | SVDResult:
    """The singular value decomposition of matrices: u diag(s) v* = a."""
def svdvals(x: ArrayLike, /) -> Array:
    """The singular values of matrices, descending."""
def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: int = 2, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """The sums of products over chosen dimensions: `jnp.tensordot` in the array API standard."""
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse of tensordot(a, x, ind) as a function of x."""
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The solution of a tensor equation: x with tensordot(a, x, x.ndim) = b."""
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sums along diagonals of matrices."""
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The sums of products of vectors along `axis`, the first operand conjugated."""
def vector_norm(x: ArrayLike, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The norm of vectors along `axis`, as the array API standard defines it."""
