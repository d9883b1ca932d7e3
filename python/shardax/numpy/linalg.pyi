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
    """The Cholesky factor of matrices: the lower triangular L with L L* = a."""
def cond(x, p=None) -> Array:
    """The condition number of matrices; infinite for singular ones."""
def cross(x1, x2, /, *, axis=-1) -> Array:
    """The cross product of vectors of three components along `axis`."""
def det(a) -> Array:
    """The determinants of square matrices."""
def diagonal(x, /, *, offset=0) -> Array:
    """The diagonals of matrices."""
def eigvals(a) -> Array:
    """The eigenvalues of square matrices, complex."""
def eigvalsh(a, UPLO='L', *, symmetrize_input=True) -> Array:
    """The eigenvalues of Hermitian matrices, ascending; arguments are those of `jnp.linalg.eigh`."""
def inv(a) -> Array:
    """The inverses of square matrices; infinities or NaN for singular ones."""
def matmul(x1, x2, /, *, precision=None, preferred_element_type=None) -> Array:
    """The products of matrices in stacks: `jnp.matmul` in the array API standard."""
def matrix_norm(x, /, *, keepdims=False, ord='fro') -> Array:
    """The norm of matrices, as the array API standard defines it."""
def matrix_power(a, n) -> Array:
    """The power of square matrices, by repeated squaring."""
def matrix_rank(M, rtol=None, *, hermitian=False, tol=None) -> Array:
    """The rank of matrices: the number of singular values above a bound."""
def matrix_transpose(x, /) -> Array:
    """The transposed matrices of a stack: the last two dimensions exchanged."""
def multi_dot(arrays, *, precision=None) -> Array:
    """The product of matrices, in the order that needs the fewest multiplications."""
def norm(x, ord=None, axis=None, keepdims=False) -> Array:
    """The norm of vectors or matrices along `axis`; by default the square root of the sum of squares."""
def outer(x1, x2, /) -> Array:
    """All products of an element of one vector with one of another."""
def pinv(a, rtol=None, hermitian=False, *, rcond=None) -> Array:
    """The pseudo-inverse (Moore and Penrose) of matrices, out of their singular value decomposition."""
def solve(a, b) -> Array:
    """The solution of linear systems: x with a x = b."""
def svdvals(x, /) -> Array:
    """The singular values of matrices, descending."""
def tensordot(x1, x2, /, *, axes=2, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """The sums of products over chosen dimensions: `jnp.tensordot` in the array API standard."""
def tensorinv(a, ind=2) -> Array:
    """The inverse of tensordot(a, x, ind) as a function of x."""
def tensorsolve(a, b, axes=None) -> Array:
    """The solution of a tensor equation: x with tensordot(a, x, x.ndim) = b."""
def trace(x, /, *, offset=0, dtype=None) -> Array:
    """The sums along diagonals of matrices."""
def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None) -> Array:
    """The sums of products of vectors along `axis`, the first operand conjugated."""
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2) -> Array:
    """The norm of vectors along `axis`, as the array API standard defines it."""
