"""shardax.numpy - NumPy's functions on shardax arrays: dtypes promote and shapes broadcast as in JAX.

Elementwise functions are C++ callables made from the records of ops; others are compositions of those.
"""

from shardax import _core
from shardax._core import Array as ndarray
from shardax.numpy import linalg
from shardax.numpy._common import asarray
from shardax.numpy._creation import (
    arange, array, astype, copy, diag, diagflat, diagonal, empty, empty_like, eye, from_dlpack, frombuffer, fromfunction, full, full_like,
    geomspace, identity, indices, linspace, logspace, meshgrid, ones, ones_like, tri, tril, triu, zeros, zeros_like,
)
from shardax.numpy._dtypes import (
    bfloat16, bool_, can_cast, cdouble, character, complex64, complex128, complex_, complexfloating, csingle, double,
    dtype, e, euler_gamma, finfo, flexible, float16, float32, float64, float_, floating, generic, iinfo, inexact, inf,
    int8, int16, int32, int64, int_, integer, iscomplexobj, isdtype, isrealobj, isscalar, issubdtype, nan, newaxis,
    number, object_, pi, promote_types, result_type, signedinteger, single, uint, uint8, uint16, uint32, uint64,
    unsignedinteger,
)
from shardax.numpy._more import (
    allclose, angle, apply_along_axis, apply_over_axes, array_equal, array_equiv, corrcoef, cov, diff, divmod, ediff1d,
    fmax, fmin, frexp, gcd, get_printoptions, gradient, i0, interp, isclose, iscomplex, isneginf, isposinf, isreal, lcm, ldexp, load,
    logaddexp, logaddexp2, modf, printoptions, save, set_printoptions, sinc, spacing, trapezoid, vander, vectorize,
)
from shardax.numpy._products import (
    convolve, correlate, cross, dot, einsum, inner, kron, matmul, matvec, outer, polyval, tensordot, trace, vdot,
    vecdot, vecmat,
)
from shardax.numpy._reductions import (
    all, amax, amin, any, argmax, argmin, average, count_nonzero, cumprod, cumsum, cumulative_prod,
    cumulative_sum, max, mean, median, min, nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean, nanmedian,
    nanmin, nanpercentile, nanprod, nanquantile, nanstd, nansum, nanvar, percentile, prod, ptp, quantile, std, sum, var,
)
from shardax.numpy._select import (
    argpartition, argsort, argwhere, around, bincount, choose, clip, compress, diag_indices, digitize, extract, fill_diagonal, fix,
    flatnonzero, histogram, histogram_bin_edges, intersect1d, isin, ix_, lexsort, nan_to_num, nonzero, packbits, partition,
    piecewise, place, put, put_along_axis, ravel_multi_index, rint, round, searchsorted, select, setdiff1d, sort, take,
    take_along_axis, tril_indices, triu_indices, union1d, unique, unique_values, unpackbits, unravel_index, where,
)
from shardax.numpy._shape import (
    append, array_split, atleast_1d, atleast_2d, atleast_3d, block, broadcast_arrays, broadcast_shapes, broadcast_to,
    column_stack, concat, concatenate, delete, dstack, expand_dims, flip, fliplr, flipud, hsplit, hstack, insert,
    matrix_transpose, moveaxis, ndim, pad, permute_dims, ravel, repeat, reshape, resize, roll, rollaxis, rot90, shape,
    size, split, squeeze, stack, swapaxes, tile, transpose, unstack, vsplit, vstack,
)

bool = bool_
array_str = str

for _name in dir(_core.functions):
    if not _name.startswith("_"):
        globals()[_name] = getattr(_core.functions, _name)
del _name


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text that repr shows."""
    return repr(arr)


__all__ = [n for n in dir() if not n.startswith("_")]
