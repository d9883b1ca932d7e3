"""shardax/numpy/_ranges.py - evenly spaced numbers, and grids of coordinates."""

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
from shardax._devices.full_like import full, placed, shape_tuple
from shardax._transform.pmap_vmap import vmap
from shardax.numpy._creation import _dtype, zeros

_functions = _core.functions


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
      With `retstep`: (array, spacing).

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
