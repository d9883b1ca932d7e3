# shardax/_explain/schedule.py - what a device does when: computing and sending side by side.
import dataclasses
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
    ends = []
    compute_free = network_free = 0.0
    compute = communication = 0.0
    phases = []
    for unit in units:
        ready = max([ends[need] for need in unit["needs"]], default=0.0)
        if unit["kind"] == "loop":
            start = max(ready, compute_free, network_free)
            inner = scheduled(unit["body"], machines, traced, axes, work)
            end = start + unit["times"] * inner.time
            compute += unit["times"] * inner.compute
            communication += unit["times"] * inner.communication
            compute_free = network_free = end
            _add_loop(phases, unit, inner, start, end)
        elif unit["kind"] == "collective":
            group = _group(unit, traced, axes)
            start = max(ready, network_free)
            duration = _message(unit, machines, axes, group, work)
            end = network_free = start + duration
            communication += duration
            if duration:
                phases.append(
                    _phase("communication", _name(unit), unit, start, end)
                    | {"bytes": unit["operand"], "devices": group}
                )
        else:
            part = work if unit["varying"] else 1.0
            operations = unit["flops"] + unit["transcendentals"]
            duration = machines.compute(operations * part, unit["bytes"] * part)
            start = max(ready, compute_free)
            end = compute_free = start + duration
            compute += duration
            if duration:
                _add_compute(phases, unit, start, end)
        ends.append(end)
    return Schedule(max([compute_free, network_free, *ends]), compute, communication, phases)


def device_memory(device, machines):
    """What one device holds."""
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
    """What is computed without a pause is one phase."""
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
    """How many devices a collective joins."""
    group = unit["group"]
    for name in unit["over"]:
        group = group * axes.get(name, 1) // traced.get(name, 1)
    return max(group, 1)


def _stride(unit, axes):
    """How far apart the numbers of the devices are that a collective joins."""
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
