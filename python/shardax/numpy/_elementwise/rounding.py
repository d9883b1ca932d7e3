# shardax/numpy/_elementwise/rounding.py - rounding, clipping, and numbers in place of NaN.
import numpy as np

import shardax._core as _core
from shardax import lax
from shardax._base.array_functions import where
from shardax._base.arrays import (
    another,
    asarray,
    bind,
    check_arraylike,
    in_one_program,
    is_inexact,
    refuse_out,
)
from shardax.dtypes import finfo, issubdtype

_functions = _core.functions


@in_one_program("min", "max", "a_min", "a_max", at_once=True)
def clip(arr=None, /, min=None, max=None, *, a=None, a_min=None, a_max=None):
    """Elements limited to a range: the maximum of `min` and the minimum of `max` and each.

    Args:
      arr: an array.
      min, max: the limits, numbers or arrays that broadcast; None: no limit.
      a, a_min, a_max: names that NumPy and earlier versions of JAX use for these.

    Returns:
      An array of the broadcast shape and the dtype to which all promote.

    Raises:
      ValueError: limits of complex numbers.

    Example:
      >>> jnp.clip(jnp.array([-2, 0, 3]), -1, 1)
      Array([-1,  0,  1], dtype=int32)
    """
    arr = a if arr is None else arr
    if arr is None:
        raise ValueError("clip: no array was given; pass the array to limit as the first argument.")
    min = a_min if min is None else min
    max = a_max if max is None else max
    check_arraylike("clip", arr)
    if any(np.iscomplexobj(x) for x in (arr, min, max) if x is not None):
        raise ValueError(
            "Clip received a complex value either through the input or the min/max keywords. "
            "Complex values have no ordering and cannot be clipped; clip real and imaginary parts."
        )
    if min is not None:
        arr = _functions.maximum(min, arr)
    if max is not None:
        arr = _functions.minimum(max, arr)
    return another(asarray(arr)) if min is None and max is None else asarray(arr)


@in_one_program("decimals")
def round(a, decimals=0, out=None):
    """Numbers rounded to so many decimals; halves go to the even neighbour.

    Args:
      a: an array of numbers. Integers stay as they are.
      decimals: how many decimals; negative for tens, hundreds ...
      out: must be None.

    Returns:
      An array of the shape and dtype of `a`.

    Raises:
      NotImplementedError: integers with negative decimals.
      TypeError: `decimals` is no integer.

    Example:
      >>> jnp.round(jnp.array([1.25, 2.5, 3.5]))
      Array([1., 2., 4.], dtype=float32)
      >>> jnp.round(jnp.array([1.25, 1.35]), 1)
      Array([1.2, 1.4], dtype=float32)
    """
    refuse_out("round", out)
    check_arraylike("round", a)
    a = asarray(a)
    if a.dtype == np.bool_:
        raise ValueError("round: data type bool is not inexact; convert the argument first.")
    if not is_inexact(a.dtype):
        if decimals < 0:
            raise NotImplementedError("integer np.round not implemented for decimals < 0")
        return a
    if a.dtype.kind == "c":
        return lax.complex(round(a.real, decimals), round(a.imag, decimals))
    if decimals == 0:
        return bind("round", (a,), rounding_method=1)
    if a.dtype.itemsize == 2:
        return round(a.astype(np.float32), decimals).astype(a.dtype)
    factor = 10.0**decimals
    return bind("round", (a * factor,), rounding_method=1) / factor


def around(a, decimals=0, out=None):
    """`jnp.round` by another name, with the same arguments.

    Example:
      >>> jnp.around(jnp.array([0.5, 1.5]))
      Array([0., 2.], dtype=float32)
    """
    return round(a, decimals, out)


def rint(x, /):
    """The nearest integer to each element, as floats; halves go to the even neighbour.

    Args:
      x: numbers of any shape; integers become float32.

    Returns:
      Floats or complex numbers in the shape of `x`.

    Example:
      >>> jnp.rint(jnp.array([0.5, 1.5, -1.7]))
      Array([ 0.,  2., -2.], dtype=float32)
    """
    check_arraylike("rint", x)
    x = asarray(x)
    return round(x if is_inexact(x.dtype) else _core.convert(x, _core.canonical_dtype(float)))


@in_one_program("copy")
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """An array with NaN and infinities replaced by numbers.

    Args:
      x: an array.
      copy: without effect: arrays are immutable.
      nan: stands for NaN.
      posinf, neginf: stand for infinities; None: the largest and the smallest number of the dtype.

    Returns:
      An array of the shape and dtype of `x`.

    Example:
      >>> jnp.nan_to_num(jnp.array([1.0, jnp.nan, jnp.inf]), posinf=100.0)
      Array([  1.,   0., 100.], dtype=float32)
    """
    check_arraylike("nan_to_num", x)
    x = asarray(x)
    if not issubdtype(x.dtype, np.inexact):
        return x
    if x.dtype.kind == "c":
        return lax.complex(
            nan_to_num(x.real, nan=nan, posinf=posinf, neginf=neginf),
            nan_to_num(x.imag, nan=nan, posinf=posinf, neginf=neginf),
        )
    info = finfo(x.dtype)
    posinf = info.max if posinf is None else posinf
    neginf = info.min if neginf is None else neginf
    out = where(_functions.isnan(x), _core.convert(asarray(nan), x.dtype), x)
    out = where(
        _functions.equal(out, x.dtype.type(np.inf)), _core.convert(asarray(posinf), x.dtype), out
    )
    return where(
        _functions.equal(out, x.dtype.type(-np.inf)), _core.convert(asarray(neginf), x.dtype), out
    )
