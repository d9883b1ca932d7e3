# shardax/_devices/drawings.py - meshes, shardings and arrays as notebooks show them.
"""Pictures are SVG: they need no library. Devices that hold the same part have the same colour."""

import itertools
import math

import numpy as np

import shardax._core as _core
from shardax._base.manual_axes import UNNAMED_AXIS
from shardax._base.printing import array_repr
from shardax._base.svg import Drawing, colour, escape, standalone
from shardax._devices.shard_index import parts

CELL = 44
MOST_BOXES = 32  # along one side
EDGE = 4  # rows or columns that are shown of a long dimension, at each end


def mesh_svg(mesh):
    """The devices of a mesh in their grid; of three dimensions, one grid beside the other."""
    return standalone(_grid(mesh, lambda place: "#e8eef5"))


def sharding_svg(sharding):
    """The mesh of a sharding: devices that hold the same part have the same colour."""
    mesh = sharding.mesh
    used = [name for entry in sharding.spec for name in _names(entry)]
    sizes = [mesh.shape[name] for name in used]

    def fill(place):
        at = dict(zip(mesh.axis_names, place))
        return colour(_row_major([at[name] for name in used], sizes)) if used else "#ddd"

    picture = _grid(mesh, fill)
    said = str(sharding.spec).replace(UNNAMED_AXIS, "devices")
    picture.words(0, picture.height + 14, said, "start", bold=True)
    return standalone(picture)


def array_html(x):
    """An array's type, its values, coloured by the device that has them, and its shards. None, upon
    which notebooks show the repr, where there are no values."""
    if isinstance(x, _core.Tracer) or x.is_deleted():
        return None
    if x.dtype.name.startswith("key<"):
        return f"<pre>{escape(array_repr(x))}</pre>"
    shape = ", ".join(map(str, x.shape))
    head = f"<b>Array</b> {x.dtype.name}[{escape(shape)}]{' weak' if x.weak_type else ''}"
    recorded = _core.get_sharding(x)
    shards = _by_part(x.shape, recorded)
    pieces = [f"<div>{head}</div>", _values(x, shards)]
    if recorded is not None and len(recorded[2]) > 1:
        spec = ", ".join(
            "None" if not names else "".join(map(repr, names)) if len(names) == 1 else str(names)
            for names in recorded[3]
        ).replace(UNNAMED_AXIS, "devices")
        pieces.insert(1, f"<div>{len(recorded[2])} devices, P({escape(spec)})</div>")
        pieces.append(shards_svg(x.shape, shards))
    return f"<div>{''.join(pieces)}</div>"


def shards_svg(shape, shards):
    """The parts of an array in the plane of its first two dimensions that are split."""
    split = [
        d for d in range(len(shape)) if any(part[d] != (0, shape[d]) for part in shards)
    ] or list(range(len(shape)))
    rows, columns = (split[0], split[1]) if len(split) > 1 else (None, split[0] if split else None)
    cells = {}
    for part, (number, ids) in shards.items():
        place = tuple(part[d][0] if d is not None else 0 for d in (rows, columns))
        cells.setdefault(place, (number, set()))[1].update(ids)
    tops, lefts = (sorted({place[i] for place in cells}) for i in (0, 1))
    picture = Drawing()
    if len(tops) > MOST_BOXES or len(lefts) > MOST_BOXES:
        picture.words(0, 10, f"{len(shards)} parts", "start")
        return str(picture)
    small = len(tops) * len(lefts) > 64
    width, height = (14, 14) if small else (max(CELL, 420 // len(lefts)), 28)
    for place, (number, ids) in cells.items():
        x, y = lefts.index(place[1]) * width, tops.index(place[0]) * height
        label = _few(sorted(ids))
        picture.box(x, y, width, height, colour(number), f"devices {label}")
        if not small:
            picture.words(x + width / 2, y + height / 2, label, size=11, in_box=True)
    return str(picture)


def _names(entry):
    if entry is None or not isinstance(entry, (str, tuple, list)):
        return ()
    return (entry,) if isinstance(entry, str) else tuple(entry)


def _row_major(place, sizes):
    number = 0
    for at, size in zip(place, sizes):
        number = number * size + at
    return number


def _few(ids, most=6):
    shown = ",".join(map(str, ids[:most]))
    return shown + (f" +{len(ids) - most}" if len(ids) > most else "")


def _axis(name):
    return "devices" if name == UNNAMED_AXIS else str(name)


def _grid(mesh, fill):
    """Boxes in rows and columns; further axes as grids beside each other."""
    picture = Drawing()
    if not mesh.size:
        picture.words(0, 10, "no devices", "start")
        return picture
    ids = np.asarray(mesh.device_ids_in_order, dtype=object).reshape(mesh.axis_sizes)
    names, rank = mesh.axis_names, ids.ndim
    flat = ids.reshape((1,) * max(0, 2 - rank) + ids.shape)
    outer, (rows, columns) = flat.shape[:-2], flat.shape[-2:]
    cell = CELL if max(rows, columns) <= 12 else 22
    left = 16 + 8 * len(_axis(names[-2])) if rank > 1 else 4
    top = 24 + (20 if outer else 0)
    step = left + columns * cell + 24
    for number, beside in enumerate(itertools.product(*map(range, outer))):
        x = number * step + left
        if outer:
            said = ", ".join(f"{name} = {at}" for name, at in zip(names, beside))
            picture.words(x, 10, said, "start", bold=True)
        picture.words(x, top - 12, f"{_axis(names[-1])} →", "start", 11)
        if rank > 1:
            picture.words(x - 6, top + cell / 2, f"{_axis(names[-2])} ↓", "end", 11)
        for r, c in itertools.product(
            range(min(rows, MOST_BOXES)), range(min(columns, MOST_BOXES))
        ):
            place = (*beside, r, c)[-rank:]
            picture.box(x + c * cell, top + r * cell, cell, cell, fill(place))
            device = flat[(*beside, r, c)]
            middle = x + (c + 0.5) * cell, top + (r + 0.5) * cell
            picture.words(*middle, device, size=11, in_box=True)
        if rows > MOST_BOXES or columns > MOST_BOXES:
            picture.words(x, top + min(rows, MOST_BOXES) * cell + 10, "...", "start")
    return picture


def _by_part(shape, recorded):
    """{((start, stop), ...) per part: (its number, ids of the devices that hold it)}."""
    out = {}
    for device, index, _ in parts(shape, recorded):
        key = tuple((s.start or 0, n if s.stop is None else s.stop) for s, n in zip(index, shape))
        out.setdefault(key, (len(out), []))[1].append(device)
    return out


def _values(x, shards):
    """A table of the elements, of the first block of the last two dimensions."""
    values = np.asarray(x)
    if values.ndim > 2:
        note = f"<div>element [{', '.join('0' * (values.ndim - 2))}, :, :] of {x.shape}</div>"
    else:
        note = ""
    leading = (0,) * max(0, values.ndim - 2)
    block = values[leading].reshape((1,) * max(0, 2 - values.ndim) + values.shape[-2:])
    rows, columns = (_shown(n) for n in block.shape)
    lines = []
    for r in rows:
        cells = []
        for c in columns:
            if r is None or c is None:
                cells.append("<td>…</td>")
                continue
            number = _holder(shards, (*leading, r, c)[-values.ndim :] if values.ndim else ())
            style = f" style='background:{colour(number)};color:#000'" if len(shards) > 1 else ""
            cells.append(f"<td{style}>{escape(_number(block[r, c]))}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"{note}<table style='font-family:monospace'>{''.join(lines)}</table>"


def _shown(count):
    if count <= 2 * EDGE + 1:
        return list(range(count))
    return [*range(EDGE), None, *range(count - EDGE, count)]


def _holder(shards, place):
    for part, (number, _) in shards.items():
        if all(start <= at < stop for at, (start, stop) in zip(place, part)):
            return number
    return 0


def _number(value):
    if isinstance(value, (bool, np.bool_)) or np.issubdtype(type(value), np.integer):
        return str(value)
    try:
        return f"{value:.4g}" if not math.isnan(abs(value)) else "nan"
    except (TypeError, ValueError):
        return str(value)
