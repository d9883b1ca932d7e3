"""shardax/numpy/_creation.py - functions that make arrays."""

import functools
import operator

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import moveaxis, stack, where
from shardax._base.arrays import (
    another,
    asarray,
    bind,
    check_arraylike,
    in_one_program,
    known,
    result_type,
)
from shardax._base.dtypes import float0
from shardax._devices.full_like import full, full_like, placed, shape_tuple
from shardax._transform.pmap_vmap import vmap

array = _core.array
_functions = _core.functions


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
    """An array of zeros. One element is kept, whatever the shape.

    >>> zeros((2, 3)).shape
    (2, 3)
    """
    if dtype is not None and dtype == float0:  # tangents of integers: no elements
        return np.zeros(shape_tuple(shape) if isinstance(dtype, np.dtype) else shape, float0)
    dtype = _dtype(dtype, _core.canonical_dtype(float), "zeros", shape)
    return placed(_core.full(shape_tuple(shape), 0, dtype), device, out_sharding)


def ones(shape, dtype=None, *, device=None, out_sharding=None):
    """An array of ones. One element is kept, whatever the shape."""
    dtype = _dtype(dtype, _core.canonical_dtype(float), "ones", shape)
    return placed(_core.full(shape_tuple(shape), 1, dtype), device, out_sharding)


def empty(shape, dtype=None, *, device=None, out_sharding=None):
    """The same as zeros: memory is never shown uninitialised."""
    dtype = _dtype(dtype, _core.canonical_dtype(float), "empty", shape)
    return zeros(shape, dtype, device=device, out_sharding=out_sharding)


def zeros_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """Zeros with the shape and dtype of `a`."""
    if not hasattr(a, "shape"):
        check_arraylike("zeros_like", a)
    return full_like(a, 0, dtype, shape, device=device, out_sharding=out_sharding)


def ones_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """Ones with the shape and dtype of `a`."""
    if not hasattr(a, "shape"):
        check_arraylike("ones_like", a)
    return full_like(a, 1, dtype, shape, device=device, out_sharding=out_sharding)


def empty_like(prototype, dtype=None, shape=None, *, device=None, out_sharding=None):
    """The same as zeros_like."""
    return full_like(prototype, 0, dtype, shape, device=device, out_sharding=out_sharding)


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """The bytes of a buffer as a vector."""
    return array(
        np.frombuffer(buffer, np.dtype(_core.requested_dtype(dtype, "frombuffer")), count, offset)
    )


def fromstring(string, dtype=float, count=-1, *, sep):
    """The numbers in a text, between which `sep` stands, as a vector.

    Example:
      >>> fromstring("1, 2, 3", dtype=int, sep=",")
      Array([1, 2, 3], dtype=int32)
    """
    return asarray(np.fromstring(string, dtype, count, sep=sep))


def from_dlpack(x, /, *, device=None, copy=None):
    """An array on the memory that another library exports by the DLPack protocol.

    The memory is shared, and must not be written to from then on, unless `copy` is True or its
    dtype is one of 64 bits while those are off.

    Raises:
      TypeError: where `x` does not follow the protocol.
      ValueError: where `copy` is False and a copy is needed.

    >>> import numpy as np
    >>> from_dlpack(np.arange(3, dtype=np.int32))
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


def _builtin_type(number):
    """Its class, or the one of Python's numbers that its class is made from (enum.IntEnum)."""
    return next((kind for kind in (bool, int, float) if isinstance(number, kind)), type(number))


@in_one_program("start", "stop", "step", "dtype", at_once=True)
def arange(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None):
    """start, start + step, ... below stop.

    Args:
      start, stop, step: numbers that are known while tracing. Without `stop`, the first one is it,
        and the start 0.
      dtype: of the result; None: that to which the numbers promote, int32 for Python integers.

    Example:
      >>> arange(1, 7, 2)
      Array([1, 3, 5], dtype=int32)
    """
    if stop is None:
        start, stop = None, start
    numbers = [
        known(number, f"It arose in the jnp.arange argument {name!r}")
        for name, number in (("start", start), ("stop", stop), ("step", step))
        if number is not None or name == "stop"
    ]
    if any(np.iscomplexobj(number) for number in numbers):
        raise ValueError("Passing complex start/stop/step to jnp.arange is no longer supported.")
    if dtype is None:
        kinds = [
            number
            if isinstance(number, _core.Array)
            else getattr(number, "dtype", None) or _builtin_type(number)
            for number in numbers
        ]
        dtype = _core.canonical_dtype(result_type(*kinds))
    else:
        dtype = _core.requested_dtype(dtype, "arange")
    if dtype == np.bool_:
        raise TypeError("arange does not accept dtype bool; give an integer or a float.")
    start, stop, step = (
        n.item() if isinstance(n, (_core.Array, np.generic, np.ndarray)) else n
        for n in (start or 0, stop, step)
    )
    size = max(int(np.ceil((stop - start) / (1 if step is None else step))), 0)
    narrow = np.dtype(dtype).itemsize < 4 and np.dtype(dtype).kind in "fV"
    computed = np.dtype(np.float32) if narrow and step is not None else dtype
    out = bind("iota", (), dtype=computed, shape=(size,), dimension=0)
    if step is not None:
        out = _functions.multiply(_core.full((), step, computed), out)
    if start != 0:
        out = _functions.add(_core.full((), start, computed), out)
    return placed(_core.convert(out, dtype), device, out_sharding)


@in_one_program("num", "endpoint", "retstep", "dtype", "axis", "device")
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` evenly spaced values from start to stop (without stop where endpoint is False)."""
    num = operator.index(known(num, "It is argument 'num' of jnp.linspace"))
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    check_arraylike("linspace", start, stop)
    wanted = dtype
    start, stop = _core.promote("inexact", start, stop)
    ends = _core.broadcast_shapes(start.shape, stop.shape)
    start, stop = (_core.broadcast_to(end, ends) for end in (start, stop))
    computed = start.dtype
    if dtype is not None:
        dtype = _core.requested_dtype(dtype, "linspace")
    steps = num - 1 if endpoint else num
    delta = (
        _functions.divide(_functions.subtract(stop, start), steps)
        if steps > 0
        else full((), np.nan, computed)
    )
    shape = (num,) + (1,) * len(start.shape)
    iota = _core.convert(
        bind("iota", (), dtype=np.dtype("int32"), shape=(num,), dimension=0), computed
    ).reshape(shape)
    if steps > 0:
        part = _functions.divide(iota, np.asarray(steps, computed))
        part = _core.broadcast_to(part, (num, *ends))
        start, stop = (_core.broadcast_to(end, (num, *ends)) for end in (start, stop))
        out = _functions.add(
            _functions.multiply(start, _functions.subtract(np.asarray(1, computed), part)),
            _functions.multiply(stop, part),
        )
        if endpoint and num > 1:
            out = where(_functions.equal(iota, np.asarray(steps, computed)), stop, out)
    else:
        out = _core.broadcast_to(start, (num,) + tuple(start.shape))
    out = _core.convert(out, computed)
    if axis != 0:
        out = moveaxis(out, 0, axis)
    if wanted is not None:
        if np.issubdtype(dtype, np.integer):
            out = _functions.floor(out)
        out = _core.convert(out, dtype)
    out = placed(out, device)
    return (out, _core.convert(asarray(delta), computed)) if retstep else out


@in_one_program("num", "endpoint", "dtype", "axis")
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """base ** linspace(start, stop, num)."""
    out = _functions.power(base, linspace(start, stop, num, endpoint, axis=axis))
    out = _core.convert(out, out.dtype)
    return out if dtype is None else out.astype(dtype)


@in_one_program("num", "endpoint", "dtype", "axis")
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` values from start to stop with a constant ratio."""
    check_arraylike("geomspace", start, stop)
    start, stop = _core.promote("inexact", start, stop)
    start, stop = (
        _core.broadcast_to(end, _core.broadcast_shapes(start.shape, stop.shape))
        for end in (start, stop)
    )
    sign = _functions.sign(start)
    logs = (_functions.log10(_functions.divide(end, sign)) for end in (start, stop))
    out = logspace(*logs, num, endpoint)
    out = _functions.multiply(_core.broadcast_to(sign, out.shape), out)
    out = moveaxis(out, 0, axis)
    return out if dtype is None else out.astype(dtype)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays out of vectors of coordinates.

    Raises:
      ValueError: for `copy=False`, another `indexing` than "xy" and "ij", or what is no vector.
    """
    check_arraylike("meshgrid", *xi)
    if not copy:
        raise ValueError(
            "shardax.numpy.meshgrid only supports copy=True: results are arrays of their own."
        )
    vectors = [asarray(x) for x in xi]
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Valid values for indexing are 'xy' and 'ij', got {indexing}")
    if any(v.ndim != 1 for v in vectors):
        raise ValueError(
            "Arguments to jnp.meshgrid must be 1D, got shapes " + str([v.shape for v in vectors])
        )
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) >= 2:
        order[0], order[1] = 1, 0
    shape = [1] * len(vectors)
    for position, v in zip(order, vectors):
        shape[position] = v.shape[0]
    out = []
    for position, v in zip(order, vectors):
        own = [1] * len(vectors)
        own[position] = v.shape[0]
        v = another(v.reshape(tuple(own)))
        out.append(v if sparse else _core.broadcast_to(v, tuple(shape)))
    return out


def fromfunction(function, shape, *, dtype=float, **kwargs):
    """function(i, j, ...) at each index of `shape`: it is mapped over, and sees scalars.

    Example:
      >>> fromfunction(lambda i, j: i + 10 * j, (2, 3), dtype=int)
      Array([[ 0, 10, 20],
             [ 1, 11, 21]], dtype=int32)
    """
    shape = tuple(shape_tuple(shape))
    at = functools.partial(function, **kwargs)
    for d in reversed(range(len(shape))):
        at = vmap(at, in_axes=tuple(0 if i == d else None for i in range(len(shape))))
    return at(*(arange(n, dtype=dtype) for n in shape))


def indices(dimensions, dtype=None, sparse=False):
    """Index arrays of a grid of that shape."""
    dtype = _dtype(dtype, _core.canonical_dtype(int), "indices")
    shape = shape_tuple(dimensions)
    shapes = [
        tuple(n if i == d or not sparse else 1 for i, n in enumerate(shape))
        for d in range(len(shape))
    ]
    grids = [bind("iota", (), dtype=dtype, shape=own, dimension=d) for d, own in enumerate(shapes)]
    if sparse:
        return tuple(grids)
    return stack(grids) if grids else zeros((0,), dtype)


def copy(a, order=None):
    """A copy of `a`. Arrays are immutable, so that memory is shared until one is donated.

    Raises:
      NotImplementedError: for another `order` than None and "K".
    """
    check_arraylike("copy", a)
    return array(a, order=order)


def astype(x, dtype, /, *, copy=False, device=None):
    """`x` with elements converted to `dtype`. The result is another array, with `copy` or without;
    memory is shared where nothing is converted, until one is donated."""
    return placed(asarray(x).astype(dtype), device)
