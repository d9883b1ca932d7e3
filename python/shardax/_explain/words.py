# shardax/_explain/words.py - numbers, lines and what became of things, in words.
import linecache

from shardax._base.source_names import file_name

MEANING = {
    "dead": "not done: nothing needs its result",
    "free": "free: what it gives is there already",
    "view": "free: the same memory, seen in another way",
    "absorbed": "done together with an equal one",
    "arithmetic": "arithmetic on the one value that all devices share",
    "reduction": "a reduction in shared memory",
    "product": "part of a product: it sums over the devices too, whose own values are never formed",
    "copy": "one pass over memory",
    "kernel": "one pass over memory",
    "loop": "a loop",
    "message": "summed up over the devices of each process, or joined; then one message a process",
}


def size(count):
    """Bytes: "12 B", "3.4 kB"."""
    return _scaled(count, 1000, ["B", "kB", "MB", "GB", "TB", "PB"])


def number(count):
    """A count: "7", "1.2 million"."""
    return _scaled(count, 1000, ["", "thousand", "million", "billion", "trillion", "10^15"]).strip()


def seconds(time):
    """A time: "1.2 ms"."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if time * factor >= 1:
            return f"{time * factor:.3g} {unit}"
    return f"{time * 1e9:.3g} ns"


def _scaled(count, step, units):
    power = 0
    while abs(count) >= step and power < len(units) - 1:
        count /= step
        power += 1
    shown = f"{count:.0f}" if count == int(count) and count < 1000 else f"{count:.3g}"
    return f"{shown} {units[power]}"


def line(place):
    """ "file.py:12 (step)" """
    if not place:
        return ""
    return f"{file_name(place['file'])}:{place['line']} ({_function(place)})"


_COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}


def _function(place):
    """The innermost function that has a name: a comprehension is a line of the one around it."""
    names = place["function"].split(".<locals>.")
    while len(names) > 1 and names[-1] in _COMPREHENSIONS:
        names.pop()
    return names[-1].strip("<>")


def lines(places):
    """Several at once: "file.py:12, 14"."""
    files = {}
    for place in places:
        files.setdefault(file_name(place["file"]), set()).add(place["line"])
    return "; ".join(
        f"{file}:{', '.join(map(str, sorted(numbers)))}" for file, numbers in files.items()
    )


def code(place):
    """The user's line itself, where its file can be read."""
    return linecache.getline(place["file"], place["line"]).strip() if place else ""


def axes(names):
    return ", ".join(f"'{name}'" for name in names)


def devices(told):
    sizes = " x ".join(f"'{name}': {size}" for name, size in told.axes.items())
    return f"{told.devices} devices ({sizes})" if told.axes else "one device"


def kept(copies):
    """The copies of a value of which each device has its part, or all have the same."""
    return "" if not copies else "1x" if copies == 1 else f"{copies} parts"


def share(entry):
    """The owners of an argument or result."""
    if not entry["split"] and not entry["uniform"] and not entry["varying"]:
        return "one value"
    if not entry["varying"]:
        return "the same on all devices"
    if not entry["uniform"]:
        return f"each device its own, over {axes(entry['varying'])}"
    return f"its own over {axes(entry['varying'])}, the same over {axes(entry['uniform'])}"


def meaning(collective):
    said = MEANING[collective["became"]]
    if collective["became"] == "reduction" and collective["fused_with"]:
        said += ", in one pass with " + ", ".join(collective["fused_with"])
    return said


def _listed(names):
    most = 4
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _ratio(part, whole):
    return f"{part / whole:.2f}x" if whole else "1.00x"


def summary(told):
    """Sentences on the costs of the devices, and their reasons."""
    if not told.axes:
        said = f"Nothing is mapped: {told.function} is one program of {_steps(told)}."
        return [said, *_placed(told), *_messages(told)]
    return [
        *_program(told),
        *_sharing(told),
        *_talk(told),
        *_costs(told),
        *_warnings(told),
    ]


def _placed(told):
    split = [e["name"] for e in [*told.arguments, *told.results] if e["split"]]
    if split:
        yield (
            f"Split over devices by their shardings: {_listed(split)}. That says where parts lie; "
            "the program computes with whole arrays, whose parts share one memory, and moves none."
        )


def _steps(told):
    return counted(len([s for s in told.steps if s["depth"] == 0]), "step")


def counted(count, what):
    """ "1 step", "2 steps" """
    return f"{count} {what}{'' if count == 1 else 's'}"


def _program(told):
    yield (
        f"The {devices(told)} are one program of {_steps(told)}, over arrays in which the devices "
        "are a dimension: it is traced once and run once."
    )


def _sharing(told):
    same = [a["name"] for a in told.arguments if a["uniform"] and not a["varying"]]
    own = [a["name"] for a in told.arguments if a["varying"]]
    if same:
        yield (f"The same on all devices, so kept once and computed with once: {_listed(same)}.")
    if own:
        yield (
            f"Different on each device: {_listed(own)}. All parts together are one array, as large "
            "as one device with everything would have."
        )
    kept = [r["name"] for r in told.results if not r["varying"] and r["devices"] > 1]
    if kept:
        yield f"Computed once, as all devices get the same: {_listed(kept)}."


def _talk(told):
    done = [c for c in told.collectives if c["became"] != "dead"]
    if not told.collectives:
        yield "No device needs anything of another one."
    counts = {}
    for collective in done:
        kind = MEANING[collective["became"]].partition(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
    said = "; ".join(f"{_are(count, kind)} {kind}" for kind, count in counts.items())
    if said:
        crossing = ", nothing of which crosses a network" * (not told.messages)
        yield f"{counted(len(done), 'collective')}{crossing}: {said}."
    yield from _messages(told)


def _messages(told):
    if not told.messages:
        return
    sent = sum(message["bytes"] * message["times"] for message in told.messages)
    said = f"{counted(len(told.messages), 'message')} to other processes, {size(sent)} a call."
    waited = [m["waited"] for m in told.messages if m["waited"] is not None]
    if waited:
        said += f" In the last call this process waited {seconds(sum(waited))} for them."
    yield said


def _are(count, kind):
    """ "1 is", "2 are", and of things that there are several of, "2 are each"."""
    if count == 1:
        return "1 is"
    several = kind.startswith(("a ", "one ", "part ", "arithmetic"))
    return f"{count} are each" if several else f"{count} are"


def _costs(told):
    here, each, apart = (sum(told.work[kind].values()) for kind in ("here", "device", "apart"))
    yield (
        f"Arithmetic: {number(here)} operations here. {told.devices} devices apart would do "
        f"{number(each)} each, {number(apart)} together: here it is {_ratio(here, apart)} of that."
    )
    if any(step["ops"] == ["cond"] for step in told.steps):
        yield (
            "Which branches are taken is known when the program runs: here and apart, all count, "
            "so the arithmetic is less than that."
        )
    if here <= 1.05 * apart:
        yield (
            f"So {told.devices} devices take the arithmetic of one device that has all the data."
        )
    memory = told.memory
    yield (
        f"Memory: {size(memory['peak'])} here. {told.devices} devices apart would need "
        f"{size(memory['device'])} each, {size(memory['apart'])} together: here it is "
        f"{_ratio(memory['peak'], memory['apart'])} of that."
    )
    if memory["peak"] > 1.05 * memory["apart"] and memory["within"] > memory["peak"] / 10:
        yield (
            f"Of the memory here, {size(memory['within'])} are what loops need while they run: of "
            "what they carry there are two copies, one that a turn reads and one that it writes."
        )


def _warnings(told):
    for result in told.results:
        if result["dropped"]:
            yield (
                f"Careful: {result['name']} differs between devices over {axes(result['dropped'])},"
                " and only the first device's is returned. Is a psum or pmean missing?"
            )
    for argument in told.arguments:
        if argument["split"] and not argument["varying"] and argument["kept"] >= argument["bytes"]:
            yield (
                f"{argument['name']} has {argument['devices']} equal copies in memory, of which "
                "one is used; in_axes=None would keep one."
            )
