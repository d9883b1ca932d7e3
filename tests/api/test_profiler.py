"""tests/api/test_profiler.py - spans of time, written as a Chrome trace."""

import gzip
import json
import threading

import pytest
import shardax.numpy as jnp
from shardax import profiler


def events(folder):
    (file,) = folder.glob("plugins/profile/*/trace.json.gz")
    with gzip.open(file, "rt") as f:
        return json.load(f)["traceEvents"]


def test_spans_of_a_program(tmp_path):
    @profiler.annotate_function(kind="helper")
    def helper(x):
        return x + 1

    with profiler.TraceAnnotation("before"):
        pass
    with profiler.trace(tmp_path):
        for step in range(2):
            with profiler.StepTraceAnnotation("train", step_num=step):
                assert helper(1) == 2
        thread = threading.Thread(target=profiler.TraceAnnotation("other")(lambda: None))
        thread.start()
        thread.join()
    spans = events(tmp_path)
    names = [e["name"].rsplit(".")[-1] for e in spans]
    assert names == ["helper", "train", "helper", "train", "other"]
    assert [e["args"] for e in spans[:2]] == [{"kind": "helper"}, {"step_num": 0}]
    assert spans[1]["ts"] <= spans[0]["ts"] and spans[0]["dur"] <= spans[1]["dur"]
    assert spans[0]["tid"] != spans[4]["tid"]


def test_spans_nest_in_themselves(tmp_path):
    span = profiler.TraceAnnotation("again")
    with profiler.trace(tmp_path), span, span:
        pass
    assert len(events(tmp_path)) == 2


def test_errors(tmp_path):
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_trace()
    profiler.start_trace(tmp_path)
    with pytest.raises(RuntimeError, match="Profile has already been started"):
        profiler.start_trace(tmp_path)
    profiler.stop_trace()


def test_options_and_servers(tmp_path):
    options = profiler.ProfileOptions()
    options.python_tracer_level, options.advanced_configuration = 1, {"a": 1}
    with profiler.trace(tmp_path, profiler_options=options):
        pass
    with pytest.raises(ValueError, match="No active profiler server"):
        profiler.stop_server()
    profiler.start_server(9012)
    with pytest.raises(ValueError, match="Only one profiler server"):
        profiler.start_server(9013)
    profiler.stop_server()


def fields(message):
    """The fields of a protocol buffer: (number, int or bytes), ..."""
    at, found = 0, []

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            at += 1
            n |= (message[at - 1] & 0x7F) << shift
            shift += 7
            if message[at - 1] < 0x80:
                return n

    while at < len(message):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at, value = at + value, message[at : at + value]
        found.append((key >> 3, value))
    return found


def test_memory_of_arrays(tmp_path):
    held = [jnp.ones((3, 641)) for _ in range(2)]
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    found = fields(gzip.decompress((tmp_path / "memory.prof").read_bytes()))
    texts = [value.decode() for field, value in found if field == 6]
    assert texts[:5] == ["", "allocations", "count", "space", "bytes"]
    functions = [dict(fields(value)) for field, value in found if field == 5]
    (ours,) = [f[1] for f in functions if texts[f[2]] == "float32[3,641]"]
    samples = [fields(value) for field, value in found if field == 2]
    (sample,) = [s for s in samples if s[0] == (1, ours)]
    assert sample[1:3] == [(2, 2), (2, sum(x.nbytes for x in held))]
