"""tests/api/test_profiler.py - spans of time, written as a Chrome trace."""

import gzip
import json
import threading

import pytest
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
