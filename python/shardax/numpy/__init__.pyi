"""Written by python/stubs.py."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from shardax._core import Array
from shardax._core import Array as ndarray
from shardax.numpy import fft as fft
from shardax.numpy import linalg as linalg
from shardax.numpy._dtypes import ComplexWarning as ComplexWarning
from shardax.numpy._dtypes import character as character
from shardax.numpy._dtypes import complexfloating as complexfloating
from shardax.numpy._dtypes import dtype as dtype
from shardax.numpy._dtypes import e as e
from shardax.numpy._dtypes import euler_gamma as euler_gamma
from shardax.numpy._dtypes import flexible as flexible
from shardax.numpy._dtypes import floating as floating
from shardax.numpy._dtypes import generic as generic
from shardax.numpy._dtypes import inexact as inexact
from shardax.numpy._dtypes import inf as inf
from shardax.numpy._dtypes import integer as integer
from shardax.numpy._dtypes import nan as nan
from shardax.numpy._dtypes import newaxis as newaxis
from shardax.numpy._dtypes import number as number
from shardax.numpy._dtypes import object_ as object_
from shardax.numpy._dtypes import pi as pi
from shardax.numpy._dtypes import signedinteger as signedinteger
from shardax.numpy._dtypes import unsignedinteger as unsignedinteger
from shardax.numpy._indexing.index_tricks import c_ as c_
from shardax.numpy._indexing.index_tricks import index_exp as index_exp
from shardax.numpy._indexing.index_tricks import mgrid as mgrid
from shardax.numpy._indexing.index_tricks import ogrid as ogrid
from shardax.numpy._indexing.index_tricks import r_ as r_
from shardax.numpy._indexing.index_tricks import s_ as s_
from shardax.numpy._namespace_info import __array_api_version__ as __array_api_version__
from shardax.typing import ArrayLike
from shardax.typing import DTypeLike

class ufunc:
    """A function of elements, with NumPy's ways of applying it along an axis or at indices."""

    __name__: str
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def identity(self) -> Any: ...
    def __call__(self, *args: ArrayLike, out: None = None, where: None = None) -> Array: ...
    def reduce(
        self, a: ArrayLike, axis: int | None = 0, dtype: DTypeLike | None = None, out: None = None,
        keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
    ) -> Array: ...
    def accumulate(
        self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None
    ) -> Array: ...
    def at(
        self, a: ArrayLike, indices: Any, b: ArrayLike | None = None, /, *, inplace: builtins.bool = True
    ) -> Array: ...
    def reduceat(
        self, a: ArrayLike, indices: Any, axis: int = 0, dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array: ...

class _ScalarType:
    """Makes arrays of a dtype, and stands for it."""

    dtype: np.dtype[Any]
    def __call__(self, x: Any, /) -> Array: ...


def abs(x: ArrayLike, /) -> Array:
    """The absolute value, elementwise; |z| of complex numbers is real."""
def absolute(x: ArrayLike, /) -> Array:
    """The absolute value, elementwise: `jnp.abs` by another name."""
def acos(x: ArrayLike, /) -> Array:
    """The angle in [0, pi] whose cosine is `x`, elementwise: `jnp.arccos` by another name."""
def acosh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic cosine, elementwise: `jnp.arccosh` by another name."""
add: ufunc
def all(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, *, where: ArrayLike | None = None) -> Array:
    """True if all elements along `axis` are true; numbers are true where they are not 0."""
def allclose(a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: builtins.bool = False) -> Array:
    """True if `jnp.isclose` holds for all elements; arguments are the same."""
def amax(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """`jnp.max` by another name, with the same arguments."""
def amin(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """`jnp.min` by another name, with the same arguments."""
def angle(z: ArrayLike, deg: int = False) -> Array:
    """The argument of complex numbers, elementwise: the angle of the point in the plane."""
def any(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, *, where: ArrayLike | None = None) -> Array:
    """True if any element along `axis` is true; numbers are true where they are not 0."""
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """An array with values joined behind it."""
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Array:
    """A function of vectors applied to every vector along `axis`."""
def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: int | Sequence[int]) -> Array:
    """A reduction func(a, axis) applied over several dimensions in turn; they stay, with size 1."""
def arange(start: ArrayLike, stop: ArrayLike | None = None, step: ArrayLike | None = None, dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """The numbers start, start + step, ... below `stop`."""
def arccos(x: ArrayLike, /) -> Array:
    """The angle in [0, pi] whose cosine is `x`, elementwise; NaN beyond [-1, 1]."""
def arccosh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic cosine, log(x + sqrt(x^2 - 1)), elementwise; NaN below 1."""
def arcsin(x: ArrayLike, /) -> Array:
    """The angle in [-pi/2, pi/2] whose sine is `x`, elementwise; NaN beyond [-1, 1]."""
def arcsinh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic sine, log(x + sqrt(x^2 + 1)), elementwise."""
def arctan(x: ArrayLike, /) -> Array:
    """The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise."""
def arctan2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The angle of the point (x2, x1) in the plane, elementwise, in (-pi, pi]: that of x1 / x2 in the right quadrant."""
def arctanh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic tangent, log((1 + x) / (1 - x)) / 2, elementwise; NaN beyond [-1, 1]."""
def argmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: Any = None) -> Array:
    """The index of the first maximum along `axis`, or of the first NaN where there is one."""
def argmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: Any = None) -> Array:
    """The index of the first minimum along `axis`, or of the first NaN where there is one."""
def argpartition(a: ArrayLike, kth: Any, axis: int = -1) -> Array:
    """The indices that split an array by its kth element along `axis`, as `jnp.partition` does."""
def argsort(a: ArrayLike, axis: int | None = -1, *, kind: None = None, order: None = None, stable: builtins.bool = True, descending: builtins.bool = False, dtype: DTypeLike | None = None) -> Array:
    """The indices that sort an array along `axis`: those of equal elements ascend."""
def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The indices of the elements that are not 0, a row each; arguments as of `jnp.nonzero`."""
def around(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """`jnp.round` by another name, with the same arguments."""
def array(object: Any, dtype: DTypeLike | None = None, copy: builtins.bool | None = True, order: str | None = 'K', *, ndmin: int = 0, device: Any = None, out_sharding: Any = None) -> Array:
    """A new array of numbers."""
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: builtins.bool = False) -> Array:
    """True if two arrays have the same shape and the same elements."""
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """True if two arrays have the same elements once they are broadcast to one shape."""
def array_repr(arr: ArrayLike, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The text that `repr` shows of an array, with NumPy's options."""
def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """An array cut into parts along a dimension; the first ones are longer where sizes do not come out even."""
def array_str(a: ArrayLike, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The text that `str` shows of an array, with NumPy's options."""
def asarray(a: Any, dtype: DTypeLike | None = None, order: str | None = None, *, copy: builtins.bool | None = None, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of numbers; `a` itself where it is an array of that dtype already."""
def asin(x: ArrayLike, /) -> Array:
    """The angle in [-pi/2, pi/2] whose sine is `x`, elementwise: `jnp.arcsin` by another name."""
def asinh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic sine, elementwise: `jnp.arcsinh` by another name."""
def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: builtins.bool = False, device: Any = None) -> Array:
    """An array with its elements converted to a dtype."""
def atan(x: ArrayLike, /) -> Array:
    """The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise: `jnp.arctan` by another name."""
def atan2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The angle of the point (x2, x1) in the plane, elementwise: `jnp.arctan2` by another name."""
def atanh(x: ArrayLike, /) -> Array:
    """The inverse hyperbolic tangent, elementwise: `jnp.arctanh` by another name."""
def atleast_1d(*arys: Any) -> Any:
    """Arrays with one dimension at least: scalars become vectors of one element."""
def atleast_2d(*arys: Any) -> Any:
    """Arrays with two dimensions at least: vectors become rows of a matrix."""
def atleast_3d(*arys: Any) -> Any:
    """Arrays with three dimensions at least."""
@overload
def average(
    a: ArrayLike, axis: int | Sequence[int] | None = None, weights: ArrayLike | None = None,
    returned: Literal[False] = False, keepdims: builtins.bool = False,
) -> Array: ...
@overload
def average(
    a: ArrayLike, axis: int | Sequence[int] | None = None, weights: ArrayLike | None = None, *,
    returned: Literal[True], keepdims: builtins.bool = False,
) -> tuple[Array, Array]:
    """The mean of elements over `axis`, weighted by `weights`: sum(a * weights) / sum(weights)."""
def bartlett(M: int) -> Array:
    """Bartlett's window, a triangle: 1 - |2 n / (M - 1) - 1| for n from 0 to M - 1."""
bfloat16: _ScalarType
def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0, *, length: int | None = None, out_sharding: Any = None) -> Array:
    """The number of times that each integer from 0 on occurs in a vector, or the sum of its weights."""
bitwise_and: ufunc
def bitwise_count(x: ArrayLike, /) -> Array:
    """The number of bits set in |x|, elementwise."""
def bitwise_invert(x: ArrayLike, /) -> Array:
    """The complement, bit by bit; of booleans: not x. `jnp.invert` by another name."""
def bitwise_left_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Bits moved to the left: `jnp.left_shift` by another name."""
def bitwise_not(x: ArrayLike, /) -> Array:
    """The complement, bit by bit; of booleans: not x. `jnp.invert` by another name."""
bitwise_or: ufunc
def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Bits moved to the right: `jnp.right_shift` by another name."""
bitwise_xor: ufunc
def blackman(M: int) -> Array:
    """Blackman's window: 0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))."""
def block(arrays: Any) -> Array:
    """An array assembled from nested lists of blocks."""
bool: _ScalarType
bool_: _ScalarType
def broadcast_arrays(*args: Any) -> list[Array]:
    """Arrays repeated along dimensions so that all have one shape."""
def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape to which all shapes broadcast; an integer stands for the shape of a vector."""
def broadcast_to(array: Any, shape: int | Sequence[Any], *, out_sharding: Any = None) -> Array:
    """An array repeated along dimensions to a shape, without copying elements."""
def can_cast(from_: Any, to: Any, casting: str = 'safe') -> builtins.bool:
    """True if a dtype can be converted to another one under a rule of NumPy's."""
def cbrt(x: ArrayLike, /) -> Array:
    """The cube root, elementwise, also of negative numbers."""
cdouble: _ScalarType
def ceil(x: ArrayLike, /) -> Array:
    """The smallest integer not below each element, in its dtype."""
def choose(a: ArrayLike, choices: Any, out: None = None, mode: Any = 'raise') -> Array:
    """For each index the element of that choice: choices[a[i]][i]."""
def clip(arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None, *, a: ArrayLike | None = None, a_min: ArrayLike | None = None, a_max: ArrayLike | None = None) -> Array:
    """Elements limited to a range: the maximum of `min` and the minimum of `max` and each."""
def column_stack(tup: Any) -> Array:
    """Vectors as the columns of a matrix; matrices are joined along their second dimension."""
complex128: _ScalarType
complex64: _ScalarType
complex_: _ScalarType
def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, *, size: int | None = None, fill_value: ArrayLike = 0, out: None = None) -> Array:
    """The slices along `axis` where a condition holds."""
def concat(arrays: Any, /, *, axis: int = 0) -> Array:
    """Arrays joined along an existing dimension: `jnp.concatenate` in the array API standard."""
def concatenate(arrays: Any, axis: int | None = 0, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along an existing dimension."""
def conj(x: ArrayLike, /) -> Array:
    """The complex conjugate, elementwise; real numbers stay as they are."""
def conjugate(x: ArrayLike, /) -> Array:
    """The complex conjugate, elementwise: `jnp.conj` by another name."""
def convolve(a: ArrayLike, v: ArrayLike, mode: Any = 'full', *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The discrete convolution of two vectors: sums over j of a[j] * v[k - j]."""
def copy(a: Any, order: str | None = None) -> Array:
    """A copy of an array."""
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The size of `x1` with the sign of `x2`, elementwise."""
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: builtins.bool = True, dtype: DTypeLike | None = None) -> Array:
    """The matrix of correlation coefficients (Pearson's) of variables in rows."""
def correlate(a: ArrayLike, v: ArrayLike, mode: Any = 'valid', *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The cross-correlation of two vectors: sums over j of a[j + k] * conj(v[j])."""
def cos(x: ArrayLike, /) -> Array:
    """The cosine, elementwise, of angles in radians."""
def cosh(x: ArrayLike, /) -> Array:
    """The hyperbolic cosine, (e^x + e^-x) / 2, elementwise."""
def count_nonzero(a: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: builtins.bool = False) -> Array:
    """The number of elements over `axis` that are not 0."""
def cov(m: ArrayLike, y: ArrayLike | None = None, rowvar: builtins.bool = True, bias: builtins.bool = False, ddof: Any = None, fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """The covariance matrix of variables in rows."""
def cross(a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """The cross products of vectors of 2 or 3 components."""
csingle: _ScalarType
def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running products along `axis`: element i of the result is the product of elements 0 to i."""
def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running sums along `axis`: element i of the result is the sum of elements 0 to i."""
def cumulative_prod(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: builtins.bool = False) -> Array:
    """Running products along `axis`, as the array API standard names them."""
def cumulative_sum(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: builtins.bool = False) -> Array:
    """Running sums along `axis`, as the array API standard names them."""
def deg2rad(x: ArrayLike, /) -> Array:
    """Angles in degrees as radians: x pi / 180."""
def degrees(x: ArrayLike, /) -> Array:
    """Angles in radians as degrees: `jnp.rad2deg` by another name."""
def delete(arr: ArrayLike, obj: Any, axis: int | None = None, *, assume_unique_indices: builtins.bool = False) -> Array:
    """An array without the slices `obj` along `axis`."""
def diag(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array of `ndim` dimensions of size `n`."""
def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array whose dimensions are of one size."""
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the elements of the flattened array on diagonal `k`."""
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonals of matrices that lie in two dimensions of an array."""
def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None) -> Array:
    """Differences of neighbours along `axis`: a[i + 1] - a[i], n times."""
def digitize(x: ArrayLike, bins: Any, right: builtins.bool = False, *, method: str | None = None) -> Array:
    """The bin that each element falls into: i where bins[i-1] <= x < bins[i]."""
def divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The quotient x1 / x2, elementwise. It is what x1 / x2 computes."""
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """The quotients and remainders of a division: (x1 // x2, x1 % x2)."""
def dot(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """The product of two arrays: over the last dimension of `a` and the second to last of `b`."""
double: _ScalarType
def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """An array cut into parts along its third dimension. See `jnp.split`."""
def dstack(tup: Any, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along their third dimension; those of fewer are passed to `jnp.atleast_3d` first."""
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """Differences of neighbours of the flattened array."""
def einsum(subscripts: Any, /, *operands: Any, out: None = None, optimize: str = 'auto', precision: Any = None, preferred_element_type: DTypeLike | None = None, _dot_general: Any = None, out_sharding: Any = None) -> Array:
    """Einstein's summation: sums of products over the indices that the result does not name."""
def einsum_path(subscripts: Any, /, *operands: Any, optimize: str = 'auto') -> tuple[list[tuple[int, ...]], str]:
    """The order in which a sum over indices joins its operands, and a text that explains it."""
def empty(shape: int | Sequence[Any], dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros, as `jnp.zeros`: memory is never shown uninitialised."""
def empty_like(prototype: Any, dtype: DTypeLike | None = None, shape: int | Sequence[Any] | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros with the shape and dtype of another one, as `jnp.zeros_like`."""
def equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether x == y, elementwise; NaN equals nothing."""
def exp(x: ArrayLike, /) -> Array:
    """The exponential e^x, elementwise."""
def exp2(x: ArrayLike, /) -> Array:
    """The power 2^x, elementwise."""
def expand_dims(a: ArrayLike, axis: int | Sequence[int] | None) -> Array:
    """An array with new dimensions of size 1."""
def expm1(x: ArrayLike, /) -> Array:
    """The function e^x - 1, elementwise, without the loss of digits near 0."""
def extract(condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> Array:
    """The elements where a condition holds, as a vector."""
def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, *, device: Any = None) -> Array:
    """A matrix with ones on one diagonal and zeros elsewhere."""
def fabs(x: ArrayLike, /) -> Array:
    """The absolute value, elementwise, as floats."""
def fill_diagonal(a: ArrayLike, val: ArrayLike, wrap: builtins.bool = False, *, inplace: builtins.bool = True) -> Array:
    """An array with values on its main diagonal."""
def finfo(dtype: Any) -> Any:
    """The limits of a floating dtype."""
def flatnonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The indices of elements of the flattened array that are not 0; arguments as of `jnp.nonzero`."""
def flip(m: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """The elements of an array in reverse order."""
def fliplr(m: ArrayLike) -> Array:
    """The columns of an array in reverse order: dimension 1 is reversed."""
def flipud(m: ArrayLike) -> Array:
    """The rows of an array in reverse order: dimension 0 is reversed."""
float16: _ScalarType
float32: _ScalarType
float4_e2m1fn: _ScalarType
float64: _ScalarType
float6_e2m3fn: _ScalarType
float6_e3m2fn: _ScalarType
float8_e3m4: _ScalarType
float8_e4m3: _ScalarType
float8_e4m3b11fnuz: _ScalarType
float8_e4m3fn: _ScalarType
float8_e4m3fnuz: _ScalarType
float8_e5m2: _ScalarType
float8_e5m2fnuz: _ScalarType
float8_e8m0fnu: _ScalarType
float_: _ScalarType
def float_power(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The power x ** y, elementwise, computed in floats."""
def floor(x: ArrayLike, /) -> Array:
    """The largest integer not above each element, in its dtype."""
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The quotient rounded towards minus infinity, elementwise. It is what x1 // x2 computes."""
def fmax(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The larger one of each pair; the other one where one is NaN."""
def fmin(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The smaller one of each pair; the other one where one is NaN."""
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The remainder of a division, elementwise, with the sign of the dividend `x1`, as C's fmod."""
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Numbers as mantissas and powers of two: x = mantissa * 2**exponent."""
def from_dlpack(x: ArrayLike, /, *, device: Any = None, copy: Any = None) -> Array:
    """An array on the memory that another library exports by the DLPack protocol."""
def frombuffer(buffer: Any, dtype: DTypeLike = ..., count: int = -1, offset: int = 0) -> Array:
    """The bytes of a buffer as a vector."""
def fromfile(*args: Any, **kwargs: Any) -> Array:
    """Not implemented: files change, which a pure function could not tell."""
def fromfunction(function: Callable[..., Any], shape: Sequence[int], *, dtype: DTypeLike = ..., **kwargs: Any) -> Array:
    """An array whose elements are function(i, j, ...) at their indices."""
def fromiter(*args: Any, **kwargs: Any) -> Array:
    """Not implemented: iterators change when they are read, which a pure function could not tell."""
def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """A ufunc that applies a function of scalars elementwise."""
def fromstring(string: Any, dtype: DTypeLike = ..., count: int = -1, *, sep: str) -> Array:
    """The numbers in a text as a vector."""
def full(shape: int | Sequence[Any], fill_value: ArrayLike, dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array that repeats one value."""
def full_like(a: Any, fill_value: ArrayLike, dtype: DTypeLike | None = None, shape: int | Sequence[Any] | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of another one's shape, dtype and sharding that repeats a value."""
def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The greatest common divisor of integers, elementwise; 0 where both are 0."""
def geomspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: builtins.bool = True, dtype: DTypeLike | None = None, axis: int = 0) -> Array:
    """Numbers from `start` to `stop` with a constant ratio."""
def get_printoptions() -> dict[str, Any]:
    """Return the current print options."""
def gradient(f: ArrayLike, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int | None = None) -> Array:
    """The derivative of sampled values along each dimension, by central differences."""
def greater(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether x > y, elementwise. Complex numbers are ordered by real, then imaginary part."""
def greater_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether x >= y, elementwise. Complex numbers are ordered by real, then imaginary part."""
def hamming(M: int) -> Array:
    """Hamming's window: 0.54 - 0.46 cos(2 pi n / (M - 1)) for n from 0 to M - 1."""
def hanning(M: int) -> Array:
    """Hann's window: 0.5 - 0.5 cos(2 pi n / (M - 1)) for n from 0 to M - 1."""
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Heaviside's step function: 0 where x1 < 0, x2 where x1 == 0, 1 where x1 > 0."""
def histogram(a: ArrayLike, bins: int = 10, range: Any = None, weights: ArrayLike | None = None, density: Any = None) -> tuple[Array, Array]:
    """The number of elements in each bin, or the sum of their weights."""
def histogram2d(x: ArrayLike, y: ArrayLike, bins: int = 10, range: Any = None, weights: ArrayLike | None = None, density: Any = None) -> tuple[Array, Array, Array]:
    """The number of points (x, y) in each bin of a grid, or the sum of their weights."""
def histogram_bin_edges(a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None) -> Array:
    """The edges of equal bins over the range of an array."""
def histogramdd(sample: Any, bins: int = 10, range: Any = None, weights: ArrayLike | None = None, density: Any = None) -> tuple[Array, list[Array]]:
    """The number of points of several dimensions in each bin, or the sum of their weights."""
def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """An array cut into parts along its second dimension; vectors along the only one. See `jnp.split`."""
def hstack(tup: Any, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along their second dimension; vectors along the only one."""
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The length sqrt(x1**2 + x2**2), elementwise, without overflow."""
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 0, elementwise."""
def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """The identity matrix of shape (n, n), float32 unless `dtype` is given."""
def iinfo(int_type: Any) -> Any:
    """The limits of an integer dtype."""
def imag(val: ArrayLike, /) -> Array:
    """The imaginary part, elementwise, as real numbers; 0 for real ones."""
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: Literal[False] = False
) -> Array: ...
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, *, sparse: Literal[True]
) -> tuple[Array, ...]:
    """The indices of all elements of a grid, one array for each dimension."""
def inner(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The sums of products over the last dimensions of both operands."""
def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> Array:
    """An array with values put before the indices `obj` along `axis`."""
int1: _ScalarType
int16: _ScalarType
int2: _ScalarType
int32: _ScalarType
int4: _ScalarType
int64: _ScalarType
int8: _ScalarType
int_: _ScalarType
def interp(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: Any = None, right: Any = None, period: ArrayLike | None = None) -> Array:
    """Linear interpolation of the points (xp, fp) at `x`."""
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, return_indices: builtins.bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The elements that both arrays have, in order."""
def invert(x: ArrayLike, /) -> Array:
    """The complement, bit by bit; of booleans: not x. It is what ~x computes."""
def isclose(a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: builtins.bool = False) -> Array:
    """True where numbers are nearly equal, elementwise: |a - b| <= atol + rtol |b|."""
def iscomplex(x: ArrayLike) -> Array:
    """True where the imaginary part is not 0, elementwise."""
def iscomplexobj(x: ArrayLike) -> builtins.bool:
    """True if the dtype of a value is complex."""
def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """True if a dtype is of a kind, as the array API standard defines them."""
def isfinite(x: ArrayLike, /) -> Array:
    """Whether each element is neither infinite nor NaN."""
def isin(element: ArrayLike, test_elements: ArrayLike, assume_unique: builtins.bool = False, invert: builtins.bool = False, *, method: str = 'auto') -> Array:
    """True for each element that is among the others."""
def isinf(x: ArrayLike, /) -> Array:
    """Whether each element is infinite."""
def isnan(x: ArrayLike, /) -> Array:
    """Whether each element is NaN."""
def isneginf(x: ArrayLike, /, out: None = None) -> Array:
    """True where a real number is -inf, elementwise."""
def isposinf(x: ArrayLike, /, out: None = None) -> Array:
    """True where a real number is +inf, elementwise."""
def isreal(x: ArrayLike) -> Array:
    """True where the imaginary part is 0, elementwise."""
def isrealobj(x: ArrayLike) -> builtins.bool:
    """True if the dtype of a value is not complex."""
def isscalar(element: ArrayLike) -> builtins.bool:
    """True if a value is a number or an array without dimensions."""
def issubdtype(arg1: Any, arg2: Any) -> builtins.bool:
    """True if a dtype is of a kind of NumPy's hierarchy; bfloat16 and its kin are floats."""
def iterable(y: ArrayLike) -> builtins.bool:
    """Check whether or not an object can be iterated over."""
def ix_(*args: Any) -> tuple[Array, ...]:
    """Vectors of indices shaped so that together they index a grid."""
def kaiser(M: int, beta: Any) -> Array:
    """Kaiser's window: I0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / I0(beta), with the Bessel function I0."""
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """The Kronecker product: `b` scaled by each element of `a`, as blocks."""
def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The least common multiple of integers, elementwise; 0 where one is 0."""
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Numbers times powers of two: x1 * 2**x2."""
def left_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Bits moved to the left by y places, elementwise; 0 where y is the width or more, or negative. It is what x << y computes."""
def less(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether x < y, elementwise. Complex numbers are ordered by real, then imaginary part."""
def less_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether x <= y, elementwise. Complex numbers are ordered by real, then imaginary part."""
def lexsort(keys: Any, axis: int = -1) -> Array:
    """The indices that sort by several keys: by the last one, then, where it ties, by the one before."""
@overload
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: builtins.bool = True,
    retstep: Literal[False] = False, dtype: DTypeLike | None = None, axis: int = 0, *,
    device: Any = None,
) -> Array: ...
@overload
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: builtins.bool = True, *,
    retstep: Literal[True], dtype: DTypeLike | None = None, axis: int = 0, device: Any = None,
) -> tuple[Array, Array]:
    """Evenly spaced numbers from `start` to `stop`."""
def load(file: Any, *args: Any, **kwargs: Any) -> Array:
    """Reads an array from a file in NumPy's format, as `numpy.load`."""
def log(x: ArrayLike, /) -> Array:
    """The natural logarithm, elementwise; -inf at 0, NaN below."""
def log10(x: ArrayLike, /) -> Array:
    """The logarithm to base 10, elementwise; -inf at 0, NaN below."""
def log1p(x: ArrayLike, /) -> Array:
    """The function log(1 + x), elementwise, without the loss of digits near 0."""
def log2(x: ArrayLike, /) -> Array:
    """The logarithm to base 2, elementwise; -inf at 0, NaN below."""
logaddexp: ufunc
logaddexp2: ufunc
logical_and: ufunc
def logical_not(x: ArrayLike, /) -> Array:
    """Whether each element is 0 (False)."""
logical_or: ufunc
logical_xor: ufunc
def logspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: builtins.bool = True, base: ArrayLike = 10.0, dtype: DTypeLike | None = None, axis: int = 0) -> Array:
    """Numbers evenly spaced on a logarithmic scale: base ** jnp.linspace(start, stop, num)."""
def mask_indices(n: int, mask_func: Callable[..., Any], k: int = 0, *, size: int | None = None) -> tuple[Array, Array]:
    """The indices of an (n, n) matrix where mask_func(ones((n, n)), k) is not 0."""
def matmul(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """The products of matrices in stacks, a @ b."""
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The transposed matrices of a stack: the last two dimensions exchanged."""
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The products of matrices and vectors in stacks."""
def max(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The maximum of elements over `axis`; NaN where an element is NaN."""
maximum: ufunc
def mean(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, *, where: ArrayLike | None = None) -> Array:
    """The mean of elements over `axis`."""
def median(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, overwrite_input: builtins.bool = False, keepdims: builtins.bool = False) -> Array:
    """The median of elements over `axis`: the middle one, or the mean of the middle two."""
def meshgrid(*xi: Any, copy: builtins.bool = True, sparse: builtins.bool = False, indexing: str = 'xy') -> list[Array]:
    """The coordinates of a grid's points, from vectors of coordinates."""
def min(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The minimum of elements over `axis`; NaN where an element is NaN."""
minimum: ufunc
def mod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The remainder of a division, elementwise, with the sign of the divisor: `jnp.remainder` by another name."""
def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """The fractional and the whole part of numbers, both with the sign of the number."""
def moveaxis(a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """Dimensions moved to other positions; the others keep their order."""
multiply: ufunc
def nan_to_num(x: ArrayLike, copy: builtins.bool = True, nan: ArrayLike = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """An array with NaN and infinities replaced by numbers."""
def nanargmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: Any = None) -> Array:
    """The index of the first maximum along `axis`, NaN left out; -1 where all are NaN."""
def nanargmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: Any = None) -> Array:
    """The index of the first minimum along `axis`, NaN left out; -1 where all are NaN."""
def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running products along `axis`, NaN counted as 1. Arguments are those of `jnp.cumprod`."""
def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running sums along `axis`, NaN counted as 0. Arguments are those of `jnp.cumsum`."""
def nanmax(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The maximum of elements over `axis` other than NaN; NaN where all are NaN."""
def nanmean(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, where: ArrayLike | None = None) -> Array:
    """The mean of elements over `axis` other than NaN; NaN where all are NaN."""
def nanmedian(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, overwrite_input: builtins.bool = False, keepdims: builtins.bool = False) -> Array:
    """The median of elements over `axis` other than NaN; NaN where all are NaN."""
def nanmin(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The minimum of elements over `axis` other than NaN; NaN where all are NaN."""
def nanpercentile(a: ArrayLike, q: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, overwrite_input: builtins.bool = False, method: str = 'linear', keepdims: builtins.bool = False, *, weights: ArrayLike | None = None) -> Array:
    """The q-th percentiles of elements over `axis` other than NaN: `jnp.nanquantile` with q from 0 to 100."""
def nanprod(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The product of elements over `axis`, NaN counted as 1. Arguments and errors are those of `jnp.prod`."""
def nanquantile(a: ArrayLike, q: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, overwrite_input: builtins.bool = False, method: str = 'linear', keepdims: builtins.bool = False, *, weights: ArrayLike | None = None) -> Array:
    """The q-th quantiles of elements over `axis` other than NaN; NaN where all are NaN."""
def nanstd(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: builtins.bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: Any = None) -> Array:
    """The standard deviation of elements over `axis` other than NaN: the square root of `jnp.nanvar`."""
def nansum(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The sum of elements over `axis`, NaN counted as 0. Arguments and errors are those of `jnp.sum`."""
def nanvar(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: builtins.bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: Any = None) -> Array:
    """The variance of elements over `axis` other than NaN; NaN where no more than `ddof` are left."""
def ndim(a: Any) -> int:
    """The number of dimensions of an array or of nested sequences, an int."""
negative: ufunc
def nextafter(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The next number of the dtype from `x` towards `y`, elementwise."""
def nonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> tuple[Array, ...]:
    """The indices of the elements that are not 0, row by row."""
def not_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether x != y, elementwise."""
def ones(shape: int | Sequence[Any], dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of ones. Memory holds one element, whatever the shape, until it is written."""
def ones_like(a: Any, dtype: DTypeLike | None = None, shape: int | Sequence[Any] | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of ones with the shape and dtype of another one."""
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """All products of an element of `a` with one of `b`."""
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = 'big') -> Array:
    """Truth values packed as bits: eight along `axis` in each uint8."""
def pad(array: Any, pad_width: Any, mode: Any = 'constant', **kwargs: Any) -> Array:
    """An array with elements added at the ends of its dimensions."""
def partition(a: ArrayLike, kth: Any, axis: int = -1) -> Array:
    """An array split by its kth element along `axis`: no greater element before it, no smaller one behind."""
def percentile(a: ArrayLike, q: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, overwrite_input: builtins.bool = False, method: str = 'linear', keepdims: builtins.bool = False, *, weights: ArrayLike | None = None, out_sharding: Any = None) -> Array:
    """The q-th percentiles of elements over `axis`: `jnp.quantile` with q from 0 to 100."""
def permute_dims(a: ArrayLike, /, axes: int | Sequence[int]) -> Array:
    """The dimensions of an array in the order `axes`: `jnp.transpose` in the array API standard."""
def piecewise(x: ArrayLike, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """Functions (or values) applied to the elements where their conditions hold."""
def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: builtins.bool = True) -> Array:
    """An array with elements where a mask holds replaced by values in turn."""
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The polynomial with given roots and leading coefficient 1."""
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of two polynomials."""
def polyder(p: ArrayLike, m: ArrayLike = 1) -> Array:
    """The m-th derivative of a polynomial."""
def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: builtins.bool = False) -> tuple[Array, Array]:
    """The quotient and the remainder of two polynomials."""
def polyfit(x: ArrayLike, y: ArrayLike, deg: int, rcond: float | None = None, full: builtins.bool = False, w: ArrayLike | None = None, cov: Any = False) -> Array:
    """The polynomial of degree `deg` through points, by least squares."""
def polyint(p: ArrayLike, m: ArrayLike = 1, k: ArrayLike | None = None) -> Array:
    """The m-th integral of a polynomial."""
def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: builtins.bool = False) -> Array:
    """The product of two polynomials."""
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of two polynomials."""
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int = 16) -> Array:
    """The value of a polynomial at each element, by Horner's rule."""
def positive(x: ArrayLike, /) -> Array:
    """The operand itself. It is what +x computes."""
def pow(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The power x1 ** x2, elementwise: `jnp.power` by another name."""
def power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The power x1 ** x2, elementwise. A negative exponent that is a Python int needs a floating base."""
def printoptions(*args: Any, **kwargs: Any) -> Any:
    """Context manager for setting print options."""
def prod(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: builtins.bool = True) -> Array:
    """The product of elements over `axis`."""
def promote_types(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype to which two dtypes promote; Python's types promote weakly."""
def ptp(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False) -> Array:
    """The range of elements over `axis`: maximum minus minimum ("peak to peak")."""
def put(a: ArrayLike, ind: Any, v: ArrayLike, mode: Any = None, *, inplace: builtins.bool = True) -> Array:
    """An array with elements at flat indices replaced by values in turn."""
def put_along_axis(arr: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None, inplace: builtins.bool = True, *, mode: Any = None) -> Array:
    """An array with elements along `axis` replaced: arr[..., indices[..., i, ...], ...] = values."""
def quantile(a: ArrayLike, q: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, overwrite_input: builtins.bool = False, method: str = 'linear', keepdims: builtins.bool = False, *, weights: ArrayLike | None = None) -> Array:
    """The q-th quantiles of elements over `axis`; NaN where an element is NaN."""
def rad2deg(x: ArrayLike, /) -> Array:
    """Angles in radians as degrees: x 180 / pi."""
def radians(x: ArrayLike, /) -> Array:
    """Angles in degrees as radians: `jnp.deg2rad` by another name."""
def ravel(a: ArrayLike, order: str = 'C', *, out_sharding: Any = None) -> Array:
    """The elements of an array as a vector."""
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = 'raise', order: str = 'C', *, dtype: DTypeLike | None = None) -> Array:
    """Indices for each dimension as indices into the flattened array."""
def real(val: ArrayLike, /) -> Array:
    """The real part, elementwise, as real numbers."""
def reciprocal(x: ArrayLike, /) -> Array:
    """The reciprocal 1 / x, elementwise."""
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The remainder of a division, elementwise, with the sign of the divisor `x2`. It is what x1 % x2 computes."""
def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None, *, total_repeat_length: int | None = None, out_sharding: Any = None) -> Array:
    """Each element of an array (or slice along `axis`) repeated."""
def reshape(a: ArrayLike, shape: int | Sequence[Any], order: str = 'C', *, copy: builtins.bool | None = None, out_sharding: Any = None) -> Array:
    """The elements of an array in another shape."""
def resize(a: ArrayLike, new_shape: int | Sequence[Any]) -> Array:
    """The elements of an array, repeated as often as needed, in a new shape."""
def result_type(*args: Any) -> np.dtype[Any]:
    """The dtype of the result of an operation on these operands."""
def right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Bits moved to the right by x2 places, elementwise; the sign of signed integers comes in. It is what x1 >> x2 computes."""
def rint(x: ArrayLike, /) -> Array:
    """The nearest integer to each element, as floats; halves go to the even neighbour."""
def roll(a: ArrayLike, shift: Any, axis: int | Sequence[int] | None = None) -> Array:
    """The elements of an array moved on along dimensions; those beyond the end come in at the start."""
def rollaxis(a: ArrayLike, axis: int, start: ArrayLike = 0) -> Array:
    """Dimension `axis` moved in front of dimension `start`; `jnp.moveaxis` is clearer."""
def roots(p: ArrayLike, *, strip_zeros: builtins.bool = True) -> Array:
    """The roots of a polynomial: the eigenvalues of its companion matrix."""
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = ...) -> Array:
    """An array rotated by 90 degrees, from the first towards the second of two dimensions."""
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """Numbers rounded to so many decimals; halves go to the even neighbour."""
def save(file: Any, arr: ArrayLike, allow_pickle: builtins.bool = True) -> None:
    """Writes an array to a file in NumPy's format, as `numpy.save`."""
def savez(file: Any, *args: Any, allow_pickle: builtins.bool = True, **kwds: Any) -> None:
    """Save several arrays into a single file in uncompressed ``.npz`` format."""
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = 'left', sorter: Any = None, *, method: str = 'scan') -> Array:
    """The positions in a sorted vector at which elements keep it sorted."""
def select(condlist: Any, choicelist: Any, default: int = 0) -> Array:
    """For each element the choice whose condition holds first, else `default`."""
def set_printoptions(precision: Any = None, threshold: Any = None, edgeitems: Any = None, linewidth: Any = None, suppress: Any = None, nanstr: Any = None, infstr: Any = None, formatter: Any = None, sign: Any = None, floatmode: Any = None, *, legacy: Any = None, override_repr: Any = None) -> None:
    """Set printing options."""
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The elements of the first array that the second one lacks, in order."""
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The elements that only one of the two arrays has, in order."""
def shape(a: Any) -> tuple[int, ...]:
    """The shape of an array or of nested sequences, a tuple of ints."""
def sign(x: ArrayLike, /) -> Array:
    """The sign, elementwise: -1, 0 or 1; z / |z| for complex numbers, NaN for NaN."""
def signbit(x: ArrayLike, /) -> Array:
    """Whether the sign bit is set, elementwise, as it is for -0.0."""
def sin(x: ArrayLike, /) -> Array:
    """The sine, elementwise, of angles in radians."""
def sinc(x: ArrayLike, /) -> Array:
    """The function sin(pi x) / (pi x), elementwise, 1 at 0."""
single: _ScalarType
def sinh(x: ArrayLike, /) -> Array:
    """The hyperbolic sine, (e^x - e^-x) / 2, elementwise."""
def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements of an array, or its size along `axis`, an int."""
def sort(a: ArrayLike, axis: int | None = -1, *, kind: None = None, order: None = None, stable: builtins.bool = True, descending: builtins.bool = False) -> Array:
    """Elements in ascending order along `axis`; NaN last."""
def sort_complex(a: ArrayLike) -> Array:
    """Elements sorted along the last axis, by real, then imaginary part, as complex numbers."""
def spacing(x: ArrayLike, /) -> Array:
    """The distance to the next number away from 0, elementwise, with the sign of the number."""
def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """An array cut into parts along a dimension."""
def sqrt(x: ArrayLike, /) -> Array:
    """The square root, elementwise; NaN for negative real numbers."""
def square(x: ArrayLike, /) -> Array:
    """The square x * x, elementwise."""
def squeeze(a: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """An array without dimensions of size 1."""
def stack(arrays: Any, axis: int = 0, out: None = None, dtype: DTypeLike | None = None) -> Array:
    """Arrays of one shape joined along a new dimension."""
def std(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: builtins.bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: Any = None) -> Array:
    """The standard deviation of elements over `axis`: the square root of `jnp.var`."""
subtract: ufunc
def sum(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: builtins.bool = True) -> Array:
    """The sum of elements over `axis`."""
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """Two dimensions of an array exchanged."""
def take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: None = None, mode: Any = None, unique_indices: builtins.bool = False, indices_are_sorted: builtins.bool = False, fill_value: ArrayLike | None = None) -> Array:
    """The slices of an array at indices along `axis`."""
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1, mode: Any = None, fill_value: ArrayLike | None = None, *, wrap_negative_indices: Any = None) -> Array:
    """Elements along `axis` chosen for each position of the others: arr[..., indices[..., i, ...], ...]."""
def tan(x: ArrayLike, /) -> Array:
    """The tangent, elementwise, of angles in radians."""
def tanh(x: ArrayLike, /) -> Array:
    """The hyperbolic tangent, elementwise, from -1 to 1."""
def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2, *, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """The sums of products over chosen dimensions of two arrays."""
def tile(A: ArrayLike, reps: Any) -> Array:
    """An array repeated as a whole along each dimension."""
def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """The sums along diagonals of matrices."""
def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The dimensions of an array in another order."""
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """The integral of sampled values along `axis` by the trapezoidal rule."""
def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """A matrix with ones at and below a diagonal and zeros above it."""
def tril(m: ArrayLike, k: int = 0) -> Array:
    """The lower triangle of matrices: elements above a diagonal are set to 0."""
def tril_indices(n: int, k: int = 0, m: ArrayLike | None = None) -> tuple[Array, Array]:
    """The indices of the lower triangle of an (n, m) matrix, at and below diagonal `k`."""
def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """The indices of the lower triangle of a matrix: `jnp.tril_indices` for its shape."""
def trim_zeros(filt: ArrayLike, trim: str = 'fb', axis: int | None = None) -> Array:
    """An array without the zeros at its ends."""
def triu(m: ArrayLike, k: int = 0) -> Array:
    """The upper triangle of matrices: elements below a diagonal are set to 0."""
def triu_indices(n: int, k: int = 0, m: ArrayLike | None = None) -> tuple[Array, Array]:
    """The indices of the upper triangle of an (n, m) matrix, at and above diagonal `k`."""
def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """The indices of the upper triangle of a matrix: `jnp.triu_indices` for its shape."""
def true_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The quotient x1 / x2, elementwise: `jnp.divide` by another name."""
def trunc(x: ArrayLike) -> Array:
    """The integer next to each element towards zero, in its dtype."""
uint: _ScalarType
uint1: _ScalarType
uint16: _ScalarType
uint2: _ScalarType
uint32: _ScalarType
uint4: _ScalarType
uint64: _ScalarType
uint8: _ScalarType
def union1d(ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements of both arrays, in order."""
@overload
def unique(
    ar: ArrayLike, return_index: Literal[False] = False, return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False, axis: int | None = None, *, equal_nan: builtins.bool = True,
    size: int | None = None, fill_value: ArrayLike | None = None, sorted: builtins.bool = True,
) -> Array: ...
@overload
def unique(
    ar: ArrayLike, return_index: builtins.bool = False, return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False, axis: int | None = None, *, equal_nan: builtins.bool = True,
    size: int | None = None, fill_value: ArrayLike | None = None, sorted: builtins.bool = True,
) -> Any:
    """The distinct elements of an array, or its distinct slices along `axis`, in order."""
def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Any:
    """The distinct elements, with all that `jnp.unique` knows of them; NaN are distinct."""
def unique_counts(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Any:
    """The distinct elements and how often each occurs; NaN are distinct."""
def unique_inverse(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Any:
    """The distinct elements, and the place of each element among them; NaN are distinct."""
def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements in order; NaN are distinct."""
def unpackbits(a: ArrayLike, axis: int | None = None, count: Any = None, bitorder: str = 'big') -> Array:
    """The bits of uint8 numbers, eight for each element along `axis`."""
def unravel_index(indices: ArrayLike, shape: int | Sequence[Any]) -> tuple[Array, ...]:
    """Indices into a flattened array as indices for each dimension."""
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of an array along a dimension, as a tuple."""
def unwrap(p: ArrayLike, discont: Any = None, axis: int = -1, period: ArrayLike = 6.283185307179586) -> Array:
    """Angles without jumps along `axis`."""
def vander(x: ArrayLike, N: int | None = None, increasing: builtins.bool = False) -> Array:
    """The Vandermonde matrix of a vector: its powers as columns."""
def var(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: builtins.bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: Any = None) -> Array:
    """The variance of elements over `axis`: the mean squared distance from their mean."""
def vdot(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The sum of products of all elements, the first operand conjugated."""
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The sums of products of vectors along `axis`, the first operand conjugated."""
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The products of conjugated vectors and matrices in stacks."""
def vectorize(pyfunc: Callable[..., Any], *, excluded: Any = ..., signature: Any = None) -> Callable[..., Any]:
    """A function of scalars (or of what `signature` says) that broadcasts over all other dimensions."""
def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """An array cut into parts along its first dimension. See `jnp.split`."""
def vstack(tup: Any, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along their first dimension; vectors become rows."""
@overload
def where(
    condition: ArrayLike, x: None = None, y: None = None, /, *,
    size: int | None = None, fill_value: Any = None,
) -> tuple[Array, ...]: ...
@overload
def where(
    condition: ArrayLike, x: ArrayLike, y: ArrayLike, /, *, size: None = None,
    fill_value: None = None,
) -> Array:
    """Elements of `x` where the condition holds, of `y` elsewhere."""
def zeros(shape: int | Sequence[Any], dtype: DTypeLike | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros. Memory holds one element, whatever the shape, until it is written."""
def zeros_like(a: Any, dtype: DTypeLike | None = None, shape: int | Sequence[Any] | None = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros with the shape and dtype of another one."""
