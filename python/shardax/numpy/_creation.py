"""shardax/numpy/_creation.py - functions that make arrays."""

import numpy as np

import shardax._core as _core
from shardax._base.arrays import (
    asarray,
    check_arraylike,
)
from shardax._base.dtypes import float0
from shardax._devices.full_like import full_like, placed, shape_tuple

array = _core.array


def _dtype(dtype, default, function, shape=None):
    if isinstance(dtype, int) and shape is not None:
        raise TypeError(
            f"Cannot interpret '{dtype}' as a data type.\n\nDid you accidentally write "
            f"`jax.numpy.{function}({shape}, {dtype})` when you meant "
            f"`jax.numpy.{function}(({shape}, {dtype}))`, i.e. with a single tuple argument for "
            "the shape?"
        )
    return default if dtype is None else _core.requested_dtype(dtype, function)


def zeros(shape, dtype=None, *, device=None, out_sharding=None):
    """An array of zeros. Memory holds one element, whatever the shape, until it is written.

    Args:
      shape: an int or a sequence of ints from 0 on.
      dtype: of the result; None: float32 (float64 under x64).
      device: a device or sharding for the array.
      out_sharding: a sharding in the explicit mode of meshes.

    Returns:
      The array.

    Raises:
      TypeError: `shape` is not made of integers from 0 on.

    Example:
      >>> jnp.zeros((2, 3))
      Array([[0., 0., 0.],
             [0., 0., 0.]], dtype=float32)
      >>> jnp.zeros(2, dtype=int)
      Array([0, 0], dtype=int32)
    """
    if dtype is not None and dtype == float0:  # tangents of integers: no elements
        return np.zeros(shape_tuple(shape) if isinstance(dtype, np.dtype) else shape, float0)
    dtype = _dtype(dtype, _core.canonical_dtype(float), "zeros", shape)
    return placed(_core.full(shape_tuple(shape), 0, dtype), device, out_sharding)


def ones(shape, dtype=None, *, device=None, out_sharding=None):
    """An array of ones. Memory holds one element, whatever the shape, until it is written.

    Args:
      shape: an int or a sequence of ints from 0 on.
      dtype: of the result; None: float32 (float64 under x64).
      device: a device or sharding for the array.
      out_sharding: a sharding in the explicit mode of meshes.

    Returns:
      The array.

    Raises:
      TypeError: `shape` is not made of integers from 0 on.

    Example:
      >>> jnp.ones((2, 3))
      Array([[1., 1., 1.],
             [1., 1., 1.]], dtype=float32)
    """
    dtype = _dtype(dtype, _core.canonical_dtype(float), "ones", shape)
    return placed(_core.full(shape_tuple(shape), 1, dtype), device, out_sharding)


def empty(shape, dtype=None, *, device=None, out_sharding=None):
    """An array of zeros, as `jnp.zeros`: memory is never shown uninitialised.

    Example:
      >>> jnp.empty(3)
      Array([0., 0., 0.], dtype=float32)
    """
    dtype = _dtype(dtype, _core.canonical_dtype(float), "empty", shape)
    return zeros(shape, dtype, device=device, out_sharding=out_sharding)


def zeros_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """An array of zeros with the shape and dtype of another one.

    Args:
      a: an array, or what has a shape and a dtype.
      dtype, shape: of the result, where they differ from those of `a`.
      device, out_sharding: as in `jnp.zeros`.

    Returns:
      The array, split over devices as `a` is.

    Example:
      >>> jnp.zeros_like(jnp.array([1, 2, 3]))
      Array([0, 0, 0], dtype=int32)
    """
    if not hasattr(a, "shape"):
        check_arraylike("zeros_like", a)
    return full_like(a, 0, dtype, shape, device=device, out_sharding=out_sharding)


def ones_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """An array of ones with the shape and dtype of another one.

    Args:
      a: an array, or what has a shape and a dtype.
      dtype, shape: of the result, where they differ from those of `a`.
      device, out_sharding: as in `jnp.ones`.

    Returns:
      The array, split over devices as `a` is.

    Example:
      >>> jnp.ones_like(jnp.array([1, 2, 3]), dtype=float)
      Array([1., 1., 1.], dtype=float32)
    """
    if not hasattr(a, "shape"):
        check_arraylike("ones_like", a)
    return full_like(a, 1, dtype, shape, device=device, out_sharding=out_sharding)


def empty_like(prototype, dtype=None, shape=None, *, device=None, out_sharding=None):
    """An array of zeros with the shape and dtype of another one, as `jnp.zeros_like`.

    Example:
      >>> jnp.empty_like(jnp.array([1.0, 2.0]))
      Array([0., 0.], dtype=float32)
    """
    return full_like(prototype, 0, dtype, shape, device=device, out_sharding=out_sharding)


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """The bytes of a buffer as a vector.

    Args:
      buffer: bytes, or an object with Python's buffer protocol.
      dtype: of the elements; `float` means float32, but for x64.
      count: the number of elements; -1: as many as there are.
      offset: the byte at which the first element starts.

    Returns:
      A vector of that dtype.

    Raises:
      ValueError: the buffer is too small, or no multiple of the element's size.
      ConcretizationTypeError: the buffer is traced.

    Example:
      >>> jnp.frombuffer(b"abc", dtype="uint8")
      Array([97, 98, 99], dtype=uint8)
    """
    return array(
        np.frombuffer(buffer, np.dtype(_core.requested_dtype(dtype, "frombuffer")), count, offset)
    )


def fromstring(string, dtype=float, count=-1, *, sep):
    """The numbers in a text as a vector.

    Args:
      string: the text.
      dtype: of the elements; `float` means float32, but for x64.
      count: the number of elements; -1: as many as there are.
      sep: the text between numbers.

    Returns:
      A vector of that dtype.

    Example:
      >>> jnp.fromstring("1, 2, 3", dtype=int, sep=",")
      Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, dtype, count, sep=sep))


def from_dlpack(x, /, *, device=None, copy=None):
    """An array on the memory that another library exports by the DLPack protocol.

    The memory is shared, and must not be written to from then on. It is copied if `copy` is True,
    or if its dtype is one of 64 bits while those are off.

    Args:
      x: an object with `__dlpack__` and `__dlpack_device__`: a NumPy array, a tensor of PyTorch.
      device: a device or sharding for the array.
      copy: True: always copy; False: never; None: where needed.

    Returns:
      An array of the shape and dtype of `x`.

    Raises:
      TypeError: `x` does not follow the protocol.
      ValueError: `copy` is False and a copy is needed.

    Example:
      >>> jnp.from_dlpack(np.arange(3, dtype=np.int32))
      Array([0, 1, 2], dtype=int32)
    """
    if isinstance(x, _core.Array):
        return placed(array(x) if copy else x, device, None)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(
            "The array passed to from_dlpack must have __dlpack__ and __dlpack_device__ methods."
        )
    try:
        capsule = x.__dlpack__(max_version=(1, 0))
    except TypeError:  # a library that knows no versions
        capsule = x.__dlpack__()
    return placed(_core.from_dlpack(capsule, copy), device, None)


def copy(a, order=None):
    """A copy of an array.

    Arrays are immutable, so that memory is shared until one of the two is donated.

    Args:
      a: an array, a number or nested sequences of them.
      order: must be None or "K".

    Returns:
      An array of the same shape, dtype and elements.

    Raises:
      NotImplementedError: for another `order`.

    Example:
      >>> jnp.copy(np.array([1.0, 2.0], dtype=np.float32))
      Array([1., 2.], dtype=float32)
    """
    check_arraylike("copy", a)
    return array(a, order=order)


def astype(x, dtype, /, *, copy=False, device=None):
    """An array with its elements converted to a dtype.

    Floats lose their fraction where integers are asked for; complex numbers lose their imaginary
    part with a warning.

    Args:
      x: an array.
      dtype: a dtype, or one of Python's types; `float` means float32, but for x64.
      copy: without effect on the result; memory is shared where nothing is converted.
      device: a device or sharding for the result.

    Returns:
      An array of the shape of `x`.

    Example:
      >>> jnp.astype(jnp.array([1.7, -1.7]), int)
      Array([ 1, -1], dtype=int32)
    """
    return placed(asarray(x).astype(dtype), device)
