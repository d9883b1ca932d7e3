"""shardax/_explain/prediction.py - the time of a program on devices that are far apart."""

import json
import math

from shardax._explain import prediction_html, words
from shardax._explain.schedule import device_memory, scheduled, sized_axes
from shardax._explain.text import table


class Prediction:
    """The time of a program on separate accelerators; `Explanation.on` makes it.

    A device computes and sends at the same time: each lane takes up the first unit in program order
    whose operands are there. Times are seconds, sizes bytes.

    Attributes:
      accelerators: the machines.
      devices: how many.
      time: of the whole program.
      compute, communication: what a device computes and sends, each without waiting.
      overlap: how long it does both.
      exposed: how long it waits for messages: time - compute.
      phases: a dict each: "kind" ("compute" or "communication"), "what", "lines", "start", "end",
        and of communication "bytes" and "devices".
      memory: of one device: "arguments", "results", "temporaries", "peak", and "fits", None where
        the accelerators' memory is not known.
    """

    def __init__(self, told, accelerators):
        self._told = told
        self._units = told._told["device"]["units"]
        self.function = told.function
        self.accelerators = accelerators
        self.axes = dict(told.axes)
        if accelerators.count and accelerators.count != told.devices:
            self.axes = sized_axes(told.axes, accelerators.count)
        self.devices = math.prod(self.axes.values())
        done = self._schedule(self.axes)
        self.time, self.compute, self.communication = done.time, done.compute, done.communication
        self.overlap = self.compute + self.communication - self.time
        self.exposed = self.time - self.compute
        self.phases = [self._phase(p) for p in done.phases]
        self.memory = device_memory(told._told["device"], accelerators)

    def _schedule(self, axes, work=1.0):
        return scheduled(self._units, self.accelerators, self._told.axes, axes, work)

    def _phase(self, phase):
        sources = self._told._told["sources"]
        places = [sources[i]["line"] for i in phase.pop("sources")]
        lines = [place for place in places if place]
        return phase | {"lines": list({(p["file"], p["line"]): p for p in lines}.values())}

    def scaling(self, counts=None, kind="weak", axis=None):
        """The time for other numbers of devices.

        Args:
          counts: how many devices; 1, 2, 4, ... 1024 unless given.
          kind: "weak": each device has as much to do as now, and more devices do more. "strong":
            the whole stays, and the differing work of devices is divided among them.
          axis: the mapped axis that grows; the first unless given. The others stay.

        Returns:
          A list of dicts: "devices", "time", "compute", "communication", and "efficiency", the part
          of the time that is not lost against the fewest devices.

        Raises:
          ValueError: for another kind, an unknown axis, or where nothing is mapped.
        """
        if kind not in ("weak", "strong"):
            raise ValueError(f"scaling: kind is {kind!r}; it must be 'weak' or 'strong'.")
        if not self.axes:
            raise ValueError("scaling: the program has no mapped axis that could grow.")
        axis = next(iter(self.axes)) if axis is None else axis
        if axis not in self.axes:
            raise ValueError(f"scaling: there is no axis {axis!r}; there are {list(self.axes)}.")
        others = math.prod(self.axes.values()) // self.axes[axis]
        if counts is None:
            counts = [others * 2**i for i in range(11)]
        out = []
        for count in counts:
            if count % others:
                raise ValueError(
                    f"scaling: {count} devices cannot be shared out over axes of {others} devices "
                    "beside the one that grows."
                )
            axes = self.axes | {axis: count // others}
            work = self._told.axes[axis] / axes[axis] if kind == "strong" else 1.0
            done = self._schedule(axes, work)
            out.append(
                {
                    "devices": count,
                    "time": done.time,
                    "compute": done.compute,
                    "communication": done.communication,
                }
            )
        first = out[0]
        for row in out:
            more = row["devices"] / first["devices"] if kind == "strong" else 1
            row["efficiency"] = first["time"] / (row["time"] * more) if row["time"] else 1.0
        return out

    def to_dict(self):
        """All that is predicted, as dicts, lists, numbers and strings."""
        names = "function devices axes time compute communication overlap exposed phases memory"
        return {name: getattr(self, name) for name in names.split()} | self._curves()

    def _curves(self):
        if not self.axes:
            return {"scaling": {}}
        return {"scaling": {kind: self.scaling(kind=kind) for kind in ("weak", "strong")}}

    def to_json(self, **options):
        """`to_dict()` as JSON; options are those of json.dumps."""
        return json.dumps(self.to_dict(), **options)

    def _listed(self):
        """Phases for people: of many, the longest."""
        most = 24
        if len(self.phases) <= most:
            return self.phases, 0
        by_length = sorted(self.phases, key=lambda p: p["start"] - p["end"])[:most]
        return sorted(by_length, key=lambda p: p["start"]), len(self.phases) - most

    def __str__(self):
        listed, more = self._listed()
        title = self.title()
        lines = [title, "=" * len(title), *("  " + s for s in self.sentences())]
        rows = [
            [
                p["kind"],
                p["what"],
                words.seconds(p["start"]),
                words.seconds(p["end"] - p["start"]),
                words.lines(p["lines"]),
            ]
            for p in listed
        ]
        lines += ["", "Phases of one device", *table(["", "what", "at", "for", "from"], rows)]
        if more:
            lines.append(f"  and {more} shorter ones")
        if self.axes:
            lines += ["", "More devices", *self._scaling_table()]
        return "\n".join(lines)

    __repr__ = __str__

    def title(self):
        """The function and the machines."""
        return f"{self.function} on {self.accelerators.described(self.devices)}"

    def sentences(self):
        """The main facts, in words."""
        share = self.communication / self.time if self.time else 0
        yield (
            f"{words.seconds(self.time)}: {words.seconds(self.compute)} of computing, "
            f"{words.seconds(self.communication)} of messages ({share:.0%} of the time), "
            f"{words.seconds(self.overlap)} of which while computing."
        )
        memory = self.memory
        fits = {None: "", True: "; it fits", False: "; it does NOT fit"}[memory["fits"]]
        yield f"Each device needs {words.size(memory['peak'])} of memory{fits}."

    def _scaling_table(self):
        weak, strong = (self.scaling(kind=kind) for kind in ("weak", "strong"))
        rows = [
            [
                words.counted(w["devices"], "device"),
                words.seconds(w["time"]),
                f"{w['efficiency']:.0%}",
                words.seconds(s["time"]),
                f"{s['efficiency']:.0%}",
            ]
            for w, s in zip(weak, strong)
        ]
        head = ["", "same work each", "efficiency", "same work in all", "efficiency"]
        return table(head, rows, (1, 2, 3, 4))

    def _repr_html_(self):
        return prediction_html.prediction(self)
