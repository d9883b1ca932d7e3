"""shardax/_devices/full_like.py - arrays that repeat one element, labelled with a device or
sharding."""

import operator

import numpy as np

import shardax._core as _core
from shardax._base.arrays import (
    asarray,
    bind,
    check_arraylike,
    result_type,
    shape_of,
    wrapped,
)
from shardax._base.dtypes import KeyTy


def shape_tuple(shape):
    """A shape as a tuple of ints: the argument of functions that make arrays."""
    if type(shape) is tuple and _is_plain(shape):
        return shape
    if isinstance(shape, (tuple, list)) or np.ndim(shape) == 1:
        return tuple(_dimension(d, shape) for d in shape)
    return (_dimension(shape, (shape,)),)


def _is_plain(shape):
    for d in shape:
        if type(d) is not int or d < 0:
            return False
    return True


def _dimension(d, shape):
    try:
        n = operator.index(d)
    except TypeError:
        text = f"Shapes must be 1D sequences of concrete values of integer type, got {shape}."
        if isinstance(d, _core.Tracer):
            text += (
                "\nIf using `jit`, try using `static_argnums` or applying `jit` to smaller "
                f"subfunctions.{_core.api.tracer_origin(d)}"
            )
        raise TypeError(text) from None
    if n < 0:
        raise TypeError(f"shape must have every element be nonnegative, got {shape}.")
    return n


def placed(array, device, out_sharding=None):
    """The array, labelled with a device or sharding where one is given."""
    if device is None and out_sharding is None:
        return array
    from shardax._devices import shardings  # at first use: quick import

    if device is not None:
        return shardings.label(array, device)
    if getattr(out_sharding, "memory_kind", None) not in (None, "device"):
        raise ValueError(
            f"out_sharding: a sharding with memory_kind is not allowed, got {out_sharding}. Bring "
            "the array there with device_put."
        )
    return shardings.created(array, out_sharding)


def full(shape, fill_value, dtype=None, *, device=None, out_sharding=None):
    """An array that repeats one value.

    Args:
      shape: an int or a sequence of ints from 0 on.
      fill_value: a number, or an array that broadcasts to `shape`.
      dtype: of the result; None: that of `fill_value` (weakly typed for Python numbers).
      device: a device or sharding for the array.
      out_sharding: a sharding in the explicit mode of meshes.

    Returns:
      An array of shape `shape`.

    Example:
      >>> jnp.full((2, 2), 7)
      Array([[7, 7],
             [7, 7]], dtype=int32, weak_type=True)
      >>> jnp.full((2, 2), jnp.array([1.0, 2.0]))
      Array([[1., 2.],
             [1., 2.]], dtype=float32)
    """
    check_arraylike("full", fill_value)
    if type(fill_value) is int and dtype is not None:
        fill_value = wrapped(fill_value, _core.canonical_dtype(dtype))
    value = asarray(fill_value) if dtype is None else asarray(fill_value, dtype=dtype)
    return placed(_core.broadcast_to(value, shape_tuple(shape)), device, out_sharding)


def _in_state_of(manual, x):
    """`x`, which devices share, typed as a ManualAxisType says."""
    for axes, states in (
        (manual.varying, ("varying",)),
        (manual.unreduced, ("varying", "unreduced")),
        (manual.reduced, ("reduced",)),
    ):
        for state in states if axes else ():
            x = _core.api.pcast(x, tuple(sorted(axes)), state)
    return x


def _is_whole(array):
    """True if no explicit axis of the mesh splits it."""
    return _core.api.typeof(array).asked_split is None


def _is_small(number):
    """A Python number that any dtype takes without a word."""
    return type(number) is float or (type(number) is int and -(2**31) <= number < 2**31)


def full_like(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None):
    """An array of another one's shape, dtype and sharding that repeats a value.

    Within shard_map it varies over the same axes.

    Args:
      a: an array, or what has a shape and a dtype.
      fill_value: a number, or an array that broadcasts to the shape.
      dtype, shape: of the result, where they differ from those of `a`.
      device, out_sharding: as in `jnp.full`.

    Returns:
      The array.

    Example:
      >>> jnp.full_like(jnp.array([[1, 2], [3, 4]]), 7)
      Array([[7, 7],
             [7, 7]], dtype=int32)
    """
    if type(a) is _core.ArrayImpl and dtype is shape is device is out_sharding is None:
        if _is_small(fill_value) and not a.weak_type and not isinstance(a.dtype, KeyTy):
            recorded = _core.get_sharding(a)
            if recorded is None:
                return _core.full(a.shape, fill_value, a.dtype)
            if not _core.api.staging_in_progress():
                out = _core.full(a.shape, fill_value, a.dtype)
                return _core.with_sharding(out, recorded)
    shape = shape_of(a) if shape is None else shape_tuple(shape)
    weak = dtype is None and getattr(
        a, "weak_type", isinstance(a, (int, float, complex)) and not isinstance(a, bool)
    )
    if dtype is None:
        dtype = result_type(a.dtype if hasattr(a, "dtype") else a)
    else:
        dtype = _core.requested_dtype(dtype, "full_like")
    if isinstance(dtype, KeyTy) and getattr(fill_value, "dtype", None) != dtype:
        words = full((*shape, dtype.itemsize // 4), fill_value, np.uint32)
        return bind("random_wrap", (words,), impl=dtype)
    if type(fill_value) is int:
        fill_value = wrapped(fill_value, dtype)
    value = _core.convert(asarray(fill_value), dtype, bool(weak))
    staged = isinstance(value, _core.Tracer) or _core.api.staging_in_progress()
    alike = isinstance(a, _core.Array) and a.shape == shape and device is out_sharding is None
    if alike and staged and value.ndim == 0 and not _is_whole(a):
        out = _core.broadcast_like(value, a)
    else:
        out = placed(_core.broadcast_to(value, shape), device, out_sharding)
    manual = getattr(a, "manual_axis_type", None)  # of a ShapeDtypeStruct
    if manual is not None:
        out = _in_state_of(manual, out)
    if isinstance(a, _core.Tracer) and value.ndim == 0 and _core.api.follows_varying():
        lacking = _core.api.typeof(a).mat.varying - _core.api.typeof(out).mat.varying
        out = _core.api.pvary(out, tuple(sorted(lacking))) if lacking else out
    concrete = isinstance(a, _core.Array) and not isinstance(a, _core.Tracer)
    asked = None if isinstance(a, _core.Array) else getattr(a, "sharding", None)
    if asked is not None and a.shape == shape and device is None and out_sharding is None:
        from shardax._devices.shardings import concretely  # at first use: quick import

        return placed(out, None, concretely(asked))
    if not concrete or device is not None or out_sharding is not None:
        return out
    if a.shape != shape:
        one = len(a.devices()) == 1 and _core.get_sharding(a) is not None
        return placed(out, next(iter(a.devices()))) if one else out
    recorded = None if isinstance(out, _core.Tracer) else _core.get_sharding(a)
    return out if recorded is None else _core.with_sharding(out, recorded)
