"""shardax/_debug/memory_profiles.py - live arrays and their memory, as a file for pprof.

The format is that of profile.proto (https://github.com/google/pprof): a message is its fields, each
a key and a number, or a key, a length and bytes.
"""

import collections
import gzip

from shardax._devices.devices import live_arrays


def _varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _number(field, n):
    return _varint(field << 3) + _varint(n)


def _bytes(field, data):
    return _varint(field << 3 | 2) + _varint(len(data)) + data


class _Strings(dict):
    """The table of texts, each by its position; the first is empty."""

    def __init__(self):
        super().__init__({"": 0})

    def __missing__(self, text):
        self[text] = len(self)
        return self[text]


def live_memory():
    """The arrays that live, by dtype and shape: how many, and their bytes, compressed."""
    groups = collections.defaultdict(lambda: [0, 0])
    for array in live_arrays():
        group = groups[f"{array.dtype}[{','.join(map(str, array.shape))}]"]
        group[0] += 1
        group[1] += array.nbytes
    texts, out = _Strings(), b""
    for kind, unit in (("allocations", "count"), ("space", "bytes")):
        out += _bytes(1, _number(1, texts[kind]) + _number(2, texts[unit]))
    for i, (name, (count, size)) in enumerate(groups.items(), 1):
        label = _number(1, texts["kind"]) + _number(2, texts["buffer"])
        out += _bytes(2, _number(1, i) + _number(2, count) + _number(2, size) + _bytes(3, label))
        out += _bytes(4, _number(1, i) + _bytes(4, _number(1, i)))
        out += _bytes(5, _number(1, i) + _number(2, texts[name]))
    return gzip.compress(out + b"".join(_bytes(6, text.encode()) for text in texts))
