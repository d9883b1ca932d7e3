"""Written by python/stubs.py."""

from shardax._base.array_functions import broadcast_shapes as broadcast_shapes
from shardax._core import Array
from shardax._core import Array as ndarray
from shardax.dtypes import issubdtype as issubdtype
from shardax.numpy import fft as fft
from shardax.numpy import linalg as linalg
from shardax.numpy._calculus import gradient as gradient
from shardax.numpy._counting import histogram as histogram
from shardax.numpy._counting import histogram2d as histogram2d
from shardax.numpy._counting import histogramdd as histogramdd
from shardax.numpy._creation import indices as indices
from shardax.numpy._creation import linspace as linspace
from shardax.numpy._creation import meshgrid as meshgrid
from shardax.numpy._dtypes import ComplexWarning as ComplexWarning
from shardax.numpy._dtypes import bfloat16 as bfloat16
from shardax.numpy._dtypes import bool as bool
from shardax.numpy._dtypes import bool_ as bool_
from shardax.numpy._dtypes import can_cast as can_cast
from shardax.numpy._dtypes import cdouble as cdouble
from shardax.numpy._dtypes import character as character
from shardax.numpy._dtypes import complex128 as complex128
from shardax.numpy._dtypes import complex64 as complex64
from shardax.numpy._dtypes import complex_ as complex_
from shardax.numpy._dtypes import complexfloating as complexfloating
from shardax.numpy._dtypes import csingle as csingle
from shardax.numpy._dtypes import double as double
from shardax.numpy._dtypes import dtype as dtype
from shardax.numpy._dtypes import e as e
from shardax.numpy._dtypes import euler_gamma as euler_gamma
from shardax.numpy._dtypes import flexible as flexible
from shardax.numpy._dtypes import float16 as float16
from shardax.numpy._dtypes import float32 as float32
from shardax.numpy._dtypes import float4_e2m1fn as float4_e2m1fn
from shardax.numpy._dtypes import float64 as float64
from shardax.numpy._dtypes import float6_e2m3fn as float6_e2m3fn
from shardax.numpy._dtypes import float6_e3m2fn as float6_e3m2fn
from shardax.numpy._dtypes import float8_e3m4 as float8_e3m4
from shardax.numpy._dtypes import float8_e4m3 as float8_e4m3
from shardax.numpy._dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from shardax.numpy._dtypes import float8_e4m3fn as float8_e4m3fn
from shardax.numpy._dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from shardax.numpy._dtypes import float8_e5m2 as float8_e5m2
from shardax.numpy._dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from shardax.numpy._dtypes import float8_e8m0fnu as float8_e8m0fnu
from shardax.numpy._dtypes import float_ as float_
from shardax.numpy._dtypes import floating as floating
from shardax.numpy._dtypes import generic as generic
from shardax.numpy._dtypes import inexact as inexact
from shardax.numpy._dtypes import inf as inf
from shardax.numpy._dtypes import int1 as int1
from shardax.numpy._dtypes import int16 as int16
from shardax.numpy._dtypes import int2 as int2
from shardax.numpy._dtypes import int32 as int32
from shardax.numpy._dtypes import int4 as int4
from shardax.numpy._dtypes import int64 as int64
from shardax.numpy._dtypes import int8 as int8
from shardax.numpy._dtypes import int_ as int_
from shardax.numpy._dtypes import integer as integer
from shardax.numpy._dtypes import iscomplexobj as iscomplexobj
from shardax.numpy._dtypes import isdtype as isdtype
from shardax.numpy._dtypes import isrealobj as isrealobj
from shardax.numpy._dtypes import isscalar as isscalar
from shardax.numpy._dtypes import iterable as iterable
from shardax.numpy._dtypes import nan as nan
from shardax.numpy._dtypes import newaxis as newaxis
from shardax.numpy._dtypes import number as number
from shardax.numpy._dtypes import object_ as object_
from shardax.numpy._dtypes import pi as pi
from shardax.numpy._dtypes import promote_types as promote_types
from shardax.numpy._dtypes import result_type as result_type
from shardax.numpy._dtypes import signedinteger as signedinteger
from shardax.numpy._dtypes import single as single
from shardax.numpy._dtypes import uint as uint
from shardax.numpy._dtypes import uint1 as uint1
from shardax.numpy._dtypes import uint16 as uint16
from shardax.numpy._dtypes import uint2 as uint2
from shardax.numpy._dtypes import uint32 as uint32
from shardax.numpy._dtypes import uint4 as uint4
from shardax.numpy._dtypes import uint64 as uint64
from shardax.numpy._dtypes import uint8 as uint8
from shardax.numpy._dtypes import unsignedinteger as unsignedinteger
from shardax.numpy._einsum import einsum_path as einsum_path
from shardax.numpy._elementwise import divmod as divmod
from shardax.numpy._elementwise import frexp as frexp
from shardax.numpy._elementwise import get_printoptions as get_printoptions
from shardax.numpy._elementwise import modf as modf
from shardax.numpy._elementwise import printoptions as printoptions
from shardax.numpy._elementwise import set_printoptions as set_printoptions
from shardax.numpy._files import load as load
from shardax.numpy._files import save as save
from shardax.numpy._files import savez as savez
from shardax.numpy._functional import apply_along_axis as apply_along_axis
from shardax.numpy._functional import apply_over_axes as apply_over_axes
from shardax.numpy._index_tricks import c_ as c_
from shardax.numpy._index_tricks import diag_indices_from as diag_indices_from
from shardax.numpy._index_tricks import index_exp as index_exp
from shardax.numpy._index_tricks import mask_indices as mask_indices
from shardax.numpy._index_tricks import mgrid as mgrid
from shardax.numpy._index_tricks import ogrid as ogrid
from shardax.numpy._index_tricks import r_ as r_
from shardax.numpy._index_tricks import s_ as s_
from shardax.numpy._index_tricks import tril_indices as tril_indices
from shardax.numpy._index_tricks import tril_indices_from as tril_indices_from
from shardax.numpy._index_tricks import triu_indices as triu_indices
from shardax.numpy._index_tricks import triu_indices_from as triu_indices_from
from shardax.numpy._indices import diag_indices as diag_indices
from shardax.numpy._indices import ix_ as ix_
from shardax.numpy._indices import nonzero as nonzero
from shardax.numpy._indices import unravel_index as unravel_index
from shardax.numpy._join import array_split as array_split
from shardax.numpy._join import dsplit as dsplit
from shardax.numpy._join import hsplit as hsplit
from shardax.numpy._join import split as split
from shardax.numpy._join import unstack as unstack
from shardax.numpy._join import vsplit as vsplit
from shardax.numpy._namespace_info import __array_api_version__ as __array_api_version__
from shardax.numpy._polynomials import polydiv as polydiv
from shardax.numpy._polynomials import polyfit as polyfit
from shardax.numpy._sets import intersect1d as intersect1d
from shardax.numpy._sets import unique as unique
from shardax.numpy._sets import unique_all as unique_all
from shardax.numpy._sets import unique_counts as unique_counts
from shardax.numpy._sets import unique_inverse as unique_inverse
from shardax.numpy._shape import atleast_1d as atleast_1d
from shardax.numpy._shape import atleast_2d as atleast_2d
from shardax.numpy._shape import atleast_3d as atleast_3d
from shardax.numpy._shape import broadcast_arrays as broadcast_arrays
from shardax.numpy._shape import ndim as ndim
from shardax.numpy._shape import shape as shape
from shardax.numpy._shape import size as size
from shardax.numpy._statistics import average as average
from shardax.numpy._ufuncs import frompyfunc as frompyfunc
from shardax.numpy._ufuncs import ufunc as ufunc
from shardax.numpy._vectorize import vectorize as vectorize
from shardax.numpy._where import piecewise as piecewise
from shardax.numpy._where import where as where

def abs(x, /) -> Array:
    """The absolute value, elementwise; |z| of complex numbers is real."""
def absolute(x, /) -> Array:
    """The absolute value, elementwise: `jnp.abs` by another name."""
def acos(x, /) -> Array:
    """The angle in [0, pi] whose cosine is `x`, elementwise: `jnp.arccos` by another name."""
def acosh(x, /) -> Array:
    """The inverse hyperbolic cosine, elementwise: `jnp.arccosh` by another name."""
add: ufunc
def all(a, axis=None, out=None, keepdims=False, *, where=None) -> Array:
    """Whether all elements along `axis` are true; numbers are true where they are not 0."""
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> Array:
    """Whether `jnp.isclose` holds for all elements; arguments are the same."""
def amax(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """`jnp.max` by another name, with the same arguments."""
def amin(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """`jnp.min` by another name, with the same arguments."""
def angle(z, deg=False) -> Array:
    """The argument of complex numbers, elementwise: the angle of the point in the plane."""
def any(a, axis=None, out=None, keepdims=False, *, where=None) -> Array:
    """Whether any element along `axis` is true; numbers are true where they are not 0."""
def append(arr, values, axis=None) -> Array:
    """An array with values joined behind it."""
def arange(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None) -> Array:
    """The numbers start, start + step, ... below `stop`."""
def arccos(x, /) -> Array:
    """The angle in [0, pi] whose cosine is `x`, elementwise; NaN beyond [-1, 1]."""
def arccosh(x, /) -> Array:
    """The inverse hyperbolic cosine, log(x + sqrt(x^2 - 1)), elementwise; NaN below 1."""
def arcsin(x, /) -> Array:
    """The angle in [-pi/2, pi/2] whose sine is `x`, elementwise; NaN beyond [-1, 1]."""
def arcsinh(x, /) -> Array:
    """The inverse hyperbolic sine, log(x + sqrt(x^2 + 1)), elementwise."""
def arctan(x, /) -> Array:
    """The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise."""
def arctan2(x1, x2, /) -> Array:
    """The angle of the point (x2, x1) in the plane, elementwise, in (-pi, pi]: that of x1 / x2 in the right quadrant."""
def arctanh(x, /) -> Array:
    """The inverse hyperbolic tangent, log((1 + x) / (1 - x)) / 2, elementwise; NaN beyond [-1, 1]."""
def argmax(a, axis=None, out=None, keepdims=None) -> Array:
    """The index of the first maximum along `axis`, or of the first NaN where there is one."""
def argmin(a, axis=None, out=None, keepdims=None) -> Array:
    """The index of the first minimum along `axis`, or of the first NaN where there is one."""
def argpartition(a, kth, axis=-1) -> Array:
    """The indices that split an array by its kth element along `axis`, as `jnp.partition` does."""
def argsort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False, dtype=None) -> Array:
    """The indices that sort an array along `axis`: those of equal elements ascend."""
def argwhere(a, *, size=None, fill_value=None) -> Array:
    """The indices of the elements that are not 0, a row each; arguments as of `jnp.nonzero`."""
def around(a, decimals=0, out=None) -> Array:
    """`jnp.round` by another name, with the same arguments."""
def array(object, dtype=None, copy=True, order='K', *, ndmin=0, device=None, out_sharding=None) -> Array:
    """A new array."""
def array_equal(a1, a2, equal_nan=False) -> Array:
    """Whether two arrays have the same shape and the same elements."""
def array_equiv(a1, a2) -> Array:
    """Whether two arrays have the same elements once they are broadcast to one shape."""
def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text that `repr` shows of an array, with NumPy's options."""
def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The text that `str` shows of an array, with NumPy's options."""
def asarray(a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None) -> Array:
    """`a` itself where it is an array of that dtype already."""
def asin(x, /) -> Array:
    """The angle in [-pi/2, pi/2] whose sine is `x`, elementwise: `jnp.arcsin` by another name."""
def asinh(x, /) -> Array:
    """The inverse hyperbolic sine, elementwise: `jnp.arcsinh` by another name."""
def astype(x, dtype, /, *, copy=False, device=None) -> Array:
    """An array with its elements converted to a dtype."""
def atan(x, /) -> Array:
    """The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise: `jnp.arctan` by another name."""
def atan2(x1, x2, /) -> Array:
    """The angle of the point (x2, x1) in the plane, elementwise: `jnp.arctan2` by another name."""
def atanh(x, /) -> Array:
    """The inverse hyperbolic tangent, elementwise: `jnp.arctanh` by another name."""
def bartlett(M) -> Array:
    """Bartlett's window, a triangle: 1 - |2 n / (M - 1) - 1| for n from 0 to M - 1."""
def bincount(x, weights=None, minlength=0, *, length=None, out_sharding=None) -> Array:
    """How often each integer from 0 on occurs in a vector, or the sum of its weights."""
bitwise_and: ufunc
def bitwise_count(x, /) -> Array:
    """The number of bits set in |x|, elementwise."""
def bitwise_invert(x, /) -> Array:
    """The complement, bit by bit; of booleans: not x. `jnp.invert` by another name."""
def bitwise_left_shift(x, y, /) -> Array:
    """Bits moved to the left: `jnp.left_shift` by another name."""
def bitwise_not(x, /) -> Array:
    """The complement, bit by bit; of booleans: not x. `jnp.invert` by another name."""
bitwise_or: ufunc
def bitwise_right_shift(x1, x2, /) -> Array:
    """Bits moved to the right: `jnp.right_shift` by another name."""
bitwise_xor: ufunc
def blackman(M) -> Array:
    """Blackman's window: 0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))."""
def block(arrays) -> Array:
    """An array assembled from nested lists of blocks."""
def broadcast_to(array, shape, *, out_sharding=None) -> Array:
    """A view of that shape."""
def cbrt(x, /) -> Array:
    """The cube root, elementwise, also of negative numbers."""
def ceil(x, /) -> Array:
    """The smallest integer not below each element, in its dtype."""
def choose(a, choices, out=None, mode='raise') -> Array:
    """For each index the element of that choice: choices[a[i]][i]."""
def clip(arr=None, /, min=None, max=None, *, a=None, a_min=None, a_max=None) -> Array:
    """Elements limited to a range: the maximum of `min` and the minimum of `max` and each."""
def column_stack(tup) -> Array:
    """Vectors as the columns of a matrix; matrices are joined along their second dimension."""
def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None) -> Array:
    """The slices along `axis` where a condition holds."""
def concat(arrays, /, *, axis=0) -> Array:
    """Arrays joined along an existing dimension: `jnp.concatenate` in the array API standard."""
def concatenate(arrays, axis=0, dtype=None) -> Array:
    """Arrays joined along an existing dimension."""
def conj(x, /) -> Array:
    """The complex conjugate, elementwise; real numbers stay as they are."""
def conjugate(x, /) -> Array:
    """The complex conjugate, elementwise: `jnp.conj` by another name."""
def convolve(a, v, mode='full', *, precision=None, preferred_element_type=None) -> Array:
    """The discrete convolution of two vectors: sums over j of a[j] * v[k - j]."""
def copy(a, order=None) -> Array:
    """A copy of an array."""
def copysign(x1, x2, /) -> Array:
    """The size of `x1` with the sign of `x2`, elementwise."""
def corrcoef(x, y=None, rowvar=True, dtype=None) -> Array:
    """The matrix of correlation coefficients (Pearson's) of variables in rows."""
def correlate(a, v, mode='valid', *, precision=None, preferred_element_type=None) -> Array:
    """The cross-correlation of two vectors: sums over j of a[j + k] * conj(v[j])."""
def cos(x, /) -> Array:
    """The cosine, elementwise, of angles in radians."""
def cosh(x, /) -> Array:
    """The hyperbolic cosine, (e^x + e^-x) / 2, elementwise."""
def count_nonzero(a, axis=None, keepdims=False) -> Array:
    """The number of elements over `axis` that are not 0."""
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None) -> Array:
    """The covariance matrix of variables in rows."""
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) -> Array:
    """The cross products of vectors of 2 or 3 components."""
def cumprod(a, axis=None, dtype=None, out=None) -> Array:
    """Running products along `axis`: element i of the result is the product of elements 0 to i."""
def cumsum(a, axis=None, dtype=None, out=None) -> Array:
    """Running sums along `axis`: element i of the result is the sum of elements 0 to i."""
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False) -> Array:
    """Running products along `axis`, as the array API standard names them."""
def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False) -> Array:
    """Running sums along `axis`, as the array API standard names them."""
def deg2rad(x, /) -> Array:
    """Angles in degrees as radians: x pi / 180."""
def degrees(x, /) -> Array:
    """Angles in radians as degrees: `jnp.rad2deg` by another name."""
def delete(arr, obj, axis=None, *, assume_unique_indices=False) -> Array:
    """An array without the slices `obj` along `axis`."""
def diag(v, k=0) -> Array:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
def diagflat(v, k=0) -> Array:
    """A matrix with the elements of the flattened array on diagonal `k`."""
def diagonal(a, offset=0, axis1=0, axis2=1) -> Array:
    """The diagonals of matrices that lie in two dimensions of an array."""
def diff(a, n=1, axis=-1, prepend=None, append=None) -> Array:
    """Differences of neighbours along `axis`: a[i + 1] - a[i], n times."""
def digitize(x, bins, right=False, *, method=None) -> Array:
    """The bin that each element falls into: i where bins[i-1] <= x < bins[i]."""
def divide(x1, x2, /) -> Array:
    """The quotient x1 / x2, elementwise. It is what x1 / x2 computes."""
def dot(a, b, *, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """The product of two arrays: over the last dimension of `a` and the second to last of `b`."""
def dstack(tup, dtype=None) -> Array:
    """Arrays joined along their third dimension; those of fewer are passed to `jnp.atleast_3d` first."""
def ediff1d(ary, to_end=None, to_begin=None) -> Array:
    """Differences of neighbours of the flattened array."""
def einsum(subscripts, /, *operands, out=None, optimize='auto', precision=None, preferred_element_type=None, _dot_general=None, out_sharding=None) -> Array:
    """Einstein's summation: sums of products over the indices that the result does not name."""
def empty(shape, dtype=None, *, device=None, out_sharding=None) -> Array:
    """An array of zeros, as `jnp.zeros`: memory is never shown uninitialised."""
def empty_like(prototype, dtype=None, shape=None, *, device=None, out_sharding=None) -> Array:
    """An array of zeros with the shape and dtype of another one, as `jnp.zeros_like`."""
def equal(x, y, /) -> Array:
    """Whether x == y, elementwise; NaN equals nothing."""
def exp(x, /) -> Array:
    """The exponential e^x, elementwise."""
def exp2(x, /) -> Array:
    """The power 2^x, elementwise."""
def expand_dims(a, axis) -> Array:
    """An array with new dimensions of size 1."""
def expm1(x, /) -> Array:
    """The function e^x - 1, elementwise, without the loss of digits near 0."""
def extract(condition, arr, *, size=None, fill_value=0) -> Array:
    """The elements where a condition holds, as a vector."""
def eye(N, M=None, k=0, dtype=None, *, device=None) -> Array:
    """A matrix with ones on one diagonal and zeros elsewhere."""
def fabs(x, /) -> Array:
    """The absolute value, elementwise, as floats."""
def fill_diagonal(a, val, wrap=False, *, inplace=True) -> Array:
    """An array with values on its main diagonal."""
def finfo(dtype) -> Array:
    """The limits of a floating dtype."""
def flatnonzero(a, *, size=None, fill_value=None) -> Array:
    """The indices of elements of the flattened array that are not 0; arguments as of `jnp.nonzero`."""
def flip(m, axis=None) -> Array:
    """The elements of an array in reverse order."""
def fliplr(m) -> Array:
    """The columns of an array in reverse order: dimension 1 is reversed."""
def flipud(m) -> Array:
    """The rows of an array in reverse order: dimension 0 is reversed."""
def float_power(x, y, /) -> Array:
    """The power x ** y, elementwise, computed in floats."""
def floor(x, /) -> Array:
    """The largest integer not above each element, in its dtype."""
def floor_divide(x1, x2, /) -> Array:
    """The quotient rounded towards minus infinity, elementwise. It is what x1 // x2 computes."""
def fmax(x1, x2) -> Array:
    """The larger one of each pair; the other one where one is NaN."""
def fmin(x1, x2) -> Array:
    """The smaller one of each pair; the other one where one is NaN."""
def fmod(x1, x2, /) -> Array:
    """The remainder of a division, elementwise, with the sign of the dividend `x1`, as C's fmod."""
def from_dlpack(x, /, *, device=None, copy=None) -> Array:
    """An array on the memory that another library exports by the DLPack protocol."""
def frombuffer(buffer, dtype=..., count=-1, offset=0) -> Array:
    """The bytes of a buffer as a vector."""
def fromfile(*args, **kwargs) -> Array:
    """Not implemented: files change, which a pure function could not tell."""
def fromfunction(function, shape, *, dtype=..., **kwargs) -> Array:
    """An array whose elements are function(i, j, ...) at their indices."""
def fromiter(*args, **kwargs) -> Array:
    """Not implemented: iterators change when they are read, which a pure function could not tell."""
def fromstring(string, dtype=..., count=-1, *, sep) -> Array:
    """The numbers in a text as a vector."""
def full(shape, fill_value, dtype=None, *, device=None, out_sharding=None) -> Array:
    """An array that repeats one value."""
def full_like(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None) -> Array:
    """An array of another one's shape, dtype and sharding that repeats a value."""
def gcd(x1, x2) -> Array:
    """The greatest common divisor of integers, elementwise; 0 where both are 0."""
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0) -> Array:
    """Numbers from `start` to `stop` with a constant ratio."""
def greater(x, y, /) -> Array:
    """Whether x > y, elementwise. Complex numbers are ordered by real, then imaginary part."""
def greater_equal(x, y, /) -> Array:
    """Whether x >= y, elementwise. Complex numbers are ordered by real, then imaginary part."""
def hamming(M) -> Array:
    """Hamming's window: 0.54 - 0.46 cos(2 pi n / (M - 1)) for n from 0 to M - 1."""
def hanning(M) -> Array:
    """Hann's window: 0.5 - 0.5 cos(2 pi n / (M - 1)) for n from 0 to M - 1."""
def heaviside(x1, x2, /) -> Array:
    """Heaviside's step function: 0 where x1 < 0, x2 where x1 == 0, 1 where x1 > 0."""
def histogram_bin_edges(a, bins=10, range=None, weights=None) -> Array:
    """The edges of equal bins over the range of an array."""
def hstack(tup, dtype=None) -> Array:
    """Arrays joined along their second dimension; vectors along the only one."""
def hypot(x1, x2, /) -> Array:
    """The length sqrt(x1**2 + x2**2), elementwise, without overflow."""
def i0(x) -> Array:
    """The modified Bessel function of the first kind of order 0, elementwise."""
def identity(n, dtype=None) -> Array:
    """The identity matrix of shape (n, n), float32 unless `dtype` is given."""
def iinfo(int_type) -> Array:
    """The limits of an integer dtype."""
def imag(val, /) -> Array:
    """The imaginary part, elementwise, as real numbers; 0 for real ones."""
def inner(a, b, *, precision=None, preferred_element_type=None) -> Array:
    """The sums of products over the last dimensions of both operands."""
def insert(arr, obj, values, axis=None) -> Array:
    """An array with values put before the indices `obj` along `axis`."""
def interp(x, xp, fp, left=None, right=None, period=None) -> Array:
    """Linear interpolation of the points (xp, fp) at `x`."""
def invert(x, /) -> Array:
    """The complement, bit by bit; of booleans: not x. It is what ~x computes."""
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> Array:
    """Whether numbers are nearly equal, elementwise: |a - b| <= atol + rtol |b|."""
def iscomplex(x) -> Array:
    """Whether the imaginary part is not 0, elementwise."""
def isfinite(x, /) -> Array:
    """Whether each element is neither infinite nor NaN."""
def isin(element, test_elements, assume_unique=False, invert=False, *, method='auto') -> Array:
    """Whether each element is among the others."""
def isinf(x, /) -> Array:
    """Whether each element is infinite."""
def isnan(x, /) -> Array:
    """Whether each element is NaN."""
def isneginf(x, /, out=None) -> Array:
    """Whether a real number is -inf, elementwise."""
def isposinf(x, /, out=None) -> Array:
    """Whether a real number is +inf, elementwise."""
def isreal(x) -> Array:
    """Whether the imaginary part is 0, elementwise."""
def kaiser(M, beta) -> Array:
    """Kaiser's window: I0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / I0(beta), with the Bessel function I0."""
def kron(a, b) -> Array:
    """The Kronecker product: `b` scaled by each element of `a`, as blocks."""
def lcm(x1, x2) -> Array:
    """The least common multiple of integers, elementwise; 0 where one is 0."""
def ldexp(x1, x2, /) -> Array:
    """Numbers times powers of two: x1 * 2**x2."""
def left_shift(x, y, /) -> Array:
    """Bits moved to the left by y places, elementwise; 0 where y is the width or more, or negative. It is what x << y computes."""
def less(x, y, /) -> Array:
    """Whether x < y, elementwise. Complex numbers are ordered by real, then imaginary part."""
def less_equal(x, y, /) -> Array:
    """Whether x <= y, elementwise. Complex numbers are ordered by real, then imaginary part."""
def lexsort(keys, axis=-1) -> Array:
    """The indices that sort by several keys: by the last one, then, where it ties, by the one before."""
def log(x, /) -> Array:
    """The natural logarithm, elementwise; -inf at 0, NaN below."""
def log10(x, /) -> Array:
    """The logarithm to base 10, elementwise; -inf at 0, NaN below."""
def log1p(x, /) -> Array:
    """The function log(1 + x), elementwise, without the loss of digits near 0."""
def log2(x, /) -> Array:
    """The logarithm to base 2, elementwise; -inf at 0, NaN below."""
logaddexp: ufunc
logaddexp2: ufunc
logical_and: ufunc
def logical_not(x, /) -> Array:
    """Whether each element is 0 (False)."""
logical_or: ufunc
logical_xor: ufunc
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0) -> Array:
    """Numbers evenly spaced on a logarithmic scale: base ** jnp.linspace(start, stop, num)."""
def matmul(a, b, *, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """The products of matrices in stacks, a @ b."""
def matrix_transpose(x, /) -> Array:
    """The transposed matrices of a stack: the last two dimensions exchanged."""
def matvec(x1, x2, /) -> Array:
    """The products of matrices and vectors in stacks."""
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """The maximum of elements over `axis`; NaN where an element is NaN."""
maximum: ufunc
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None) -> Array:
    """The mean of elements over `axis`."""
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> Array:
    """The median of elements over `axis`: the middle one, or the mean of the middle two."""
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """The minimum of elements over `axis`; NaN where an element is NaN."""
minimum: ufunc
def mod(x1, x2, /) -> Array:
    """The remainder of a division, elementwise, with the sign of the divisor: `jnp.remainder` by another name."""
def moveaxis(a, source, destination) -> Array:
    """Dimensions moved to other positions; the others keep their order."""
multiply: ufunc
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None) -> Array:
    """An array with NaN and infinities replaced by numbers."""
def nanargmax(a, axis=None, out=None, keepdims=None) -> Array:
    """The index of the first maximum along `axis`, NaN left out; -1 where all are NaN."""
def nanargmin(a, axis=None, out=None, keepdims=None) -> Array:
    """The index of the first minimum along `axis`, NaN left out; -1 where all are NaN."""
def nancumprod(a, axis=None, dtype=None, out=None) -> Array:
    """Running products along `axis`, NaN counted as 1. Arguments are those of `jnp.cumprod`."""
def nancumsum(a, axis=None, dtype=None, out=None) -> Array:
    """Running sums along `axis`, NaN counted as 0. Arguments are those of `jnp.cumsum`."""
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """The maximum of elements over `axis` other than NaN; NaN where all are NaN."""
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None) -> Array:
    """The mean of elements over `axis` other than NaN; NaN where all are NaN."""
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> Array:
    """The median of elements over `axis` other than NaN; NaN where all are NaN."""
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """The minimum of elements over `axis` other than NaN; NaN where all are NaN."""
def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None) -> Array:
    """The q-th percentiles of elements over `axis` other than NaN: `jnp.nanquantile` with q from 0 to 100."""
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """The product of elements over `axis`, NaN counted as 1. Arguments and errors are those of `jnp.prod`."""
def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None) -> Array:
    """The q-th quantiles of elements over `axis` other than NaN; NaN where all are NaN."""
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None) -> Array:
    """The standard deviation of elements over `axis` other than NaN: the square root of `jnp.nanvar`."""
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """The sum of elements over `axis`, NaN counted as 0. Arguments and errors are those of `jnp.sum`."""
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None) -> Array:
    """The variance of elements over `axis` other than NaN; NaN where no more than `ddof` are left."""
negative: ufunc
def nextafter(x, y, /) -> Array:
    """The next number of the dtype from `x` towards `y`, elementwise."""
def not_equal(x, y, /) -> Array:
    """Whether x != y, elementwise."""
def ones(shape, dtype=None, *, device=None, out_sharding=None) -> Array:
    """An array of ones. Memory holds one element, whatever the shape, until it is written."""
def ones_like(a, dtype=None, shape=None, *, device=None, out_sharding=None) -> Array:
    """An array of ones with the shape and dtype of another one."""
def outer(a, b, out=None) -> Array:
    """All products of an element of `a` with one of `b`."""
def packbits(a, axis=None, bitorder='big') -> Array:
    """Truth values packed as bits: eight along `axis` in each uint8."""
def pad(array, pad_width, mode='constant', **kwargs) -> Array:
    """An array with elements added at the ends of its dimensions."""
def partition(a, kth, axis=-1) -> Array:
    """An array split by its kth element along `axis`: no greater element before it, no smaller one behind."""
def percentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None, out_sharding=None) -> Array:
    """The q-th percentiles of elements over `axis`: `jnp.quantile` with q from 0 to 100."""
def permute_dims(a, /, axes) -> Array:
    """The dimensions of an array in the order `axes`: `jnp.transpose` in the array API standard."""
def place(arr, mask, vals, *, inplace=True) -> Array:
    """An array with elements where a mask holds replaced by values in turn."""
def poly(seq_of_zeros) -> Array:
    """The polynomial with given roots and leading coefficient 1."""
def polyadd(a1, a2) -> Array:
    """The sum of two polynomials."""
def polyder(p, m=1) -> Array:
    """The m-th derivative of a polynomial."""
def polyint(p, m=1, k=None) -> Array:
    """The m-th integral of a polynomial."""
def polymul(a1, a2, *, trim_leading_zeros=False) -> Array:
    """The product of two polynomials."""
def polysub(a1, a2) -> Array:
    """The difference of two polynomials."""
def polyval(p, x, *, unroll=16) -> Array:
    """The value of a polynomial at each element, by Horner's rule."""
def positive(x, /) -> Array:
    """The operand itself. It is what +x computes."""
def pow(x1, x2, /) -> Array:
    """The power x1 ** x2, elementwise: `jnp.power` by another name."""
def power(x1, x2, /) -> Array:
    """The power x1 ** x2, elementwise. A negative exponent that is a Python int needs a floating base."""
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True) -> Array:
    """The product of elements over `axis`."""
def ptp(a, axis=None, out=None, keepdims=False) -> Array:
    """The range of elements over `axis`: maximum minus minimum ("peak to peak")."""
def put(a, ind, v, mode=None, *, inplace=True) -> Array:
    """An array with elements at flat indices replaced by values in turn."""
def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None) -> Array:
    """An array with elements along `axis` replaced: arr[..., indices[..., i, ...], ...] = values."""
def quantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None) -> Array:
    """The q-th quantiles of elements over `axis`; NaN where an element is NaN."""
def rad2deg(x, /) -> Array:
    """Angles in radians as degrees: x 180 / pi."""
def radians(x, /) -> Array:
    """Angles in degrees as radians: `jnp.deg2rad` by another name."""
def ravel(a, order='C', *, out_sharding=None) -> Array:
    """The elements of an array as a vector."""
def ravel_multi_index(multi_index, dims, mode='raise', order='C', *, dtype=None) -> Array:
    """Indices for each dimension as indices into the flattened array."""
def real(val, /) -> Array:
    """The real part, elementwise, as real numbers."""
def reciprocal(x, /) -> Array:
    """The reciprocal 1 / x, elementwise."""
def remainder(x1, x2, /) -> Array:
    """The remainder of a division, elementwise, with the sign of the divisor `x2`. It is what x1 % x2 computes."""
def repeat(a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None) -> Array:
    """Each element of an array (or slice along `axis`) repeated."""
def reshape(a, shape, order='C', *, copy=None, out_sharding=None) -> Array:
    """The elements of an array in another shape."""
def resize(a, new_shape) -> Array:
    """The elements of an array, repeated as often as needed, in a new shape."""
def right_shift(x1, x2, /) -> Array:
    """Bits moved to the right by x2 places, elementwise; the sign of signed integers comes in. It is what x1 >> x2 computes."""
def rint(x, /) -> Array:
    """The nearest integer to each element, as floats; halves go to the even neighbour."""
def roll(a, shift, axis=None) -> Array:
    """The elements of an array moved on along dimensions; those beyond the end come in at the start."""
def rollaxis(a, axis, start=0) -> Array:
    """Dimension `axis` moved in front of dimension `start`; `jnp.moveaxis` is clearer."""
def roots(p, *, strip_zeros=True) -> Array:
    """The roots of a polynomial: the eigenvalues of its companion matrix."""
def rot90(m, k=1, axes=...) -> Array:
    """An array rotated by 90 degrees, from the first towards the second of two dimensions."""
def round(a, decimals=0, out=None) -> Array:
    """Numbers rounded to so many decimals; halves go to the even neighbour."""
def searchsorted(a, v, side='left', sorter=None, *, method='scan') -> Array:
    """The positions in a sorted vector at which elements keep it sorted."""
def select(condlist, choicelist, default=0) -> Array:
    """For each element the choice whose condition holds first, else `default`."""
def setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None) -> Array:
    """The elements of the first array that the second one lacks, in order."""
def setxor1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None) -> Array:
    """The elements that only one of the two arrays has, in order."""
def sign(x, /) -> Array:
    """The sign, elementwise: -1, 0 or 1; z / |z| for complex numbers, NaN for NaN."""
def signbit(x, /) -> Array:
    """Whether the sign bit is set, elementwise, as it is for -0.0."""
def sin(x, /) -> Array:
    """The sine, elementwise, of angles in radians."""
def sinc(x, /) -> Array:
    """The function sin(pi x) / (pi x), elementwise, 1 at 0."""
def sinh(x, /) -> Array:
    """The hyperbolic sine, (e^x - e^-x) / 2, elementwise."""
def sort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False) -> Array:
    """Elements in ascending order along `axis`; NaN last."""
def sort_complex(a) -> Array:
    """Elements sorted along the last axis, by real, then imaginary part, as complex numbers."""
def spacing(x, /) -> Array:
    """The distance to the next number away from 0, elementwise, with the sign of the number."""
def sqrt(x, /) -> Array:
    """The square root, elementwise; NaN for negative real numbers."""
def square(x, /) -> Array:
    """The square x * x, elementwise."""
def squeeze(a, axis=None) -> Array:
    """An array without dimensions of size 1."""
def stack(arrays, axis=0, out=None, dtype=None) -> Array:
    """Arrays of one shape joined along a new dimension."""
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None) -> Array:
    """The standard deviation of elements over `axis`: the square root of `jnp.var`."""
subtract: ufunc
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True) -> Array:
    """The sum of elements over `axis`."""
def swapaxes(a, axis1, axis2) -> Array:
    """Two dimensions of an array exchanged."""
def take(a, indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None) -> Array:
    """The slices of an array at indices along `axis`."""
def take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None, *, wrap_negative_indices=None) -> Array:
    """Elements along `axis` chosen for each position of the others: arr[..., indices[..., i, ...], ...]."""
def tan(x, /) -> Array:
    """The tangent, elementwise, of angles in radians."""
def tanh(x, /) -> Array:
    """The hyperbolic tangent, elementwise, from -1 to 1."""
def tensordot(a, b, axes=2, *, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """The sums of products over chosen dimensions of two arrays."""
def tile(A, reps) -> Array:
    """An array repeated as a whole along each dimension."""
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None) -> Array:
    """The sums along diagonals of matrices."""
def transpose(a, axes=None) -> Array:
    """The dimensions of an array in another order."""
def trapezoid(y, x=None, dx=1.0, axis=-1) -> Array:
    """The integral of sampled values along `axis` by the trapezoidal rule."""
def tri(N, M=None, k=0, dtype=None) -> Array:
    """A matrix with ones at and below a diagonal and zeros above it."""
def tril(m, k=0) -> Array:
    """The lower triangle of matrices: elements above a diagonal are set to 0."""
def trim_zeros(filt, trim='fb', axis=None) -> Array:
    """An array without the zeros at its ends."""
def triu(m, k=0) -> Array:
    """The upper triangle of matrices: elements below a diagonal are set to 0."""
def true_divide(x1, x2, /) -> Array:
    """The quotient x1 / x2, elementwise: `jnp.divide` by another name."""
def trunc(x) -> Array:
    """The integer next to each element towards zero, in its dtype."""
def union1d(ar1, ar2, *, size=None, fill_value=None) -> Array:
    """The distinct elements of both arrays, in order."""
def unique_values(x, /, *, size=None, fill_value=None) -> Array:
    """The distinct elements in order; NaN are distinct."""
def unpackbits(a, axis=None, count=None, bitorder='big') -> Array:
    """The bits of uint8 numbers, eight for each element along `axis`."""
def unwrap(p, discont=None, axis=-1, period=6.283185307179586) -> Array:
    """Angles without jumps along `axis`."""
def vander(x, N=None, increasing=False) -> Array:
    """The Vandermonde matrix of a vector: its powers as columns."""
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None) -> Array:
    """The variance of elements over `axis`: the mean squared distance from their mean."""
def vdot(a, b, *, precision=None, preferred_element_type=None) -> Array:
    """The sum of products of all elements, the first operand conjugated."""
def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None) -> Array:
    """The sums of products of vectors along `axis`, the first operand conjugated."""
def vecmat(x1, x2, /) -> Array:
    """The products of conjugated vectors and matrices in stacks."""
def vstack(tup, dtype=None) -> Array:
    """Arrays joined along their first dimension; vectors become rows."""
def zeros(shape, dtype=None, *, device=None, out_sharding=None) -> Array:
    """An array of zeros. Memory holds one element, whatever the shape, until it is written."""
def zeros_like(a, dtype=None, shape=None, *, device=None, out_sharding=None) -> Array:
    """An array of zeros with the shape and dtype of another one."""
