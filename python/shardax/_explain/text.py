# shardax/_explain/text.py - an explanation for the terminal.
import textwrap

from shardax._explain import groups, words

WIDTH = 100
APART = "Communication of devices that have memories of their own"


def table(head, rows, right=()):
    """Rows under a head; columns in `right` end at the same place."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(row):
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ]
        return ("  " + "  ".join(cells)).rstrip()

    return [line(head), *(line(row) for row in rows)]


def wrapped(sentence):
    return textwrap.wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")


def explanation(told):
    """All of it, section by section."""
    title = f"{told.function} on {words.devices(told)}"
    lines = [title, "=" * len(title)]
    for sentence in told.summary:
        lines += wrapped(sentence)
    for head, section in sections(told):
        if section:
            lines += ["", head, *section]
    return "\n".join(lines)


def sections(told):
    yield "Arguments", _boundaries(told.arguments)
    yield "Results", _boundaries(told.results)
    yield "Communication", list(_collectives(told))
    yield APART, list(_collectives(told.apart, here=False)) if communicates_otherwise(told) else []
    yield "Messages to other processes", messages(told)
    yield "Steps: what is done in one pass over memory", _steps(told)
    yield "Memory beside the arguments", _buffers(told)
    yield "By line", _lines(told)


def communicates_otherwise(told):
    """Would devices of their own bring each other more than what the program asks for itself?"""

    def asked(entries):
        return [(c["op"], c["over"], c["type"], c["times"], str(c["line"])) for c in entries]

    return told.apart is not None and asked(told.apart.collectives) != asked(told.collectives)


def _boundaries(entries):
    rows = [
        [
            entry["name"],
            entry["device_type"],
            words.kept(entry["copies"]),
            words.size(entry["kept"]),
            words.share(entry),
        ]
        for entry in groups.boundaries(entries)
    ]
    head = ["name", "on one device", "kept", "bytes", "whose"]
    return table(head, rows, (2, 3)) if rows else []


def _collectives(told, here=True):
    for c in groups.collectives(told.collectives):
        times = f", {words.number(c['times'])} times" if c["times"] > 1 else ""
        count = f"{c['count']} x " if c["count"] > 1 else ""
        yield (
            f"  {count}{c['op']} over {words.axes(c['over'])}: {c['participants']} devices, "
            f"{', '.join(c['type'])} ({words.size(c['operand'])}) each{times}"
            f"    {words.line(c['line'])}"
        )
        if words.code(c["line"]):
            yield f"      {words.code(c['line'])}"
        if here:
            yield f"      here:  {words.meaning(c)}"
        yield f"      apart: each device sends {words.size(c['traffic'])}"


MESSAGE_HEAD = ["", "processes", "bytes", "runs", "steps meanwhile", "under way", "waited", "from"]


def messages(told):
    return table(MESSAGE_HEAD, message_rows(told), (1, 2, 3, 4, 5, 6)) if told.messages else []


def message_rows(told):
    def time(seconds):
        return "" if seconds is None else words.seconds(seconds)

    return [
        [
            m["op"],
            m["processes"],
            words.size(m["bytes"]),
            words.number(m["times"]),
            m["meanwhile"],
            time(m["under_way"]),
            time(m["waited"]),
            words.line(m["line"]),
        ]
        for m in told.messages
    ]


def _steps(told):
    chosen, more = groups.steps(told.steps)
    rows = [
        [
            "  " * s["depth"] + str(i),
            _ops(s["ops"]),
            words.number(s["flops"] + s["transcendentals"]),
            words.size(s["bytes"]),
            _times(s["times"]),
            words.lines(s["lines"]),
        ]
        for i, s in chosen
    ]
    lines = table(["", "ops", "operations", "moves", "runs", "from"], rows, (2, 3, 4))
    return [*lines, f"  and {more} smaller ones"] if more else lines


def _ops(ops):
    most = 5
    return " ".join(ops[:most]) + (f" and {len(ops) - most} more" if len(ops) > most else "")


def _times(times):
    return words.number(times)


def _buffers(told):
    most = 12
    rows = [
        [
            b["kind"],
            b["type"],
            words.kept(b["copies"]),
            words.size(b["bytes"]),
            f"{b['first']} to {b['last'] if b['last'] < len(told.steps) else 'end'}",
            words.line(b["line"]),
        ]
        for b in told.buffers[:most]
    ]
    lines = table(["kind", "type", "kept", "bytes", "steps", "from"], rows, (2, 3)) if rows else []
    if len(told.buffers) > most:
        rest = sum(b["bytes"] for b in told.buffers[most:])
        lines.append(f"  and {len(told.buffers) - most} more of {words.size(rest)}")
    memory = told.memory
    if memory["within"] and any(step["depth"] for step in told.steps):
        lines.append(f"  and {words.size(memory['within'])} that loops and branches use within")
    lines.append(
        f"  at most {words.size(memory['peak'])}: arguments {words.size(memory['arguments'])}, "
        f"results {words.size(memory['results'])}, temporaries {words.size(memory['temporaries'])}"
        f" at one time, constants {words.size(memory['constants'])}"
    )
    return lines


def _lines(told):
    rows = [
        [
            words.line(row["line"]) or "of no line",
            words.number(row["flops"]),
            words.size(row["bytes"]),
            words.size(row["memory"]),
            ", ".join(row["varying"]) or ("no axis" if row["uniform"] else ""),
            words.code(row["line"])[:50],
        ]
        for row in told.lines
    ]
    head = ["line", "operations", "moves", "memory", "differs over", ""]
    return table(head, rows, (1, 2, 3)) if rows else []
