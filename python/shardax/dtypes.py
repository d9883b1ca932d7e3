# shardax/dtypes.py - element types that NumPy lacks, and questions about dtypes.
import numpy as np

import shardax._core as _core
from shardax._base import dtypes as _dtypes
from shardax._base.dtypes import float0, prng_key
from shardax.errors import TypePromotionError

__all__ = [
    "TypePromotionError",
    "bfloat16",  # noqa: F822 - __getattr__ finds it
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "result_type",
    "scalar_type_of",
]


class extended(np.generic):
    """The kind of dtypes that are no numbers, such as those of PRNG keys.

    Example:
      >>> jnp.issubdtype(random.key(0).dtype, shardax.dtypes.extended)
      True
    """


def __getattr__(name):
    if name in _dtypes.INTEGERS or name in _dtypes.FLOATS:
        return _dtypes.scalar_type(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    """The dtype that arrays have when `dtype` is asked for: narrower while x64 is off; for None
    that of floats.

    Raises:
      ValueError: for the dtype of keys, unless `allow_extended_dtype`.

    Example:
      >>> shardax.dtypes.canonicalize_dtype("float64")
      dtype('float32')
    """
    dtype = float if dtype is None else dtype
    if getattr(dtype, "type", None) is prng_key and not allow_extended_dtype:
        raise ValueError(
            f"canonicalize_dtype called on extended dtype {dtype} with allow_extended_dtype=False"
        )
    if dtype == float0:
        return float0
    try:
        return _core.canonical_dtype(dtype)
    except TypeError:
        if not isinstance(dtype, (str, type, np.dtype)):
            raise
        return np.dtype(dtype)  # NumPy's own, which no array here has


def _kinds(dtype):
    """The classes that a dtype which NumPy does not know is of; none for others."""
    name = getattr(dtype, "name", getattr(dtype, "__name__", ""))
    if name in _dtypes.FLOATS:
        return np.floating.__mro__
    if name in _dtypes.INTEGERS:
        return (np.unsignedinteger if name.startswith("u") else np.signedinteger).__mro__
    return ()


_ABSTRACT = {
    kind
    for scalar in (np.int8, np.uint8, np.float32, np.complex64, np.bytes_)
    for kind in scalar.__mro__[1:]
    if issubclass(kind, np.generic)
}


def _same(a, b):
    """True if both are one dtype. NumPy 2.2 takes a kind for a dtype, and warns."""
    return a is b or (a not in _ABSTRACT and b not in _ABSTRACT and a == b)


def _class_or_dtype(x):
    if x is None:
        return np.dtype(None)
    return x if isinstance(x, type) and issubclass(x, np.generic) else any_dtype(x)


def any_dtype(x):
    """The dtype that `x` stands for, also one that no array here has: of strings, objects ..."""
    try:
        return _core.dtype_of(x)
    except TypeError:
        if not isinstance(x, (str, type, list, np.dtype)):
            raise
        return np.dtype(x)


def issubdtype(arg1, arg2):
    """True if a dtype is of a kind of NumPy's hierarchy; bfloat16 and its kin are floats.

    Args:
      arg1: a dtype or scalar type.
      arg2: a dtype, or a kind: jnp.floating, jnp.integer, `dtypes.prng_key` ...

    Example:
      >>> jnp.issubdtype(jnp.bfloat16, jnp.floating), jnp.issubdtype(jnp.int8, jnp.inexact)
      (True, False)
    """
    a, b = arg1, arg2
    if b is prng_key or b is extended:
        return a is b or a is prng_key or getattr(a, "type", None) is prng_key
    if getattr(a, "type", None) is prng_key:
        return b is np.generic or (getattr(b, "type", None) is prng_key and a == b)
    if b is object or a is object:
        return a is b
    a, b = _class_or_dtype(a), _class_or_dtype(b)
    if _kinds(a):
        return any(b is kind for kind in _kinds(a)) or _same(a, b)
    if _kinds(b) or (isinstance(a, np.dtype) and isinstance(b, np.dtype)):
        return _same(a, b)
    return bool(np.issubdtype(a, b))


def _limited(dtype):
    """The dtype whose limits are asked for: Python's types are of 64 bits, as NumPy has them."""
    python = dtype in (bool, int, float, complex, "int", "float", "complex")
    return np.dtype(dtype if python else _class_or_dtype(dtype))


def finfo(dtype):
    """The limits of a floating dtype.

    Args:
      dtype: a floating or complex dtype, also a narrow one, or an array of it.

    Returns:
      An object with fields max, min, eps, tiny, bits, nmant, nexp and others.

    Raises:
      ValueError: for another dtype.

    Example:
      >>> jnp.finfo(jnp.float32).eps == 2**-23, jnp.finfo(jnp.bfloat16).bits
      (np.True_, 16)
    """
    d = _limited(dtype)
    if _kinds(d):
        import ml_dtypes  # for a dtype of its kind

        return ml_dtypes.finfo(d)
    return np.finfo(d)


def iinfo(int_type):
    """The limits of an integer dtype.

    Args:
      int_type: an integer dtype, also a narrow one, or an array of it.

    Returns:
      An object with fields max, min and bits.

    Raises:
      ValueError: for another dtype.

    Example:
      >>> jnp.iinfo(jnp.int8).max, jnp.iinfo(jnp.int4).bits
      (127, 4)
    """
    try:
        d = _limited(int_type)
    except TypeError as error:
        raise ValueError(f"Invalid integer data type {int_type!r}.") from error
    if _kinds(d):
        import ml_dtypes  # for a dtype of its kind

        return ml_dtypes.iinfo(d)
    return np.iinfo(d)


def itemsize_bits(dtype):
    """The number of bits of an element.

    >>> shardax.dtypes.itemsize_bits("bfloat16"), shardax.dtypes.itemsize_bits("int4")
    (16, 4)
    """
    dtype = _core.dtype_of(dtype)
    if not _kinds(dtype):
        return dtype.itemsize * 8
    return (finfo if issubdtype(dtype, np.floating) else iinfo)(dtype).bits


def result_type(*args, return_weak_type_flag=False):
    """The dtype to which arguments are promoted together; None stands for the default float.

    Weak types together promote to the default dtype of their kind.

    Args:
      return_weak_type_flag: whether to return (dtype, whether it is weak).

    Example:
      >>> shardax.dtypes.result_type(1, jnp.int8(1)), shardax.dtypes.result_type(1, 2.0)
      (dtype('int8'), dtype('float32'))
    """
    dtype, weak = _core.result_type(*(np.dtype(float) if a is None else a for a in args))
    if weak:
        of_kind = {np.floating: float, np.signedinteger: int, np.unsignedinteger: np.uint64}
        default = next((t for kind, t in of_kind.items() if issubdtype(dtype, kind)), None)
        default = complex if dtype.kind == "c" else default
        dtype = dtype if default is None else _core.canonical_dtype(default)
    return (dtype, weak) if return_weak_type_flag else dtype


def scalar_type_of(x):
    """The Python type of an array's elements: float, int, complex or bool.

    Example:
      >>> shardax.dtypes.scalar_type_of(jnp.ones(2))
      <class 'float'>
    """
    kind = _core.asarray(x).dtype
    for base, python in ((np.bool_, bool), (np.integer, int), (np.complexfloating, complex)):
        if issubdtype(kind, base):
            return python
    return float
