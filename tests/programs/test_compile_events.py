"""tests/programs/test_compile_events.py - events of tracing and compiling for listeners of
jax.monitoring."""

import pytest
import shardax
import shardax.numpy as jnp
from shardax import monitoring

TRACED = "/jax/core/compile/jaxpr_trace_duration"
COMPILED = "/jax/core/compile/backend_compile_duration"


@pytest.fixture
def told():
    seen = []

    def listen(event, seconds, fun_name):
        assert seconds >= 0
        seen.append((event, fun_name))

    monitoring.register_event_duration_secs_listener(listen)
    yield seen
    if listen in monitoring._durations:
        monitoring.unregister_event_duration_listener(listen)


def test_functions_that_are_traced_and_compiled(told):
    x, y = jnp.ones(3), jnp.ones(4)
    told.clear()

    @shardax.jit
    def f(x):
        return 3 * x + 1

    f(x), f(x)
    assert told == [(TRACED, "f"), (COMPILED, "jit(f)")]
    f(y)
    assert told == [(TRACED, "f"), (COMPILED, "jit(f)")] * 2
    told.clear()
    shardax.pmap(lambda x: x - 7)(x)
    assert [event for event, _ in told] == [TRACED, COMPILED]


def test_other_layouts_are_no_other_programs(told, caplog):
    f = shardax.jit(lambda x: x * 5 - 1)
    x = jnp.arange(9.0).reshape(3, 3)
    f(jnp.zeros((3, 3)))
    told.clear()
    with shardax.log_compiles():
        f(x), f(x.T)
    assert told == [] and not [m for m in caplog.messages if "compilation" in m]


def test_no_more_than_was_asked_for(told):
    spans = []
    monitoring.register_event_time_span_listener(lambda *what, **about: spans.append(what))
    shardax.jit(lambda x: x * 17)(1.0)
    monitoring.clear_event_listeners()
    heard = len(told), len(spans)
    shardax.jit(lambda x: x * 18)(1.0)
    assert (len(told), len(spans)) == heard == (2, 2)
    assert all(start <= end for _, start, end in spans)
