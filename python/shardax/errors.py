# shardax/errors.py - the exception classes of jax.errors, with JAX's hierarchy.
from shardax._core import api as _core

"""Exceptions that shardax raises beside Python's own."""

__all__ = [
    "ConcretizationTypeError",
    "InconclusiveDimensionOperation",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
    "JaxprTypeError",
    "KeyReuseError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
    "XlaRuntimeError",
]


class _Documented(Exception):
    """An exception whose text ends with where JAX's documentation explains it."""

    def __init__(self, text):
        page = "https://docs.jax.dev/en/latest/errors.html"
        super().__init__(f"{text}\nSee {page}#jax.errors.{type(self).__name__}")


class JAXTypeError(_Documented, TypeError):
    """A TypeError about arrays or tracers."""


class JAXIndexError(_Documented, IndexError):
    """An IndexError about arrays or tracers."""


class ConcretizationTypeError(JAXTypeError):
    """A tracer was used where a concrete value is required, as in float(x) under jit."""

    def __init__(self, tracer, context=""):
        if isinstance(tracer, str):
            super().__init__(tracer)
        else:
            super().__init__(
                "Abstract tracer value encountered where concrete value is expected: "
                f"{_described(tracer)}\n{context}{_origin(tracer)}"
            )


class TypePromotionError(ValueError):  # public in shardax.dtypes
    """Dtypes that are not promoted to each other implicitly."""


class ShardingTypeError(Exception):  # public in shardax.sharding
    """Operands over explicit mesh axes that do not say how a result is split."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A tracer was used as a truth value, as in `if x > 0:` under jit."""

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = f"Attempted boolean conversion of {_described(tracer)}.{_origin(tracer)}"
        super().__init__(tracer)


class TracerArrayConversionError(JAXTypeError):
    """A tracer was given to a function of NumPy."""

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = (
                "The numpy.ndarray conversion method __array__() was called on "
                f"{_described(tracer)}{_origin(tracer)}"
            )
        super().__init__(tracer)


class TracerIntegerConversionError(JAXTypeError):
    """A tracer was used as a Python integer, as in range(n) under jit."""

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = f"The __index__() method was called on {_described(tracer)}{_origin(tracer)}"
        super().__init__(tracer)


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean array was used as an index, so that the result's shape is unknown."""

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = (
                f"Array boolean indices must be concrete; got {_described(tracer)}{_origin(tracer)}"
            )
        super().__init__(tracer)


class UnexpectedTracerError(JAXTypeError):
    """A tracer outlived the function in which it was made."""


class KeyReuseError(JAXTypeError):
    """A PRNG key was used twice."""


class JaxprTypeError(TypeError):
    """A program is not well typed."""


class InconclusiveDimensionOperation(Exception):
    """An operation on symbolic dimensions has no definite result."""


class JaxRuntimeError(RuntimeError):
    """An error while a compiled program runs."""


XlaRuntimeError = JaxRuntimeError


def _described(tracer):
    try:
        return f"traced array with shape {tracer.dtype}[{','.join(map(str, tracer.shape))}]"
    except UnexpectedTracerError:  # one of a library's own, whose trace is over
        return f"a {type(tracer).__name__}"


def _origin(tracer):
    """Which function is being traced, and the arguments that the value depends on."""
    try:
        return _core.tracer_origin(tracer)
    except UnexpectedTracerError:
        return ""
