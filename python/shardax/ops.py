"""shardax.ops - sums, products and extremes of rows that belong to the same segment; and updates as
they were written before `x.at[]`."""

import operator

import numpy as np

import shardax._core as _core
from shardax import numpy as jnp
from shardax._base.arrays import asarray, check_arraylike
from shardax._devices.out_sharding import one_program_of_sums, split_so
from shardax.errors import ConcretizationTypeError

__all__ = [
    "index",
    "index_add",
    "index_max",
    "index_min",
    "index_mul",
    "index_update",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
]


def _lowest(dtype):
    if dtype.kind == "b":
        return False
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype):
    if dtype.kind == "b":
        return True
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _count(name, segment_ids, num_segments):
    if num_segments is None:
        known = _core.concrete_array(segment_ids)
        if known is None:
            raise ConcretizationTypeError(
                segment_ids,
                f"The result's size is the largest segment id plus one, so that {name}() needs its "
                f"num_segments argument while tracing; got {segment_ids!r}.",
            )
        num_segments = int(np.max(np.asarray(known), initial=-1)) + 1
    num_segments = operator.index(num_segments)
    if num_segments < 0:
        raise ValueError(f"{name}: num_segments must be non-negative, got {num_segments}.")
    return num_segments


# The join of the results of buckets.
_JOINED = {
    "add": lambda x: jnp.sum(x, axis=0, dtype=x.dtype),
    "mul": lambda x: jnp.prod(x, axis=0, dtype=x.dtype),
    "max": lambda x: jnp.max(x, axis=0),
    "min": lambda x: jnp.min(x, axis=0),
}


def _bucket_size(name, bucket_size):
    if bucket_size is None:
        return None
    size = operator.index(bucket_size)
    if size < 1:
        raise ValueError(f"{name}: bucket_size is {bucket_size}; a number from 1 on was expected.")
    return size


def _segments(name, method, identity, data, segment_ids, num_segments, options):
    check_arraylike(name, data, segment_ids)
    data, segment_ids = asarray(data), asarray(segment_ids)
    out_sharding = options.pop("out_sharding")
    bucket_size = _bucket_size(name, options.pop("bucket_size"))
    if data.ndim == 0:  # the same for every id
        data = _core.broadcast_to(data, segment_ids.shape)
    if not segment_ids.ndim <= data.ndim or data.shape[: segment_ids.ndim] != segment_ids.shape:
        raise ValueError(
            f"{name}: segment_ids has shape {segment_ids.shape} and data {data.shape}; expected "
            "the shape of segment_ids to be that of data's leading dimensions."
        )
    if method != "add" and getattr(getattr(out_sharding, "spec", out_sharding), "unreduced", ()):
        raise NotImplementedError(
            f"{name}: out_sharding={out_sharding} leaves a sum to do, and this is no sum. Use "
            "segment_sum, or an out_sharding that is not unreduced."
        )
    rows = _count(name, segment_ids, num_segments)
    shape = (rows, *data.shape[segment_ids.ndim :])

    def combined(data, segment_ids):
        if bucket_size is None:
            start = _core.full(shape, identity(data.dtype), data.dtype)
            place = segment_ids
        else:
            buckets = np.arange(segment_ids.size, dtype=np.int32) // bucket_size
            count = -(-segment_ids.size // bucket_size)
            start = _core.full((count, *shape), identity(data.dtype), data.dtype)
            place = (buckets.reshape(segment_ids.shape), segment_ids)
        out = getattr(start.at[place], method)(data, wrap_negative_indices=False, **options)
        return out if bucket_size is None else _JOINED[method](out)

    def run(data, segment_ids):
        if out_sharding is None:
            return combined(data, segment_ids)
        return split_so(out_sharding, name, lambda: combined(data, segment_ids))

    return one_program_of_sums(out_sharding, run, data, segment_ids)


def _options(indices_are_sorted, unique_indices, bucket_size, mode, out_sharding):
    return {
        "bucket_size": bucket_size,
        "indices_are_sorted": indices_are_sorted,
        "unique_indices": unique_indices,
        "mode": mode,
        "out_sharding": out_sharding,
    }


def segment_sum(
    data,
    segment_ids,
    num_segments=None,
    indices_are_sorted=False,
    unique_indices=False,
    bucket_size=None,
    mode=None,
    out_sharding=None,
):
    """The sum of the rows of each segment.

    Args:
      data: an array; rows are its slices along the first dimension.
      segment_ids: integers, one per row, in any order. Rows with negative ids, and with ids of
        `num_segments` or more, are left out.
      num_segments: how many rows the result has; the largest id plus one unless given. Needed
        while tracing.
      indices_are_sorted, unique_indices: what is known of `segment_ids`.
      bucket_size: how many rows at most are added one after another before the sums of these
        buckets are added; all unless given. Errors grow less with many rows.
      mode: what becomes of ids out of bounds, as in `x.at[]`.
      out_sharding: what the result is labelled with.

    Returns:
      An array of shape (num_segments, ...) and of data's dtype; 0 for segments without rows.

    Raises:
      ValueError: where shapes do not fit, or `bucket_size` is less than 1.

    Example:
      >>> shardax.ops.segment_sum(jnp.arange(5), jnp.array([0, 0, 1, 1, 2]))
      Array([1, 5, 4], dtype=int32)
    """
    options = _options(indices_are_sorted, unique_indices, bucket_size, mode, out_sharding)
    return _segments("segment_sum", "add", lambda _: 0, data, segment_ids, num_segments, options)


def segment_prod(
    data,
    segment_ids,
    num_segments=None,
    indices_are_sorted=False,
    unique_indices=False,
    bucket_size=None,
    mode=None,
    out_sharding=None,
):
    """The product of the rows of each segment; 1 for segments without rows. See segment_sum.

    Example:
      >>> shardax.ops.segment_prod(jnp.arange(6), jnp.array([0, 0, 1, 1, 2, 2]))
      Array([ 0,  6, 20], dtype=int32)
    """
    options = _options(indices_are_sorted, unique_indices, bucket_size, mode, out_sharding)
    return _segments("segment_prod", "mul", lambda _: 1, data, segment_ids, num_segments, options)


def segment_max(
    data,
    segment_ids,
    num_segments=None,
    indices_are_sorted=False,
    unique_indices=False,
    bucket_size=None,
    mode=None,
    out_sharding=None,
):
    """The largest of the rows of each segment, elementwise; the lowest value of the dtype (-inf)
    for segments without rows. See segment_sum.

    Example:
      >>> shardax.ops.segment_max(jnp.arange(6), jnp.array([0, 0, 1, 1, 2, 2]))
      Array([1, 3, 5], dtype=int32)
    """
    options = _options(indices_are_sorted, unique_indices, bucket_size, mode, out_sharding)
    return _segments("segment_max", "max", _lowest, data, segment_ids, num_segments, options)


def segment_min(
    data,
    segment_ids,
    num_segments=None,
    indices_are_sorted=False,
    unique_indices=False,
    bucket_size=None,
    mode=None,
    out_sharding=None,
):
    """The smallest of the rows of each segment, elementwise; the highest value of the dtype (inf)
    for segments without rows. See segment_sum.

    Example:
      >>> shardax.ops.segment_min(jnp.arange(6), jnp.array([0, 0, 1, 1, 2, 2]))
      Array([0, 2, 4], dtype=int32)
    """
    options = _options(indices_are_sorted, unique_indices, bucket_size, mode, out_sharding)
    return _segments("segment_min", "min", _highest, data, segment_ids, num_segments, options)


class _Index:
    """`index[1:, 0]` is the index (slice(1, None), 0), for the functions below."""

    def __getitem__(self, idx):
        return idx


index = _Index()


def _update(name, method):
    def update(x, idx, y, indices_are_sorted=False, unique_indices=False):
        place = asarray(x).at[idx]
        return getattr(place, method)(
            y, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices
        )

    update.__name__ = update.__qualname__ = name
    update.__doc__ = f"""x.at[idx].{method}(y), as it was written before `at` existed.

    Example:
      >>> from shardax.ops import index
      >>> shardax.ops.{name}(jnp.ones(3), index[1:], 2.0).shape
      (3,)
    """
    return update


index_update = _update("index_update", "set")
index_add = _update("index_add", "add")
index_mul = _update("index_mul", "multiply")
index_min = _update("index_min", "min")
index_max = _update("index_max", "max")
