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

    The memory is shared, and must not be written to from then on, unless `copy` is True or its
    dtype is one of 64 bits while those are off.

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


def _builtin_type(number):
    """Its class, or the one of Python's numbers that its class is made from (enum.IntEnum)."""
    return next((kind for kind in (bool, int, float) if isinstance(number, kind)), type(number))


@in_one_program("start", "stop", "step", "dtype", at_once=True)
def arange(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None):
    """The numbers start, start + step, ... below `stop`.

    Args:
      start, stop, step: numbers that are known while tracing. Without `stop`, the first one is it,
        and the start 0; the step is 1 unless given.
      dtype: of the result; None: the dtype to which the numbers promote, int32 for Python integers.
      device, out_sharding: as in `jnp.zeros`.

    Returns:
      A vector of ceil((stop - start) / step) elements; an empty one where that is negative.

    Raises:
      ConcretizationTypeError: an argument is traced.
      ZeroDivisionError: `step` is 0.

    Example:
      >>> jnp.arange(4)
      Array([0, 1, 2, 3], dtype=int32)
      >>> jnp.arange(1, 7, 2)
      Array([1, 3, 5], dtype=int32)
      >>> jnp.arange(0.0, 1.0, 0.25)
      Array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
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
    """Evenly spaced numbers from `start` to `stop`.

    Args:
      start, stop: numbers or arrays, which broadcast.
      num: how many numbers there are, an int known while tracing.
      endpoint: whether `stop` is the last one.
      retstep: whether to return the spacing as well.
      dtype: of the result; None: a float or complex one. Integers are rounded down.
      axis: the dimension of the result along which the numbers lie.
      device: a device or sharding for the array.

    Returns:
      An array whose dimension `axis` has size `num`, the others the broadcast shape of the ends.
      Where `retstep`: (array, spacing).

    Raises:
      ValueError: `num` is negative.

    Example:
      >>> jnp.linspace(0, 1, 5)
      Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
      >>> jnp.linspace(0, 1, 4, endpoint=False, retstep=True)
      (Array([0.  , 0.25, 0.5 , 0.75], dtype=float32), Array(0.25, dtype=float32))
    """
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
    """Numbers evenly spaced on a logarithmic scale: base ** jnp.linspace(start, stop, num).

    Args:
      start, stop: exponents of the ends, numbers or arrays.
      num, endpoint, dtype, axis: as in `jnp.linspace`.
      base: the base, a number or an array.

    Returns:
      An array of floats, of the shape that `jnp.linspace` gives.

    Example:
      >>> jnp.logspace(0, 3, 4, base=2.0)
      Array([1., 2., 4., 8.], dtype=float32)
    """
    out = _functions.power(base, linspace(start, stop, num, endpoint, axis=axis))
    out = _core.convert(out, out.dtype)
    return out if dtype is None else out.astype(dtype)


@in_one_program("num", "endpoint", "dtype", "axis")
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers from `start` to `stop` with a constant ratio.

    Args:
      start, stop: the ends, numbers or arrays other than 0.
      num, endpoint, dtype, axis: as in `jnp.linspace`.

    Returns:
      An array of floats or complex numbers, of the shape that `jnp.linspace` gives.

    Example:
      >>> jnp.geomspace(1, 1000, 4).round(2)
      Array([   1.,   10.,  100., 1000.], dtype=float32)
    """
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
    """The coordinates of a grid's points, from vectors of coordinates.

    Args:
      *xi: vectors (or scalars) of coordinates, one for each dimension of the grid.
      copy: must be True.
      sparse: whether results have size 1 in all dimensions but their own; they broadcast.
      indexing: "xy": the first vector runs along dimension 1, as in pictures; "ij": along dimension
        0.

    Returns:
      A list of arrays, one for each vector. For vectors of M and N elements their shape is (N, M)
      for "xy", (M, N) for "ij".

    Raises:
      ValueError: for `copy=False`, another `indexing`, or an argument of more than one dimension.

    Example:
      >>> x, y = jnp.meshgrid(jnp.array([1, 2, 3]), jnp.array([10, 20]))
      >>> x + y
      Array([[11, 12, 13],
             [21, 22, 23]], dtype=int32)
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
    """An array whose elements are function(i, j, ...) at their indices.

    Args:
      function: a function of as many scalars as `shape` has dimensions. It is mapped over indices.
      shape: a tuple of ints.
      dtype: of the indices that `function` gets.
      **kwargs: passed on to `function`.

    Returns:
      An array of shape `shape`, or a tree of them where `function` gives one.

    Example:
      >>> jnp.fromfunction(lambda i, j: i + 10 * j, (2, 3), dtype=int)
      Array([[ 0, 10, 20],
             [ 1, 11, 21]], dtype=int32)
    """
    shape = tuple(shape_tuple(shape))
    at = functools.partial(function, **kwargs)
    for d in reversed(range(len(shape))):
        at = vmap(at, in_axes=tuple(0 if i == d else None for i in range(len(shape))))
    return at(*(arange(n, dtype=dtype) for n in shape))


def indices(dimensions, dtype=None, sparse=False):
    """The indices of all elements of a grid, one array for each dimension.

    Args:
      dimensions: the shape of the grid.
      dtype: of the result; None: int32.
      sparse: whether to return a tuple of arrays with size 1 in all dimensions but their own.

    Returns:
      An array of shape (len(dimensions), *dimensions), or the tuple.

    Example:
      >>> jnp.indices((2, 2))
      Array([[[0, 0],
              [1, 1]],
      <BLANKLINE>
             [[0, 1],
              [0, 1]]], dtype=int32)
    """
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
