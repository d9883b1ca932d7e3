"""shardax/_transform/pmap_vmap.py - pmap and vmap: names, docs and checks of options."""

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from shardax._base.function_names import function_name
from shardax._base.options import check_axes, check_callable, indices, is_index
from shardax._core import api as _core
from shardax._devices.devices import Device
from shardax._transform.hijax.specs import through_arrays
from shardax._transform.jit import jit
from shardax._transform.vmappable import any_registered, with_containers


def pmap(
    fun: Callable | None = None,
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
    global_arg_shapes: Any = None,
    debug: bool = False,
) -> Callable:
    """Maps `fun` over an axis of its arguments, each slice on a device of its own.

    Args:
      fun: a function of one device's slices. Collectives (`lax.psum` ...) in it act over all
        devices.
      axis_name: the name that collectives use; any hashable value.
      in_axes: per positional argument the axis to map over, an int (negative from the end) or
        None for a value that all devices share. A tuple or list has such entries, or trees of them
        that are prefixes of the arguments. Arguments passed by keyword are mapped over axis 0. If
        nothing is mapped, the size is `axis_size`, `len(devices)` or the number of devices.
      out_axes: a prefix of the result: where the mapped axis goes, or None for the first
        device's value; the array's shards keep what each device has.
      static_broadcasted_argnums: positions of arguments that stay Python values; hashable.
      devices: devices to run on, at least as many as slices. Default: the first ones.
      axis_size: the size of the mapped axis, checked against the arguments.
      donate_argnums: arguments whose arrays the call deletes.
      backend: "cpu" or None.
      global_arg_shapes: None, as in older versions of JAX.
      debug: run `fun` op by op with concrete values of all devices, as under `disable_jit`.
        Printing a value shows that of each device, debuggers work, and Python may branch on values
        that are equal on all devices.

    Returns:
      A function whose results have the mapped axis and say on which devices their slices lie.

    Raises:
      ValueError: where sizes disagree, or there are more slices than devices.
      TypeError: for `global_arg_shapes`, and options of another type.

    Example:
      >>> shardax.pmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")(jnp.arange(4.0))
      Array([-1.5, -0.5,  0.5,  1.5], dtype=float32)
    """
    if global_arg_shapes is not None:
        raise TypeError(
            f"pmap: global_arg_shapes is {global_arg_shapes!r}; None was expected. There is one "
            "process, whose arguments have the shapes of the whole."
        )
    if fun is None:
        return functools.partial(
            pmap,
            axis_name=axis_name,
            in_axes=in_axes,
            out_axes=out_axes,
            static_broadcasted_argnums=static_broadcasted_argnums,
            devices=devices,
            backend=backend,
            axis_size=axis_size,
            donate_argnums=donate_argnums,
            debug=debug,
        )
    check_callable(fun)
    check_axes("pmap", "in_axes", in_axes)
    check_axes("pmap", "out_axes", out_axes)
    if backend not in (None, "cpu"):
        raise RuntimeError(
            f"Unknown backend: '{backend}' requested, but no platforms that are instances of "
            f"{backend} are present. "
            "Platforms present are: cpu"
        )
    statics = indices(static_broadcasted_argnums, "static_broadcasted_argnums")
    donated = indices(donate_argnums, "donate_argnums")
    both = sorted(set(statics) & set(donated))
    if both:
        raise ValueError(
            f"pmap: `static_broadcasted_argnums` {list(statics)} and `donate_argnums` "
            f"{list(donated)} cannot intersect, but both have {both}; a static argument is no "
            "array that could be given away."
        )
    return _core.pmap(
        fun,
        axis_name,
        in_axes,
        out_axes,
        statics,
        donated,
        -1 if axis_size is None else _size(axis_size),
        _device_ids(devices),
        debug,
    )


def _size(axis_size):
    size = operator.index(axis_size)
    if size < 0:
        raise ValueError(f"pmap: axis_size must not be negative, got {size}.")
    return size


def _device_ids(devices):
    """The ids of `devices`; none for None, the first ones."""
    if devices is None:
        return ()
    if isinstance(devices, Device | str) or not isinstance(devices, Iterable):
        raise TypeError(f"pmap: 'devices' must be a sequence of devices, or None, got {devices!r}.")
    devices = list(devices)
    if not devices:
        raise ValueError("'devices' argument to pmap must be non-empty, or None.")
    for d in devices:
        if not isinstance(d, Device):
            raise TypeError(
                f"pmap: 'devices' must be a sequence of devices, got {d!r} in it; take them from "
                "shardax.devices()."
            )
    if len(set(devices)) < len(devices):
        raise ValueError(f"pmap: 'devices' must be distinct, got {devices}.")
    return tuple(d.id for d in devices)


def vmap(
    fun: Callable,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Callable:
    """Maps `fun` over an axis of its arguments, as one program over all elements.

    Args:
      fun: a function of one element.
      in_axes: as for `pmap`; at least one must not be None unless `axis_size` is given.
      out_axes: a prefix of the result: where the mapped axis goes, or None for results that do
        not depend on it.
      axis_name: a name for collectives inside `fun`.
      axis_size: the size of the axis, checked against the arguments.
      spmd_axis_name: a mesh axis, or a tuple of them, that splits the mapped dimension. Shardings
        within `fun` are labelled so, and shard_map must not split by it.
      sum_match: False; True is refused.

    Returns:
      The vectorised function.

    Raises:
      ValueError: where the sizes of the mapped axes disagree, or a result with `out_axes=None` is
      batched.
      NotImplementedError: for `sum_match`.

    Example:
      >>> shardax.vmap(jnp.dot, in_axes=(0, None))(jnp.ones((3, 2)), jnp.array([1.0, 2.0]))
      Array([3., 3., 3.], dtype=float32)
    """
    check_callable(fun)
    if sum_match:
        raise NotImplementedError(
            f"vmap: sum_match is {sum_match!r}; False was expected. Give the mapped axis a name "
            "and sum over it in the function, with shardax.lax.psum."
        )
    if type(in_axes) is not int:

        def plainly(fun, in_axes, out_axes):
            return vmap(fun, in_axes, out_axes, axis_name, axis_size, spmd_axis_name)

        opened = through_arrays(plainly, fun, in_axes, out_axes)
        if opened is not None:
            return opened
    if isinstance(in_axes, bool) or not (
        in_axes is None or is_index(in_axes) or isinstance(in_axes, tuple | list)
    ):
        raise TypeError(
            "vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
            "positional arguments passed "
            f"to the function, but got {in_axes}."
        )
    check_axes("vmap", "in_axes", in_axes)
    check_axes("vmap", "out_axes", out_axes)
    names = () if spmd_axis_name is None else spmd_axis_name
    names = names if isinstance(names, tuple | list) else (names,)
    name = function_name(fun)
    doc = (
        f"Vectorized version of {name}. Takes similar arguments as {name} but with additional "
        "array axes over which "
        f"{name} is mapped."
    )
    original = getattr(fun, "__doc__", None)
    if original:
        doc += f"\n\nOriginal documentation:\n\n{original}"
    size = -1 if axis_size is None else operator.index(axis_size)
    names = [str(n) for n in names]

    def mapped(fun, in_axes, out_axes):
        return _core.vmap(fun, in_axes, out_axes, axis_name, size, doc, names)

    if any_registered():
        return with_containers(fun, mapped, in_axes, out_axes)
    return mapped(fun, in_axes, out_axes)


def soft_pmap(fun: Callable, axis_name: Any = None, in_axes: Any = 0) -> Callable:
    """pmap over more slices than there are devices, which JAX had until version 0.3.

    Example:
      >>> shardax.soft_pmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")(jnp.arange(100.0)).shape
      (100,)
    """
    return jit(vmap(fun, in_axes, axis_name=axis_name))
