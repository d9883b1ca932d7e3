"""Written by python/stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from shardax._core import Array
from shardax.lax import linalg as linalg
from shardax.lax._conv_numbers import ConvDimensionNumbers as ConvDimensionNumbers
from shardax.lax._conv_numbers import ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers
from shardax.lax._dot import DotAlgorithm as DotAlgorithm
from shardax.lax._dot import DotAlgorithmPreset as DotAlgorithmPreset
from shardax.lax._dot import DotDimensionNumbers as DotDimensionNumbers
from shardax.lax._dot import Precision as Precision
from shardax.lax._dot import PrecisionLike as PrecisionLike
from shardax.lax._elementwise import RoundingMethod as RoundingMethod
from shardax.lax._fft import FftType as FftType
from shardax.lax._indexing import GatherDimensionNumbers as GatherDimensionNumbers
from shardax.lax._indexing import GatherScatterMode as GatherScatterMode
from shardax.lax._indexing import ScatterDimensionNumbers as ScatterDimensionNumbers
from shardax.lax._options import AccuracyMode as AccuracyMode
from shardax.lax._options import Tolerance as Tolerance
from shardax.lax._ragged import RaggedDotDimensionNumbers as RaggedDotDimensionNumbers
from shardax.lax._random_bits import RandomAlgorithm as RandomAlgorithm
from shardax.lax._slices import slice_type as slice_type
from shardax.typing import ArrayLike
from shardax.typing import DTypeLike

_T = TypeVar("_T")
_X = TypeVar("_X")
_Y = TypeVar("_Y")
_Carry = TypeVar("_Carry")

def abs(x: ArrayLike) -> Array:
    """The absolute value, elementwise; |z| of complex numbers is real."""
def acos(x: ArrayLike) -> Array:
    """The angle in [0, pi] whose cosine is `x`, elementwise; NaN beyond [-1, 1]."""
def acosh(x: ArrayLike) -> Array:
    """The inverse hyperbolic cosine, elementwise; NaN below 1."""
def add(x: ArrayLike, y: ArrayLike) -> Array:
    """The sum x + y, elementwise."""
def after_all(*operands: Any) -> Array:
    """A token that comes after the given ones."""
def all_gather(x: ArrayLike, axis_name: Any, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False, to: str = 'varying') -> Any:
    """The values of all devices along a new dimension `axis`, or (tiled) joined along that one."""
def all_gather_invariant(x: ArrayLike, axis_name: Any, *, axis: int = 0, tiled: bool = False) -> Any:
    """all_gather whose type, within shard_map's check_vma, says that all devices have one value."""
def all_to_all(x: ArrayLike, axis_name: Any, split_axis: Any, concat_axis: Any, *, axis_index_groups: Any = None, tiled: bool = False) -> Any:
    """Each device splits dimension `split_axis` over the axis and joins its share of all others'."""
def approx_max_k(operand: Any, k: Any, reduction_dimension: int = -1, recall_target: ArrayLike = 0.95, reduction_input_size_override: int = -1, aggregate_to_topk: bool = True) -> list[Array]:
    """The k largest elements along a dimension and their indices; all of them are found."""
def approx_min_k(operand: Any, k: Any, reduction_dimension: int = -1, recall_target: ArrayLike = 0.95, reduction_input_size_override: int = -1, aggregate_to_topk: bool = True) -> list[Array]:
    """The k smallest elements along a dimension and their indices; all of them are found, whatever `recall_target` and `reduction_input_size_override` are. For arguments see `approx_max_k`."""
def argmax(operand: Any, axis: int, index_dtype: DTypeLike) -> Array:
    """The index of the first maximum (or NaN) along a dimension."""
def argmin(operand: Any, axis: int, index_dtype: DTypeLike) -> Array:
    """The index of the first minimum (or NaN) along a dimension; arguments as of `lax.argmax`."""
def asarray(a: ArrayLike, dtype: DTypeLike | None = None, order: None = None, *, copy: Any = None, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of numbers; `a` itself where it is an array of that dtype already."""
def asin(x: ArrayLike) -> Array:
    """The angle in [-pi/2, pi/2] whose sine is `x`, elementwise; NaN beyond [-1, 1]."""
def asinh(x: ArrayLike) -> Array:
    """The inverse hyperbolic sine, elementwise."""
def associative_scan(
    fn: Callable[[_T, _T], _T], elems: _T, reverse: bool = False, axis: int = 0
) -> _T:
    """All partial results of an associative function, in a logarithmic number of steps."""
def atan(x: ArrayLike) -> Array:
    """The angle in (-pi/2, pi/2) whose tangent is `x`, elementwise."""
def atan2(x: ArrayLike, y: ArrayLike) -> Array:
    """The angle of the point (y, x) in the plane, elementwise, in (-pi, pi]: that of x / y in the right quadrant."""
def atanh(x: ArrayLike) -> Array:
    """The inverse hyperbolic tangent, elementwise; NaN beyond [-1, 1]."""
def axis_index(axis_name: Any) -> Array:
    """This device's position along the axis, int32; of several axes the last varies fastest."""
def axis_size(axis_name: Any) -> int:
    """The size of a mapped axis, a Python int; of several axes the product."""
def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: Any = None) -> Array:
    """Matrix products of stacks of matrices."""
def bessel_i0e(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 0, times e^-|x|, elementwise."""
def bessel_i1e(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 1, times e^-|x|, elementwise."""
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularized incomplete beta function, elementwise: the share of the beta distribution with parameters `a`, `b` > 0 in [0, x]."""
def bitcast_convert_type(operand: Any, new_dtype: DTypeLike) -> Array:
    """The same bits seen as another dtype."""
def bitwise_and(x: ArrayLike, y: ArrayLike) -> Array:
    """The bits set in both operands, elementwise; of booleans: whether both are true."""
def bitwise_not(x: ArrayLike) -> Array:
    """The complement, bit by bit; of booleans: not x."""
def bitwise_or(x: ArrayLike, y: ArrayLike) -> Array:
    """The bits set in either operand, elementwise; of booleans: whether one is true."""
def bitwise_xor(x: ArrayLike, y: ArrayLike) -> Array:
    """The bits set in one operand only, elementwise; of booleans: whether they differ."""
def broadcast(operand: Any, sizes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """An array repeated along new leading dimensions."""
def broadcast_in_dim(operand: Any, shape: int | Sequence[Any], broadcast_dimensions: int | Sequence[int], *, out_sharding: Any = None) -> Array:
    """An array repeated to a shape, each of its dimensions in a given place."""
def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """An array repeated to the shape of another one."""
def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape to which all shapes broadcast; an integer stands for the shape of a vector."""
def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """An array with leading dimensions of size 1 up to a number of dimensions."""
def broadcasted_iota(dtype: DTypeLike, shape: int | Sequence[Any], dimension: int, *, out_sharding: Any = None) -> Array:
    """An array of a shape that counts 0, 1, ... along one dimension."""
def cbrt(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The cube root, elementwise, also of negative numbers."""
def ceil(x: ArrayLike) -> Array:
    """The smallest integer not below each element, in its dtype."""
def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """The elements limited to a range: minimum(maximum(x, min), max)."""
def clz(x: ArrayLike) -> Array:
    """The number of zero bits above the highest 1, elementwise."""
def collapse(operand: Any, start_dimension: Any, stop_dimension: Any = None) -> Array:
    """An array whose dimensions from start to stop are joined to one."""
def complex(x: ArrayLike, y: ArrayLike) -> Array:
    """Complex numbers of real and imaginary parts."""
def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """`decomposition` as one operation of that name, which lowered programs show."""
def concatenate(operands: Any, dimension: int) -> Array:
    """Arrays joined along a dimension."""
def cond(
    pred: Any, *args: Any, operand: Any = ..., **kwargs: Any
) -> Any:
    """true_fun(*operands) where pred holds, else false_fun(*operands); both must give the same types."""
def conj(x: ArrayLike) -> Array:
    """The complex conjugate, elementwise; real numbers become complex."""
def conv(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The convolution (without a flip) of arrays (batch, feature, ...) with kernels (out, in, ...)."""
def conv_dimension_numbers(lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any) -> Any:
    """ConvDimensionNumbers out of None (the first two dimensions) or three strings such as ("NHWC", "HWIO", "NHWC")."""
def conv_general_dilated(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """The convolution (without a flip) of lhs (batch, feature, ...) with kernels rhs (out, in, ...), or as `dimension_numbers` say."""
def conv_general_dilated_local(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], filter_shape: Sequence[int], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None, precision: Any = None) -> Array:
    """A convolution with a kernel of its own for each place of the result. rhs is (out, in * places in the window, ...), with the spatial sizes of the result for "..."."""
def conv_general_dilated_patches(lhs: ArrayLike, filter_shape: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The windows that a convolution sees: features are (input feature, place in the window), the last place fastest."""
def conv_general_permutations(dimension_numbers: Any) -> Any:
    """For each of three strings such as ("NHWC", "HWIO", "NHWC"), the permutation to the order of ConvDimensionNumbers. This is N C (of the second, O I), then spatial dimensions as the second has them."""
def conv_general_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], dimension_numbers: Any) -> tuple[int, ...]:
    """The shape of a convolution, with dimension_numbers as strings."""
def conv_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], strides: Sequence[int], pads: Any, batch_group_count: int = 1) -> tuple[int, ...]:
    """The shape of a convolution of shapes (batch, feature, ...) and (out, in, ...)."""
def conv_transpose(lhs: ArrayLike, rhs: ArrayLike, strides: Sequence[int], padding: str | Sequence[tuple[int, int]], rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None, transpose_kernel: bool = False, precision: Any = None, preferred_element_type: DTypeLike | None = None, use_consistent_padding: bool = False) -> Array:
    """The transpose of a convolution ("deconvolution", or fractionally strided convolution)."""
def conv_transpose_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], dimension_numbers: Any) -> tuple[int, ...]:
    """The shape of conv_transpose, with dimension_numbers as strings."""
def conv_with_general_padding(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None, rhs_dilation: Sequence[int] | None, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The convolution of `lax.conv`, with dilations and with any padding."""
def convert_element_type(operand: Any, new_dtype: DTypeLike) -> Array:
    """An array with its elements converted to another dtype."""
def cos(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The cosine, elementwise, of angles in radians."""
def cosh(x: ArrayLike) -> Array:
    """The hyperbolic cosine, elementwise."""
def create_token(_: Any = None) -> Array:
    """A token: an array without elements."""
def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Logarithms of running sums of exponentials along a dimension."""
def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Running maxima along a dimension."""
def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Running minima along a dimension."""
def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Running products along a dimension."""
def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Running sums along a dimension."""
def custom_linear_solve(matvec: Callable[..., Any], b: ArrayLike, solve: Callable[..., Any], transpose_solve: Callable[..., Any] | None = None, symmetric: bool = False, has_aux: bool = False) -> Any:
    """The solution x of matvec(x) = b, found by solve(matvec, b)."""
def custom_root(f: Callable[..., Any], initial_guess: Any, solve: Callable[..., Any], tangent_solve: Callable[..., Any], has_aux: bool = False) -> Any:
    """A root of `f`, found by solve(f, initial_guess) and differentiated by the implicit function theorem, with respect to the values that `f` closes over."""
def dce_sink(val: ArrayLike, *, prevent_mlir_dce: bool = False) -> None:
    """Marks a value as used, where nothing else uses it; it needs no computing here."""
def digamma(x: ArrayLike) -> Array:
    """The derivative of the logarithm of the gamma function, elementwise; NaN at 0, -1, -2 ..."""
def div(x: ArrayLike, y: ArrayLike) -> Array:
    """The quotient x / y, elementwise; integers are rounded towards zero."""
def dot(lhs: ArrayLike, rhs: ArrayLike, *, dimension_numbers: Any = None, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """Vector and matrix products (or dot_general, with dimension_numbers)."""
def dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: Any, precision: Any = None, preferred_element_type: DTypeLike | None = None, *, out_sharding: Any = None) -> Array:
    """Sums of products."""
def dtype(x: Any) -> np.dtype[Any]:
    """The dtype of an array or a number, or the one that a dtype, scalar type or name stands for."""
def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True) -> Array:
    """One slice of an array along a dimension, whose index may be traced."""
def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: int | Sequence[int], *, allow_negative_indices: bool = True) -> Array:
    """A part of an array whose start may be traced, and whose size is known."""
def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: Any, axis: int = 0, *, allow_negative_indices: bool = True) -> Array:
    """A part of an array along one dimension, whose start may be traced."""
def dynamic_update_index_in_dim(operand: Any, update: ArrayLike, index: Any, axis: int, *, allow_negative_indices: bool = True) -> Array:
    """An array with one slice along a dimension replaced, whose index may be traced."""
def dynamic_update_slice(operand: Any, update: ArrayLike, start_indices: Any, *, allow_negative_indices: bool = True) -> Array:
    """An array with a part replaced, whose start may be traced."""
def dynamic_update_slice_in_dim(operand: Any, update: ArrayLike, start_index: Any, axis: int, *, allow_negative_indices: bool = True) -> Array:
    """An array with a part along one dimension replaced, whose start may be traced."""
def empty(shape: int | Sequence[Any], dtype: DTypeLike, *, out_sharding: Any = None) -> Array:
    """An array whose elements are not to be relied on (here: zeros)."""
def eq(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x == y, elementwise; NaN equals nothing."""
def erf(x: ArrayLike) -> Array:
    """The error function 2 / sqrt(pi) * integral of e^-t^2 from 0 to x, elementwise."""
def erf_inv(x: ArrayLike) -> Array:
    """The inverse of the error function, elementwise; infinite at -1 and 1, NaN beyond."""
def erfc(x: ArrayLike) -> Array:
    """The complementary error function 1 - erf(x), elementwise, exact for large `x`."""
def exp(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The exponential e^x, elementwise."""
def exp2(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The power 2^x, elementwise."""
def expand_dims(array: Any, dimensions: int | Sequence[int]) -> Array:
    """An array with new dimensions of size 1 at those positions of the result."""
def expm1(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The function e^x - 1, elementwise, without the loss of digits near 0."""
def fft(x: ArrayLike, fft_type: Any, fft_lengths: Any) -> Array:
    """The discrete Fourier transform over the last dimensions."""
def floor(x: ArrayLike) -> Array:
    """The largest integer not above each element, in its dtype."""
def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, _T], _Carry], init_val: _T, *,
    unroll: int | bool | None = None,
) -> _Carry:
    """carry = body_fun(i, carry) for i in lower .. upper - 1."""
def full(shape: int | Sequence[Any], fill_value: ArrayLike, dtype: DTypeLike | None = None, *, sharding: Any = None) -> Array:
    """An array that repeats one number; memory holds one element."""
def full_like(x: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, shape: int | Sequence[Any] | None = None, sharding: Any = None) -> Array:
    """An array of another one's shape and dtype that repeats one number."""
def gamma_variate(x: ArrayLike, y: ArrayLike) -> Array:
    """The draw `y` from the gamma distribution with parameter `x`, or its logarithm: the value is `y`, the derivative by `x` that of the draw."""
def gather(operand: Any, start_indices: Any, dimension_numbers: Any, slice_sizes: int | Sequence[int], *, unique_indices: bool = False, indices_are_sorted: bool = False, mode: Any = None, fill_value: ArrayLike | None = None) -> Array:
    """Windows of an array."""
def ge(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x >= y, elementwise."""
def gt(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x > y, elementwise."""
def igamma(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized lower incomplete gamma function, elementwise: the share of the gamma distribution with parameter `a` > 0 below `x` >= 0."""
def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Array:
    """The derivative of `lax.igamma(a, x)` by `a`, elementwise."""
def igammac(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized upper incomplete gamma function, 1 - igamma(a, x), elementwise, without the loss of digits."""
def imag(x: ArrayLike) -> Array:
    """The imaginary part, elementwise, as floats."""
def index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Array:
    """One slice of an array along a dimension."""
def index_take(src: Any, idxs: Sequence[ArrayLike], axes: Sequence[int]) -> Array:
    """The slices of an array at vectors of indices, one vector for each of `axes`."""
def integer_pow(x: ArrayLike, y: ArrayLike) -> Array:
    """The power x ** y for an int `y` that is known, by repeated multiplication."""
def iota(dtype: DTypeLike, size: int) -> Array:
    """The vector 0, 1, ..., size - 1 of a dtype."""
def is_finite(x: ArrayLike) -> Array:
    """Whether each element is neither infinite nor NaN."""
def le(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x <= y, elementwise."""
def lgamma(x: ArrayLike) -> Array:
    """The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2 ..."""
def log(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The natural logarithm, elementwise; -inf at 0, NaN below."""
def log1p(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The function log(1 + x), elementwise, without the loss of digits near 0."""
def logistic(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The logistic function 1 / (1 + e^-x), elementwise."""
def lt(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x < y, elementwise."""
def map(
    f: Callable[..., Any], xs: Any, *, batch_size: int | None = None
) -> Any:
    """f over the leading axis of xs, one slice at a time (or `batch_size` of them at once), results stacked."""
def max(x: ArrayLike, y: ArrayLike) -> Array:
    """The larger one of each pair; NaN where either is NaN. Where they are equal, they share the gradient."""
def min(x: ArrayLike, y: ArrayLike) -> Array:
    """The smaller one of each pair; NaN where either is NaN. Where they are equal, they share the gradient."""
def mul(x: ArrayLike, y: ArrayLike, *, out_dtype: DTypeLike | None = None) -> Array:
    """The product x * y, elementwise."""
def mulhi(x: ArrayLike, y: ArrayLike) -> Array:
    """The upper half of the bits of the product of two integers, elementwise."""
def ne(x: ArrayLike, y: ArrayLike) -> Array:
    """Whether x != y, elementwise."""
def neg(x: ArrayLike) -> Array:
    """The negation -x, elementwise."""
def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The next number of the dtype from the first operand towards the second one, elementwise."""
def optimization_barrier(operand: _T, /) -> _T:
    """A tree of arrays, opaque to the compiler. Computations on the result are not merged with those on the operand."""
def pad(operand: Any, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """An array with elements added at its ends and between its elements."""
def padtype_to_pads(in_shape: Any, window_shape: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]]) -> Any:
    """The padding (low, high) for each dimension that a name stands for."""
def pargmax(x: ArrayLike, axis_name: Any) -> Array:
    """For each element the position of the first device that has the maximum, int32."""
def pargmin(x: ArrayLike, axis_name: Any) -> Array:
    """For each element the position of the first device that has the minimum, int32."""
def pbroadcast(x: _T, axis_name: Any, source: Any) -> _T:
    """The value of the device at position `source`, for all devices."""
def pcast(x: _T, axis_name: Any, *, to: Any) -> _T:
    """A tree of arrays, typed within shard_map's check_vma as in another state over the axes."""
def pdot(x: ArrayLike, y: ArrayLike, axis_name: Any, pos_contract: Any = ..., pos_batch: Any = ...) -> Array:
    """The product of `x` and `y` summed over the axis, and over the dimensions that `pos_contract` names, as JAX had it until version 0.4."""
def platform_dependent(*args: Any, default: Any = None, **per_platform: Any) -> Any:
    """The function for the platform that runs, applied to args: that of the CPU."""
def pmax(x: _T, axis_name: Any, *, axis_index_groups: Any = None) -> _T:
    """The maximum over the axis, of the operand's dtype. Devices that tie share the gradient."""
def pmean(x: _T, axis_name: Any, *, axis_index_groups: Any = None) -> _T:
    """The mean over the axis; floats keep their dtype, integers and booleans become float32."""
def pmin(x: _T, axis_name: Any, *, axis_index_groups: Any = None) -> _T:
    """The minimum over the axis, of the operand's dtype. Devices that tie share the gradient."""
def polygamma(m: ArrayLike, x: ArrayLike) -> Array:
    """The m-th derivative of the digamma function at `x`, elementwise."""
def population_count(x: ArrayLike) -> Array:
    """The number of bits that are 1, elementwise."""
def pow(x: ArrayLike, y: ArrayLike) -> Array:
    """The power x ** y, elementwise."""
def ppermute(x: _T, axis_name: Any, perm: Sequence[tuple[int, int]] | Sequence[int]) -> _T:
    """Sends values along (source, destination) pairs; devices that receive none have zeros."""
def pshuffle(x: _T, axis_name: Any, perm: Sequence[tuple[int, int]] | Sequence[int]) -> _T:
    """Device i gets the value of device perm[i]; `perm` is a permutation of 0, 1, ..."""
def psum(x: _T, axis_name: Any, *, axis_index_groups: Any = None) -> _T:
    """The sum over the axis; every device has it."""
def psum_scatter(x: ArrayLike, axis_name: Any, *, scatter_dimension: int = 0, axis_index_groups: Any = None, tiled: bool = False) -> Any:
    """psum of which each device keeps its part of `scatter_dimension`."""
def pswapaxes(x: ArrayLike, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Swaps the mapped axis with dimension `axis`, which has the same size."""
def pvary(x: _T, axis_name: Any) -> _T:
    """A tree of arrays, typed within shard_map's check_vma as varying over the axes; `lax.pcast` says it with a state."""
def ragged_all_to_all(operand: Any, output: Any, input_offsets: Any, send_sizes: Any, output_offsets: Any, recv_sizes: Any, *, axis_name: Any, axis_index_groups: Any = None) -> Array:
    """`output`, with slices of all devices' operands written over parts of it."""
def ragged_dot(lhs: ArrayLike, rhs: ArrayLike, group_sizes: ArrayLike, precision: Any = None, preferred_element_type: DTypeLike | None = None, group_offset: Any = None, out_sharding: Any = None) -> Array:
    """Rows of lhs (m, k), the first group_sizes[0] of them times rhs[0], the next group_sizes[1] times rhs[1], and so on; rhs is (g, k, n). Rows of no group give zeros."""
def ragged_dot_general(lhs: ArrayLike, rhs: ArrayLike, group_sizes: ArrayLike, ragged_dot_dimension_numbers: Any, precision: Any = None, preferred_element_type: DTypeLike | None = None, group_offset: Any = None, out_sharding: Any = None) -> Array:
    """dot_general in which a dimension of lhs is cut into groups."""
def random_gamma_grad(a: ArrayLike, x: ArrayLike) -> Array:
    """The derivative of a draw `x` from the gamma distribution by its parameter `a`, elementwise."""
def random_gamma_grad_a(x: ArrayLike, y: ArrayLike) -> Array:
    """The derivative of `lax.random_gamma_grad` by its first operand, elementwise."""
def real(x: ArrayLike) -> Array:
    """The real part, elementwise, as floats."""
def reciprocal(x: ArrayLike) -> Array:
    """The reciprocal 1 / x of floats or complex numbers, elementwise."""
def reduce(operands: Any, init_values: Any, computation: Callable[..., Any], dimensions: int | Sequence[int], out_sharding: Any = None) -> Any:
    """A reduction over dimensions by an associative function of two elements."""
def reduce_and(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The bits set in all elements over dimensions."""
def reduce_max(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The maximum, NaN where there is one, over dimensions."""
def reduce_min(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The minimum, NaN where there is one, over dimensions."""
def reduce_or(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The bits set in any element over dimensions."""
def reduce_precision(operand: Any, exponent_bits: Any, mantissa_bits: Any) -> Array:
    """Floats rounded as those with fewer bits would be, in their own dtype."""
def reduce_prod(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The product over dimensions."""
def reduce_sum(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The sum over dimensions."""
def reduce_window(operand: Any, init_value: ArrayLike, computation: Callable[..., Any], window_dimensions: Sequence[int], window_strides: Sequence[int] | None = None, padding: str | Sequence[tuple[int, int]] = 'VALID', base_dilation: Sequence[int] | None = None, window_dilation: Sequence[int] | None = None) -> Any:
    """`computation` over windows."""
def reduce_window_shape_tuple(operand_shape: Any, window_dimensions: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], base_dilation: Sequence[int] | None = None, window_dilation: Sequence[int] | None = None) -> tuple[int, ...]:
    """The shape of reduce_window's result; `padding` is (low, high) per dimension."""
def reduce_xor(operand: Any, axes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """The exclusive or of integers or booleans over dimensions."""
def rem(x: ArrayLike, y: ArrayLike) -> Array:
    """The remainder of a division, elementwise, with the sign of the dividend, as C's fmod."""
def reshape(operand: Any, new_sizes: int | Sequence[Any], dimensions: int | Sequence[int] | None = None, *, out_sharding: Any = None) -> Array:
    """The elements of an array in another shape."""
def rev(operand: Any, dimensions: int | Sequence[int]) -> Array:
    """The elements of an array in reverse order along some dimensions, a sequence of ints."""
def rng_bit_generator(key: ArrayLike, shape: int | Sequence[Any], dtype: DTypeLike = ..., algorithm: RandomAlgorithm = ..., *, out_sharding: Any = None) -> tuple[Array, Array]:
    """The state after a draw and random bits, as XLA's RngBitGenerator has them."""
def rng_uniform(a: ArrayLike, b: ArrayLike, shape: int | Sequence[Any]) -> Array:
    """Uniform draws in [a, b), other ones each time that it runs."""
def round(x: ArrayLike, rounding_method: Any = ...) -> Array:
    """The nearest integer to each element, in its dtype."""
def rsqrt(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The reciprocal square root 1 / sqrt(x), elementwise; inf at 0, NaN below."""
def scaled_dot(lhs: ArrayLike, rhs: ArrayLike, *, lhs_scale: ArrayLike | None = None, rhs_scale: ArrayLike | None = None, dimension_numbers: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The product of lhs * lhs_scale and rhs * rhs_scale in bfloat16; scales stand for blocks."""
def scan(
    f: Callable[[_T, _X], tuple[_Carry, _Y]], init: _T, xs: _X | None = None,
    length: int | None = None, reverse: bool = False, unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[_Carry, _Y]:
    """Runs `carry, y = f(carry, x)` over the leading axis of xs."""
def scatter(operand: Any, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """An array with windows replaced by updates."""
def scatter_add(operand: Any, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """An array with windows increased by updates."""
def scatter_apply(operand: Any, scatter_indices: ArrayLike, func: Callable[..., Any], dimension_numbers: Any, *, update_shape: Any = ..., indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """An array with `func`, a function of one element, applied to the elements of windows: as often as they are named."""
def scatter_max(operand: Any, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """An array with windows raised to updates."""
def scatter_min(operand: Any, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """An array with windows lowered to updates."""
def scatter_mul(operand: Any, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """An array with windows multiplied by updates."""
def scatter_sub(operand: Any, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Array:
    """An array with windows decreased by updates."""
def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """The elements of `on_true` where a condition holds, those of `on_false` elsewhere."""
def select_n(which: ArrayLike, *cases: Any) -> Array:
    """The elements of the case that `which` names: cases[which[i]][i]."""
def shape_as_value(shape: int | Sequence[Any]) -> Array:
    """The sizes of a shape as an integer array."""
def shift_left(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits moved to the left by y places, elementwise; 0 where y is the width or more."""
def shift_right_arithmetic(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits moved to the right by y places, elementwise; copies of the top bit come in."""
def shift_right_logical(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits moved to the right by y places, elementwise; zeros come in."""
def sign(x: ArrayLike) -> Array:
    """The sign, elementwise: -1, 0 or 1; z / |z| for complex numbers."""
def sin(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The sine, elementwise, of angles in radians."""
def sinh(x: ArrayLike) -> Array:
    """The hyperbolic sine, elementwise."""
def slice(operand: Any, start_indices: Any, limit_indices: Sequence[int], strides: Sequence[int] | None = None) -> Array:
    """The elements of an array from start to limit indices, in steps."""
def slice_in_dim(operand: Any, start_index: Any, limit_index: int | None, stride: int = 1, axis: int = 0) -> Array:
    """The elements from start to limit along one dimension."""
def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Elements in ascending order along a dimension, NaN last."""
def sort_key_val(keys: Array | np.ndarray[Any, Any], values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Array, Array]:
    """Keys in ascending order along a dimension, and the values that go with them."""
def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> Any:
    """Parts of those sizes along a dimension."""
def sqrt(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The square root, elementwise; NaN for negative real numbers. Its derivative at 0 is inf."""
def square(x: ArrayLike) -> Array:
    """The square x * x, elementwise."""
def squeeze(array: Any, dimensions: int | Sequence[int]) -> Array:
    """An array without some dimensions of size 1."""
def stack(operands: Any, axis: int = 0) -> Array:
    """Arrays of one shape along a new dimension."""
def stage(x: ArrayLike, /) -> Array:
    """A value as a result of the program that is being traced; outside of one, as an array."""
def stop_gradient(x: _T) -> _T:
    """A tree of arrays whose derivative is zero."""
def sub(x: ArrayLike, y: ArrayLike) -> Array:
    """The difference x - y, elementwise."""
def switch(
    index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = ...
) -> Any:
    """branches[index](*operands); the index is clamped to the branches there are."""
def tan(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The tangent, elementwise, of angles in radians."""
def tanh(x: ArrayLike, *, accuracy: Any = None) -> Array:
    """The hyperbolic tangent, elementwise, from -1 to 1."""
def tie_in(x: ArrayLike, y: ArrayLike) -> Any:
    """The second argument: programs of earlier years name a value `x` that an array was to be made beside."""
def tile(operand: Any, reps: Any) -> Array:
    """An array repeated as a whole along each of its dimensions."""
def top_k(operand: Any, k: Any, *, axis: int = -1) -> list[Array]:
    """The k largest elements along a dimension, in descending order, and their indices."""
def transpose(operand: Any, permutation: int | Sequence[int]) -> Array:
    """The dimensions of an array in another order."""
def unstack(x: ArrayLike, axis: int = 0) -> Any:
    """The slices of an array along a dimension, a tuple."""
def while_loop(
    cond_fun: Callable[[_T], Any], body_fun: Callable[[_T], _Carry], init_val: _T
) -> _Carry:
    """Repeats carry = body_fun(carry) as long as cond_fun(carry) holds."""
def with_sharding_constraint(x: _T, shardings: Any) -> _T:
    """`x` labelled with shardings (a tree prefix of them), also while a function is traced."""
def zeta(x: ArrayLike, q: ArrayLike) -> Array:
    """The Hurwitz zeta function, elementwise: the sum over k >= 0 of (q + k)^-x."""
