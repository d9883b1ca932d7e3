"""shardax/_base/arrays.py - operands as arrays, checks of operands and axes, and functions that run
as one program."""

import functools
import operator

import numpy as np

import shardax._core as _core
from shardax._core import api

__all__ = [
    "another",
    "asarray",
    "bind",
    "canonical_axes",
    "canonical_axis",
    "check_arraylike",
    "in_one_program",
    "inexact_dtype",
    "is_split",
    "known",
    "refuse_out",
    "result_type",
    "shape_of",
    "static_axis",
    "static_jit",
    "wrapped",
]

bind = _core.bind
asarray = _core.asarray
# The result of a function with nothing to do: an array that is deleted, or donated, by itself.
another = _core.another


def is_split(x, dimension):
    """True if mesh axes that the user asked to be explicit split that dimension."""
    known = _core.get_type_sharding(x)
    return known is not None and "e" in known[5] and any(known[3][dimension : dimension + 1])


def wrapped(value, dtype):
    """A Python int as an array of `dtype`, which wraps it where it is one of integers."""
    if dtype.kind not in "iu":
        return asarray(value, dtype)
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    if dtype.kind == "i" and value >> (bits - 1):
        value -= 1 << bits
    return asarray(value, dtype)


def is_inexact(dtype):
    """True if numbers of `dtype` are floats or complex, narrow ones among them."""
    return dtype.kind in "fc" or (dtype.kind == "V" and "float" in dtype.name)


def inexact_dtype(dtype):
    """The dtype in which numbers of `dtype` are computed for a result that is no integer. Integers
    of 64 bits are float64, bool and the other ones float32; without x64 always float32."""
    if dtype.kind in "fc" or "float" in dtype.name:
        return dtype
    return _core.canonical_dtype("float64" if dtype.itemsize == 8 else "float32")


def check_arraylike(name, *args):
    """TypeError in JAX's words where an operand is no array or number."""
    for position, arg in enumerate(args):
        if isinstance(arg, (list, tuple, str, dict)) or arg is None:
            raise TypeError(
                f"{name} requires ndarray or scalar arguments, got {type(arg)} at position "
                f"{position}."
            )


def refuse_out(function, out):
    """NotImplementedError where the caller of a function of jnp gives an array to write into."""
    if out is not None:
        raise NotImplementedError(
            f"The 'out' argument to jnp.{function} is not supported: arrays are immutable. Use the "
            "result."
        )


def operand_of(name, x):
    """The array that a function of lax takes: of an array or a number, not of a nested sequence."""
    check_arraylike(name, x)
    return asarray(x)


def result_type(*args):
    """The dtype that the operands promote to."""
    return _core.result_type(*args)[0]


def shape_of(a):
    """The shape of an array, of a value that converts to one, or of a nested sequence."""
    if hasattr(a, "shape"):
        return a.shape
    return asarray(a).shape if hasattr(a, "__jax_array__") else np.shape(a)


def canonical_axis(axis, ndim):
    """`axis` counted from 0; ValueError where it is out of range."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim if ndim else 0


def known(value, what, remedy="\nIt decides a shape: mark it static with static_argnums."):
    """`value`; where it is not known, ConcretizationTypeError, which says `what` it is."""
    _core.needs_concrete(value, what + remedy)
    return value


def canonical_axes(axis, ndim):
    """None, an int or a sequence of ints as a sorted tuple."""
    known(axis, "The axis argument must be known statically.")
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)) and not np.ndim(axis):
        return (canonical_axis(axis, ndim),)
    axes = sorted(canonical_axis(a, ndim) for a in axis)
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in 'axis': {tuple(axis)}")
    return tuple(axes)


def _positions(fun, names):
    while hasattr(fun, "__wrapped__"):
        fun = fun.__wrapped__
    positional = fun.__code__.co_varnames[: fun.__code__.co_argcount]
    return tuple(i for i, name in enumerate(positional) if name in names)


def static_jit(*names, inline=False):
    """A decorator: the function runs as one program; arguments of these names are static. With
    `inline`, programs that call it show its equations, not it.
    """

    def decorate(fun):
        return api.jit(fun, _positions(fun, names), names, inline=inline)

    return decorate


def check_places(function, size, dtype=None):
    """ValueError where `dtype` has 32 bits and does not count to `size`; None: the default one."""
    dtype = np.dtype(_core.canonical_dtype(int) if dtype is None else dtype)
    if dtype.itemsize == 4 and dtype.kind in "iu" and size > np.iinfo(dtype).max:
        raise ValueError(
            f"{function}: positions among {size} elements do not fit {dtype}, which ends at "
            f"{np.iinfo(dtype).max}. Enable x64 with jax.config.update('jax_enable_x64', True)."
        )


def hashable_axis(axis):
    """None, an int, a value that stands for one or a sequence of these: as None, an int or a
    tuple."""
    if axis is None or type(axis) is int:
        return axis
    known(axis, "The axis argument must be known statically.")
    return tuple(map(operator.index, axis)) if np.ndim(axis) else operator.index(axis)


def static_axis(*names):
    """A decorator: as static_jit with `inline`, of a function whose second argument, `axis`,
    is None, an int or a sequence of ints.
    """

    def decorate(fun):
        run = static_jit("axis", *names, inline=True)(fun)

        @functools.wraps(fun)
        def call(a, axis=None, *args, **kwargs):
            return run(a, hashable_axis(axis), *args, **kwargs)

        return call

    return decorate


def in_one_program(*names, at_once=False):
    """A decorator: called on arrays, the function runs as one program, rather than op by op.

    Arguments of these names are static. Within transformations, and for arguments that are no
    numbers, the function is called as it is. With `at_once` this also holds while anything is
    staged, and for the first call with some types: programs show its ops and no call.
    """

    def decorate(fun):
        return api.in_one_program(fun, _positions(fun, names), names, at_once)

    return decorate
