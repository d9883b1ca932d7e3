"""shardax.experimental.sparse.random - random sparse arrays."""

import math
import operator

import shardax._core as _core
from shardax import numpy as jnp
from shardax import random
from shardax._transform.pmap_vmap import vmap
from shardax.experimental.sparse.bcoo import BCOO, split


def random_bcoo(
    key,
    shape,
    *,
    dtype=float,
    indices_dtype=None,
    nse=0.2,
    n_batch=0,
    n_dense=0,
    unique_indices=True,
    sorted_indices=False,
    generator=random.uniform,
    **kwds,
):
    """A random BCOO array.

    Args:
      key: a key of `random.key`.
      shape: its sizes.
      dtype, indices_dtype: of elements and indices.
      nse: how many elements to store, or below 1 which share of the sparse dimensions.
      n_batch, n_dense: how many dimensions are batches, and dense.
      unique_indices, sorted_indices: what its indices are.
      generator: makes the elements: generator(key, shape=..., dtype=..., **kwds).

    Raises:
      ValueError: for impossible numbers.

    Example:
      >>> shardax.experimental.sparse.random_bcoo(random.key(0), (10, 10), nse=0.1)
      BCOO(float32[10, 10], nse=10)
    """
    shape = tuple(map(operator.index, shape))
    n_batch, n_dense = operator.index(n_batch), operator.index(n_dense)
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > len(shape):
        raise ValueError(f"Invalid {n_batch=}, {n_dense=} for {shape=}")
    n_sparse = len(shape) - n_batch - n_dense
    batch, sparse, dense = split(shape, n_batch, n_sparse)
    size = math.prod(sparse)
    if not 0 <= nse < size:
        raise ValueError(f"got {nse=}, expected to be between 0 and {size}")
    nse = operator.index(math.ceil(nse * size) if 0 < nse < 1 else nse)
    indices_dtype = _core.canonical_dtype(int) if indices_dtype is None else indices_dtype
    if size > jnp.iinfo(indices_dtype).max:
        raise ValueError(
            f"{indices_dtype=} does not have enough range to generate sparse indices of size "
            f"{size}."
        )

    def places(key):
        if not sparse:
            return jnp.zeros((nse, 0), indices_dtype)
        flat = random.choice(key, size, shape=(nse,), replace=not unique_indices)
        return jnp.stack(jnp.unravel_index(flat.astype(indices_dtype), sparse), -1)

    keys = random.split(key, math.prod(batch) + 1)
    data = generator(keys[0], shape=(*batch, nse, *dense), dtype=dtype, **kwds)
    indices = vmap(places)(keys[1:]).reshape(*batch, nse, n_sparse).astype(indices_dtype)
    mat = BCOO((data, indices), shape=shape)
    return mat.sort_indices() if sorted_indices else mat
