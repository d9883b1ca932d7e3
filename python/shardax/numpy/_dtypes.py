"""shardax/numpy/_dtypes.py - element types and questions about them."""

from importlib import import_module

import numpy as np

import shardax._core as _core
from shardax._base.arrays import result_type as _result_type
from shardax._base.dtypes import FLOATS, INTEGERS
from shardax.dtypes import any_dtype, issubdtype
from shardax.dtypes import result_type as _joined_type

newaxis = None
ComplexWarning = getattr(np, "exceptions", np).ComplexWarning
iterable = np.iterable
pi, e, inf, nan, euler_gamma = np.pi, np.e, np.inf, np.nan, np.euler_gamma

floating, integer, inexact, number = np.floating, np.integer, np.inexact, np.number
signedinteger, unsignedinteger, complexfloating, generic = (
    np.signedinteger,
    np.unsignedinteger,
    np.complexfloating,
    np.generic,
)
character, flexible, object_ = np.character, np.flexible, np.object_


def __getattr__(name):
    """NumPy's own `dtype`, which knows bfloat16 and its kin by name once ml_dtypes is there."""
    if name == "dtype":
        import_module("ml_dtypes")
        return np.dtype
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _ScalarMeta(type):
    """Scalar types make arrays when called, and equal the types and dtypes that they stand for.

    In sets and dictionaries they are found by NumPy's type.
    """

    def __hash__(cls):
        return hash(cls.dtype.type)

    def __eq__(cls, other):
        return cls is other or cls.dtype.type == other

    def __ne__(cls, other):
        return not cls == other

    def __call__(cls, x):
        return _core.asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls.dtype.type)

    @property
    def dtype(cls):
        return _core.dtype_of(cls._name)

    def __repr__(cls):
        return f"<class 'shardax.numpy.{cls.__name__}'>"


_SCALAR_DOC = """The scalar type {name}: it stands for the dtype, and makes arrays of it.

Args:
  x: a number, nested sequences of numbers, or an array; its elements are converted.

Returns:
  An array of dtype {name}. Types of 64 bits (complex: 128) are halved while x64 is off.

Example:
  >>> jnp.{public}.dtype.name
  '{name}'
  >>> jnp.{public}([0, 1]).shape
  (2,)
"""


def _scalar(name, public=None):
    doc = _SCALAR_DOC.format(name=name, public=public or name)
    return _ScalarMeta(public or name, (), {"_name": name, "__doc__": doc})


bool_ = _scalar("bool", "bool_")
int8, int16, int32, int64 = (_scalar(n) for n in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (_scalar(n) for n in ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = (_scalar(n) for n in ("float16", "float32", "float64"))
complex64, complex128 = (_scalar(n) for n in ("complex64", "complex128"))
globals().update({name: _scalar(name) for name in (*INTEGERS, *FLOATS)})
int_, uint, float_, complex_ = int64, uint64, float64, complex128
single, double, csingle, cdouble = float32, float64, complex64, complex128


def _dtype(x):
    """The dtype that a type, name or array stands for.

    Classes such as np.floating stay as they are.
    """
    if isinstance(x, _ScalarMeta):
        return x.dtype
    if isinstance(x, type) and issubclass(x, np.generic):
        return x
    return _core.dtype_of(x)


def _any_dtype(x):
    """As _dtype, but also of dtypes that no array here has."""
    return _dtype(x) if isinstance(x, _ScalarMeta) else any_dtype(x)


def isdtype(dtype, kind):
    """True if a dtype is of a kind, as the array API standard defines them.

    Args:
      dtype: a dtype or scalar type.
      kind: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex
        floating", "numeric", a dtype, or a tuple of these: whether it is of one of them.

    Raises:
      ValueError: for an unknown kind.

    Example:
      >>> jnp.isdtype(jnp.float32, "real floating"), jnp.isdtype(jnp.int8, ("bool", "numeric"))
      (True, True)
    """
    d = np.dtype(_any_dtype(dtype))
    kinds = {
        "bool": lambda: d.kind == "b",
        "signed integer": lambda: issubdtype(d, np.signedinteger),
        "unsigned integer": lambda: issubdtype(d, np.unsignedinteger),
        "integral": lambda: issubdtype(d, np.integer),
        "real floating": lambda: issubdtype(d, np.floating),
        "complex floating": lambda: d.kind == "c",
        "numeric": lambda: issubdtype(d, np.number),
    }

    def is_of(kind):
        if isinstance(kind, str) and kind in kinds:
            return kinds[kind]()
        try:
            return np.dtype(_any_dtype(kind)) == d
        except TypeError as error:
            if not isinstance(kind, str):
                raise
            raise ValueError(
                f"jnp.isdtype: unrecognized kind={kind!r}; expected one of {list(kinds)} or a "
                "dtype."
            ) from error

    return any([is_of(k) for k in (kind if isinstance(kind, tuple) else (kind,))])


def _named(dtype):
    """The name of a dtype, or of a class that stands for one."""
    return getattr(dtype, "name", None) or getattr(dtype, "__name__", "")


def promote_types(a, b):
    """The dtype to which two dtypes promote; Python's types promote weakly.

    Args:
      a, b: dtypes or scalar types.

    Returns:
      A dtype: 64 bits wide where one is, whether x64 is on or not.

    Example:
      >>> jnp.promote_types("int8", "float16"), jnp.promote_types("int32", "bfloat16")
      (dtype('float16'), dtype(bfloat16))
    """
    for x in (a, b):
        _check_promotes(x)
    wide = ("int64", "uint64", "float64", "complex128")
    if not any(_is_weak(x) or _named(_dtype(x)) in wide for x in (a, b)):
        return _promoted(a, b)
    before = _core.override_x64(True)
    try:
        return _promoted(a, b)
    finally:
        _core.override_x64(before)


def _check_promotes(x):
    try:
        return _dtype(x)
    except TypeError:
        if x is None:
            raise
    raise ValueError(f"dtype={any_dtype(x)!r} is not a valid dtype for JAX type promotion.")


def _promoted(a, b):
    return _result_type(
        np.zeros((), _dtype(a)) if not _is_weak(a) else a(0),
        np.zeros((), _dtype(b)) if not _is_weak(b) else b(0),
    )


def _is_weak(x):
    return (
        x in (int, float, complex)
        if isinstance(x, type) and not isinstance(x, _ScalarMeta)
        else False
    )


def result_type(*args):
    """The dtype of the result of an operation on these operands.

    Args:
      *args: arrays, dtypes, Python numbers or types, which promote weakly; None stands for the
        default float.

    Returns:
      A dtype; of 32 bits at most while x64 is off.

    Example:
      >>> jnp.result_type(jnp.int8(1), 2.0), jnp.result_type(jnp.bfloat16(1), 2)
      (dtype('float32'), dtype(bfloat16))
    """
    values = []
    for a in args:
        if isinstance(a, (int, float, complex, np.ndarray, np.generic, _core.Array)):
            values.append(a)
        elif a is None:
            values.append(np.zeros((), np.float64))
        elif _is_weak(a):
            values.append(a(0))
        else:
            values.append(np.zeros((), _dtype(a)))
    return _joined_type(*values)


def can_cast(from_, to, casting="safe"):
    """True if a dtype can be converted to another one under a rule of NumPy's.

    Args:
      from_, to: dtypes.
      casting: "no", "equiv", "safe", "same_kind" or "unsafe".

    Example:
      >>> jnp.can_cast("int32", "float64"), jnp.can_cast("float64", "int32")
      (True, False)
    """
    return np.can_cast(_any_dtype(from_), _any_dtype(to), casting)


def iscomplexobj(x):
    """True if the dtype of a value is complex.

    Example:
      >>> jnp.iscomplexobj(jnp.array([1j])), jnp.iscomplexobj(2.0)
      (True, False)
    """
    if hasattr(x, "__jax_array__"):
        x = x.__jax_array__()
    if isinstance(x, (list, tuple)):
        return any(map(iscomplexobj, x))
    dtype = getattr(x, "dtype", None)
    return np.iscomplexobj(x) if dtype is None else any_dtype(dtype).kind == "c"


def isrealobj(x):
    """True if the dtype of a value is not complex.

    Example:
      >>> jnp.isrealobj(jnp.array([1j])), jnp.isrealobj(2.0)
      (False, True)
    """
    return not iscomplexobj(x)


def isscalar(element):
    """True if a value is a number or an array without dimensions.

    Example:
      >>> jnp.isscalar(1.0), jnp.isscalar(jnp.array(1)), jnp.isscalar(jnp.array([1]))
      (True, True, False)
    """
    if hasattr(element, "__jax_array__"):
        element = element.__jax_array__()
    return np.isscalar(element) or (hasattr(element, "ndim") and element.ndim == 0)


bool = bool_
