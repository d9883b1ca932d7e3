"""shardax.scipy.cluster.vq - the nearest of some vectors."""

from shardax import numpy as jnp
from shardax._base.arrays import check_arraylike
from shardax.scipy._promote import inexact

__all__ = ["vq"]


def vq(obs, code_book, check_finite=True):
    """(codes, distances): for each row of `obs` the nearest row of `code_book`, by Euclid's norm.

    Args:
      obs: real (M, N), or (M,) for vectors of length 1.
      code_book: (K, N), or (K,).
      check_finite: ignored.

    Returns:
      codes, int (M,), and their distances, float (M,).

    >>> shardax.scipy.cluster.vq.vq(jnp.array([1.1, 2.9]), jnp.array([1.0, 2.0, 3.0]))[0]
    Array([0, 2], dtype=int32)
    """
    check_arraylike("scipy.cluster.vq.vq", obs, code_book)
    obs, code_book = inexact(obs, code_book)
    if obs.ndim != code_book.ndim:
        raise ValueError("Observation and code_book should have the same rank")
    if obs.ndim == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    if obs.ndim != 2:
        raise ValueError("ndim different than 1 or 2 are not supported")
    distances = jnp.linalg.norm(obs[:, None] - code_book[None], axis=-1)
    codes = jnp.argmin(distances, axis=-1)
    return codes, jnp.take_along_axis(distances, codes[:, None], -1)[:, 0]
