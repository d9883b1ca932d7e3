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
    """An exception whose text ends with where it is explained."""

    def __init__(self, text):
        name = type(self).__name__
        page = f"https://docs.jax.dev/en/latest/errors.html#jax.errors.{name}"
        super().__init__(f"{text}\nSee help(shardax.errors.{name}) or {page}")


class JAXTypeError(_Documented, TypeError):
    """A TypeError about arrays or tracers."""


class JAXIndexError(_Documented, IndexError):
    """An IndexError about arrays or tracers."""


class ConcretizationTypeError(JAXTypeError):
    """A tracer was used where a number is needed: `float(x)`, `jnp.arange(n)` under jit.

    A function that is transformed runs once, before its arguments have values. Shapes, and the
    course of the Python code, cannot depend on them.

    Remedies:
      - static_argnames: the argument is a Python value; the function is traced for each.
      - a shape: take sizes from `x.shape`, which is known, not from values.
      - the outside: convert results after the call, `float(f(x))`.

    Example:
      >>> @jit
      ... def wrong(n):
      ...     return jnp.arange(n)
      >>> right = jit(wrong.__wrapped__, static_argnames="n")
      >>> right(3)
      Array([0, 1, 2], dtype=int32)
    """

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
    """A tracer was used as a truth value: `if x > 0:`, `while`, `and`, `assert` under jit.

    The function is traced before x has a value, so that Python cannot choose a branch.

    Remedies:
      - jnp.where: computes both sides, takes one for each element.
      - lax.cond, lax.while_loop: a branch or a loop of the program.
      - static_argnames: the argument is a Python value; the function is traced for each.

    Example:
      >>> @jit
      ... def wrong(x):
      ...     return x if x > 0 else -x
      >>> @jit
      ... def right(x):
      ...     return jnp.where(x > 0, x, -x)
      >>> right(jnp.float32(-2))
      Array(2., dtype=float32)
    """

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = f"Attempted boolean conversion of {_described(tracer)}.{_origin(tracer)}"
        super().__init__(tracer)


class TracerArrayConversionError(JAXTypeError):
    """A tracer was given to a function of NumPy, which needs numbers.

    Remedies:
      - jnp: the function of the same name, `jnp.sin` for `np.sin`.
      - jax.pure_callback: runs any Python function of arrays when the program runs.

    Example:
      >>> @jit
      ... def wrong(x):
      ...     return np.sin(x)
      >>> @jit
      ... def right(x):
      ...     return jnp.sin(x)
      >>> right(jnp.float32(0))
      Array(0., dtype=float32)
    """

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = (
                "The numpy.ndarray conversion method __array__() was called on "
                f"{_described(tracer)}{_origin(tracer)}"
            )
        super().__init__(tracer)


class TracerIntegerConversionError(JAXTypeError):
    """A tracer was used as a Python integer: `range(n)`, `[1, 2][i]` under jit.

    Remedies:
      - lax.fori_loop: a loop whose length is a value.
      - jnp.asarray(table)[i]: an index into an array may be a traced one.
      - static_argnames: the argument is a Python value; the function is traced for each.

    Example:
      >>> @jit
      ... def wrong(n):
      ...     return sum(range(n))
      >>> @jit
      ... def right(n):
      ...     return lax.fori_loop(0, n, lambda i, total: total + i, 0)
      >>> right(4)
      Array(6, dtype=int32, weak_type=True)
    """

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = f"The __index__() method was called on {_described(tracer)}{_origin(tracer)}"
        super().__init__(tracer)


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean array was used as an index: how many elements it takes is not known.

    Remedies:
      - jnp.where(mask, x, 0): keeps the shape.
      - jnp.nonzero(mask, size=n): the first n indices.
      - reductions: `jnp.sum(x, where=mask)`.

    Example:
      >>> @jit
      ... def wrong(x):
      ...     return x[x > 0].sum()
      >>> @jit
      ... def right(x):
      ...     return jnp.sum(x, where=x > 0)
      >>> right(jnp.array([1, -2, 3]))
      Array(4, dtype=int32)
    """

    def __init__(self, tracer):
        if not isinstance(tracer, str):
            tracer = (
                f"Array boolean indices must be concrete; got {_described(tracer)}{_origin(tracer)}"
            )
        super().__init__(tracer)


class UnexpectedTracerError(JAXTypeError):
    """A tracer outlived the function in which it was made.

    The function stored a traced value somewhere outside of itself: in a global variable, an
    attribute, a list, or a generator. `shardax.checking_leaks()` finds the place.

    Remedies:
      - a result: return the value, and store it after the call.
      - lax.scan: returns what each step of a loop gives, in place of a list that is appended to.

    Example:
      >>> kept = []
      >>> @jit
      ... def wrong(x):
      ...     kept.append(x + 1)
      >>> @jit
      ... def right(x):
      ...     return x + 1
      >>> kept.append(right(1))
    """


class KeyReuseError(JAXTypeError):
    """A PRNG key was used twice, under `jax_debug_key_reuse`.

    Two draws from one key give the same numbers. The remedy is a key for each draw.

    Example:
      >>> one, other = random.split(random.key(0))
      >>> bool(random.uniform(one) == random.uniform(other))
      False
    """


class JaxprTypeError(TypeError):
    """A program (jaxpr) is not well typed: it was made or changed by hand, and `core.check_jaxpr`
    found an equation whose types do not fit."""


class InconclusiveDimensionOperation(Exception):
    """An operation on symbolic dimensions has no definite result: `a < b` of two sizes.

    The remedy is a constraint on the sizes.

    Example:
      >>> a, b = export.symbolic_shape("a, b", constraints=["a >= b"])
      >>> a >= b
      True
    """


class JaxRuntimeError(RuntimeError):
    """An error while a compiled program runs: an exception in a callback, a transfer that a guard
    refuses. The text has the class and the message of the cause; XlaRuntimeError is the same class.
    """


XlaRuntimeError = JaxRuntimeError


def _described(tracer):
    try:
        return f"traced array with shape {tracer.dtype}[{','.join(map(str, tracer.shape))}]"
    except UnexpectedTracerError:  # one of a library's own, whose trace is over
        return f"a {type(tracer).__name__}"


def _origin(tracer):
    """The function that is being traced, and the arguments that the value depends on."""
    try:
        return _core.tracer_origin(tracer)
    except UnexpectedTracerError:
        return ""
