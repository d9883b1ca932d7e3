# tests/explain/test_report.py - the summary, the tables and the page of an explanation.
import json

import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax._explain import words
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

from tests.explain.test_explain import N, arange, told


def test_newcomer_is_told_why():
    text = str(told())
    assert "kept once and computed with once: w." in text
    assert "So 8 devices take the arithmetic of one device that has all the data." in text
    assert "part of a product" in text
    assert 'gradient = lax.pmean(gradient, "batch")' in text


def test_forms():
    t = told()
    assert json.loads(t.to_json()) == json.loads(json.dumps(t.to_dict()))
    assert set(t.to_dict()) >= {"arguments", "collectives", "steps", "memory", "lines"}
    page = t._repr_html_()
    assert page.startswith("<div>") and page.endswith("</div>")
    assert page.count("<svg") == page.count("</svg>") == 2
    assert "&#x27;batch&#x27;" in page
    assert repr(t) == str(t)


def test_large_programs_stay_readable():
    """Of many arguments, collectives and steps that are alike, one is told; facts keep all."""
    layers = 30

    def step(weights, x):
        def loss(weights):
            h = x
            for w in weights:
                h = jnp.tanh(h @ w)
            return jnp.sum(h)

        return [w - lax.pmean(g, "i") for w, g in zip(weights, shardax.grad(loss)(weights))]

    f = shardax.pmap(step, axis_name="i", in_axes=(None, 0), out_axes=None)
    shape = shardax.ShapeDtypeStruct
    t = told(f, [shape((8, 8), jnp.float32)] * layers, shape((N, 4, 8), jnp.float32))
    assert len(t.arguments) == layers + 1 and len(t.collectives) == layers
    text = str(t)
    assert len(text.splitlines()) < 80
    assert "weights[0] and 29 more" in text
    assert "30 x psum over 'i'" in text
    assert "smaller ones" in text
    assert len(t._repr_html_()) < 30_000
    machines = shardax.Accelerators(flops=1e12, memory_bandwidth=1e11, link_bandwidth=1e9)
    assert "shorter ones" in str(t.on(machines))


def looped(w, x):
    """A loop with a branch, on each device."""

    def turn(c, t):
        return lax.cond(t >= lax.axis_index("i"), lambda c: jnp.tanh(c @ w), lambda c: c, c), c

    return lax.psum(jnp.sum(lax.scan(turn, x, jnp.arange(5))[1] * 2.0), "i")


def test_work_and_memory_are_told_of_one_device_and_of_all():
    t = told()
    arithmetic = next(s for s in t.summary if s.startswith("Arithmetic"))
    each, apart = (words.number(sum(t.work[k].values())) for k in ("device", "apart"))
    assert f"{N} devices apart would do {each} each, {apart} together" in arithmetic
    memory = next(s for s in t.summary if s.startswith("Memory"))
    each, apart = (words.size(t.memory[k]) for k in ("device", "apart"))
    assert f"{N} devices apart would need {each} each, {apart} together" in memory
    assert t.memory["apart"] == N * t.memory["device"]


def test_branches_are_said_to_count_whether_taken_or_not():
    t = told(shardax.pmap(looped, axis_name="i"), arange(N, 16, 16), arange(N, 4, 16))
    assert any(s.startswith("Which branches are taken") for s in t.summary)
    assert not any(s.startswith("Which branches") for s in told().summary)


def test_buffers_name_steps_of_the_table():
    t = told(shardax.pmap(looped, axis_name="i"), arange(N, 16, 16), arange(N, 4, 16))
    assert any(step["depth"] > 0 for step in t.steps)
    outer = [i for i, step in enumerate(t.steps) if step["depth"] == 0]
    for buffer in t.buffers:
        assert buffer["first"] in outer
        assert buffer["last"] in [*outer, len(t.steps)]
        assert (buffer["last"] == len(t.steps)) == (buffer["kind"] == "result")
    assert "that loops and branches use within" in str(t)
    assert "that loops and branches use within" not in str(told())


def test_buffers_that_hold_no_variable_have_no_type():
    t = told(shardax.pmap(looped, axis_name="i"), arange(N, 16, 16), arange(N, 4, 16))
    itemsizes = {"f": 4, "i": 4, "b": 1}
    for buffer in t.buffers:
        if buffer["type"].endswith("[]"):
            assert buffer["bytes"] == itemsizes[buffer["type"][0]]


def test_parts_of_devices_are_called_parts_everywhere():
    rows = str(told()).partition("Memory beside the arguments")[2].splitlines()
    assert any(f"{N} parts" in row for row in rows)
    assert not any(f" {N}x " in row for row in rows)


def test_lines_add_up_to_the_work():
    mesh = shardax.make_mesh((N,), ("model",))
    x = arange(4, 16)

    def layer(a, b):
        return lax.psum(jnp.tanh(x @ a) @ b, "model")

    specs = P(None, "model"), P("model")
    parallel = shardax.shard_map(layer, mesh=mesh, in_specs=specs, out_specs=P())
    gradient = shardax.grad(lambda a, b: jnp.mean(parallel(a, b) ** 2), (0, 1))
    for f, args in (
        (shardax.jit(gradient), (arange(16, 8 * N), arange(8 * N, 16))),
        (shardax.pmap(looped, axis_name="i"), (arange(N, 16, 16), arange(N, 4, 16))),
    ):
        t = told(f, *args)
        by_line = sum(row["flops"] for row in t.lines)
        assert by_line == pytest.approx(sum(t.work["here"].values()))


def test_what_devices_apart_send_is_told_once():
    """Of a jitted shard_map: the program asks for it itself."""
    mesh = shardax.make_mesh((N,), ("x",))
    x = shardax.device_put(arange(N, 4), NamedSharding(mesh, P("x")))
    total = shardax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    own = "Communication of devices that have memories of their own"
    assert own not in str(told(shardax.jit(total), x))
    assert own in str(told(shardax.jit(lambda x: x.T @ x), x))


def test_collectives_are_counted_in_sentences():
    said = next(s for s in told().summary if "crosses a network" in s)
    assert "2 are each a reduction in shared memory" in said or "1 is a reduction" in said
    assert "1 is part of a product" in said
