"""Written by python/stubs.py."""

from shardax._core import Array
from shardax.numpy._decompositions import EigResult as EigResult
from shardax.numpy._decompositions import EighResult as EighResult
from shardax.numpy._decompositions import QRResult as QRResult
from shardax.numpy._decompositions import SVDResult as SVDResult
from shardax.numpy._decompositions import eig as eig
from shardax.numpy._decompositions import eigh as eigh
from shardax.numpy._decompositions import qr as qr
from shardax.numpy._decompositions import svd as svd
from shardax.numpy._determinants import SlogdetResult as SlogdetResult
from shardax.numpy._determinants import slogdet as slogdet
from shardax.numpy._singular_values import lstsq as lstsq

def cholesky(a, *, upper=False, symmetrize_input=True) -> Array:
    """The lower triangular L with L L* = a (`upper`: U with U* U = a), for Hermitian positive definite (..., n, n); NaN for others. Where `symmetrize_input` is false, the lower triangle alone is read."""
def cond(x, p=None) -> Array:
    """The condition number: of the singular values (p None, 2 or -2), or norm(x, p) * norm(inv(x), p); infinite for singular x."""
def cross(x1, x2, /, *, axis=-1) -> Array:
    """The cross product of vectors of three components along `axis`."""
def det(a) -> Array:
    """The determinant of (..., n, n); 1 of (0, 0)."""
def diagonal(x, /, *, offset=0) -> Array:
    """Diagonals of the matrices in the last two dimensions."""
def eigvals(a) -> Array:
    """The eigenvalues of (..., n, n), complex."""
def eigvalsh(a, UPLO='L', *, symmetrize_input=True) -> Array:
    """The eigenvalues of Hermitian (..., n, n), ascending; arguments are those of eigh."""
def inv(a) -> Array:
    """The inverse of (..., n, n)."""
def matmul(x1, x2, /, *, precision=None, preferred_element_type=None) -> Array:
    """The product of matrices, as jnp.matmul."""
def matrix_norm(x, /, *, keepdims=False, ord='fro') -> Array:
    """The norm of the matrices in the last two dimensions."""
def matrix_power(a, n) -> Array:
    """A square matrix (n < 0: its inverse) multiplied with itself."""
def matrix_rank(M, rtol=None, *, hermitian=False, tol=None) -> Array:
    """How many singular values exceed `rtol`; of a vector, whether it is not zero."""
def matrix_transpose(x, /) -> Array:
    """The transposed matrices of a stack: the last two dimensions exchanged."""
def multi_dot(arrays, *, precision=None) -> Array:
    """The product of matrices, in the order that needs the fewest multiplications."""
def norm(x, ord=None, axis=None, keepdims=False) -> Array:
    """The norm of vectors (default: Euclidean) or matrices (default: Frobenius) along `axis`."""
def outer(x1, x2, /) -> Array:
    """All products of an element of one vector with one of another."""
def pinv(a, rtol=None, hermitian=False, *, rcond=None) -> Array:
    """The pseudo-inverse: singular values up to rtol times the largest one count as 0."""
def solve(a, b) -> Array:
    """x with a x = b, for (..., n, n) and (..., n, m) or one vector (n,); stacks broadcast."""
def svdvals(x, /) -> Array:
    """The singular values, descending."""
def tensordot(x1, x2, /, *, axes=2, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """The sum of products over `axes`, as jnp.tensordot."""
def tensorinv(a, ind=2) -> Array:
    """The inverse of tensordot(a, x, ind) as a function of x."""
def tensorsolve(a, b, axes=None) -> Array:
    """x with tensordot(a, x, x.ndim) = b."""
def trace(x, /, *, offset=0, dtype=None) -> Array:
    """The sums along diagonals of the matrices in the last two dimensions."""
def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None) -> Array:
    """The sums of products of vectors along `axis`, the first operand conjugated."""
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2) -> Array:
    """The norm of vectors along `axis`: one dimension, several that count as one, or None for all."""
