# shardax/_explain/schedule.py - the timeline of a device: computing and sending side by side.
import dataclasses
import heapq
import math


@dataclasses.dataclass
class Schedule:
    """Seconds, and the phases in order."""

    time: float
    compute: float
    communication: float
    phases: list


def sized_axes(axes, count):
    """The axes for another number of devices: the first grows."""
    if not axes:
        raise ValueError(
            f"on: count is {count}, but the program has no mapped axis that could be shared out; "
            "leave count out, or map the function."
        )
    first, *others = axes
    rest = math.prod(axes[name] for name in others)
    if count % rest:
        raise ValueError(
            f"on: {count} accelerators cannot be shared out over axes of {rest} devices beside "
            f"'{first}'."
        )
    return dict(axes) | {first: count // rest}


def scheduled(units, machines, traced, axes, work=1.0):
    """The Schedule of units.

    Args:
      units: what the core says that a device does.
      machines: the Accelerators.
      traced: the sizes of the axes that the units are for.
      axes: the sizes that are asked about.
      work: what is done of work that differs between devices, relative to `units`.
    """
    done = _Lanes(units)
    result = Schedule(0.0, 0.0, 0.0, [])
    for unit in done:
        if unit["kind"] == "loop":
            inner = scheduled(unit["body"], machines, traced, axes, work)
            times = unit["times"]
            start, end = done.occupy(("compute", "communication"), times * inner.time)
            result.compute += times * inner.compute
            result.communication += times * inner.communication
            _add_loop(result.phases, unit, inner, start, end)
        elif unit["kind"] == "collective":
            group = _group(unit, traced, axes)
            start, end = done.occupy(
                ("communication",), _message(unit, machines, axes, group, work)
            )
            result.communication += end - start
            if end > start:
                result.phases.append(
                    _phase("communication", _name(unit), unit, start, end)
                    | {"bytes": unit["operand"], "devices": group}
                )
        else:
            part = work if unit["varying"] else 1.0
            operations = unit["flops"] + unit["transcendentals"]
            duration = machines.compute(operations * part, unit["bytes"] * part)
            start, end = done.occupy(("compute",), duration)
            result.compute += duration
            if duration:
                _add_compute(result.phases, unit, start, end)
        result.time = max(result.time, end)
    return result


class _Lanes:
    """Units in the order in which a device takes them up, and the time at which each lane is free.
    The first unit in program order goes whose operands are there. A lane does not wait for another
    unit while it could do something."""

    def __init__(self, units):
        self.units = units
        self.free = {"compute": 0.0, "communication": 0.0}
        self.ready = [0.0] * len(units)
        self.missing = [len(unit["needs"]) for unit in units]
        self.users = [[] for _ in units]
        for i, unit in enumerate(units):
            for need in unit["needs"]:
                self.users[need].append(i)
        # Per lane: those that can start once it is free, and those that can later.
        self.runnable = {lane: [] for lane in self.free}
        self.waiting = {lane: [] for lane in self.free}
        for i, missing in enumerate(self.missing):
            if not missing:
                self._add(i)

    def _lane(self, i):
        return "communication" if self.units[i]["kind"] == "collective" else "compute"

    def _add(self, i):
        heapq.heappush(self.waiting[self._lane(i)], (self.ready[i], i))

    def _start(self, lane):
        """The earliest time at which the lane can take up something."""
        waiting, runnable = self.waiting[lane], self.runnable[lane]
        while waiting and waiting[0][0] <= self.free[lane]:
            heapq.heappush(runnable, heapq.heappop(waiting)[1])
        if runnable:
            return self.free[lane]
        return waiting[0][0] if waiting else math.inf

    def __iter__(self):
        for _ in self.units:
            lane = min(("communication", "compute"), key=self._start)
            if self.runnable[lane]:
                self.current = heapq.heappop(self.runnable[lane])
            else:
                self.current = heapq.heappop(self.waiting[lane])[1]
            yield self.units[self.current]

    def occupy(self, lanes, duration):
        """(start, end) of the current unit, which takes these lanes."""
        start = max(self.ready[self.current], *(self.free[lane] for lane in lanes))
        end = start + duration
        for lane in lanes:
            self.free[lane] = end
        for user in self.users[self.current]:
            self.ready[user] = max(self.ready[user], end)
            self.missing[user] -= 1
            if not self.missing[user]:
                self._add(user)
        return start, end


def device_memory(device, machines):
    """The memory of one device."""
    parts = {key: device[key] for key in ("arguments", "results", "temporaries")}
    peak = sum(parts.values())
    fits = None if machines.memory is None else peak <= machines.memory
    return parts | {"peak": peak, "fits": fits}


def _name(unit):
    return f"{unit['op'].removesuffix('_invariant')} over {', '.join(unit['over'])}"


def _phase(kind, what, unit, start, end):
    return {
        "kind": kind,
        "what": what,
        "sources": list(unit["sources"]),
        "start": start,
        "end": end,
    }


def _add_compute(phases, unit, start, end):
    """Computation without a pause is one phase."""
    last = next((p for p in reversed(phases) if p["kind"] == "compute"), None)
    joins = last and last is phases[-1] and start - last["end"] <= 1e-12
    if joins:
        last["end"] = end
        last["sources"] += unit["sources"]
    else:
        phases.append(_phase("compute", "computing", unit, start, end))


def _add_loop(phases, unit, inner, start, end):
    what = f"a loop: {unit['times']:.0f} x {len(inner.phases)} phases"
    kind = "communication" if inner.communication > inner.compute else "compute"
    phase = _phase(kind, what, unit, start, end)
    for p in inner.phases:
        phase["sources"] += p["sources"]
    if kind == "communication":
        phase |= {"bytes": 0, "devices": 0}
    phases.append(phase)


def _group(unit, traced, axes):
    """The number of devices that a collective joins."""
    group = unit["group"]
    for name in unit["over"]:
        group = group * axes.get(name, 1) // traced.get(name, 1)
    return max(group, 1)


def _stride(unit, axes):
    """The distance between the numbers of the devices that a collective joins."""
    names = list(axes)
    last = max((names.index(name) for name in unit["over"] if name in axes), default=len(names) - 1)
    return math.prod(axes[name] for name in names[last + 1 :])


def _message(unit, machines, axes, group, work):
    op, size = unit["op"].removesuffix("_invariant"), unit["operand"]
    stride = _stride(unit, axes)
    if op in ("psum", "pmax", "pmin", "pargmax", "pargmin"):
        return machines.all_reduce(group, size, stride)
    if op == "reduce_scatter":
        return machines.reduce_scatter(group, size, stride)
    if op == "pbroadcast":
        return machines.broadcast(group, size, stride)
    size *= work
    if op.startswith("all_gather"):
        return machines.all_gather(group, size * group, stride)
    if op == "ppermute":
        return machines.permute(group, size, unit["hops"], stride)
    return machines.all_to_all(group, size, stride)
