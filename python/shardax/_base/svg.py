# shardax/_base/svg.py - small pictures as text: rectangles, words, arrows, in colours of devices.
"""Within a page words have the page's colour, so that they can be read on dark pages too. Pictures
that are shown by themselves (`standalone`) have a light background of their own."""

import html
import re

LINE = "#888"  # of borders and arrows: seen on light and on dark pages
FONT = "font-family='system-ui, sans-serif' font-size='12'"


def escape(text):
    return html.escape(str(text), quote=True)


def colour(index, count=0):
    """The colour of device `index`: neighbours differ, and text in black can be read on it.

    >>> colour(0)
    'hsl(210, 60%, 75%)'
    """
    steps = (0, 150, 60, 270, 105, 30, 180, 300)
    hue = (210 + steps[index % 8] + 17 * (index // 8)) % 360
    return f"hsl({hue}, 60%, {75 - 6 * (index // 8 % 3)}%)"


class Drawing:
    """A picture that grows as things are put into it. Lengths are in pixels."""

    def __init__(self):
        self.parts = []
        self.width = self.height = 0

    def _reach(self, x, y):
        self.width = max(self.width, x)
        self.height = max(self.height, y)

    def box(self, x, y, width, height, fill="none", title=None, line=LINE):
        self._reach(x + width, y + height)
        inner = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(
            f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' fill='{fill}' "
            f"stroke='{line}'>{inner}</rect>"
        )

    def words(self, x, y, text, anchor="middle", size=12, bold=False, in_box=False):
        """Text whose middle (or start, or end) is at (x, y); black in a box, which has a colour."""
        text = str(text)
        width = 0.62 * size * len(text)
        left = {"middle": width / 2, "start": 0, "end": width}[anchor]
        self._reach(x - left + width, y + size)
        weight = " font-weight='bold'" if bold else ""
        ink = "#000" if in_box else "currentColor"
        self.parts.append(
            f"<text x='{x:g}' y='{y:g}' text-anchor='{anchor}' dominant-baseline='central' "
            f"font-size='{size}' fill='{ink}'{weight}>{escape(text)}</text>"
        )

    def arrow(self, x1, y1, x2, y2, bend=0):
        """An arrow; `bend` lifts its middle."""
        self._reach(max(x1, x2) + 4, max(y1, y2) + 4)
        middle = f"{(x1 + x2) / 2:g} {(y1 + y2) / 2 - bend:g}"
        self.parts.append(
            f"<path d='M {x1:g} {y1:g} Q {middle} {x2:g} {y2:g}' fill='none' stroke='{LINE}' "
            "marker-end='url(#tip)'/>"
        )

    def __str__(self):
        tip = (
            "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
            f"markerHeight='7' orient='auto'><path d='M0 0 L8 4 L0 8 z' fill='{LINE}'/></marker>"
            "</defs>"
        )
        arrows = any("url(#tip)" in part for part in self.parts)
        width, height = self.width + 2, self.height + 2
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
            f"viewBox='-1 -1 {width:.0f} {height:.0f}' {FONT}>"
            f"{tip if arrows else ''}{''.join(self.parts)}</svg>"
        )


def standalone(picture, margin=6):
    """A picture for viewers that show it as a file: dark on a light background.

    >>> drawing = Drawing()
    >>> drawing.box(0, 0, 10, 10)
    >>> standalone(drawing).count("<rect")
    2
    """
    text = str(picture)
    width, height = (int(re.search(rf"{name}='(\d+)'", text)[1]) for name in ("width", "height"))
    inner = text[text.index(">") + 1 :]
    across, down, left = width + 2 * margin, height + 2 * margin, -1 - margin
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{across}' height='{down}' "
        f"viewBox='{left} {left} {across} {down}' {FONT} color='#222'><rect x='{left}' y='{left}' "
        f"width='{across}' height='{down}' rx='4' fill='#fff'/>{inner}"
    )


def table(head, rows, right=()):
    """An HTML table; columns in `right` end at the same place. Cells are text."""

    def row(cells, tag):
        return (
            "<tr>"
            + "".join(
                f"<{tag} style='text-align:{'right' if i in right else 'left'}'>{escape(c)}</{tag}>"
                for i, c in enumerate(cells)
            )
            + "</tr>"
        )

    return f"<table>{row(head, 'th')}{''.join(row(r, 'td') for r in rows)}</table>"
