"""shardax/_debug/exchanges.py - pictures of what collectives do: who has what, before and after."""

import math

from shardax._base.svg import Drawing, colour, standalone

BOX, ROW = 30, 90
LABEL = 56  # the width of "device 15"


class Picture:
    """A picture for notebooks; `svg` is its text, `save` writes it to a file."""

    def __init__(self, svg, title):
        self.svg = svg
        self.title = title

    def save(self, path):
        """Writes the picture to a file, which browsers show."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"Picture({self.title!r})"


def visualize_collective(op, devices=4, *, perm=None):
    """A picture of a collective: above each device's data before, below its data after.

    Args:
      op: "psum", "pmean", "pmax", "pmin", "all_gather", "psum_scatter", "all_to_all", "ppermute",
        "pbroadcast", or "ring": around which all-reduces go on machines.
      devices: how many, 2 to 16.
      perm: of ppermute: pairs (source, destination); to the next device unless given.

    Returns:
      A `Picture`, which notebooks show.

    Raises:
      ValueError: for another op, or another number of devices.

    Example:
      >>> shardax.debug.visualize_collective("all_to_all", 3)
      Picture('all_to_all over 3 devices')
    """
    if not 2 <= devices <= 16:
        raise ValueError(f"visualize_collective: {devices} devices; it draws 2 to 16.")
    title = f"{op} over {devices} devices"
    if op == "ring":
        return Picture(_ring(devices), title)
    if op not in _AFTER:
        known = ", ".join(sorted([*_AFTER, "ring"]))
        raise ValueError(f"visualize_collective: there is no {op!r}; it draws {known}.")
    if perm is None:
        perm = [(i, (i + 1) % devices) for i in range(devices)]
    parts, after = _AFTER[op]
    cells = devices if parts else 1
    before = [[_own(i, p if parts else None) for p in range(cells)] for i in range(devices)]
    results = [after(i, devices, dict((d, s) for s, d in perm)) for i in range(devices)]
    return Picture(_two_rows(title, before, results), title)


def _own(device, part=None):
    """A cell: the devices that it comes from, and the part of their data."""
    return (device,), part, ""


def _together(sign, part=None):
    return lambda n: (tuple(range(n)), part, sign)


def _reduced(sign):
    return False, lambda i, n, _: [_together(sign)(n)]


# Per collective: whether operands are seen in parts, and the cells of device i afterwards.
_AFTER = {
    "psum": _reduced("Σ"),
    "pmean": _reduced("mean"),
    "pmax": _reduced("max"),
    "pmin": _reduced("min"),
    "all_gather": (False, lambda i, n, _: [_own(k) for k in range(n)]),
    "psum_scatter": (True, lambda i, n, _: [_together("Σ", i)(n)]),
    "all_to_all": (True, lambda i, n, _: [_own(k, i) for k in range(n)]),
    "pbroadcast": (False, lambda i, n, _: [_own(0)]),
    "ppermute": (False, lambda i, n, sources: [_own(sources[i])] if i in sources else [None]),
}


def _label(cell):
    if cell is None:
        return "0"
    sources, part, sign = cell
    name = sign or f"x{sources[0]}"
    return name if part is None else f"{name}[{part}]"


def _two_rows(title, before, after):
    picture = Drawing()
    picture.words(0, 10, title, "start", bold=True)
    most = max(len(row) for row in [*before, *after])
    widest = 9 * max(len(_label(c)) for row in [*before, *after] for c in row)
    box = max(BOX, widest, LABEL // most)
    step = most * box + 24
    middles = [i * step + most * box / 2 for i in range(len(before))]
    for i, cells in enumerate(before):
        picture.words(middles[i], 32, f"device {i}", size=11)
        _cells(picture, middles[i], 42, box, cells)
    for i, cells in enumerate(after):
        sources = sorted({s for cell in cells if cell for s in cell[0]})
        for s in sources:
            picture.arrow(middles[s], 42 + BOX + 2, middles[i], 42 + ROW - 4)
        _cells(picture, middles[i], 42 + ROW, box, cells)
    return standalone(picture)


def _cells(picture, middle, y, box, cells):
    x = middle - len(cells) * box / 2
    for cell in cells:
        shared = cell is None or len(cell[0]) > 1
        picture.box(x, y, box, BOX, "#ddd" if shared else colour(cell[0][0]))
        picture.words(x + box / 2, y + BOX / 2, _label(cell), size=11, in_box=True)
        x += box


def _ring(devices):
    """Devices in a circle, each with a link to the next."""
    picture = Drawing()
    radius = max(60, 16 * devices)
    centre = radius + BOX

    def place(i, distance):
        angle = 2 * math.pi * i / devices - math.pi / 2
        return centre + distance * math.cos(angle), centre + distance * math.sin(angle)

    for i in range(devices):
        turn = BOX * 0.75 / radius * devices / (2 * math.pi)
        start, end = place(i + turn, radius), place(i + 1 - turn, radius)
        picture.arrow(*start, *end)
        x, y = place(i, radius)
        picture.box(x - BOX / 2, y - BOX / 2, BOX, BOX, colour(i), f"device {i}")
        picture.words(x, y, i, in_box=True)
    return standalone(picture)
