"""shardax/_explain/profiles.py - shardax.profile: where the time of a block goes."""

import contextlib
import dataclasses
import pathlib
import time

from shardax._base import svg
from shardax._debug import recordings
from shardax._explain import words
from shardax._explain.text import table

_COLOURS = {
    "step": 0,
    "op": 0,
    "program": 6,
    "tracing": 5,
    "compilation": 1,
    "message": 3,
    "annotation": 2,
}
_HEAD = ("share", "time", "count", "kind", "what", "from")


@dataclasses.dataclass(frozen=True)
class Span:
    """A piece of time: a program, one of its steps, a message, an annotation, ...

    Attributes:
      name: of a step, its ops and the type of its result.
      kind: "op" (run by itself), "program", "step", "message", "tracing",
        "compilation" or "annotation".
      line: of the user's source, "file.py:12 (f)", or "".
      start: seconds from the beginning of the block.
      seconds: how long it took.
      own: the part of that in which nothing within it ran.
      depth: how many spans of its thread it is within.
      thread: as threading.get_ident tells it.
    """

    name: str
    kind: str
    line: str
    start: float
    seconds: float
    own: float
    depth: int
    thread: int


class Profile:
    """The spans of a block of `shardax.profile()`, with their times.

    Attributes:
      seconds: of the whole block.
      spans: a tuple of Span, by the time at which they began.
      dropped: how many later spans found no room.
    """

    def __init__(self):
        self.seconds, self.spans, self.dropped = 0.0, (), 0
        self._events = []

    def _end(self, start, seconds, events, dropped):
        self.seconds, self._events, self.dropped = seconds, events, dropped
        self.spans = tuple(_spans([e for e in events if e["cat"] != "chunk"], start))

    def by_step(self):
        """Rows of equal spans, the longest first: a list of dicts with "name", "kind", "line",
        "count", "seconds" and "share" of the block's time. The seconds are those in which nothing
        within them ran."""
        rows = {}
        for span in self.spans:
            row = rows.setdefault(
                (span.name, span.kind, span.line),
                {
                    "name": span.name,
                    "kind": span.kind,
                    "line": span.line,
                    "count": 0,
                    "seconds": 0.0,
                },
            )
            row["count"] += 1
            row["seconds"] += span.own
        for row in rows.values():
            row["share"] = self._share(row["seconds"])
        return sorted(rows.values(), key=lambda row: -row["seconds"])

    def _share(self, seconds):
        return seconds / self.seconds if self.seconds else 0.0

    def save(self, path):
        """Writes the spans for https://ui.perfetto.dev or chrome://tracing, and the chunks of
        parallel loops, on the threads that ran them. `path` is the name of a JSON file, compressed
        where it ends in .gz; its folder is made where it does not exist."""
        recordings.make_folder("save", pathlib.Path(path).parent)
        recordings.write(self._events, self.dropped, path)

    def _rows(self, most=20):
        rows = self.by_step()
        cells = [
            [
                f"{row['share']:.1%}",
                words.seconds(row["seconds"]),
                str(row["count"]),
                row["kind"],
                row["name"] if len(row["name"]) <= 60 else row["name"][:57] + "...",
                row["line"],
            ]
            for row in rows[:most]
        ]

        def add(seconds, what):
            cells.append([f"{self._share(seconds):.1%}", words.seconds(seconds), "", "", what, ""])

        if len(rows) > most:
            add(sum(row["seconds"] for row in rows[most:]), f"{len(rows) - most} others")
        own = sum(span.seconds for span in self.spans if span.depth == 0)
        add(max(self.seconds - own, 0.0), "outside of shardax")
        return cells

    def __str__(self):
        lines = [f"{words.seconds(self.seconds)} in all", ""]
        lines += table(_HEAD, self._rows(), right=(0, 1, 2))
        if self.dropped:
            lines.append(f"{self.dropped} later spans are not among them.")
        return "\n".join(lines)

    __repr__ = __str__

    def _picture(self, width=720, most=2000):
        """Spans as boxes from left to right, within each other from top to bottom; the threads one
        below the other. Spans that are too short to be seen are left out."""
        drawing = svg.Drawing()
        scale = width / self.seconds if self.seconds else 0.0
        shown = sorted(self.spans, key=lambda span: -span.seconds)[:most]
        top = 0
        for thread in sorted({span.thread for span in shown}):
            own = [span for span in shown if span.thread == thread]
            for span in own:
                wide = span.seconds * scale
                if wide < 0.3:
                    continue
                x, y = span.start * scale, top + span.depth * 22
                title = f"{span.name}\n{words.seconds(span.seconds)} {span.line}"
                drawing.box(x, y, wide, 20, svg.colour(_COLOURS[span.kind]), title)
                fits = int(wide / 6.8) - 1
                if fits > 2:
                    drawing.words(x + wide / 2, y + 10, span.name[:fits], size=11, in_box=True)
            top += (max(span.depth for span in own) + 1) * 22 + 8
        drawing.words(0, top + 8, "0", "start", 11)
        drawing.words(width, top + 8, words.seconds(self.seconds), "end", 11)
        return drawing

    def _repr_svg_(self):
        return svg.standalone(self._picture())

    def _repr_html_(self):
        return f"<div>{self._picture()}{svg.table(_HEAD, self._rows(), right=(0, 1, 2))}</div>"


def _spans(events, start):
    """Spans of events, which are sorted by their starts: those of a thread nest."""
    open_spans = {}  # of each thread: [end, index] of those that go on
    rows = []
    for event in events:
        stack = open_spans.setdefault(event["tid"], [])
        while stack and stack[-1][0] <= event["ts"] + event["dur"] / 2:
            stack.pop()
        seconds = event["dur"] / 1e6
        if stack:
            rows[stack[-1][1]]["own"] -= seconds
        rows.append(
            {
                "name": event["name"].split("  [")[0],
                "kind": event["cat"],
                "line": ""
                if event["cat"] == "annotation"
                else event.get("args", {}).get("line", ""),
                "start": event["ts"] / 1e6 - start,
                "seconds": seconds,
                "own": seconds,
                "depth": len(stack),
                "thread": event["tid"],
            }
        )
        stack.append((event["ts"] + event["dur"], len(rows) - 1))
    return [Span(**{**row, "own": max(row["own"], 0.0)}) for row in rows]


@contextlib.contextmanager
def profile():
    """Records the spans of a block: programs, their steps with their lines, messages to other
    processes, tracing, compilations, and annotations of `shardax.profiler`.

    Results are ready when a call returns, so that times are those of the computing. Recording costs
    about a microsecond a step.

    Returns:
      A context manager that gives a `Profile`: printed, it is a table; in a notebook, a picture of
      the time and the table. `save` writes it for Perfetto.

    Raises:
      RuntimeError: something is being recorded already.

    Example:
      >>> step = shardax.jit(lambda w, x: jnp.tanh(x @ w).sum())
      >>> w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
      >>> with shardax.profile() as times:
      ...     value = step(w, x)
      >>> [row["kind"] for row in times.by_step()].count("compilation")
      1
    """
    recordings.begin()
    result, start = Profile(), time.perf_counter()
    try:
        yield result
    finally:
        seconds = time.perf_counter() - start
        result._end(start, seconds, *recordings.end())
