"""shardax.dtypes - element types beyond NumPy's, and canonical ones."""

from shardax import _core
from shardax.numpy._dtypes import bfloat16, finfo, iinfo, issubdtype, promote_types, result_type


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    """What a dtype becomes while x64 is off."""
    return _core.canonical_dtype(dtype)


class extended:
    """The class of dtypes that are no numbers."""


class prng_key(extended):
    """The class of dtypes of keys."""


__all__ = ["bfloat16", "canonicalize_dtype", "extended", "finfo", "iinfo", "issubdtype", "prng_key", "promote_types", "result_type"]
