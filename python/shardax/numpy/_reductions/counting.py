# shardax/numpy/_reductions/counting.py - counts and histograms.
import operator

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import stack, where
from shardax._base.arrays import asarray, check_arraylike, in_one_program, inexact_dtype, known
from shardax._devices.out_sharding import takes_out_sharding, whole_or_terms
from shardax.numpy._elementwise.rounding import clip
from shardax.numpy._ranges import linspace
from shardax.numpy._sorting import searchsorted

_functions = _core.functions


@takes_out_sharding(check=whole_or_terms)
def bincount(x, weights=None, minlength=0, *, length=None, out_sharding=None):
    """The number of times that each integer from 0 on occurs in a vector, or the sum of its
    weights.

    Args:
      x: a vector of integers; negative ones count as 0.
      weights: a vector of the length of `x`.
      minlength: the least length of the result.
      length: its length, needed while tracing; larger numbers are left out.
      out_sharding: in a mesh, whether counts are whole, or left to be summed over all axes.

    Returns:
      A vector of max(x) + 1 elements or `length`: int32, or of the dtype of `weights`.

    Raises:
      TypeError: `x` does not hold integers.
      ValueError: `x` is not a vector.
      ConcretizationTypeError: `x` is traced, without `length`.

    Example:
      >>> jnp.bincount(jnp.array([1, 3, 1]))
      Array([0, 2, 0, 1], dtype=int32)
      >>> jnp.bincount(jnp.array([1, 3, 1]), weights=jnp.array([0.5, 2.0, 1.0]), length=5)
      Array([0. , 1.5, 0. , 2. , 0. ], dtype=float32)
    """
    check_arraylike("bincount", x)
    x = asarray(x)
    if x.dtype.kind not in "biu":
        raise TypeError(f"x argument to bincount must have an integer type; got {x.dtype}")
    if x.ndim != 1:
        raise ValueError("only 1-dimensional input supported.")
    if length is None:
        known(
            x,
            "The error occurred because of argument 'x' of jnp.bincount. To avoid this error, pass "
            "a static `length` argument.",
            "",
        )
        length = max(int(x.max()) + 1 if x.size else 0, minlength)
    return _bincount(x, weights, length=length)


@in_one_program("length", at_once=True)
def _bincount(x, weights, length):
    weights = asarray(1, _core.canonical_dtype(int)) if weights is None else asarray(weights)
    zero = _core.broadcast_to(asarray(np.zeros((), weights.dtype)), (length,))
    counts = zero.at[clip(x.astype(np.int32) if x.dtype == np.bool_ else x, 0)].add(
        weights, mode="drop"
    )
    return counts


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of equal bins over the range of an array.

    Args:
      a: an array of numbers.
      bins: how many bins there are, or their edges.
      range: (low, high); None: that of `a`, widened where it is empty.
      weights: as in `jnp.histogram`; without effect on the edges.

    Returns:
      A vector of bins + 1 floats.

    Example:
      >>> jnp.histogram_bin_edges(jnp.array([0.0, 1.0, 4.0]), bins=4)
      Array([0., 1., 2., 3., 4.], dtype=float32)
    """
    if np.ndim(bins):
        return asarray(bins)
    bins = _count(bins)
    a = asarray(a).ravel()
    if range is None:
        low, high = (a.min(), a.max()) if a.size else (0.0, 1.0)
    else:
        low, high = range
    low, high = _core.promote("inexact", low, high)
    same = _functions.equal(low, high)
    return linspace(where(same, low - 0.5, low), where(same, high + 0.5, high), bins + 1)


def _count(bins):
    """A number of bins: an int, or a value that stands for one."""
    return operator.index(known(bins, "bins argument of histogram."))


def _with_edges(a, bins, range):
    """`a` and the edges of its bins, of one dtype."""
    edges = histogram_bin_edges(a, bins, range)
    if not np.ndim(bins):
        return a.astype(edges.dtype), edges
    dtype = inexact_dtype(a.dtype)
    return a.astype(dtype), edges.astype(dtype)


def histogram(a, bins=10, range=None, weights=None, density=None):
    """The number of elements in each bin, or the sum of their weights.

    Bins contain their left edge; the last one contains both.

    Args:
      a: an array of numbers, which is flattened.
      bins: how many equal bins there are, or their edges, a vector.
      range: (low, high); None: that of `a`. Elements beyond are left out.
      weights: an array of the shape of `a`.
      density: whether to divide by the sum and the widths, so that the integral is 1.

    Returns:
      (counts, edges), vectors of floats of which the second is longer by 1.

    Raises:
      ValueError: the shapes of `a` and `weights` differ.

    Example:
      >>> jnp.histogram(jnp.array([0.0, 1.0, 1.5, 4.0]), bins=2)
      (Array([3., 1.], dtype=float32), Array([0., 2., 4.], dtype=float32))
    """
    check_arraylike("histogram", a, *([] if weights is None else [weights]))
    if weights is not None:
        if np.shape(a) != np.shape(weights):
            raise ValueError("weights should have the same shape as a.")
        a, weights = _core.promote("dtypes_inexact", a, asarray(weights).ravel())
    a, edges = _with_edges(asarray(a).ravel(), bins, range)
    weights = _core.full(a.shape, 1, edges.dtype) if weights is None else weights
    n = edges.shape[0] - 1
    place = searchsorted(edges, a, side="right")
    place = where(_functions.equal(a, edges[-1]), n, place)
    counts = bincount(place, weights, length=n + 1)[1:]
    if density:
        width = edges[1:] - edges[:-1]
        counts = counts / width / counts.sum()
    return counts, edges


def histogramdd(sample, bins=10, range=None, weights=None, density=None):
    """The number of points of several dimensions in each bin, or the sum of their weights.

    Args:
      sample: (N, D): N points.
      bins: a number of bins for all dimensions, or a number or the edges for each.
      range: for each dimension (low, high), or None for that of the points.
      weights: (N,): how much each point counts.
      density: whether counts are divided by their sum and by the bins' volumes.

    Returns:
      (counts, edges): an array of D dimensions and a list of D vectors.

    Raises:
      ValueError: for other than D bins or ranges, or N weights.

    Example:
      >>> jnp.histogramdd(jnp.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0]
      Array([[1, 0],
             [0, 1]], dtype=int32)
    """
    check_arraylike("histogramdd", sample)
    sample = asarray(sample)
    if sample.ndim != 2:
        raise ValueError(f"histogramdd: sample must have shape (N, D), got {sample.shape}.")
    count, dims = sample.shape
    if not isinstance(bins, (list, tuple)):
        bins = [bins] * dims
    if len(bins) != dims:
        raise ValueError(f"should be one bin for each dimension, got {len(bins)} for {dims}.")
    if range is None:
        range = [None] * dims
    if len(range) != dims:
        raise ValueError(f"Expected {dims} range tuples, got {len(range)}")
    edges, place = [], 0
    sizes = []
    for d, (bin_d, range_d) in enumerate(zip(bins, range)):
        points, edge = _with_edges(sample[:, d], bin_d, range_d)
        edges.append(edge)
        n = edges[d].shape[0] - 1
        sizes.append(n + 2)  # and one before and one after the bins
        inside = searchsorted(edges[d], points, side="right")
        inside = where(_functions.equal(points, edges[d][-1]), n, inside)
        place = place * (n + 2) + inside
    if weights is not None:
        weights = asarray(weights).ravel()
        if weights.shape != (count,):
            raise ValueError(
                f"should have one weight for each sample, got {weights.shape} for {count}."
            )
    counts = bincount(place, weights, length=int(np.prod(sizes))).reshape(sizes)
    counts = counts[(slice(1, -1),) * dims]
    if density:
        counts = counts / counts.sum()
        for d, edge in enumerate(edges):
            counts = counts / (edge[1:] - edge[:-1]).reshape((-1,) + (1,) * (dims - d - 1))
    return counts, edges


def histogram2d(x, y, bins=10, range=None, weights=None, density=None):
    """The number of points (x, y) in each bin of a grid, or the sum of their weights.

    Args:
      x, y: vectors of one length.
      bins: as in `jnp.histogramdd`; a vector stands for the edges of both.
      range, weights, density: as in `jnp.histogramdd`.

    Returns:
      (counts, edges of x, edges of y); x runs along dimension 0 of the counts.

    Example:
      >>> x, y = jnp.array([0.0, 1.0, 1.0]), jnp.array([0.0, 0.0, 4.0])
      >>> jnp.histogram2d(x, y, bins=2)[0]
      Array([[1, 0],
             [1, 1]], dtype=int32)
    """
    check_arraylike("histogram2d", x, y)
    x, y = asarray(x), asarray(y)
    if x.ndim != 1 or y.shape != x.shape:
        raise ValueError(f"x and y must have the same length, got shapes {x.shape} and {y.shape}.")
    pair = isinstance(bins, (list, tuple)) and len(bins) == 2  # their sizes may differ
    if not pair and np.ndim(bins):
        bins = asarray(bins)
        bins = [bins, bins]
    counts, edges = histogramdd(stack([x, y], axis=1), bins, range, weights, density)
    return counts, edges[0], edges[1]
