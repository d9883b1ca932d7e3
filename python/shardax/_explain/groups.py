# shardax/_explain/groups.py - long lists made short enough to be read: like entries are told once.

MOST = 16  # as many as are told one by one


def boundaries(entries):
    """Arguments or results; of many, those of one type and use together, by the name of the first.
    Sizes are those of all."""
    entries = [
        entry | {"kept": entry.get("kept", entry["copies"] * entry["device_bytes"])}
        for entry in entries
    ]
    if len(entries) <= MOST:
        return entries
    return _merged(
        entries,
        lambda e: (e["device_type"], tuple(e["split"]), tuple(e["varying"]), tuple(e["uniform"])),
        ("kept", "bytes"),
        "name",
    )


def collectives(entries):
    """Groups of entries that are alike but for the data that they move together, with their number
    as "count"."""
    merged = _merged(
        entries,
        lambda c: (c["op"], tuple(c["over"]), c["participants"], tuple(c["type"]), c["times"],
                   c["became"], tuple(c["fused_with"]), str(c["line"])),
        (),
        None,
    )  # fmt: skip
    return merged


def steps(entries):
    """(position, step) of those that do most, in order; and how many there are beside them."""
    numbered = list(enumerate(entries))
    most = 2 * MOST
    if len(numbered) <= most:
        return numbered, 0

    def work(item):
        step = item[1]
        return step["times"] * max(step["flops"] + step["transcendentals"], step["bytes"])

    chosen = sorted(sorted(numbered, key=work, reverse=True)[: most // 2])
    return chosen, len(numbered) - len(chosen)


def _merged(entries, key, summed, named):
    groups = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    out = []
    for members in groups.values():
        first = dict(members[0], count=len(members))
        for field in summed:
            first[field] = sum(member[field] for member in members)
        if named and len(members) > 1:
            first[named] += f" and {len(members) - 1} more"
        out.append(first)
    return out
