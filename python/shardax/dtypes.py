# shardax/dtypes.py - element types that NumPy lacks, and questions about dtypes.
import numpy as np

from shardax import _core
from shardax._dtypes import float0, prng_key

__all__ = [
    "canonicalize_dtype",
    "extended",
    "float0",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "result_type",
    "scalar_type_of",
]


class extended(np.generic):
    """The kind of dtypes that are no numbers, such as those of PRNG keys."""


def __getattr__(name):
    if name == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    if name in ("finfo", "iinfo"):
        from shardax import numpy as jnp

        return getattr(jnp, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    """The dtype that arrays have when `dtype` is asked for: narrower while x64 is off."""
    return _core.canonical_dtype(dtype)


def issubdtype(a, b):
    """Whether dtype `a` is of the kind `b`: np.floating, prng_key ..."""
    if b in (prng_key, extended):
        return prng_key in (a, getattr(a, "type", None)) or a is b
    if getattr(a, "type", None) is prng_key:
        return False
    dtype = a if isinstance(a, type) and issubclass(a, np.generic) else _core.dtype_of(a)
    if getattr(dtype, "name", getattr(dtype, "__name__", "")) == "bfloat16":
        kinds = (np.floating, np.inexact, np.number, np.generic)
        return b in kinds if isinstance(b, type) and b in kinds else _core.dtype_of(b) == dtype
    if not (isinstance(b, type) and issubclass(b, np.generic)):
        b = _core.dtype_of(b)
    return bool(np.issubdtype(dtype, b))


def itemsize_bits(dtype):
    """How many bits an element takes.

    >>> itemsize_bits("bfloat16")
    16
    """
    return np.dtype(_core.dtype_of(dtype)).itemsize * 8


def result_type(*args, return_weak_type_flag=False):
    """The dtype to which arguments are promoted together."""
    dtype, weak = _core.result_type(*args)
    return (dtype, weak) if return_weak_type_flag else dtype


def scalar_type_of(x):
    """float, int, complex or bool: the Python type of an array's elements."""
    kind = _core.asarray(x).dtype
    for base, python in ((np.bool_, bool), (np.integer, int), (np.complexfloating, complex)):
        if issubdtype(kind, base):
            return python
    return float
