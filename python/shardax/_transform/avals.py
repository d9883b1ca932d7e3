# shardax/_transform/avals.py - types of values: with a mapped axis and without, of tangents.
import abc
import inspect

import numpy as np

from shardax._base.dtypes import float0
from shardax._base.symbolic_dims import extreme
from shardax._core import api as _api
from shardax.dtypes import issubdtype
from shardax.errors import ConcretizationTypeError
from shardax.errors import InconclusiveDimensionOperation as InconclusiveDimensionOperation

ShapedArray = _api.ShapedArray


class AbstractValue(abc.ABC):  # noqa: B024
    """A type of values: ShapedArray, and libraries' classes derived from this one.

    Example:
      >>> isinstance(shardax.typeof(1.0), shardax.core.AbstractValue)
      True
    """


AbstractValue.register(ShapedArray)
ShapedArray.__signature__ = inspect.Signature(
    [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for name, default in (
            ("shape", inspect.Parameter.empty),
            ("dtype", inspect.Parameter.empty),
            ("weak_type", False),
        )
    ]
    + [inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)]
)


class JaxprTypeError(TypeError):
    """Raised where a program is not well formed."""


def mapped_aval(size, axis, aval):
    """The type of the slices of `aval` along `axis`, of that size; `aval` itself for None.

    Example:
      >>> shardax.extend.core.mapped_aval(3, 0, shardax.core.ShapedArray((3, 2), "float32")).shape
      (2,)
    """
    if axis is None:
        return aval
    if aval.shape[axis] != size:
        raise AssertionError(f"mapped_aval: dimension {axis} of {aval} is not of size {size}")
    axis %= aval.ndim
    return aval.update(shape=aval.shape[:axis] + aval.shape[axis + 1 :])


def unmapped_aval(size, axis, aval, explicit_mesh_axis=None):
    """The type of `size` slices of type `aval`, stacked along `axis`; `aval` itself for None.

    `explicit_mesh_axis` has no effect: the package does without what it steers in JAX.

    Example:
      >>> shardax.extend.core.unmapped_aval(3, 0, shardax.core.ShapedArray((2,), "float32")).shape
      (3, 2)
    """
    if axis is None:
        return aval
    axis %= aval.ndim + 1
    return aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))


def primal_dtype_to_tangent_dtype(dtype):
    """The dtype of derivatives: `dtype`, or float0 for integers and truth values.

    Example:
      >>> shardax.core.primal_dtype_to_tangent_dtype(np.dtype("float32"))
      dtype('float32')
      >>> shardax.core.primal_dtype_to_tangent_dtype(np.dtype("int32"))
      dtype([('float0', 'V')])
    """
    return dtype if issubdtype(dtype, np.inexact) else float0


def physical_aval(aval):
    """`aval`, or for keys that of their words: uint32, with a last dimension of one word each.

    Example:
      >>> shardax.core.physical_aval(shardax.typeof(random.key(0)))
      ShapedArray(uint32[2])
    """
    words = getattr(aval.dtype, "words", None)
    return aval if words is None else ShapedArray((*aval.shape, words), np.uint32)


def max_dim(a, b):
    """The larger of two sizes, numbers or symbolic ones.

    Example:
      >>> shardax.core.max_dim(2, 3)
      3
      >>> n, = shardax.export.symbolic_shape("n")
      >>> shardax.core.max_dim(n, 0)
      n
    """
    return extreme("max", a, b)


def min_dim(a, b):
    """The smaller of two sizes, numbers or symbolic ones.

    Example:
      >>> shardax.core.min_dim(2, 3)
      2
      >>> n, = shardax.export.symbolic_shape("n")
      >>> shardax.core.min_dim(n, 0)
      0
    """
    return extreme("min", a, b)


def is_constant_shape(shape):
    """True if all sizes of a shape are numbers: others are symbolic.

    Example:
      >>> shardax.core.is_constant_shape((2, 3))
      True
      >>> shardax.core.is_constant_shape(shardax.export.symbolic_shape("2, n"))
      False
    """
    return all(map(is_constant_dim, shape))


def is_concrete(x):
    """True if the elements of `x` are known: it is no tracer, or one of derivatives at such.

    Example:
      >>> def f(x):
      ...     print(shardax.core.is_concrete(x))
      ...     return x
      >>> _ = f(1.0), shardax.grad(f)(1.0), shardax.jit(f)(1.0)
      True
      True
      False
    """
    while _api.is_tracer(x):
        x = getattr(x, "primal", None)
    return x is not None


def is_constant_dim(size):
    """True if a size is a number: others are symbolic.

    Example:
      >>> [shardax.core.is_constant_dim(n) for n in shardax.export.symbolic_shape("2, n")]
      [True, False]
    """
    return isinstance(size, (int, np.integer))


def concrete_or_error(force, value, context=""):
    """force(value), or `value` for None.

    Raises:
      ConcretizationTypeError: where the elements are not known; it says `context`.

    Example:
      >>> shardax.extend.core.concrete_or_error(int, jnp.array(3))
      3
    """
    if force is None:
        if not is_concrete(value):
            raise ConcretizationTypeError(value, context)
        return _api.asarray(value)
    try:
        return force(value)
    except ConcretizationTypeError:
        if not context:
            raise
        raise ConcretizationTypeError(value, context) from None


def shaped_type(aval):
    """A type as a ShapedArray, which may be another object with its attributes."""
    if isinstance(aval, ShapedArray):
        return aval
    weak = getattr(aval, "weak_type", False)
    return ShapedArray(aval.shape, aval.dtype, weak_type=weak)
