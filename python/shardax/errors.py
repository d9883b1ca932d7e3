# shardax/errors.py - the exception classes of jax.errors, with JAX's hierarchy.
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


class JAXTypeError(TypeError):
    """A TypeError about arrays or tracers."""


class JAXIndexError(IndexError):
    """An IndexError about arrays or tracers."""


class ConcretizationTypeError(JAXTypeError):
    """A tracer was used where a concrete value is required, as in float(x) under jit."""

    def __init__(self, tracer, context=""):
        if isinstance(tracer, str):
            super().__init__(tracer)
        else:
            super().__init__(
                "Abstract tracer value encountered where concrete value is expected: "
                f"{_described(tracer)}\n{context}"
            )


class TypePromotionError(ValueError):  # public in shardax.dtypes
    """Dtypes that are not promoted to each other implicitly."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A tracer was used as a truth value, as in `if x > 0:` under jit."""

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = f"Attempted boolean conversion of {_described(tracer)}."
        super().__init__(tracer)


class TracerArrayConversionError(JAXTypeError):
    """A tracer was given to a function of NumPy."""

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = (
                "The numpy.ndarray conversion method __array__() was called on "
                f"{_described(tracer)}"
            )
        super().__init__(tracer)


class TracerIntegerConversionError(JAXTypeError):
    """A tracer was used as a Python integer, as in range(n) under jit."""

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = f"The __index__() method was called on {_described(tracer)}"
        super().__init__(tracer)


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean array was used as an index, so that the result's shape is unknown."""

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = f"Array boolean indices must be concrete; got {_described(tracer)}"
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
    return f"traced array with shape {tracer.dtype}[{','.join(map(str, tracer.shape))}]"
