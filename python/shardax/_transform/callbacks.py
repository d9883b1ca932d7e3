"""shardax/_transform/callbacks.py - calls of Python functions while a program runs, and names of
its parts.

A callback runs on the calling thread. Inside pmap it is called once per device, in device order.
"""

import contextlib
import functools
import logging

import numpy as np

from shardax import tree_util
from shardax._base.options import no_arguments
from shardax._core import Tracer, get_sharding
from shardax._core import api as _core
from shardax._devices.mesh_context import context_mesh
from shardax._devices.shard_index import parts
from shardax._devices.shardings import SingleDeviceSharding
from shardax.dtypes import canonicalize_dtype
from shardax.errors import JaxRuntimeError

__all__ = [
    "debug_callback",
    "effects_barrier",
    "io_callback",
    "named_call",
    "named_scope",
    "pure_callback",
]

_log = logging.getLogger("jax._src.callback")  # the name that libraries filter

_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")


def _name(fun):
    return getattr(fun, "__name__", repr(fun))


def _call(op, callback, result_types, method, args, kwargs, check):
    """Binds a callback op; `check` makes the flat list of results of the callback's return
    value."""
    leaves, tree = tree_util.tree_flatten((args, kwargs))
    # Leaves that are no arrays (strings, say) go round the program.
    positions = [i for i, leaf in enumerate(leaves) if _core.is_array_like(leaf)]

    def function(values):
        filled = list(leaves)
        for i, value in zip(positions, values):
            filled[i] = value
        args, kwargs = tree_util.tree_unflatten(tree, filled)
        try:
            return [check(callback(*args, **kwargs))]
        except Exception as error:
            api = op.replace("debug_", "debug.")
            _log.exception("jax.%s failed", api)
            raise JaxRuntimeError(
                f"INTERNAL: CpuCallback error calling callback: {api} of {_name(callback)}: "
                f"{type(error).__name__}: {error}"
            ) from error

    operands = [_core.asarray(leaves[i]) for i in positions]
    for i in positions:
        leaves[i] = None
    return _core.call_host(op, function, _name(callback), result_types, method, operands)


def _result_checker(api, callback, tree, types):
    def check(result):
        leaves = tree_util.tree_leaves(result)
        if len(leaves) != len(types):
            raise TypeError(
                f"{api}: the callback {_name(callback)} returned the structure "
                f"{tree_util.tree_structure(result)}, but result_shape_dtypes has the structure "
                f"{tree}."
            )
        values = []
        for leaf, aval in zip(leaves, types):
            array = np.asarray(leaf)
            expected = np.dtype(aval.dtype)
            same_kind = array.dtype == expected or (
                array.dtype.kind == expected.kind and array.dtype.itemsize == 8
            )
            if array.shape != tuple(aval.shape) or not same_kind:
                raise ValueError(
                    f"{api}: the callback {_name(callback)} returned an array of shape "
                    f"{array.shape} and dtype {array.dtype}, but result_shape_dtypes says "
                    f"shape {tuple(aval.shape)} and dtype {expected}."
                )
            values.append(array.astype(expected))
        return values

    return check


def _with_results(op, callback, result_shape_dtypes, method, args, kwargs):
    types, tree = tree_util.tree_flatten(result_shape_dtypes)
    for aval in types:
        asked, possible = np.dtype(aval.dtype), np.dtype(canonicalize_dtype(aval.dtype))
        if asked != possible:
            raise ValueError(
                f"{op}: result_shape_dtypes cannot specify 64-bit types when `jax_enable_x64` is "
                f"disabled, got {asked}; ask for {possible}, or enable x64."
            )
    check = _result_checker(op, callback, tree, types)
    if method in ("expand_dims", "broadcast_all", "legacy_vectorized"):

        def check(result):  # the batch's shape is known to the program only
            leaves = tree_util.tree_leaves(result)
            if len(leaves) != len(types):
                found = tree_util.tree_structure(result)
                raise TypeError(f"{op}: {_name(callback)} returned the structure {found}")
            return [np.asarray(leaf, np.dtype(aval.dtype)) for leaf, aval in zip(leaves, types)]

    out = _call(op, callback, types, method, args, kwargs, check)
    return tree_util.tree_unflatten(tree, out)


def _check_sharding(sharding):
    """NotImplementedError, in JAX's words, for what is no sharding on one device."""
    if sharding is not None and not isinstance(sharding, SingleDeviceSharding):
        raise NotImplementedError(
            "pure_callback only supports SingleDeviceSharding, but got "
            f"{type(sharding)}: {sharding!r}. Leave it out."
        )


def pure_callback(callback, result_shape_dtypes, *args, sharding=None, vmap_method=None, **kwargs):
    """The result of a Python function without side effects, in a program.

    Args:
      callback: takes the arguments as concrete arrays; returns arrays (NumPy's will do) of the
        shapes and dtypes given next. It may be called any number of times.
      result_shape_dtypes: a tree of objects with shape and dtype (`ShapeDtypeStruct`).
      args, kwargs: trees of arrays.
      sharding: None or a SingleDeviceSharding, without effect: devices share one memory, and the
        callback runs on the calling thread.
      vmap_method: the way in which vmap calls it. "sequential": once per batch element;
        "expand_dims": once, unbatched arguments with a leading 1. "broadcast_all": once, all
        arguments batched; None: vmap is an error.

    Returns:
      A tree of arrays.

    Raises:
      ValueError: under differentiation, and for results of other shapes or dtypes.
      NotImplementedError: for another `sharding`.

    Example:
      >>> import numpy as np
      >>> result = shardax.ShapeDtypeStruct((), np.float32)
      >>> shardax.jit(lambda x: shardax.pure_callback(np.sin, result, x))(0.0)
      Array(0., dtype=float32)
    """
    _check_sharding(sharding)
    allowed = [*_METHODS, "legacy_vectorized", None]
    if vmap_method not in allowed:
        raise ValueError(
            f"vmap_method must be on of the allowed methods {allowed}, but got: {vmap_method}"
        )
    method = {None: "none", "sequential_unrolled": "sequential"}.get(vmap_method, vmap_method)
    return _with_results("pure_callback", callback, result_shape_dtypes, method, args, kwargs)


def io_callback(callback, result_shape_dtypes, *args, sharding=None, ordered=False, **kwargs):
    """The result of a Python function with side effects, called exactly once per evaluation (inside
    pmap: per device), in program order.

    Args:
      callback, result_shape_dtypes, args, sharding, kwargs: as for `pure_callback`;
        result_shape_dtypes may be None.
      ordered: vmap is an error; without it, vmap calls it once per batch element.

    Example:
      >>> seen = []
      >>> _ = shardax.jit(lambda x: shardax.experimental.io_callback(seen.append, None, x))(1.0)
      >>> len(seen)
      1
    """
    _check_sharding(sharding)
    method = "ordered" if ordered else "sequential"
    return _with_results("io_callback", callback, result_shape_dtypes, method, args, kwargs)


def debug_callback(callback=None, *args, ordered=False, partitioned=False, **kwargs):
    """Calls a Python function for its effect, with concrete arrays; its result is ignored.

    It is called in program order, once per device inside pmap and once per batch element inside
    vmap; transformations do not change it. The options may also be given in a call of their own:
    `callback(ordered=True)(function, *args)`.

    Args:
      callback: takes the arguments as concrete arrays.
      args, kwargs: trees of arrays, and other objects.
      ordered: without effect: calls are always in program order and, inside pmap, in device order,
        where JAX refuses ordered ones.
      partitioned: in programs, it is called for each device of the mesh, with the parts of the
        arrays which that has.

    Raises:
      TypeError: `callback` is no function.

    Example:
      >>> shardax.jit(lambda x: shardax.debug.callback(print, x))(1.0)
      1.0
    """
    call = functools.partial(_call_for_effect, partitioned)
    if callback is None:
        no_arguments("debug_callback", args, kwargs)
        return call
    return call(callback, *args, **kwargs)


def _call_for_effect(partitioned, callback, /, *args, **kwargs):
    if not callable(callback):
        raise TypeError(
            "first argument to jax.debug.callback must be callable, but got an object of type "
            f"{type(callback)}"
        )
    if partitioned and any(map(_is_tracer, tree_util.tree_leaves((args, kwargs)))):
        callback = _for_each_device(callback, args, kwargs)
    try:
        _call("debug_callback", callback, [], "sequential", args, kwargs, lambda result: [])
    except JaxRuntimeError as error:  # outside of programs: the callback's own error
        raise (error.__cause__ or error) from None


def _is_tracer(leaf):
    return isinstance(leaf, Tracer)


def _for_each_device(callback, args, kwargs):
    """`callback`, called with each device's parts of the arrays. It is told their split whenever
    the program is about to run."""
    leaves = tree_util.tree_leaves((args, kwargs))
    traced = [i for i, leaf in enumerate(leaves) if _is_tracer(leaf)]
    told = {}
    for i in traced:
        tell = functools.partial(told.__setitem__, i)
        _call("inspect_sharding", tell, [], "parts", (leaves[i],), {}, lambda result: [])
    mesh = context_mesh()

    def call(*args, **kwargs):
        held, tree = tree_util.tree_flatten((args, kwargs))
        shown = list(held)
        places = {i: _places(array) for i, array in told.items()}
        devices = list(max(places.values(), key=len, default=()))
        if places and not devices and mesh is not None:
            devices = mesh.device_ids_in_order
        for device in devices or [None]:
            for i, where in places.items():
                if device in where:  # a slice of a batched array has the last of its dimensions
                    index = where[device]
                    shown[i] = held[i][index[len(index) - held[i].ndim :]]
            args, kwargs = tree_util.tree_unflatten(tree, shown)
            callback(*args, **kwargs)

    return call


def _places(array):
    """The slices of an array that each device has; empty unless it is split over devices."""
    recorded = get_sharding(array)
    return {device: index for device, index, _ in parts(array.shape, recorded)} if recorded else {}


def inspect_sharding(callback, array):
    """Calls `callback` with an array that has the sharding of a traced one, and no values. It does
    so when the program is first run with inputs that are split like this."""
    _call("inspect_sharding", callback, [], "sequential", (array,), {}, lambda result: [])


def effects_barrier():
    """Waits until all callbacks have run. They run before the call that contains them returns.

    Example:
      >>> shardax.effects_barrier()
    """


@contextlib.contextmanager
def named_scope(name):
    """A name for the operations inside the `with` block, in `source_info.name_stack` of equations.

    Raises:
      TypeError: `name` is no string.

    >>> from shardax import grad, make_jaxpr
    >>> def square(x):
    ...     with shardax.named_scope("square"):
    ...         return x * x
    >>> str(make_jaxpr(grad(square))(1.0).eqns[0].source_info.name_stack)
    'jvp(square)'
    """
    if not isinstance(name, str):
        raise TypeError(f"named_scope name argument must be a string, got {name!r}")
    entered = _core.NamesEntered(_core.current_names().extend(name))
    try:
        yield name
    finally:
        entered.leave()


def named_call(fun, *, name=None):
    """`fun` as a call of that name (by default its own) in programs.

    Example:
      >>> shardax.named_call(lambda x: x + 1, name="successor")(1.0)
      2.0
    """
    name = fun.__name__ if name is None else name

    @functools.wraps(fun)
    def named(*args, **kwargs):
        with named_scope(name):
            return fun(*args, **kwargs)

    return named
