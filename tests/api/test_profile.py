"""tests/api/test_profile.py - shardax.profile: a block's time by step, and its pictures."""

import collections
import json
import re
import threading
import xml.etree.ElementTree as ET

import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax, profiler


def layer(w, x):
    hidden = jnp.tanh(x @ w)
    return shardax.nn.softmax(hidden, -1)


def test_time_by_step_and_line():
    step = shardax.jit(layer)
    w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
    with shardax.profile() as times:
        for _ in range(3):
            step(w, x)
        jnp.sort(x)
    rows = {(row["kind"], row["name"]): row for row in times.by_step()}
    product = rows["step", "dot_general -> f32[32,64]"]
    first = layer.__code__.co_firstlineno
    assert product["count"] == 3
    assert product["line"] == f"test_profile.py:{first + 1} (layer)"
    (tanh,) = [row for (_, name), row in rows.items() if "tanh" in name]
    assert tanh["line"].endswith("(layer)")
    assert rows["program", "layer"]["count"] == 3
    assert rows["compilation", "compile layer"]["count"] == 1
    assert rows["tracing", "trace layer"]["count"] == 1
    assert rows["op", "sort"]["count"] >= 1
    assert times.dropped == 0
    # A program's own time is without that of its steps: shares add up to what is inside.
    inside = sum(span.seconds for span in times.spans if span.depth == 0)
    assert sum(row["seconds"] for row in rows.values()) == pytest.approx(inside)
    assert 0 < sum(row["share"] for row in rows.values()) <= 1
    steps = [span for span in times.spans if span.kind == "step"]
    assert steps and all(span.depth > 0 for span in steps)
    assert all(0 <= span.own <= span.seconds for span in times.spans)


def test_steps_of_mapped_functions_and_loops_have_lines():
    def body(carry, x):
        return shardax.nn.softmax(carry @ x), x.sum()

    def mapped(c, xs):
        out, sums = lax.scan(body, c, xs)
        return lax.psum(out @ out, "i"), sums

    f = shardax.pmap(mapped, axis_name="i")
    operands = jnp.ones((2, 50, 50)), jnp.ones((2, 3, 50, 50))
    f(*operands)
    with shardax.profile() as times:
        f(*operands)
    products = [span for span in times.spans if span.name.startswith("dot_general")]
    assert {re.split("[.(]", span.line)[-1] for span in products} == {"body)", "mapped)"}
    assert len(products) == 4


def test_a_file_has_the_chunks_of_loops(tmp_path):
    """Each chunk of a shared loop once, within the time of its step, on the thread that ran it."""
    square = shardax.jit(lambda x: x @ x)
    x = jnp.ones((600, 600))
    square(x)
    with shardax.threads(2), shardax.profile() as times:
        square(x)
    times.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (step,) = [event for event in events if event["cat"] == "step"]
    chunks = [event for event in events if event["cat"] == "chunk"]
    assert chunks
    for event in chunks:
        assert step["ts"] <= event["ts"]
        assert event["ts"] + event["dur"] <= step["ts"] + step["dur"]
    # Of a loop that packs and one that multiplies, say: all numbers of each come equally often.
    names = collections.Counter(event["name"] for event in chunks)
    counts = {int(name.split()[-1]) for name in names}
    for count in counts:
        assert len({names[f"chunk {i + 1} of {count}"] for i in range(count)} - {0}) == 1
    assert len(names) == sum(counts)
    assert {event["tid"] for event in chunks} >= {step["tid"]}
    # The table is of steps: chunks are no part of it.
    assert not any(span.kind == "chunk" for span in times.spans)


def test_annotations_and_threads():
    with shardax.profile() as times:
        with profiler.TraceAnnotation("load", batch=3):
            jnp.sin(jnp.ones(3))
        thread = threading.Thread(target=profiler.TraceAnnotation("other")(lambda: None))
        thread.start()
        thread.join()
    (load,) = [span for span in times.spans if span.name == "load"]
    assert (load.kind, load.line, load.depth) == ("annotation", "", 0)
    assert any(span.name == "sin" and span.depth == 1 for span in times.spans)
    assert len({span.thread for span in times.spans}) == 2


def test_what_is_shown():
    step = shardax.jit(layer)
    w, x = jnp.ones((64, 64)), jnp.ones((32, 64))
    with shardax.profile() as times:
        step(w, x)
    text = str(times)
    assert text.splitlines()[0].endswith("in all")
    assert "dot_general -> f32[32,64]" in text and "outside of shardax" in text
    assert repr(times) == text
    for picture in (times._repr_svg_(), f"<p>{times._repr_html_()}</p>"):
        boxes = [e for e in ET.fromstring(picture).iter() if e.tag.endswith("rect")]
        assert len(boxes) >= 3


def test_many_rows_are_summed_up():
    with shardax.profile() as times:
        for n in range(1, 40):
            jnp.sin(jnp.ones(n))
            with profiler.TraceAnnotation(f"span {n}"):
                pass
    lines = str(times).splitlines()
    assert len(lines) == 3 + 20 + 2 and "others" in lines[-2]


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_files_for_viewers(tmp_path, name):
    import gzip

    with shardax.profile() as times:
        shardax.jit(layer)(jnp.ones((4, 4)), jnp.ones((4, 4)))
    times.save(tmp_path / name)
    opened = gzip.open if name.endswith("gz") else open
    with opened(tmp_path / name, "rt") as file:
        trace = json.load(file)
    assert trace["dropped"] == 0
    lines = [e["args"]["line"] for e in trace["traceEvents"] if e["cat"] == "step"]
    assert lines and all("(layer)" in line for line in lines)


def test_folders_are_made(tmp_path):
    with shardax.profile() as times:
        pass
    times.save(tmp_path / "a" / "b" / "trace.json")
    times.save(str(tmp_path / "a" / "b" / "trace.json"))
    assert json.loads((tmp_path / "a" / "b" / "trace.json").read_text())["dropped"] == 0
    with pytest.raises(NotADirectoryError, match="save: '.*trace.json' is a file, or below one"):
        times.save(tmp_path / "a" / "b" / "trace.json" / "other.json")


def test_blocks_that_fail_and_blocks_within():
    with pytest.raises(ZeroDivisionError), shardax.profile() as times:
        jnp.sin(jnp.ones(3))
        raise ZeroDivisionError
    assert times.spans and times.seconds > 0
    with shardax.profile():
        with pytest.raises(RuntimeError, match="Only one profile may be run at a time"):
            with shardax.profile():
                pass
        with pytest.raises(RuntimeError, match="No profile started"):
            profiler.stop_trace()


def test_an_empty_block():
    with shardax.profile() as times:
        pass
    assert times.spans == () and times.by_step() == []
    assert "outside of shardax" in str(times)
    ET.fromstring(times._repr_svg_())
