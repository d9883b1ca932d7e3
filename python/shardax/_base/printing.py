# shardax/_base/printing.py - repr of arrays, as NumPy prints them, and signatures of functions.
import inspect

import numpy as np

import shardax._core as _core


def array_repr(x):
    """`Array([0., 1.], dtype=float32)`: NumPy's digits in JAX's frame."""
    if x.dtype.name.startswith("key<"):
        return _key_repr(x)
    prefix = "Array("
    dtype = f"dtype={x.dtype.name}, weak_type=True)" if x.weak_type else f"dtype={x.dtype.name})"
    recorded = _core.get_sharding(x)
    if recorded is not None and recorded[6]:  # each device has a term of the sum
        return f"{prefix}shape={x.shape}, dtype={x.dtype.name}, sharding={x.sharding})"
    if _core.get_slab(x) is not None:  # other processes have some of it
        return f"{prefix}shape={x.shape}, {dtype}"
    width = np.get_printoptions()["linewidth"]
    if x.size == 0:
        text = f"[], shape={x.shape}"
    else:
        text = np.array2string(
            np.asarray(x), prefix=prefix, suffix=",", separator=", ", max_line_width=width
        )
    last_line = len(text) - text.rfind("\n") + 1
    gap = " " * len(prefix) if last_line + len(dtype) + 1 > width else " "
    return f"{prefix}{text},{gap}{dtype}"


def _words(keys):
    return _core.bind("random_unwrap", (keys,))


def _key_repr(x):
    unwrapped = x.dtype.unwrapped if x.dtype.definition else _words
    words = np.asarray(unwrapped(x))
    return f"Array({x.shape}, dtype={x.dtype.name}) overlaying:\n{words}"


def signature(parameters, by_name, option):
    """The signature of an elementwise function.

    Args:
      parameters: the names of its operands: "x1, x2".
      by_name: whether they may be given by name.
      option: one more keyword, None by default; "": there is none.
    """
    kinds = inspect.Parameter
    kind = kinds.POSITIONAL_OR_KEYWORD if by_name else kinds.POSITIONAL_ONLY
    operands = [kinds(name, kind) for name in parameters.split(", ")]
    options = [kinds(option, kinds.KEYWORD_ONLY, default=None)] if option else []
    return inspect.Signature(operands + options)


def shared_table(array):
    """The text of an array that each device has within shard_map; elsewhere None."""
    if not running_meshes or _core.api.staging_generation():
        return None
    return _mesh_table(running_meshes[-1], [], np.asarray(array))


_TABLE_ROWS = 16


# The meshes of the functions that shard_map is running, innermost last.
running_meshes = []


def _mesh_table(mesh, axes, stacked):
    """The value of each device of a mesh, which may differ over `axes`."""
    names, texts = mesh.axis_names, []
    for place in np.ndindex(*mesh.axis_sizes):
        device = mesh.devices[place] if hasattr(mesh, "devices") else "a device"
        value = stacked[tuple(place[names.index(axis)] for axis in axes)]
        where = ", ".join(map(str, names))
        texts.append(f"On {device} at mesh coordinates ({where},) = {place}:\n{value}\n")
    return "\n".join(texts)


def device_table(heading, stacked, axes):
    """The value of each device, a line each; within shard_map as JAX shows it."""
    rows = np.asarray(stacked)
    if running_meshes and set(axes) <= set(running_meshes[-1].axis_names):
        return _mesh_table(running_meshes[-1], axes, rows)
    if len(axes) > 1:
        return heading
    shown = rows if len(rows) <= _TABLE_ROWS else rows[: _TABLE_ROWS - 1]
    width = len(str(len(shown) - 1))
    lines = [heading + ":"]
    for i, row in enumerate(shown):
        label = f"  device {i:>{width}}: "
        lines.append(label + str(row).replace("\n", "\n" + " " * len(label)))
    if len(shown) < len(rows):
        lines.append(f"  ... ({len(rows)} devices)")
    return "\n".join(lines)


def device_groups(axis, stacked):
    """The value of each device, for an error about a value that differs between them."""
    rows = np.asarray(stacked)
    groups = {}
    for i, row in enumerate(rows.reshape(len(rows), -1)):
        groups.setdefault(tuple(row.tolist()), []).append(i)
    parts = []
    for value, devices in list(groups.items())[:8]:
        text = str(value[0]) if len(value) == 1 else str(list(value))
        parts.append(f"{text} on {_devices(devices)}")
    if len(groups) > 8:
        parts.append(f"... ({len(groups)} different values)")
    return (
        f"\nThe value differs between the devices of axis '{axis}': {'; '.join(parts)}. Python can "
        "go one way only: use lax.cond or jnp.where for a choice per device, or make the value "
        "equal on all of them (with lax.psum or lax.pmax, say)."
    )


def _devices(ids):
    if len(ids) == 1:
        return f"device {ids[0]}"
    if len(ids) > 12:
        return f"devices {', '.join(map(str, ids[:12]))}, ... ({len(ids)} in all)"
    return f"devices {', '.join(map(str, ids[:-1]))} and {ids[-1]}"
