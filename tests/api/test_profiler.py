"""tests/api/test_profiler.py - programs, steps and annotations, written as a Chrome trace."""

import gzip
import json
import threading

import pytest
import shardax
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
    assert names == ["train", "helper", "train", "helper", "other"]
    assert [e["args"] for e in spans[:2]] == [{"step_num": 0}, {"kind": "helper"}]
    assert spans[0]["ts"] <= spans[1]["ts"] and spans[1]["dur"] <= spans[0]["dur"]
    assert spans[0]["tid"] != spans[4]["tid"]


def test_steps_of_programs(tmp_path):
    @shardax.jit
    def layer(w, x):
        return shardax.nn.softmax(jnp.tanh(x @ w), -1)

    w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
    with profiler.trace(tmp_path), profiler.TraceAnnotation("call"):
        layer(w, x)
        layer(w, x)
        jnp.sort(x)
    spans = events(tmp_path)
    by_name = {}
    for event in spans:
        by_name.setdefault(event["name"], []).append(event)
    assert len(by_name["layer"]) == 2
    assert len(by_name["compile layer"]) == 1
    assert {e["cat"] for e in spans} >= {"annotation", "compilation", "program", "step", "tracing"}
    assert all(e["args"]["line"].endswith("layer)") for e in spans if e["name"].startswith("dot"))
    assert len(by_name["dot_general -> f32[32,64]"]) == 2
    assert any("tanh" in name for name in by_name)
    assert "sort" in by_name
    (call,) = by_name["call"]

    def within(inner, outer):
        ends = inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-3
        return outer["ts"] <= inner["ts"] and ends and inner["tid"] == outer["tid"]

    for event in spans:
        assert event["ph"] == "X" and event["dur"] >= 0 and within(event, call), event
    for program, product in zip(by_name["layer"], by_name["dot_general -> f32[32,64]"]):
        assert within(product, program)
    assert spans == sorted(spans, key=lambda event: event["ts"])
    layer(w, x)  # nothing is recorded after the block


def test_steps_of_loops(tmp_path):
    def turn(carry, x):
        return shardax.nn.softmax(carry @ x), x.sum()

    loop = shardax.jit(lambda c, xs: shardax.lax.scan(turn, c, xs))
    operands = jnp.ones((50, 50)), jnp.ones((3, 50, 50))
    with profiler.trace(tmp_path):
        loop(*operands)
    products = [e for e in events(tmp_path) if e["name"].startswith("dot_general")]
    assert len(products) == 3


def test_levels_leave_out_what_they_say(tmp_path):
    options = profiler.ProfileOptions()
    options.device_tracer_level = 0
    with profiler.trace(tmp_path / "a", profiler_options=options):
        with profiler.TraceAnnotation("own"):
            jnp.sin(1.0)
    assert [e["name"] for e in events(tmp_path / "a")] == ["own"]
    options = profiler.ProfileOptions()
    options.host_tracer_level = 0
    with profiler.trace(tmp_path / "b", profiler_options=options):
        with profiler.TraceAnnotation("own"):
            jnp.sin(jnp.ones(3))
    names = {e["name"] for e in events(tmp_path / "b")}
    assert "own" not in names and "sin" in names


def test_perfetto_files(tmp_path):
    with profiler.trace(tmp_path, create_perfetto_trace=True):
        jnp.sin(1.0)
    (file,) = tmp_path.glob("plugins/profile/*/perfetto_trace.json.gz")
    with gzip.open(file, "rt") as f:
        assert json.load(f)["dropped"] == 0
    with pytest.raises(NotImplementedError, match="create_perfetto_link"):
        profiler.start_trace(tmp_path, create_perfetto_link=True)


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


@pytest.mark.parametrize("below", ["", "a/b"])
def test_a_file_in_the_place_of_the_folder_is_told_before_the_work(tmp_path, below):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / below, str(tmp_path / "file" / below)):
        with pytest.raises(NotADirectoryError, match="start_trace: '.*file.*' is a file, or below"):
            with profiler.trace(path):
                pytest.fail("the block runs")
    assert (tmp_path / "file").read_text() == ""


def test_refused_folders_leave_nothing_recording(tmp_path):
    for wrong in (3, None):
        with pytest.raises(TypeError):
            profiler.start_trace(wrong)
    with profiler.trace(tmp_path / "new" / "one"):
        pass
    assert events(tmp_path / "new" / "one") == []


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
