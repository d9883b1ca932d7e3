# shardax/_explain/html.py - an explanation for notebooks: sentences, pictures, tables.
from shardax._base.svg import Drawing, colour, escape, table
from shardax._explain import groups, text, words

MOST_BOXES = 16
MOST_BUFFERS = 12


def explanation(told):
    """All of it as one fragment, without scripts."""
    sentences = "".join(f"<li>{escape(s)}</li>" for s in told.summary)
    parts = [
        f"<h4>{escape(told.function)} on {escape(words.devices(told))}</h4><ul>{sentences}</ul>"
    ]
    if told.axes:
        parts.append(f"<h5>Whose the values are</h5>{ownership(told)}")
    if told.collectives:
        parts.append(f"<h5>Communication</h5>{_collectives(told)}")
    if text.communicates_otherwise(told) and told.apart.collectives:
        parts.append(f"<h5>{text.APART}</h5>{_collectives(told.apart)}")
    if told.messages:
        rows = table(text.MESSAGE_HEAD, text.message_rows(told), (1, 2, 3, 4, 5, 6))
        parts.append(f"<h5>Messages to other processes</h5>{rows}")
    parts.append(f"<h5>Memory over the steps</h5>{memory(told)}")
    parts.append(
        f"<details><summary>Steps and lines</summary><pre>{_details(told)}</pre></details>"
    )
    return "<div>" + "".join(parts) + "</div>"


def ownership(told):
    """A row of boxes for each argument and result: one box per device that has its own part, one
    long box for a shared value."""
    picture = Drawing()
    count = min(told.devices, MOST_BOXES)
    entries = [*groups.boundaries(told.arguments), *groups.boundaries(told.results)]
    left = 8 * max([len(e["name"]) for e in entries], default=0) + 20
    width = 480 // count
    y = 0
    for entry in entries:
        picture.words(left - 10, y + 12, entry["name"], "end")
        parts = min(entry["copies"], count)
        across = count * width / parts
        for i in range(parts):
            title = f"{entry['device_type']}, {words.size(entry['device_bytes'])}"
            fill = colour(i) if parts > 1 else "#ddd"
            picture.box(left + i * across, y, across, 24, fill, title)
            label = i if parts > 1 else words.share(entry)
            picture.words(left + (i + 0.5) * across, y + 12, label, size=11, in_box=True)
        if entry["copies"] > parts:
            picture.words(left + count * width + 8, y + 12, f"... {entry['copies']}", "start")
        y += 30
    return str(picture)


def _collectives(told):
    rows = [
        [
            f"{c['count']} x {c['op']}" if c["count"] > 1 else c["op"],
            ", ".join(c["over"]),
            c["participants"],
            words.size(c["operand"]),
            words.size(c["traffic"]),
            words.meaning(c),
            words.line(c["line"]),
        ]
        for c in groups.collectives(told.collectives)
    ]
    head = ["", "over", "devices", "each has", "would send", "here", "line"]
    return table(head, rows, (2, 3, 4))


def memory(told):
    """A bar for each buffer, from the step that writes it to the last that reads it; its height is
    a matter of its size. To its left stands its name, to its right its size; below, the steps."""
    picture = Drawing()
    steps = max([b["last"] for b in told.buffers], default=0) + 1
    width = max(400 // steps, 6)
    shown = told.buffers[:MOST_BUFFERS]
    names = [f"{b['kind']} {b['type']}" for b in shown]
    left = 7 * max([len(name) for name in names], default=0) + 14
    largest = max([b["bytes"] for b in told.buffers], default=1) or 1
    y = 0
    for i, (name, buffer) in enumerate(zip(names, shown)):
        height = 12 + 12 * buffer["bytes"] / largest
        first = max(buffer["first"], 0)
        across = (buffer["last"] - first + 1) * width
        picture.words(left - 8, y + height / 2, name, "end", 11)
        title = f"{name}, {words.line(buffer['line'])}"
        picture.box(left + first * width, y, across, height, colour(i), title)
        copies = f" ({words.kept(buffer['copies'])})" if buffer["copies"] else ""
        size = words.size(buffer["bytes"]) + copies
        picture.words(left + steps * width + 8, y + height / 2, size, "start", 11)
        y += height + 3
    _step_axis(picture, left, y + 10, width, [*range(len(told.steps)), "end"][:steps])
    if len(told.buffers) > len(shown):
        more = f"and {len(told.buffers) - len(shown)} more"
        picture.words(left, y + 28, more, "start", 11)
    said = text.sections(told)
    total = dict(said)["Memory beside the arguments"][-1].strip()
    return f"{picture}<p>{escape(total)}</p>"


def _step_axis(picture, left, y, width, names):
    """The numbers of steps under their columns, as many as there is room for."""
    picture.words(left - 8, y, "step", "end", 11)
    for column in range(0, len(names), -(-24 // width)):
        picture.words(left + (column + 0.5) * width, y, names[column], size=11)


def _details(told):
    lines = []
    for head, section in text.sections(told):
        if head.startswith(("Steps", "By line")):
            lines += [head, *section, ""]
    return escape("\n".join(lines))
