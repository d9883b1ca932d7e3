"""Written by python/stubs.py."""

from shardax._base.array_functions import broadcast_shapes as broadcast_shapes
from shardax._core import Array
from shardax._devices.constraints import with_sharding_constraint as with_sharding_constraint
from shardax.lax import linalg as linalg
from shardax.lax._associative_scan import associative_scan as associative_scan
from shardax.lax._branches import cond as cond
from shardax.lax._branches import platform_dependent as platform_dependent
from shardax.lax._branches import switch as switch
from shardax.lax._collectives import all_gather as all_gather
from shardax.lax._collectives import all_gather_invariant as all_gather_invariant
from shardax.lax._collectives import all_to_all as all_to_all
from shardax.lax._collectives import axis_size as axis_size
from shardax.lax._collectives import pbroadcast as pbroadcast
from shardax.lax._collectives import pcast as pcast
from shardax.lax._collectives import pmax as pmax
from shardax.lax._collectives import pmean as pmean
from shardax.lax._collectives import pmin as pmin
from shardax.lax._collectives import ppermute as ppermute
from shardax.lax._collectives import pshuffle as pshuffle
from shardax.lax._collectives import psum as psum
from shardax.lax._collectives import psum_scatter as psum_scatter
from shardax.lax._collectives import pswapaxes as pswapaxes
from shardax.lax._collectives import pvary as pvary
from shardax.lax._composite import composite as composite
from shardax.lax._conv_numbers import ConvDimensionNumbers as ConvDimensionNumbers
from shardax.lax._conv_numbers import ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers
from shardax.lax._conv_numbers import conv_dimension_numbers as conv_dimension_numbers
from shardax.lax._conv_numbers import conv_general_permutations as conv_general_permutations
from shardax.lax._conv_numbers import conv_general_shape_tuple as conv_general_shape_tuple
from shardax.lax._conv_numbers import conv_shape_tuple as conv_shape_tuple
from shardax.lax._conv_numbers import conv_transpose_shape_tuple as conv_transpose_shape_tuple
from shardax.lax._counted_loops import fori_loop as fori_loop
from shardax.lax._counted_loops import map as map
from shardax.lax._dot import DotAlgorithm as DotAlgorithm
from shardax.lax._dot import DotAlgorithmPreset as DotAlgorithmPreset
from shardax.lax._dot import DotDimensionNumbers as DotDimensionNumbers
from shardax.lax._dot import Precision as Precision
from shardax.lax._dot import PrecisionLike as PrecisionLike
from shardax.lax._dynamic import dce_sink as dce_sink
from shardax.lax._dynamic import shape_as_value as shape_as_value
from shardax.lax._elementwise import RoundingMethod as RoundingMethod
from shardax.lax._elementwise import dtype as dtype
from shardax.lax._elementwise import optimization_barrier as optimization_barrier
from shardax.lax._elementwise import stop_gradient as stop_gradient
from shardax.lax._elementwise import tie_in as tie_in
from shardax.lax._fft import FftType as FftType
from shardax.lax._indexing import GatherDimensionNumbers as GatherDimensionNumbers
from shardax.lax._indexing import GatherScatterMode as GatherScatterMode
from shardax.lax._indexing import ScatterDimensionNumbers as ScatterDimensionNumbers
from shardax.lax._layout import slice_type as slice_type
from shardax.lax._layout import split as split
from shardax.lax._layout import unstack as unstack
from shardax.lax._loops import scan as scan
from shardax.lax._loops import while_loop as while_loop
from shardax.lax._options import AccuracyMode as AccuracyMode
from shardax.lax._options import Tolerance as Tolerance
from shardax.lax._ragged import RaggedDotDimensionNumbers as RaggedDotDimensionNumbers
from shardax.lax._random_bits import RandomAlgorithm as RandomAlgorithm
from shardax.lax._random_bits import rng_bit_generator as rng_bit_generator
from shardax.lax._reductions import approx_max_k as approx_max_k
from shardax.lax._reductions import approx_min_k as approx_min_k
from shardax.lax._reductions import reduce as reduce
from shardax.lax._reductions import sort as sort
from shardax.lax._reductions import sort_key_val as sort_key_val
from shardax.lax._reductions import top_k as top_k
from shardax.lax._solves import custom_linear_solve as custom_linear_solve
from shardax.lax._solves import custom_root as custom_root
from shardax.lax._windows import padtype_to_pads as padtype_to_pads
from shardax.lax._windows import reduce_window as reduce_window
from shardax.lax._windows import reduce_window_shape_tuple as reduce_window_shape_tuple

def abs(x) -> Array:
    """The absolute value, elementwise; |z| of complex numbers is real."""
def acos(x) -> Array:
    """The angle in [0, pi] whose cosine is `x`, elementwise; NaN beyond [-1, 1]."""
def acosh(x) -> Array:
    """The inverse hyperbolic cosine, elementwise; NaN below 1."""
def add(x, y) -> Array:
    """The sum x + y, elementwise."""
def after_all(*operands) -> Array:
    """A token that comes after the given ones."""
def argmax(operand, axis, index_dtype) -> Array:
    """The index of the first maximum (or NaN) along a dimension."""
def argmin(operand, axis, index_dtype) -> Array:
    """The index of the first minimum (or NaN) along a dimension; arguments as of `lax.argmax`."""
def asarray(a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None) -> Array:
    """`a` itself where it is an array of that dtype already."""
def asin(x) -> Array:
    """The angle in [-pi/2, pi/2] whose sine is `x`, elementwise; NaN beyond [-1, 1]."""
def asinh(x) -> Array:
    """The inverse hyperbolic sine, elementwise."""
def atan(x) -> Array:
    """The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise."""
def atan2(x, y) -> Array:
    """The angle of the point (y, x) in the plane, elementwise, in (-pi, pi]: that of x / y in the right quadrant."""
def atanh(x) -> Array:
    """The inverse hyperbolic tangent, elementwise; NaN beyond [-1, 1]."""
def axis_index(axis_name) -> Array:
    """This device's position along the axis, int32; of several axes the last varies fastest."""
def batch_matmul(lhs, rhs, precision=None) -> Array:
    """Matrix products of stacks of matrices."""
def bessel_i0e(x) -> Array:
    """The modified Bessel function of the first kind of order 0, times e^-|x|, elementwise."""
def bessel_i1e(x) -> Array:
    """The modified Bessel function of the first kind of order 1, times e^-|x|, elementwise."""
def betainc(a, b, x) -> Array:
    """The regularized incomplete beta function, elementwise: the share of the beta distribution with parameters `a`, `b` > 0 in [0, x]."""
def bitcast_convert_type(operand, new_dtype) -> Array:
    """The same bits seen as another dtype."""
def bitwise_and(x, y) -> Array:
    """The bits set in both operands, elementwise; of booleans: whether both are true."""
def bitwise_not(x) -> Array:
    """The complement, bit by bit; of booleans: not x."""
def bitwise_or(x, y) -> Array:
    """The bits set in either operand, elementwise; of booleans: whether one is true."""
def bitwise_xor(x, y) -> Array:
    """The bits set in one operand only, elementwise; of booleans: whether they differ."""
def broadcast(operand, sizes, *, out_sharding=None) -> Array:
    """An array repeated along new leading dimensions."""
def broadcast_in_dim(operand, shape, broadcast_dimensions, *, out_sharding=None) -> Array:
    """An array repeated to a shape, each of its dimensions in a given place."""
def broadcast_like(arr, like_arr) -> Array:
    """An array repeated to the shape of another one."""
def broadcast_to_rank(x, rank) -> Array:
    """An array with leading dimensions of size 1 up to a number of dimensions."""
def broadcasted_iota(dtype, shape, dimension, *, out_sharding=None) -> Array:
    """An array of a shape that counts 0, 1, ... along one dimension."""
def cbrt(x, *, accuracy=None) -> Array:
    """The cube root, elementwise, also of negative numbers."""
def ceil(x) -> Array:
    """The smallest integer not below each element, in its dtype."""
def clamp(min, x, max) -> Array:
    """The elements limited to a range: minimum(maximum(x, min), max)."""
def clz(x) -> Array:
    """The number of zero bits above the highest 1, elementwise."""
def collapse(operand, start_dimension, stop_dimension=None) -> Array:
    """An array whose dimensions from start to stop are joined to one."""
def complex(x, y) -> Array:
    """Complex numbers of real and imaginary parts."""
def concatenate(operands, dimension) -> Array:
    """Arrays joined along a dimension."""
def conj(x) -> Array:
    """The complex conjugate, elementwise; real numbers become complex."""
def conv(lhs, rhs, window_strides, padding, precision=None, preferred_element_type=None) -> Array:
    """The convolution (without a flip) of arrays (batch, feature, ...) with kernels (out, in, ...)."""
def conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None, feature_group_count=1, batch_group_count=1, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """The convolution (without a flip) of lhs (batch, feature, ...) with kernels rhs (out, in, ...), or as `dimension_numbers` say."""
def conv_general_dilated_local(lhs, rhs, window_strides, padding, filter_shape, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None, precision=None) -> Array:
    """A convolution with a kernel of its own for each place of the result: rhs is (out, in * places in the window, ...), where ... are the spatial sizes of the result."""
def conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None, precision=None, preferred_element_type=None) -> Array:
    """The windows that a convolution sees: features are (input feature, place in the window), the last place fastest."""
def conv_transpose(lhs, rhs, strides, padding, rhs_dilation=None, dimension_numbers=None, transpose_kernel=False, precision=None, preferred_element_type=None, use_consistent_padding=False) -> Array:
    """The transpose of a convolution ("deconvolution", or fractionally strided convolution)."""
def conv_with_general_padding(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=None, preferred_element_type=None) -> Array:
    """The convolution of `lax.conv`, with dilations and with any padding."""
def convert_element_type(operand, new_dtype) -> Array:
    """An array with its elements converted to another dtype."""
def cos(x, *, accuracy=None) -> Array:
    """The cosine, elementwise, of angles in radians."""
def cosh(x) -> Array:
    """The hyperbolic cosine, elementwise."""
def create_token(_=None) -> Array:
    """A token: an array without elements."""
def cumlogsumexp(operand, axis=0, reverse=False) -> Array:
    """Logarithms of running sums of exponentials along a dimension."""
def cummax(operand, axis=0, reverse=False) -> Array:
    """Running maxima along a dimension."""
def cummin(operand, axis=0, reverse=False) -> Array:
    """Running minima along a dimension."""
def cumprod(operand, axis=0, reverse=False) -> Array:
    """Running products along a dimension."""
def cumsum(operand, axis=0, reverse=False) -> Array:
    """Running sums along a dimension."""
def digamma(x) -> Array:
    """The derivative of the logarithm of the gamma function, elementwise; NaN at 0, -1, -2 ..."""
def div(x, y) -> Array:
    """The quotient x / y, elementwise; integers are rounded towards zero."""
def dot(lhs, rhs, *, dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding=None) -> Array:
    """Vector and matrix products (or dot_general, with dimension_numbers)."""
def dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None) -> Array:
    """Sums of products."""
def dynamic_index_in_dim(operand, index, axis=0, keepdims=True, *, allow_negative_indices=True) -> Array:
    """One slice of an array along a dimension, whose index may be traced."""
def dynamic_slice(operand, start_indices, slice_sizes, *, allow_negative_indices=True) -> Array:
    """A part of an array whose start may be traced, and whose size is known."""
def dynamic_slice_in_dim(operand, start_index, slice_size, axis=0, *, allow_negative_indices=True) -> Array:
    """A part of an array along one dimension, whose start may be traced."""
def dynamic_update_index_in_dim(operand, update, index, axis, *, allow_negative_indices=True) -> Array:
    """An array with one slice along a dimension replaced, whose index may be traced."""
def dynamic_update_slice(operand, update, start_indices, *, allow_negative_indices=True) -> Array:
    """An array with a part replaced, whose start may be traced."""
def dynamic_update_slice_in_dim(operand, update, start_index, axis, *, allow_negative_indices=True) -> Array:
    """An array with a part along one dimension replaced, whose start may be traced."""
def empty(shape, dtype, *, out_sharding=None) -> Array:
    """An array whose elements are not to be relied on (here: zeros)."""
def eq(x, y) -> Array:
    """Whether x == y, elementwise; NaN equals nothing."""
def erf(x) -> Array:
    """The error function 2 / sqrt(pi) * integral of e^-t^2 from 0 to x, elementwise."""
def erf_inv(x) -> Array:
    """The inverse of the error function, elementwise; infinite at -1 and 1, NaN beyond."""
def erfc(x) -> Array:
    """The complementary error function 1 - erf(x), elementwise, exact for large `x`."""
def exp(x, *, accuracy=None) -> Array:
    """The exponential e^x, elementwise."""
def exp2(x, *, accuracy=None) -> Array:
    """The power 2^x, elementwise."""
def expand_dims(array, dimensions) -> Array:
    """An array with new dimensions of size 1 at those positions of the result."""
def expm1(x, *, accuracy=None) -> Array:
    """The function e^x - 1, elementwise, without the loss of digits near 0."""
def fft(x, fft_type, fft_lengths) -> Array:
    """The discrete Fourier transform over the last dimensions."""
def floor(x) -> Array:
    """The largest integer not above each element, in its dtype."""
def full(shape, fill_value, dtype=None, *, sharding=None) -> Array:
    """An array that repeats one number; memory holds one element."""
def full_like(x, fill_value, dtype=None, shape=None, sharding=None) -> Array:
    """An array of another one's shape and dtype that repeats one number."""
def gamma_variate(x, y) -> Array:
    """The draw `y` from the gamma distribution with parameter `x`, or its logarithm: the value is `y`, the derivative by `x` that of the draw."""
def gather(operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices=False, indices_are_sorted=False, mode=None, fill_value=None) -> Array:
    """Windows of an array."""
def ge(x, y) -> Array:
    """Whether x >= y, elementwise."""
def gt(x, y) -> Array:
    """Whether x > y, elementwise."""
def igamma(a, x) -> Array:
    """The regularized lower incomplete gamma function, elementwise: the share of the gamma distribution with parameter `a` > 0 below `x` >= 0."""
def igamma_grad_a(a, x) -> Array:
    """The derivative of `lax.igamma(a, x)` by `a`, elementwise."""
def igammac(a, x) -> Array:
    """The regularized upper incomplete gamma function, 1 - igamma(a, x), elementwise, without the loss of digits."""
def imag(x) -> Array:
    """The imaginary part, elementwise, as floats."""
def index_in_dim(operand, index, axis=0, keepdims=True) -> Array:
    """One slice of an array along a dimension."""
def index_take(src, idxs, axes) -> Array:
    """The slices of an array at vectors of indices, one vector for each of `axes`."""
def integer_pow(x, y) -> Array:
    """The power x ** y for an int `y` that is known, by repeated multiplication."""
def iota(dtype, size) -> Array:
    """The vector 0, 1, ..., size - 1 of a dtype."""
def is_finite(x) -> Array:
    """Whether each element is neither infinite nor NaN."""
def le(x, y) -> Array:
    """Whether x <= y, elementwise."""
def lgamma(x) -> Array:
    """The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2 ..."""
def log(x, *, accuracy=None) -> Array:
    """The natural logarithm, elementwise; -inf at 0, NaN below."""
def log1p(x, *, accuracy=None) -> Array:
    """The function log(1 + x), elementwise, without the loss of digits near 0."""
def logistic(x, *, accuracy=None) -> Array:
    """The logistic function 1 / (1 + e^-x), elementwise."""
def lt(x, y) -> Array:
    """Whether x < y, elementwise."""
def max(x, y) -> Array:
    """The larger one of each pair; NaN where either is NaN. Where they are equal, they share the gradient."""
def min(x, y) -> Array:
    """The smaller one of each pair; NaN where either is NaN. Where they are equal, they share the gradient."""
def mul(x, y, *, out_dtype=None) -> Array:
    """The product x * y, elementwise."""
def mulhi(x, y) -> Array:
    """The upper half of the bits of the product of two integers, elementwise."""
def ne(x, y) -> Array:
    """Whether x != y, elementwise."""
def neg(x) -> Array:
    """The negation -x, elementwise."""
def nextafter(x1, x2) -> Array:
    """The next number of the dtype from the first operand towards the second one, elementwise."""
def pad(operand, padding_value, padding_config) -> Array:
    """An array with elements added at its ends and between its elements."""
def pargmax(x, axis_name) -> Array:
    """For each element the position of the first device that has the maximum, int32."""
def pargmin(x, axis_name) -> Array:
    """For each element the position of the first device that has the minimum, int32."""
def pdot(x, y, axis_name, pos_contract=..., pos_batch=...) -> Array:
    """The product of `x` and `y` summed over the axis, and over the dimensions that `pos_contract` names, as JAX had it until version 0.4."""
def polygamma(m, x) -> Array:
    """The m-th derivative of the digamma function at `x`, elementwise."""
def population_count(x) -> Array:
    """The number of bits that are 1, elementwise."""
def pow(x, y) -> Array:
    """The power x ** y, elementwise."""
def ragged_all_to_all(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *, axis_name, axis_index_groups=None) -> Array:
    """`output`, with slices of all devices' operands written over parts of it."""
def ragged_dot(lhs, rhs, group_sizes, precision=None, preferred_element_type=None, group_offset=None, out_sharding=None) -> Array:
    """Rows of lhs (m, k), the first group_sizes[0] of them times rhs[0], the next group_sizes[1] times rhs[1], and so on; rhs is (g, k, n). Rows of no group give zeros."""
def ragged_dot_general(lhs, rhs, group_sizes, ragged_dot_dimension_numbers, precision=None, preferred_element_type=None, group_offset=None, out_sharding=None) -> Array:
    """dot_general in which a dimension of lhs is cut into groups."""
def random_gamma_grad(a, x) -> Array:
    """The derivative of a draw `x` from the gamma distribution by its parameter `a`, elementwise."""
def random_gamma_grad_a(x, y) -> Array:
    """The derivative of `lax.random_gamma_grad` by its first operand, elementwise."""
def real(x) -> Array:
    """The real part, elementwise, as floats."""
def reciprocal(x) -> Array:
    """The reciprocal 1 / x of floats or complex numbers, elementwise."""
def reduce_and(operand, axes, *, out_sharding=None) -> Array:
    """The bits set in all elements over dimensions."""
def reduce_max(operand, axes, *, out_sharding=None) -> Array:
    """The maximum, NaN where there is one, over dimensions."""
def reduce_min(operand, axes, *, out_sharding=None) -> Array:
    """The minimum, NaN where there is one, over dimensions."""
def reduce_or(operand, axes, *, out_sharding=None) -> Array:
    """The bits set in any element over dimensions."""
def reduce_precision(operand, exponent_bits, mantissa_bits) -> Array:
    """Floats rounded as those with fewer bits would be, in their own dtype."""
def reduce_prod(operand, axes, *, out_sharding=None) -> Array:
    """The product over dimensions."""
def reduce_sum(operand, axes, *, out_sharding=None) -> Array:
    """The sum over dimensions."""
def reduce_xor(operand, axes, *, out_sharding=None) -> Array:
    """The exclusive or of integers or booleans over dimensions."""
def rem(x, y) -> Array:
    """The remainder of a division, elementwise, with the sign of the dividend, as C's fmod."""
def reshape(operand, new_sizes, dimensions=None, *, out_sharding=None) -> Array:
    """The elements of an array in another shape."""
def rev(operand, dimensions) -> Array:
    """The elements of an array in reverse order along some dimensions, a sequence of ints."""
def rng_uniform(a, b, shape) -> Array:
    """Uniform draws in [a, b), other ones each time that it runs."""
def round(x, rounding_method=...) -> Array:
    """The nearest integer to each element, in its dtype."""
def rsqrt(x, *, accuracy=None) -> Array:
    """The reciprocal square root 1 / sqrt(x), elementwise; inf at 0, NaN below."""
def scaled_dot(lhs, rhs, *, lhs_scale=None, rhs_scale=None, dimension_numbers=None, preferred_element_type=None) -> Array:
    """The product of lhs * lhs_scale and rhs * rhs_scale in bfloat16; scales stand for blocks."""
def scatter(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None) -> Array:
    """An array with windows replaced by updates."""
def scatter_add(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None) -> Array:
    """An array with windows increased by updates."""
def scatter_apply(operand, scatter_indices, func, dimension_numbers, *, update_shape=..., indices_are_sorted=False, unique_indices=False, mode=None) -> Array:
    """An array with `func`, a function of one element, applied to the elements of windows: as often as they are named."""
def scatter_max(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None) -> Array:
    """An array with windows raised to updates."""
def scatter_min(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None) -> Array:
    """An array with windows lowered to updates."""
def scatter_mul(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None) -> Array:
    """An array with windows multiplied by updates."""
def scatter_sub(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None) -> Array:
    """An array with windows decreased by updates."""
def select(pred, on_true, on_false) -> Array:
    """The elements of `on_true` where a condition holds, those of `on_false` elsewhere."""
def select_n(which, *cases) -> Array:
    """The elements of the case that `which` names: cases[which[i]][i]."""
def shift_left(x, y) -> Array:
    """Bits moved to the left by y places, elementwise; 0 where y is the width or more."""
def shift_right_arithmetic(x, y) -> Array:
    """Bits moved to the right by y places, elementwise; copies of the top bit come in."""
def shift_right_logical(x, y) -> Array:
    """Bits moved to the right by y places, elementwise; zeros come in."""
def sign(x) -> Array:
    """The sign, elementwise: -1, 0 or 1; z / |z| for complex numbers."""
def sin(x, *, accuracy=None) -> Array:
    """The sine, elementwise, of angles in radians."""
def sinh(x) -> Array:
    """The hyperbolic sine, elementwise."""
def slice(operand, start_indices, limit_indices, strides=None) -> Array:
    """The elements of an array from start to limit indices, in steps."""
def slice_in_dim(operand, start_index, limit_index, stride=1, axis=0) -> Array:
    """The elements from start to limit along one dimension."""
def sqrt(x, *, accuracy=None) -> Array:
    """The square root, elementwise; NaN for negative real numbers. Its derivative at 0 is inf."""
def square(x) -> Array:
    """The square x * x, elementwise."""
def squeeze(array, dimensions) -> Array:
    """An array without some dimensions of size 1."""
def stack(operands, axis=0) -> Array:
    """Arrays of one shape along a new dimension."""
def stage(x, /) -> Array:
    """A value as a result of the program that is being traced; outside of one, as an array."""
def sub(x, y) -> Array:
    """The difference x - y, elementwise."""
def tan(x, *, accuracy=None) -> Array:
    """The tangent, elementwise, of angles in radians."""
def tanh(x, *, accuracy=None) -> Array:
    """The hyperbolic tangent, elementwise, from -1 to 1."""
def tile(operand, reps) -> Array:
    """An array repeated as a whole along each of its dimensions."""
def transpose(operand, permutation) -> Array:
    """The dimensions of an array in another order."""
def zeta(x, q) -> Array:
    """The Hurwitz zeta function, elementwise: the sum over k >= 0 of (q + k)^-x."""
