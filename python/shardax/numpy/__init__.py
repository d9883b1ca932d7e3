"""shardax.numpy - NumPy's functions on shardax arrays: dtypes promote and shapes broadcast as in
JAX.

Elementwise functions are C++ callables made from the records of ops; others are compositions of
those.
"""

from shardax import _core
from shardax._core import Array as ndarray
from shardax.numpy import _dtypes
from shardax.numpy._bits import packbits, unpackbits
from shardax.numpy._calculus import (
    corrcoef,
    cov,
    diff,
    ediff1d,
    gradient,
    interp,
    trapezoid,
    unwrap,
    vander,
)
from shardax.numpy._common import asarray
from shardax.numpy._counting import (
    bincount,
    histogram,
    histogram2d,
    histogram_bin_edges,
    histogramdd,
)
from shardax.numpy._creation import (
    arange,
    array,
    astype,
    copy,
    empty,
    empty_like,
    from_dlpack,
    frombuffer,
    fromfunction,
    fromstring,
    full,
    full_like,
    geomspace,
    indices,
    linspace,
    logspace,
    meshgrid,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from shardax.numpy._cumulative import cumprod, cumsum, cumulative_prod, cumulative_sum
from shardax.numpy._dtypes import (
    bfloat16,
    bool_,
    can_cast,
    cdouble,
    character,
    complex64,
    complex128,
    complex_,
    complexfloating,
    csingle,
    double,
    e,
    euler_gamma,
    finfo,
    flexible,
    float16,
    float32,
    float64,
    float_,
    floating,
    generic,
    iinfo,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    integer,
    iscomplexobj,
    isdtype,
    isrealobj,
    isscalar,
    issubdtype,
    nan,
    newaxis,
    number,
    object_,
    pi,
    promote_types,
    result_type,
    signedinteger,
    single,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    unsignedinteger,
)
from shardax.numpy._einsum import einsum, einsum_path
from shardax.numpy._elementwise import (
    angle,
    divmod,
    fmax,
    fmin,
    frexp,
    get_printoptions,
    i0,
    ldexp,
    logaddexp,
    logaddexp2,
    modf,
    printoptions,
    set_printoptions,
    sinc,
    spacing,
)
from shardax.numpy._equality import (
    allclose,
    array_equal,
    array_equiv,
    isclose,
    iscomplex,
    isneginf,
    isposinf,
    isreal,
)
from shardax.numpy._files import load, save
from shardax.numpy._functional import apply_along_axis, apply_over_axes
from shardax.numpy._grids import (
    c_,
    diag_indices_from,
    index_exp,
    mask_indices,
    mgrid,
    ogrid,
    r_,
    s_,
    tril_indices_from,
    triu_indices_from,
)
from shardax.numpy._indices import (
    argwhere,
    compress,
    diag_indices,
    extract,
    flatnonzero,
    ix_,
    nonzero,
    ravel_multi_index,
    tril_indices,
    triu_indices,
    unravel_index,
)
from shardax.numpy._integers import gcd, lcm
from shardax.numpy._join import (
    append,
    array_split,
    block,
    column_stack,
    concat,
    concatenate,
    delete,
    dsplit,
    dstack,
    hsplit,
    hstack,
    insert,
    resize,
    split,
    stack,
    unstack,
    vsplit,
    vstack,
)
from shardax.numpy._matrices import diag, diagflat, diagonal, eye, identity, tri, tril, triu
from shardax.numpy._namespace_info import API_VERSION as __array_api_version__
from shardax.numpy._namespace_info import __array_namespace_info__
from shardax.numpy._nan_reductions import (
    nanargmax,
    nanargmin,
    nancumprod,
    nancumsum,
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
)
from shardax.numpy._pad import pad
from shardax.numpy._polynomials import (
    poly,
    polyadd,
    polyder,
    polydiv,
    polyfit,
    polyint,
    polymul,
    polysub,
    polyval,
)
from shardax.numpy._products import (
    convolve,
    correlate,
    cross,
    dot,
    inner,
    kron,
    matmul,
    matvec,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
    vecmat,
)
from shardax.numpy._put import fill_diagonal, place, put, put_along_axis
from shardax.numpy._quantiles import (
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from shardax.numpy._rearrange import flip, fliplr, flipud, repeat, roll, rot90, tile
from shardax.numpy._reductions import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    count_nonzero,
    max,
    min,
    prod,
    ptp,
    sum,
)
from shardax.numpy._rounding import around, clip, fix, nan_to_num, rint, round
from shardax.numpy._select import choose, take, take_along_axis
from shardax.numpy._sets import (
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    trim_zeros,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from shardax.numpy._shape import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    matrix_transpose,
    moveaxis,
    ndim,
    permute_dims,
    ravel,
    reshape,
    rollaxis,
    shape,
    size,
    squeeze,
    swapaxes,
    transpose,
)
from shardax.numpy._sorting import (
    argpartition,
    argsort,
    digitize,
    lexsort,
    partition,
    searchsorted,
    sort,
    sort_complex,
)
from shardax.numpy._statistics import average, mean, std, var
from shardax.numpy._tapers import bartlett, blackman, hamming, hanning, kaiser
from shardax.numpy._ufuncs import TABLE as _ufunc_table
from shardax.numpy._ufuncs import frompyfunc, ufunc
from shardax.numpy._vectorize import vectorize
from shardax.numpy._where import piecewise, select, where

globals().update({name: getattr(_dtypes, name) for name in (*_dtypes.INTEGERS, *_dtypes.FLOATS)})
bool = bool_
array_str = str

for _name in dir(_core.functions):
    if not _name.startswith("_") and _name not in globals():
        globals()[_name] = getattr(_core.functions, _name)
del _name
globals().update(_ufunc_table)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text that repr shows."""
    return repr(arr)


# Modules that are imported when first used, so that the first op of a process comes quickly.
_LAZY = {"fft", "linalg"}
# NumPy's own `dtype`, which knows bfloat16 and its kin by their names once ml_dtypes is there.
_WITH_ML_DTYPES = {"dtype": _dtypes.dtype}
# Names of earlier years, from _older.
_OLDER = {
    "DeviceArray",
    "NINF",
    "NZERO",
    "PZERO",
    "alltrue",
    "cumproduct",
    "in1d",
    "msort",
    "product",
    "round_",
    "row_stack",
    "sometrue",
    "trapz",
}

__all__ = [*(n for n in dir() if not n.startswith("_")), *sorted(_LAZY), *_WITH_ML_DTYPES]


def __getattr__(name):
    import importlib

    if name in _LAZY:
        return importlib.import_module(f"shardax.numpy.{name}")
    if name in _WITH_ML_DTYPES:
        importlib.import_module("ml_dtypes")
        return globals().setdefault(name, _WITH_ML_DTYPES[name])
    if name in _OLDER:
        from shardax.numpy import _older

        return getattr(_older, name)
    raise AttributeError(f"module 'shardax.numpy' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_LAZY, *_WITH_ML_DTYPES})
