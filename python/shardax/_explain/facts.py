# shardax/_explain/facts.py - facts that the core found, under the names that users have for them.
import math

from shardax._base.manual_axes import UNNAMED_AXIS

FIELDS = (
    "axes devices arguments results values collectives messages steps buffers lines work memory"
).split()


def with_axes_of_users(told):
    """The core's facts, in which an axis without a name is called `devices`."""
    if isinstance(told, dict):
        return {with_axes_of_users(k): with_axes_of_users(v) for k, v in told.items()}
    if isinstance(told, list):
        return [with_axes_of_users(item) for item in told]
    if isinstance(told, str) and told.startswith(UNNAMED_AXIS):
        return "devices" + told.removeprefix(UNNAMED_AXIS)
    return told


def of(told, names, results):
    """The attributes of an Explanation."""
    sources = told["sources"]
    out = {"function": told["name"], "axes": told["axes"], "devices": told["devices"]}
    out["arguments"] = [
        _boundary(name, found, placed) | {"kept": held}
        for name, found, placed, held in zip(names, told["inputs"], told["placed_in"], told["held"])
    ]
    out["results"] = [
        _boundary(name, found, placed) | {"dropped": found["dropped"]}
        for name, found, placed in zip(results, told["outputs"], told["placed_out"])
    ]
    out["values"] = [_value(s) for s in sources if not s["called"]]
    out["collectives"] = [_collective(s, sources) for s in sources if "over" in s]
    out["messages"] = [_message(s, sources) for s in told["steps"] if "message" in s]
    out["steps"] = [_step(s, sources) for s in told["steps"]]
    out["buffers"] = [_buffer(b, sources, told["axes"]) for b in told["buffers"]]
    out["work"] = _work(told)
    out["memory"] = _memory(told)
    out["lines"] = _lines(out)
    _whose(out)
    return out


def traffic(op, group, operand, result):
    """Bytes that each of `group` devices sends in the collective `op`, with the algorithms that
    send least (Thakur, Rabenseifner, Gropp 2005, sections 4.1 to 4.5)."""
    if group < 2:
        return 0
    if op in ("psum", "pmax", "pmin", "pargmax", "pargmin"):
        return 2 * (group - 1) * operand // group
    if op == "all_gather":
        return (group - 1) * operand
    if op in ("reduce_scatter", "all_to_all"):
        return (group - 1) * operand // group
    return operand


def _boundary(name, found, placed):
    """An argument or result: how a mapped function has it, or else, how its sharding splits it."""
    if placed and not found["axes"]:
        split = placed["split"]
        found = found | {"axes": placed["mesh"], "split": split, "varying": split}
        found["device"] = placed["device"]
    axes = list(found["axes"])
    return {
        "name": name,
        "type": found["whole"]["type"],
        "bytes": found["whole"]["bytes"],
        "device_type": found["device"]["type"],
        "device_bytes": found["device"]["bytes"],
        "split": found["split"],
        "varying": found["varying"],
        "uniform": [axis for axis in axes if axis not in found["varying"]],
        "copies": math.prod(found["axes"][axis] for axis in found["varying"]),
        "devices": math.prod(found["axes"].values()),
    }


def _line(source):
    place = source["line"]
    return place and {"file": place["file"], "line": place["line"], "function": place["function"]}


def _value(source):
    varying = sorted({axis for axes in source["varying"] for axis in axes})
    return {
        "op": source["op"],
        "line": _line(source),
        "type": [result["type"] for result in source["results"]],
        "varying": varying,
        "uniform": [axis for axis in source["axes"] if axis not in varying],
        "became": source["fate"],
        "times": source["times"],
    }


def _collective(source, sources):
    operand = sum(v["bytes"] for v in source["operands"])
    result = sum(v["bytes"] for v in source["results"])
    op = source["op"].removesuffix("_invariant")
    related = sorted({sources[i]["op"] for i in source["related"]})
    return {
        "op": op,
        "over": source["over"],
        "participants": source["participants"],
        "type": [v["type"] for v in source["operands"]],
        "operand": operand,
        "result": result,
        "traffic": traffic(op, source["participants"], operand, result),
        "times": source["times"],
        "line": _line(source),
        "became": source["fate"],
        "fused_with": related,
        "uniform": [axis for axis in source["axes"] if axis not in source["varying"][0]],
    }


def _message(step, sources):
    message = step["message"]
    known = {key: message[key] for key in ("processes", "bytes", "meanwhile")}
    seconds = {
        key: None if message[key] < 0 else message[key] for key in ("under_way", "waited")
    }
    asked = [sources[i] for i in step["sources"]]
    return {
        "op": step["text"].removeprefix("process_"),
        "type": [v["type"] for source in asked for v in source["operands"]],
        "times": step["times"],
        "line": _line(asked[0]) if asked else None,
        **known,
        **seconds,
    }


def _step(step, sources):
    lines = []
    for i in step["sources"]:
        line = _line(sources[i])
        if line and line not in lines:
            lines.append(line)
    return {
        "kind": step["kind"],
        "ops": step["text"].split() if step["kind"] != "copy" else [step["text"]],
        "lines": lines,
        "flops": step["flops"],
        "transcendentals": step["transcendentals"],
        "bytes": step["bytes"],
        "times": step["times"],
        "depth": step["depth"],
    }


def _buffer(buffer, sources, axes):
    out = {
        "kind": "result" if buffer["result"] else "temporary",
        "type": buffer["type"],
        "bytes": buffer["bytes"],
        "copies": None,
        "line": None,
        "op": None,
        "first": buffer["first"],
        "last": buffer["last"],
    }
    if buffer["source"] >= 0:
        source = sources[buffer["source"]]
        out["line"] = _line(source)
        out["op"] = source["op"]
        out["copies"] = _copies(buffer["bytes"], source["results"], axes.values())
    return out


def _copies(kept, results, sizes):
    """The number of copies of one device's part of a result in a buffer, one for each of some axes.
    None if it is none of the results, as memory that a loop uses within."""
    possible = {1}
    for size in sizes:
        possible |= {count * size for count in possible}
    found = {
        kept // result["bytes"]
        for result in results
        if result["bytes"] and kept % result["bytes"] == 0
    }
    return min(found & possible, default=None)


def _units_work(units):
    """Operations of one device."""
    flops = transcendentals = 0
    for unit in units:
        flops += unit["flops"]
        transcendentals += unit["transcendentals"]
        if unit["kind"] == "loop":
            inner = _units_work(unit["body"])
            flops += unit["times"] * inner[0]
            transcendentals += unit["times"] * inner[1]
    return flops, transcendentals


def _work(told):
    here = [sum(s[key] * s["times"] for s in told["steps"]) for key in ("flops", "transcendentals")]
    device = _units_work(told["device"]["units"])
    n = told["devices"]
    kinds = ("flops", "transcendentals")
    return {
        "here": dict(zip(kinds, here)),
        "device": dict(zip(kinds, device)),
        "apart": dict(zip(kinds, (n * count for count in device))),
    }


def _memory(told):
    memory = dict(told["memory"])
    memory["arguments"] = sum(told["held"])
    memory["peak"] = sum(memory.values())
    memory["within"] = max(0, memory["temporaries"] - _at_one_time(told["buffers"]))
    device = told["device"]
    memory["device"] = device["arguments"] + device["results"] + device["temporaries"]
    memory["apart"] = told["devices"] * memory["device"]
    return memory


def _at_one_time(buffers):
    """The most that temporaries of steps, not of loops' bodies, take together."""
    changes = {}
    for buffer in buffers:
        if not buffer["result"]:
            for step, change in ((buffer["first"], 1), (buffer["last"] + 1, -1)):
                changes[step] = changes.get(step, 0) + change * buffer["bytes"]
    most = now = 0
    for step in sorted(changes):
        now += changes[step]
        most = max(most, now)
    return most


def _lines(out):
    """Flops, bytes and memory by line; a step's costs are shared by its lines."""
    table = {}

    def row(line):
        key = (line["file"], line["line"]) if line else ()
        empty = {"line": line, "flops": 0.0, "bytes": 0.0, "memory": 0}
        return table.setdefault(key, empty)

    for step in out["steps"]:
        lines = step["lines"] or [None]
        for line in lines:
            share = step["times"] / len(lines)
            row(line)["flops"] += (step["flops"] + step["transcendentals"]) * share
            row(line)["bytes"] += step["bytes"] * share
    for buffer in out["buffers"]:
        if buffer["line"]:
            row(buffer["line"])["memory"] += buffer["bytes"]
    rest = table.pop((), None)
    rows = [table[key] for key in sorted(table)]
    return [*rows, rest] if rest and rest["flops"] + rest["bytes"] else rows


def _whose(out):
    """By line, the axes over which some value of it varies, and those over which all are alike."""
    varying, uniform = {}, {}
    for value in out["values"]:
        if value["line"] and value["became"] != "dead":
            key = value["line"]["file"], value["line"]["line"]
            varying.setdefault(key, set()).update(value["varying"])
            uniform.setdefault(key, set()).update(value["uniform"])
    for row in out["lines"]:
        key = (row["line"]["file"], row["line"]["line"]) if row["line"] else ()
        row["varying"] = sorted(varying.get(key, ()))
        row["uniform"] = sorted(uniform.get(key, set()) - varying.get(key, set()))
