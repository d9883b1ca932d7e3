"""shardax/_debug/pictures.py - parts of an array by device: told to a function, or as a table of
text."""

import sys

from shardax import tree_util
from shardax._core import Tracer
from shardax._core import api as _core
from shardax._devices.shardings import sharding_of
from shardax._transform.callbacks import debug_callback, inspect_sharding


def inspect_array_sharding(value, *, callback):
    """Calls `callback` with the sharding of each array in a tree.

    Inside jit it is called when the compiled function is first called with arrays that are split
    like this. Inside pmap and shard_map it is called once per device, with the sharding of one
    device.

    Example:
      >>> debug.inspect_array_sharding(jnp.zeros(3), callback=print)
      SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)
    """
    for leaf in tree_util.tree_leaves(value):
        if isinstance(leaf, Tracer) and not _core.device_axes():
            inspect_sharding(lambda array: callback(sharding_of(array)), leaf)
        elif isinstance(leaf, Tracer):
            debug_callback(lambda array: callback(sharding_of(array)), leaf)
        else:
            callback(sharding_of(leaf))


def visualize_sharding(
    shape, sharding, *, use_color=True, scale=1.0, min_width=9, max_width=80, color_map=None
):
    """Prints a table of the parts of an array of `shape`, with the devices that have each.

    Args:
      shape: of one or two dimensions; the table has about its proportions. Of three, there is a
        table for each part of the first dimension.
      sharding: how the array is split.
      scale: of the table; a two-dimensional one has 10 * scale lines.
      min_width, max_width: in characters, of a cell and of the table.
      use_color: colour the cells, where the output is a terminal.
      color_map: a function from 0 ... 1 to (red, green, blue, ...) in 0 ... 1, as matplotlib's are.

    Raises:
      ValueError: for other numbers of dimensions.

    Example:
      >>> mesh = make_mesh((4,), ("x",), devices=devices()[:4])
      >>> debug.visualize_sharding((8,), NamedSharding(mesh, P("x")))
      ┌───────┬───────┬───────┬───────┐
      │ CPU 0 │ CPU 1 │ CPU 2 │ CPU 3 │
      └───────┴───────┴───────┴───────┘
    """
    if len(shape) not in (1, 2, 3):
        raise ValueError(
            "`visualize_sharding` only works for shapes with 1 and 2 dimensions, and 3, got "
            f"{tuple(shape)}."
        )
    shape = tuple(shape)
    colours = _colours(color_map) if use_color and sys.stdout.isatty() else None
    layers = _cells(shape, sharding)
    for (start, stop), cells in layers.items():
        if len(shape) == 3:
            print(f"[{start}:{stop}]")
        _print_layer(shape[-2:], cells, scale, min_width, max_width, colours)


def _print_layer(shape, cells, scale, min_width, max_width, colours):
    rows, columns = (1 + max(index[d] for index in cells) for d in (0, 1))
    lines = int(10 * scale)
    across = lines * (shape[1] if len(shape) == 2 else 1) / shape[0]
    # A character is 2.5 times as high as it is wide.
    width = min(max(int(2.5 * int(across) / columns), min_width), max_width) - 2
    height = max(lines // rows - 1, 1) if len(shape) == 2 else 1
    names = [[cells[i, j] for j in range(columns)] for i in range(rows)]
    widths = [max(width, *(len(row[j]) for row in names)) for j in range(columns)]
    room = max_width - columns - 1
    if sum(widths) > room:
        widths = [room // columns + (j < room % columns) for j in range(columns)]
    _print_table(names, widths, height, colours)


def visualize_array_sharding(arr, **kwargs):
    """Prints which part of an array each device has; options are those of `visualize_sharding`.

    Example:
      >>> debug.visualize_array_sharding(jnp.zeros(3))
      ┌───────┐
      │ CPU 0 │
      └───────┘
    """
    inspect_array_sharding(
        arr, callback=lambda sharding: visualize_sharding(arr.shape, sharding, **kwargs)
    )


def _cells(shape, sharding):
    """The names of the devices of each part, by its row and column, in each layer. A layer is the
    part of the first of three dimensions, as (start, stop)."""
    shard = sharding.shard_shape(shape)
    layers = {}
    for device, slices in sharding.devices_indices_map(shape).items():
        index = tuple((s.start or 0) // max(n, 1) for s, n in zip(slices, shard))
        start = (slices[0].start or 0) if len(shape) == 3 else 0
        parts = layers.setdefault((start, start + shard[0]), {})
        parts.setdefault((0, *index)[-2:], []).append(device)
    if len(shape) < 3:
        whole = {}
        for parts in layers.values():
            whole |= parts
        layers = {(0, 0): whole}
    return {layer: _named(parts) for layer, parts in sorted(layers.items())}


def _named(parts):
    ids = {index: ",".join(map(str, sorted(d.id for d in there))) for index, there in parts.items()}
    return {index: f"{there[0].platform.upper()} {ids[index]}" for index, there in parts.items()}


def _colours(color_map):
    """A function that gives the n-th text a background of its own, in a terminal."""

    def coloured(text, n):
        if color_map is None:
            return f"\x1b[30;48;5;{_PALETTE[n % len(_PALETTE)]}m{text}\x1b[0m"
        red, green, blue = (int(255 * c) for c in color_map(n % 20 / 20)[:3])
        ink = 30 if 299 * red + 587 * green + 114 * blue > 128_000 else 97
        return f"\x1b[{ink};48;2;{red};{green};{blue}m{text}\x1b[0m"

    return coloured


_PALETTE = 117, 217, 157, 222, 183, 159, 210, 194, 153, 224


def _print_table(names, widths, height, colours=None):
    def rule(left, middle, right):
        return left + middle.join("─" * width for width in widths) + right

    def line(texts):
        return "│" + "│".join(texts) + "│"

    numbers = {}  # a colour for each set of devices

    def cell(text, name):
        return colours(text, numbers.setdefault(name, len(numbers))) if colours else text

    above = (height - 1) // 2
    rows = []
    for row in names:
        blank = line([cell(" " * width, name) for name, width in zip(row, widths)])
        labels = line(
            [cell(_centred(name[:width], width), name) for name, width in zip(row, widths)]
        )
        rows.append("\n".join([blank] * above + [labels] + [blank] * (height - 1 - above)))
    between = "\n" + rule("├", "┼", "┤") + "\n"
    print(rule("┌", "┬", "┐"), between.join(rows), rule("└", "┴", "┘"), sep="\n")


def _centred(text, width):
    left = (width - len(text)) // 2
    return " " * left + text + " " * (width - len(text) - left)
