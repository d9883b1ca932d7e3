"""shardax.numpy - NumPy's functions on shardax arrays: dtypes promote and shapes broadcast as in
JAX.

Elementwise functions are C++ callables made from the records of ops. Others are compositions of
those, in the modules of this folder, each of which is imported when one of its names is first used.
"""

import numpy as _np

import shardax._core as _core
from shardax._base.array_functions import (
    broadcast_shapes,
    broadcast_to,
    concatenate,
    expand_dims,
    moveaxis,
    stack,
    tile,
)
from shardax._base.arrays import asarray
from shardax._base.lazy_modules import at_first_use as _at_first_use
from shardax._core import Array as ndarray
from shardax._devices.full_like import full, full_like
from shardax.dtypes import finfo, iinfo, issubdtype

# The module of this folder that each name lives in.
_NAMES = {
    "_elementwise.bits": "packbits unpackbits",
    "_calculus": "diff ediff1d gradient interp trapezoid unwrap vander",
    "_reductions.counting": "bincount histogram histogram2d histogram_bin_edges histogramdd",
    "_creation": (
        "array astype copy empty empty_like from_dlpack frombuffer fromstring ones ones_like "
        "zeros zeros_like"
    ),
    "_reductions.cumulative": "cumprod cumsum cumulative_prod cumulative_sum",
    "_dtypes": (
        "ComplexWarning bfloat16 bool bool_ can_cast cdouble character complex128 complex64 "
        "complex_ complexfloating csingle double dtype e euler_gamma flexible float16 float32 "
        "float4_e2m1fn float64 float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 "
        "float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
        "float8_e8m0fnu float_ floating generic inexact inf int1 int16 int2 int32 int4 int64 int8 "
        "int_ integer iscomplexobj isdtype isrealobj isscalar iterable nan newaxis number object_ "
        "pi promote_types result_type signedinteger single uint uint1 uint16 uint2 uint32 uint4 "
        "uint64 uint8 unsignedinteger"
    ),
    "_linear_algebra.einsum": "einsum einsum_path",
    "_elementwise.bessel": "i0",
    "_elementwise.elementwise": (
        "angle divmod fmax fmin frexp get_printoptions ldexp modf printoptions set_printoptions "
        "sinc spacing"
    ),
    "_elementwise.equality": (
        "allclose array_equal array_equiv isclose iscomplex isneginf isposinf isreal"
    ),
    "_files": "fromfile fromiter load save savez",
    "_functional": "apply_along_axis apply_over_axes",
    "_indexing.index_tricks": (
        "c_ diag_indices_from index_exp mask_indices mgrid ogrid r_ s_ tril_indices "
        "tril_indices_from triu_indices triu_indices_from"
    ),
    "_indexing.indices": (
        "argwhere compress diag_indices extract flatnonzero ix_ nonzero ravel_multi_index "
        "unravel_index"
    ),
    "_indexing.insert": "append delete insert resize",
    "_elementwise.gcd_lcm": "gcd lcm",
    "_shaping.join": (
        "array_split block column_stack concat dsplit dstack hsplit hstack split unstack vsplit "
        "vstack"
    ),
    "_linear_algebra.matrices": "diag diagflat diagonal eye identity tri tril triu",
    "_namespace_info": "__array_api_version__ __array_namespace_info__",
    "_reductions.nan_reductions": (
        "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum "
        "nanvar"
    ),
    "_deprecated": (
        "DeviceArray NINF NZERO PZERO alltrue cumproduct fix in1d msort product round_ row_stack "
        "sometrue trapz"
    ),
    "_shaping.pad": "pad",
    "_polynomials": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval",
    "_linear_algebra.products": (
        "cross dot inner kron matmul matvec outer tensordot trace vdot vecdot vecmat"
    ),
    "_indexing.put": "fill_diagonal place put put_along_axis",
    "_reductions.quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "_shaping.rearrange": "flip fliplr flipud repeat roll rot90",
    "_reductions.reductions": "all any count_nonzero prod sum",
    "_roots": "roots",
    "_elementwise.rounding": "around clip nan_to_num rint round",
    "_indexing.select": "choose take take_along_axis",
    "_sets": (
        "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts "
        "unique_inverse unique_values"
    ),
    "_shaping.shape": (
        "atleast_1d atleast_2d atleast_3d broadcast_arrays matrix_transpose ndim permute_dims "
        "ravel reshape rollaxis shape size squeeze swapaxes transpose"
    ),
    "_sorting": "argpartition argsort digitize lexsort partition searchsorted sort sort_complex",
    "_reductions.statistics": "average mean std var",
    "_window_functions": "bartlett blackman hamming hanning kaiser",
    "_elementwise.ufuncs": (
        "add bitwise_and bitwise_or bitwise_xor frompyfunc logaddexp logaddexp2 logical_and "
        "logical_or logical_xor maximum minimum multiply negative subtract ufunc"
    ),
    "_vectorize": "vectorize",
    "_indexing.where": "piecewise select where",
    "_ranges": "arange fromfunction geomspace indices linspace logspace meshgrid",
    "_reductions.extremes": "amax amin argmax argmin max min ptp",
    "_linear_algebra.convolutions": "convolve correlate",
    "_reductions.covariances": "corrcoef cov",
    "_shaping.trim": "trim_zeros",
}


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The text that `str` shows of an array, with NumPy's options.

    Args:
      a: an array.
      max_line_width, precision, suppress_small: as for `numpy.array_str`.

    Example:
      >>> jnp.array_str(jnp.array([1.23456, 2.0]), precision=2)
      '[1.23 2.  ]'
    """
    return _np.array_str(_np.asarray(a), max_line_width, precision, suppress_small)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text that `repr` shows of an array, with NumPy's options.

    Args:
      arr: an array.
      max_line_width, precision, suppress_small: as for `numpy.array_repr`.

    Example:
      >>> jnp.array_repr(jnp.array([1.23456, 2.0]), precision=2)
      'Array([1.23, 2.  ], dtype=float32)'
    """
    options = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    with _np.printoptions(**{k: v for k, v in options.items() if v is not None}):
        return repr(arr)


_homes, __getattr__, __dir__ = _at_first_use(
    __name__, _NAMES, ("fft", "linalg"), hidden=("_deprecated",)
)
for _name in dir(_core.functions):
    if not _name.startswith("_") and _name not in _homes and _name not in globals():
        globals()[_name] = getattr(_core.functions, _name)
del _name

__all__ = [name for name in __dir__() if not name.startswith("_")]
