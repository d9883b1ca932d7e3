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
    """Elementwise absolute value."""
def absolute(x, /) -> Array:
    """Elementwise absolute value."""
def acos(x, /) -> Array:
    """Elementwise inverse cosine, in radians."""
def acosh(x, /) -> Array:
    """Elementwise inverse hyperbolic cosine; NaN below 1."""
add: ufunc
def all(a, axis=None, out=None, keepdims=False, *, where=None) -> Array:
    """Whether all elements along `axis` are true."""
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> Array:
    """Whether isclose holds everywhere."""
def amax(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """`max` by another name."""
def amin(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """`min` by another name."""
def angle(z, deg=False) -> Array:
    """The argument of complex numbers, in radians or degrees."""
def any(a, axis=None, out=None, keepdims=False, *, where=None) -> Array:
    """Whether any element along `axis` is true."""
def append(arr, values, axis=None) -> Array:
    """`values` joined behind `arr`."""
def arange(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None) -> Array:
    """start, start + step, ... below stop."""
def arccos(x, /) -> Array:
    """Elementwise inverse cosine, in radians."""
def arccosh(x, /) -> Array:
    """Elementwise inverse hyperbolic cosine; NaN below 1."""
def arcsin(x, /) -> Array:
    """Elementwise inverse sine, in radians."""
def arcsinh(x, /) -> Array:
    """Elementwise inverse hyperbolic sine."""
def arctan(x, /) -> Array:
    """Elementwise inverse tangent, in radians."""
def arctan2(x1, x2, /) -> Array:
    """Elementwise angle of the point (y, x), in (-pi, pi]; operands are y, x."""
def arctanh(x, /) -> Array:
    """Elementwise inverse hyperbolic tangent."""
def argmax(a, axis=None, out=None, keepdims=None) -> Array:
    """The index of the first maximum (or NaN) along `axis` (None: in the flattened array), int32 (int64 under x64)."""
def argmin(a, axis=None, out=None, keepdims=None) -> Array:
    """The index of the first minimum (or NaN) along `axis` (None: in the flattened array), int32 (int64 under x64)."""
def argpartition(a, kth, axis=-1) -> Array:
    """Indices that partition `a` by its kth element; those of larger elements ascend."""
def argsort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False, dtype=None) -> Array:
    """The indices that sort along `axis`, of the default integer type or of type `dtype`."""
def argwhere(a, *, size=None, fill_value=None) -> Array:
    """The indices of elements that are not 0, a row each."""
def around(a, decimals=0, out=None) -> Array:
    """`round` by another name."""
def array(object, dtype=None, copy=True, order='K', *, ndmin=0, device=None, out_sharding=None) -> Array:
    """A new array."""
def array_equal(a1, a2, equal_nan=False) -> Array:
    """Whether shapes and elements are equal."""
def array_equiv(a1, a2) -> Array:
    """Whether elements are equal once broadcast."""
def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text that repr shows, with NumPy's options."""
def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The text that str shows, with NumPy's options."""
def asarray(a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None) -> Array:
    """`a` itself where it is an array of that dtype already."""
def asin(x, /) -> Array:
    """Elementwise inverse sine, in radians."""
def asinh(x, /) -> Array:
    """Elementwise inverse hyperbolic sine."""
def astype(x, dtype, /, *, copy=False, device=None) -> Array:
    """`x` with elements converted to `dtype`. The result is another array, with `copy` or without; memory is shared where nothing is converted, until one is donated."""
def atan(x, /) -> Array:
    """Elementwise inverse tangent, in radians."""
def atan2(x1, x2, /) -> Array:
    """Elementwise angle of the point (y, x), in (-pi, pi]; operands are y, x."""
def atanh(x, /) -> Array:
    """Elementwise inverse hyperbolic tangent."""
def bartlett(M) -> Array:
    """A triangle: 1 - |2 n / (M - 1) - 1|."""
def bincount(x, weights=None, minlength=0, *, length=None, out_sharding=None) -> Array:
    """How often each non-negative integer occurs, or the sum of its weights. With `out_sharding` the counts are whole, or left to be summed over all axes of the mesh."""
bitwise_and: ufunc
def bitwise_count(x, /) -> Array:
    """Elementwise number of bits set in |x|."""
def bitwise_invert(x, /) -> Array:
    """Elementwise complement: of truth values, or bit by bit."""
def bitwise_left_shift(x, y, /) -> Array:
    """Elementwise x << y; 0 where y is the width or more."""
def bitwise_not(x, /) -> Array:
    """Elementwise complement: of truth values, or bit by bit."""
bitwise_or: ufunc
def bitwise_right_shift(x1, x2, /) -> Array:
    """Elementwise shift to the right: arithmetic for signed integers."""
bitwise_xor: ufunc
def blackman(M) -> Array:
    """0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))."""
def block(arrays) -> Array:
    """Nested lists of blocks, joined from the inside out along the last dimensions."""
def broadcast_to(array, shape, *, out_sharding=None) -> Array:
    """A view of that shape."""
def cbrt(x, /) -> Array:
    """Elementwise cube root, also of negative numbers."""
def ceil(x, /) -> Array:
    """Elementwise ceiling."""
def choose(a, choices, out=None, mode='raise') -> Array:
    """choices[a], elementwise."""
def clip(arr=None, /, min=None, max=None, *, a=None, a_min=None, a_max=None) -> Array:
    """Elements limited to [min, max]; None is no limit."""
def column_stack(tup) -> Array:
    """Vectors as columns, joined with matrices."""
def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None) -> Array:
    """Slices along `axis` where the condition holds."""
def concat(arrays, /, *, axis=0) -> Array:
    """Arrays joined along `axis`, or flat ones where it is None: `concatenate` in the words of the array API standard."""
def concatenate(arrays, axis=0, dtype=None) -> Array:
    """Arrays joined along an existing dimension (None: flattened first)."""
def conj(x, /) -> Array:
    """The complex conjugate."""
def conjugate(x, /) -> Array:
    """The complex conjugate."""
def convolve(a, v, mode='full', *, precision=None, preferred_element_type=None) -> Array:
    """The discrete convolution of two vectors, floats."""
def copy(a, order=None) -> Array:
    """A copy of `a`. Arrays are immutable, so that memory is shared until one is donated."""
def copysign(x1, x2, /) -> Array:
    """x1 with the sign of x2."""
def corrcoef(x, y=None, rowvar=True, dtype=None) -> Array:
    """The matrix of correlation coefficients; arguments as of cov."""
def correlate(a, v, mode='valid', *, precision=None, preferred_element_type=None) -> Array:
    """The cross-correlation of two vectors."""
def cos(x, /) -> Array:
    """Elementwise cosine of radians."""
def cosh(x, /) -> Array:
    """Elementwise hyperbolic cosine."""
def count_nonzero(a, axis=None, keepdims=False) -> Array:
    """How many elements along `axis` are not zero, int32."""
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None) -> Array:
    """The covariance matrix of variables in rows."""
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) -> Array:
    """The cross product of vectors of 2 or 3 components."""
def cumprod(a, axis=None, dtype=None, out=None) -> Array:
    """Running products along `axis` (None: of the flattened array)."""
def cumsum(a, axis=None, dtype=None, out=None) -> Array:
    """Running sums along `axis` (None: of the flattened array)."""
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False) -> Array:
    """Running products along `axis`, behind a 1 where `include_initial`."""
def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False) -> Array:
    """Running sums along `axis`, behind a 0 where `include_initial`."""
def deg2rad(x, /) -> Array:
    """Degrees as radians."""
def degrees(x, /) -> Array:
    """Radians as degrees."""
def delete(arr, obj, axis=None, *, assume_unique_indices=False) -> Array:
    """Without the slices `obj` along `axis`."""
def diag(v, k=0) -> Array:
    """A diagonal matrix out of a vector, or diagonal k of a matrix."""
def diagflat(v, k=0) -> Array:
    """diag of the flattened array."""
def diagonal(a, offset=0, axis1=0, axis2=1) -> Array:
    """Diagonals of the matrices along two axes, as a new last dimension."""
def diff(a, n=1, axis=-1, prepend=None, append=None) -> Array:
    """Differences of neighbours along `axis`, n times."""
def digitize(x, bins, right=False, *, method=None) -> Array:
    """The bins that elements fall into; `method` as in searchsorted."""
def divide(x1, x2, /) -> Array:
    """Elementwise quotient, x / y; integers truncate towards zero."""
def dot(a, b, *, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """The sum of products over the last dimension of `a` and the second to last of `b` (vectors: the only one)."""
def dstack(tup, dtype=None) -> Array:
    """Joined along the third dimension."""
def ediff1d(ary, to_end=None, to_begin=None) -> Array:
    """Differences of neighbours of the flattened array, which holds numbers."""
def einsum(subscripts, /, *operands, out=None, optimize='auto', precision=None, preferred_element_type=None, _dot_general=None, out_sharding=None) -> Array:
    """Einstein's summation: sums over indices that the result does not name."""
def empty(shape, dtype=None, *, device=None, out_sharding=None) -> Array:
    """The same as zeros: memory is never shown uninitialised."""
def empty_like(prototype, dtype=None, shape=None, *, device=None, out_sharding=None) -> Array:
    """The same as zeros_like."""
def equal(x, y, /) -> Array:
    """Elementwise x == y."""
def exp(x, /) -> Array:
    """Elementwise exponential, e^x."""
def exp2(x, /) -> Array:
    """Elementwise power of two, 2^x."""
def expand_dims(a, axis) -> Array:
    """New dimensions of size 1 at the positions `axis` of the result."""
def expm1(x, /) -> Array:
    """Elementwise e^x - 1, exact near zero."""
def extract(condition, arr, *, size=None, fill_value=0) -> Array:
    """Elements where the condition holds."""
def eye(N, M=None, k=0, dtype=None, *, device=None) -> Array:
    """(N, M), with ones on diagonal k."""
def fabs(x, /) -> Array:
    """Elementwise absolute value, as floats."""
def fill_diagonal(a, val, wrap=False, *, inplace=True) -> Array:
    """`a` with `val` on its main diagonal; needs inplace=False."""
def finfo(dtype) -> Array:
    """Limits of a floating type: max, min, eps, tiny, bits."""
def flatnonzero(a, *, size=None, fill_value=None) -> Array:
    """nonzero of the flattened array."""
def flip(m, axis=None) -> Array:
    """Elements in reverse order along `axis` (None: all dimensions)."""
def fliplr(m) -> Array:
    """Columns in reverse order."""
def flipud(m) -> Array:
    """Rows in reverse order."""
def float_power(x, y, /) -> Array:
    """Elementwise power of floats."""
def floor(x, /) -> Array:
    """Elementwise floor."""
def floor_divide(x1, x2, /) -> Array:
    """Elementwise quotient rounded towards minus infinity."""
def fmax(x1, x2) -> Array:
    """The larger one of each pair; the other one where one is NaN."""
def fmin(x1, x2) -> Array:
    """The smaller one of each pair; the other one where one is NaN."""
def fmod(x1, x2, /) -> Array:
    """Elementwise remainder with the sign of the dividend."""
def from_dlpack(x, /, *, device=None, copy=None) -> Array:
    """An array on the memory that another library exports by the DLPack protocol."""
def frombuffer(buffer, dtype=..., count=-1, offset=0) -> Array:
    """The bytes of a buffer as a vector."""
def fromfile(*args, **kwargs) -> Array:
    """Not implemented: it could not tell that the file changes; give numpy.fromfile's to array."""
def fromfunction(function, shape, *, dtype=..., **kwargs) -> Array:
    """function(i, j, ...) at each index of `shape`: it is mapped over, and sees scalars."""
def fromiter(*args, **kwargs) -> Array:
    """Not implemented: iterators change when they are read; give numpy.fromiter's to array."""
def fromstring(string, dtype=..., count=-1, *, sep) -> Array:
    """The numbers in a text, between which `sep` stands, as a vector."""
def full(shape, fill_value, dtype=None, *, device=None, out_sharding=None) -> Array:
    """An array that repeats `fill_value` (broadcast to `shape`)."""
def full_like(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None) -> Array:
    """An array like `a` (shape, dtype, sharding, within shard_map the axes over which it varies) that repeats `fill_value`."""
def gcd(x1, x2) -> Array:
    """The greatest common divisor."""
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0) -> Array:
    """`num` values from start to stop with a constant ratio."""
def greater(x, y, /) -> Array:
    """Elementwise x > y."""
def greater_equal(x, y, /) -> Array:
    """Elementwise x >= y."""
def hamming(M) -> Array:
    """0.54 - 0.46 cos(2 pi n / (M - 1))."""
def hanning(M) -> Array:
    """0.5 - 0.5 cos(2 pi n / (M - 1))."""
def heaviside(x1, x2, /) -> Array:
    """0 where x1 < 0, x2 where x1 == 0, 1 where x1 > 0."""
def histogram_bin_edges(a, bins=10, range=None, weights=None) -> Array:
    """The edges of equal bins over the range of `a`. `weights` do not move them: they are taken as histogram takes them."""
def hstack(tup, dtype=None) -> Array:
    """Joined along the second dimension (vectors: the first)."""
def hypot(x1, x2, /) -> Array:
    """Elementwise sqrt(x1 ** 2 + x2 ** 2), without overflow."""
def i0(x) -> Array:
    """The modified Bessel function of the first kind, order 0."""
def identity(n, dtype=None) -> Array:
    """The (n, n) identity matrix."""
def iinfo(int_type) -> Array:
    """Limits of an integer type: max, min, bits."""
def imag(val, /) -> Array:
    """The imaginary part."""
def inner(a, b, *, precision=None, preferred_element_type=None) -> Array:
    """The sum of products over the last dimensions."""
def insert(arr, obj, values, axis=None) -> Array:
    """`values` put before the indices `obj` along `axis`."""
def interp(x, xp, fp, left=None, right=None, period=None) -> Array:
    """Linear interpolation of the points (xp, fp) at x; beyond them, the first and last values, or `left` and `right`: values, or "extrapolate" for the first and last line."""
def invert(x, /) -> Array:
    """Elementwise complement: of truth values, or bit by bit."""
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) -> Array:
    """Elementwise |a - b| <= atol + rtol |b|; the bounds may be arrays."""
def iscomplex(x) -> Array:
    """Elementwise: is the imaginary part not 0?"""
def isfinite(x, /) -> Array:
    """Elementwise: is it finite?"""
def isin(element, test_elements, assume_unique=False, invert=False, *, method='auto') -> Array:
    """Whether each element is among the others."""
def isinf(x, /) -> Array:
    """Elementwise: is it infinite?"""
def isnan(x, /) -> Array:
    """Elementwise: is it NaN?"""
def isneginf(x, /, out=None) -> Array:
    """Elementwise: is it -inf?"""
def isposinf(x, /, out=None) -> Array:
    """Elementwise: is it +inf?"""
def isreal(x) -> Array:
    """Elementwise: is the imaginary part 0?"""
def kaiser(M, beta) -> Array:
    """I0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / I0(beta), where I0 is the Bessel function."""
def kron(a, b) -> Array:
    """The Kronecker product."""
def lcm(x1, x2) -> Array:
    """The least common multiple."""
def ldexp(x1, x2, /) -> Array:
    """x1 * 2**x2."""
def left_shift(x, y, /) -> Array:
    """Elementwise x << y; 0 where y is the width or more."""
def less(x, y, /) -> Array:
    """Elementwise x < y."""
def less_equal(x, y, /) -> Array:
    """Elementwise x <= y."""
def lexsort(keys, axis=-1) -> Array:
    """The indices that sort by the last key, then the one before, and so on."""
def log(x, /) -> Array:
    """Elementwise natural logarithm."""
def log10(x, /) -> Array:
    """Elementwise logarithm to base 10."""
def log1p(x, /) -> Array:
    """Elementwise log(1 + x), exact near zero."""
def log2(x, /) -> Array:
    """Elementwise logarithm to base 2."""
logaddexp: ufunc
logaddexp2: ufunc
logical_and: ufunc
def logical_not(x, /) -> Array:
    """Elementwise x == 0."""
logical_or: ufunc
logical_xor: ufunc
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0) -> Array:
    """base ** linspace(start, stop, num)."""
def matmul(a, b, *, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """Products of (stacks of) matrices, over the last dimension of `a` and the second to last of `b`; the dimensions before broadcast, and vectors lose theirs."""
def matrix_transpose(x, /) -> Array:
    """The last two dimensions swapped."""
def matvec(x1, x2, /) -> Array:
    """Matrices times vectors; leading dimensions broadcast."""
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """The maximum over `axis`; NaN where there is one."""
maximum: ufunc
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None) -> Array:
    """The mean over `axis`; of integers, float32. 16-bit floats are added up in float32."""
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> Array:
    """The middle element along `axis`, or the mean of the middle two."""
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """The minimum over `axis`; NaN where there is one."""
minimum: ufunc
def mod(x1, x2, /) -> Array:
    """Elementwise remainder with the sign of the divisor."""
def moveaxis(a, source, destination) -> Array:
    """Dimensions moved to other positions; the others keep their order."""
multiply: ufunc
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None) -> Array:
    """NaN and infinities replaced by numbers (infinities by the largest ones). `x` stays as it is, with `copy` or without: arrays are immutable."""
def nanargmax(a, axis=None, out=None, keepdims=None) -> Array:
    """argmax, without NaN; -1 where there is nothing else."""
def nanargmin(a, axis=None, out=None, keepdims=None) -> Array:
    """argmin, without NaN; -1 where there is nothing else."""
def nancumprod(a, axis=None, dtype=None, out=None) -> Array:
    """cumprod, with NaN counted as 1."""
def nancumsum(a, axis=None, dtype=None, out=None) -> Array:
    """cumsum, with NaN counted as 0."""
def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """max, without NaN; NaN where there is nothing else."""
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None) -> Array:
    """mean, without NaN."""
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> Array:
    """median, without NaN."""
def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """min, without NaN; NaN where there is nothing else."""
def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None) -> Array:
    """nanquantile, with q in percent."""
def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """prod, without NaN."""
def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None) -> Array:
    """quantile, without NaN; NaN where there is nothing else."""
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None) -> Array:
    """std, without NaN."""
def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None) -> Array:
    """sum, without NaN."""
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None) -> Array:
    """var, without NaN; NaN where no more than `ddof` elements are left."""
negative: ufunc
def nextafter(x, y, /) -> Array:
    """Elementwise next representable number from x towards y."""
def not_equal(x, y, /) -> Array:
    """Elementwise x != y."""
def ones(shape, dtype=None, *, device=None, out_sharding=None) -> Array:
    """An array of ones. One element is kept, whatever the shape."""
def ones_like(a, dtype=None, shape=None, *, device=None, out_sharding=None) -> Array:
    """Ones with the shape and dtype of `a`."""
def outer(a, b, out=None) -> Array:
    """All products of an element of `a` with one of `b`, (a.size, b.size)."""
def packbits(a, axis=None, bitorder='big') -> Array:
    """Truth values as bits: eight along `axis` (None: of the flattened array) in each uint8."""
def pad(array, pad_width, mode='constant', **kwargs) -> Array:
    """Elements added at the ends of dimensions: constants, edges, reflections or a repetition."""
def partition(a, kth, axis=-1) -> Array:
    """`a` with its kth element along `axis` in place: the smaller ones before it, in ascending order, the others behind it, in descending order."""
def percentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None, out_sharding=None) -> Array:
    """quantile, with q in percent; labelled with `out_sharding`, if it is given."""
def permute_dims(a, /, axes) -> Array:
    """Dimensions in the order `axes`: `transpose` in the words of the array API standard."""
def place(arr, mask, vals, *, inplace=True) -> Array:
    """`arr` with elements where the mask holds replaced by those of `vals` in turn."""
def poly(seq_of_zeros) -> Array:
    """The polynomial with these roots and leading coefficient 1; of a square matrix the characteristic one, whose coefficients are complex."""
def polyadd(a1, a2) -> Array:
    """The sum."""
def polyder(p, m=1) -> Array:
    """The m-th derivative."""
def polyint(p, m=1, k=None) -> Array:
    """The m-th integral; `k` are the constants of integration, one or m of them, 0 unless given."""
def polymul(a1, a2, *, trim_leading_zeros=False) -> Array:
    """The product; zeros in front are kept unless `trim_leading_zeros`, which jit does not allow."""
def polysub(a1, a2) -> Array:
    """The difference."""
def polyval(p, x, *, unroll=16) -> Array:
    """The polynomial with coefficients `p` (highest first) at `x`."""
def positive(x, /) -> Array:
    """The operand itself."""
def pow(x1, x2, /) -> Array:
    """Elementwise power, x1 ** x2."""
def power(x1, x2, /) -> Array:
    """Elementwise power, x1 ** x2."""
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True) -> Array:
    """The product over `axis`."""
def ptp(a, axis=None, out=None, keepdims=False) -> Array:
    """max - min over `axis`."""
def put(a, ind, v, mode=None, *, inplace=True) -> Array:
    """`a` with elements at flat indices replaced by those of `v` in turn; needs inplace=False."""
def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None) -> Array:
    """`arr` with elements along `axis` replaced."""
def quantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None) -> Array:
    """The q-th quantiles (0 <= q <= 1) along `axis`, between neighbours by `method`."""
def rad2deg(x, /) -> Array:
    """Radians as degrees."""
def radians(x, /) -> Array:
    """Degrees as radians."""
def ravel(a, order='C', *, out_sharding=None) -> Array:
    """The elements as one dimension."""
def ravel_multi_index(multi_index, dims, mode='raise', order='C', *, dtype=None) -> Array:
    """Indices per dimension as flat indices."""
def real(val, /) -> Array:
    """The real part."""
def reciprocal(x, /) -> Array:
    """Elementwise 1 / x."""
def remainder(x1, x2, /) -> Array:
    """Elementwise remainder with the sign of the divisor."""
def repeat(a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None) -> Array:
    """Each element (or slice along `axis`) repeated."""
def reshape(a, shape, order='C', *, copy=None, out_sharding=None) -> Array:
    """The same elements in another shape; one size may be -1."""
def resize(a, new_shape) -> Array:
    """The elements, repeated as often as needed, in a new shape."""
def right_shift(x1, x2, /) -> Array:
    """Elementwise shift to the right: arithmetic for signed integers."""
def rint(x, /) -> Array:
    """To the nearest integer, as floats; halves go to the even neighbour."""
def roll(a, shift, axis=None) -> Array:
    """Elements moved on by `shift`; those beyond the end come in at the start."""
def rollaxis(a, axis, start=0) -> Array:
    """Dimension `axis` moved to stand before `start`."""
def roots(p, *, strip_zeros=True) -> Array:
    """The roots of the polynomial with coefficients `p` (highest first): the eigenvalues of its companion matrix, complex."""
def rot90(m, k=1, axes=...) -> Array:
    """Rotated k times by 90 degrees in the plane of two dimensions."""
def round(a, decimals=0, out=None) -> Array:
    """To the nearest number with so many decimals; halves go to the even neighbour."""
def searchsorted(a, v, side='left', sorter=None, *, method='scan') -> Array:
    """Where elements of `v` would be put into the sorted vector `a`, int32; int64 where that is needed, for which x64 must be enabled."""
def select(condlist, choicelist, default=0) -> Array:
    """The first choice whose condition holds, else `default`."""
def setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None) -> Array:
    """The elements of the first that the second lacks, in order; as they stand in `ar1`, repeated or not, where `assume_unique`."""
def setxor1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None) -> Array:
    """The elements that only one of the two has, in order; `size` and `fill_value` as in `unique`."""
def sign(x, /) -> Array:
    """Elementwise sign: -1, 0 or 1; z / |z| for complex numbers."""
def signbit(x, /) -> Array:
    """Elementwise: is the sign bit set?"""
def sin(x, /) -> Array:
    """Elementwise sine of radians."""
def sinc(x, /) -> Array:
    """sin(pi x) / (pi x), 1 at 0."""
def sinh(x, /) -> Array:
    """Elementwise hyperbolic sine."""
def sort(a, axis=-1, *, kind=None, order=None, stable=True, descending=False) -> Array:
    """Ascending order along `axis` (None: of the flattened array), NaN last."""
def sort_complex(a) -> Array:
    """The elements sorted along the last axis, as complex numbers."""
def spacing(x, /) -> Array:
    """The distance to the next number away from 0."""
def sqrt(x, /) -> Array:
    """Elementwise square root. Its derivative at 0 is inf."""
def square(x, /) -> Array:
    """Elementwise square, x * x."""
def squeeze(a, axis=None) -> Array:
    """Without dimensions of size 1: all of them, or those in `axis`."""
def stack(arrays, axis=0, out=None, dtype=None) -> Array:
    """Arrays of one shape joined along a new dimension."""
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None) -> Array:
    """The standard deviation: the square root of var, which see."""
subtract: ufunc
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True) -> Array:
    """The sum over `axis` (None: all; an int; a tuple). Small integers and bool add up as int32."""
def swapaxes(a, axis1, axis2) -> Array:
    """Two dimensions exchanged."""
def take(a, indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None) -> Array:
    """Slices of `a` along `axis` (None: of the flattened array). Beyond the end: NaN or the extreme value ("fill"), the nearest ("clip") or counted on from the start ("wrap"); negative indices count from the end. `unique_indices` and `indices_are_sorted` are promises, as in `at[].get`."""
def take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None, *, wrap_negative_indices=None) -> Array:
    """arr[..., indices[..., i, ...], ...]: elements along `axis`, chosen for each position of the other dimensions."""
def tan(x, /) -> Array:
    """Elementwise tangent of radians."""
def tanh(x, /) -> Array:
    """Elementwise hyperbolic tangent."""
def tensordot(a, b, axes=2, *, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """The sum of products over so many last and first dimensions, or over the given ones; labelled with `out_sharding`, if it is given."""
def tile(A, reps) -> Array:
    """`A` repeated along each dimension."""
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None) -> Array:
    """The sum along a diagonal."""
def transpose(a, axes=None) -> Array:
    """Dimensions reversed, or in the order `axes`."""
def trapezoid(y, x=None, dx=1.0, axis=-1) -> Array:
    """The integral by the trapezoidal rule."""
def tri(N, M=None, k=0, dtype=None) -> Array:
    """(N, M), with ones at and below diagonal k."""
def tril(m, k=0) -> Array:
    """`m` with zeros above diagonal k."""
def trim_zeros(filt, trim='fb', axis=None) -> Array:
    """An array without the zeros at its front ('f' in `trim`) and back ('b') along `axis`."""
def triu(m, k=0) -> Array:
    """`m` with zeros below diagonal k."""
def true_divide(x1, x2, /) -> Array:
    """Elementwise quotient, x / y; integers truncate towards zero."""
def trunc(x) -> Array:
    """Elementwise, rounded towards zero."""
def union1d(ar1, ar2, *, size=None, fill_value=None) -> Array:
    """The distinct elements of both, in order."""
def unique_values(x, /, *, size=None, fill_value=None) -> Array:
    """The distinct values; NaN are distinct."""
def unpackbits(a, axis=None, count=None, bitorder='big') -> Array:
    """The bits of uint8, eight for each element along `axis` (None: of the flattened array)."""
def unwrap(p, discont=None, axis=-1, period=6.283185307179586) -> Array:
    """Angles without jumps: where neighbours along `axis` differ by more than `discont` (half a period unless given), whole periods are added to what follows."""
def vander(x, N=None, increasing=False) -> Array:
    """Powers of x in columns."""
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, mean=None, correction=None) -> Array:
    """The variance over `axis`: mean squared distance from the mean, over (n - ddof)."""
def vdot(a, b, *, precision=None, preferred_element_type=None) -> Array:
    """The sum of products of all elements, the first conjugated."""
def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None) -> Array:
    """Sums of products along `axis`, the first conjugated; other dimensions broadcast."""
def vecmat(x1, x2, /) -> Array:
    """Vectors, conjugated, times matrices; leading dimensions broadcast."""
def vstack(tup, dtype=None) -> Array:
    """Joined along the first dimension; vectors are rows."""
def zeros(shape, dtype=None, *, device=None, out_sharding=None) -> Array:
    """An array of zeros. One element is kept, whatever the shape."""
def zeros_like(a, dtype=None, shape=None, *, device=None, out_sharding=None) -> Array:
    """Zeros with the shape and dtype of `a`."""
