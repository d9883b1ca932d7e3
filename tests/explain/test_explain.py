# tests/explain/test_explain.py - explanations of mapped, jitted and plain functions.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import PartitionSpec as P

N = 8


def arange(*shape):
    return jnp.sin(jnp.arange(float(jnp.prod(jnp.array(shape))))).reshape(shape)


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


def sgd(w, x, y):
    value, gradient = shardax.value_and_grad(loss)(w, x, y)
    gradient = lax.pmean(gradient, "batch")
    return w - 0.1 * gradient, lax.pmean(value, "batch")


STEP = shardax.pmap(sgd, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
ARGS = arange(5), arange(N, 16, 5), arange(N, 16)


def told(f=STEP, *args):
    return shardax.explain(f)(*(args or ARGS))


def one(items, **wanted):
    found = [i for i in items if all(i[key] == value for key, value in wanted.items())]
    assert len(found) == 1, found
    return found[0]


def test_data_parallel_step_in_facts():
    t = told()
    assert (t.devices, t.axes) == (N, {"batch": N})
    weights, x = one(t.arguments, name="w"), one(t.arguments, name="x")
    assert (weights["uniform"], weights["varying"], weights["copies"]) == (["batch"], [], 1)
    assert weights["kept"] == weights["bytes"] == 20
    assert (x["varying"], x["split"], x["copies"]) == (["batch"], ["batch"], N)
    assert (x["device_bytes"], x["kept"]) == (16 * 5 * 4, N * 16 * 5 * 4)
    gradient = one(t.collectives, operand=20)
    assert (gradient["op"], gradient["over"], gradient["participants"]) == ("psum", ["batch"], N)
    assert gradient["became"] == "product"
    assert gradient["uniform"] == ["batch"]
    assert gradient["line"]["function"] == "sgd"
    assert one(t.collectives, operand=4)["became"] == "reduction"
    assert all(r["copies"] == 1 and not r["varying"] for r in t.results)


def test_devices_cost_what_one_does():
    t = told()
    whole = shardax.jit(lambda w, x, y: sgd_alone(w, x, y))
    alone = told(whole, ARGS[0], ARGS[1].reshape(-1, 5), ARGS[2].reshape(-1))
    here, one_device = (sum(e.work["here"].values()) for e in (t, alone))
    assert here == pytest.approx(one_device, rel=0.02)
    assert t.memory["peak"] == pytest.approx(alone.memory["peak"], rel=0.05)
    updated = [b for b in t.buffers if b["type"] == "f32[5]"]
    assert updated and all(b["copies"] == 1 for b in updated)


def sgd_alone(w, x, y):
    value, gradient = shardax.value_and_grad(loss)(w, x, y)
    return w - 0.1 * gradient, value


def test_work_of_devices_apart():
    t = told()
    assert t.work["apart"]["flops"] == N * t.work["device"]["flops"]
    # Two products of 16 x 5 on each device, and elementwise work below twice their size.
    assert 2 * 2 * 16 * 5 < t.work["device"]["flops"] < 3 * 2 * 16 * 5
    assert sum(row["flops"] for row in t.lines) == pytest.approx(sum(t.work["here"].values()))


def test_equal_stacked_arguments_are_recognised():
    w, x, y = ARGS
    step = shardax.pmap(sgd, axis_name="batch")
    t = told(step, np.stack([w] * N), x, y)
    weights = one(t.arguments, name="w")
    assert (weights["copies"], weights["split"], weights["varying"]) == (1, ["batch"], [])
    assert any("8 equal copies" in s for s in t.summary)
    assert one(t.collectives, operand=20)["became"] == "product"
    t = told(step, arange(N, 5), x, y)
    assert one(t.arguments, name="w")["varying"] == ["batch"]
    assert one(t.results, name="result[0]")["varying"] == ["batch"]


def test_types_alone_suffice():
    t = told(STEP, *[shardax.ShapeDtypeStruct(a.shape, a.dtype) for a in ARGS])
    assert t.to_dict()["collectives"] == told().to_dict()["collectives"]


def test_forgotten_mean():
    step = shardax.pmap(
        lambda w, x, y: w - shardax.grad(loss)(w, x, y),
        axis_name="batch",
        in_axes=(None, 0, 0),
        out_axes=None,
    )
    t = told(step)
    assert t.results[0]["dropped"] == ["batch"]
    assert any(s.startswith("Careful: result differs between devices") for s in t.summary)
    assert t.collectives == []
    assert "No device needs anything of another one." in t.summary


def test_clipping_keeps_a_gradient_per_device():
    def step(w, x, y):
        return w - lax.pmean(jnp.clip(shardax.grad(loss)(w, x, y), -1, 1), "batch")

    t = told(shardax.pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None))
    assert one(t.collectives, operand=20)["became"] == "reduction"
    assert any(b["copies"] == N and b["bytes"] == N * 20 for b in t.buffers)


def test_tensor_parallel_over_a_mesh():
    mesh = shardax.make_mesh((2, 4), ("data", "model"))

    def mlp(x, w1, w2):
        return lax.psum(jnp.tanh(x @ w1) @ w2, "model")

    specs = P("data"), P(None, "model"), P("model")
    f = shardax.shard_map(mlp, mesh=mesh, in_specs=specs, out_specs=P("data"))
    t = told(f, arange(8, 6), arange(6, 16), arange(16, 5))
    assert t.axes == {"data": 2, "model": 4}
    x, w1 = t.arguments[:2]
    assert (x["varying"], x["uniform"], x["copies"]) == (["data"], ["model"], 2)
    assert (w1["varying"], w1["uniform"], w1["device_type"]) == (["model"], ["data"], "f32[6,4]")
    total = t.collectives[0]
    assert (total["op"], total["over"], total["participants"]) == ("psum", ["model"], 4)
    assert (total["became"], total["operand"], total["traffic"]) == ("product", 80, 120)
    assert (t.results[0]["varying"], t.results[0]["uniform"]) == (["data"], ["model"])


def test_fsdp():
    def step(w, x):
        full = lax.all_gather(w, "i", tiled=True)
        gradient = shardax.grad(lambda full: jnp.sum((x @ full) ** 2))(full)
        return w - 0.1 * lax.psum_scatter(gradient, "i", tiled=True)

    t = told(shardax.pmap(step, axis_name="i"), arange(N, 2, 5), arange(N, 4, 16))
    gather, scatter = one(t.collectives, op="all_gather"), one(t.collectives, op="reduce_scatter")
    assert gather["became"] in ("free", "view")
    assert (gather["operand"], gather["traffic"]) == (40, 7 * 40)
    assert (scatter["became"], scatter["traffic"]) == ("product", 7 * 320 // 8)


def test_loops_count_their_iterations():
    ring = [(i, (i + 1) % N) for i in range(N)]

    def f(x):
        def body(carry, _):
            total, block = carry
            return (total + block, lax.ppermute(block, "i", ring)), None

        return lax.scan(body, (jnp.zeros_like(x), x), None, length=5)[0][0]

    t = told(shardax.pmap(f, axis_name="i"), arange(N, 6))
    moved = one(t.collectives, op="ppermute")
    assert (moved["times"], moved["became"], moved["traffic"]) == (5, "kernel", 24)
    assert t.results[0]["varying"] == ["i"]
    assert {s["times"] for s in t.steps if s["depth"] == 1} == {5}
    assert t.work["here"]["flops"] == t.work["apart"]["flops"] == 5 * N * 6


def test_unused_and_trivial_collectives():
    def f(x, c):
        lax.psum(x * 2, "i")
        return lax.psum(c, "i") + x, lax.axis_index("i")

    t = told(shardax.pmap(f, axis_name="i", in_axes=(0, None)), arange(N, 3), arange(3))
    assert sorted(c["became"] for c in t.collectives) == ["arithmetic", "dead"]
    assert [r["varying"] for r in t.results] == [["i"], ["i"]]


def test_groups():
    groups = [[0, 1, 2, 3], [4, 5, 6, 7]]
    f = shardax.pmap(lambda x: lax.psum(x, "i", axis_index_groups=groups), axis_name="i")
    c = told(f, arange(N, 3)).collectives[0]
    assert (c["participants"], c["uniform"], c["became"]) == (4, [], "reduction")


def test_nested_maps():
    inner = shardax.pmap(lambda x: (lax.psum(x, "b"), lax.psum(x, ("a", "b"))), axis_name="b")
    t = told(shardax.pmap(inner, axis_name="a"), arange(2, 4, 3))
    assert t.axes == {"a": 2, "b": 4}
    assert [c["participants"] for c in t.collectives] == [4, 8]
    assert [r["varying"] for r in t.results] == [["a"], []]
    assert t.arguments[0]["device_type"] == "f32[3]"


def test_maps_within_a_plain_function():
    double = shardax.pmap(lambda x: x * 2, in_axes=None, out_axes=0)
    total = shardax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")
    t = told(lambda x: total(double(x)), arange(3))
    assert t.collectives[0]["became"] == "arithmetic"
    assert t.results[0]["varying"] == []


def test_predicates_decide_over_results():
    def f(x, c):
        return lax.cond(x[0] > 0, lambda: c, lambda: -c), lax.cond(c[0] > 0, lambda: c, lambda: -c)

    t = told(shardax.pmap(f, axis_name="i", in_axes=(0, None)), arange(N, 3), arange(3))
    assert [r["varying"] for r in t.results] == [["i"], []]


def test_without_devices():
    t = told(shardax.jit(lambda a, b=1.0: jnp.sum(jnp.sin(a) @ a)), arange(4, 4))
    assert (t.devices, t.axes, t.collectives) == (1, {}, [])
    assert t.summary == ["Nothing is mapped: <lambda> is one program of 3 steps."]
    assert t.work["here"]["flops"] == 2 * 4**3 + 15
    assert told(lambda a: a["k"] * 2, {"k": arange(2)}).arguments[0]["name"] == "a['k']"


def test_shardings_of_jitted_functions():
    mesh = shardax.make_mesh((2, 4), ("data", "model"))
    x = shardax.device_put(arange(8, 12), shardax.NamedSharding(mesh, P("data", "model")))
    t = told(shardax.jit(lambda x, w: jnp.tanh(x @ w)), x, arange(12, 4))
    placed, w = t.arguments
    assert (placed["device_type"], placed["split"]) == ("f32[4,3]", ["data", "model"])
    assert (placed["copies"], placed["devices"], w["split"]) == (8, 8, [])
    result = t.results[0]
    assert (result["device_type"], result["split"], result["uniform"]) == (
        "f32[4,4]",
        ["data"],
        ["model"],
    )
    assert "Split over devices by their shardings: x, result." in str(t)
    assert t.collectives == [] and t.devices == 1


def test_lines_say_whose_values_are():
    lines = {row["line"]["line"]: row for row in told().lines}
    first = sgd.__code__.co_firstlineno
    assert lines[first + 1]["varying"] == ["batch"]
    assert lines[first + 2]["uniform"] == ["batch"]


def test_equal_collectives_are_one():
    f = shardax.pmap(lambda x: lax.psum(x, "i") + lax.psum(x, "i") * x, axis_name="i")
    assert sorted(c["became"] for c in told(f, arange(N, 3)).collectives) == [
        "absorbed",
        "reduction",
    ]


def test_static_arguments_are_not_listed():
    f = shardax.pmap(lambda x, n: x * n, static_broadcasted_argnums=1)
    assert [a["name"] for a in told(f, arange(N), 3).arguments] == ["x"]
    g = shardax.jit(lambda x, n: x * n, static_argnames="n")
    t = shardax.explain(g)(arange(3), n=2)
    assert [a["name"] for a in t.arguments] == ["x"]


def test_scheduled_in_chunks():
    """Large temporaries: a few devices at a time, and sums are added up chunk by chunk."""
    f = shardax.pmap(
        lambda w, x: lax.psum(jnp.clip(x.T @ jnp.sin(x @ w), -1, 1), "i"),
        axis_name="i",
        in_axes=(None, 0),
        out_axes=None,
    )
    shapes = (512, 2048), (N, 2048, 512)
    t = told(f, *[shardax.ShapeDtypeStruct(s, jnp.float32) for s in shapes])
    assert t.collectives[0]["became"] in ("reduction", "loop", "product", "arithmetic")
    assert t.steps[-1]["depth"] == 1


def test_lowering_a_shard_mapped_function():
    mesh = shardax.make_mesh((N,), ("i",))
    f = shardax.shard_map(lambda x: lax.psum(x, "i"), mesh=mesh, in_specs=P("i"), out_specs=P())
    assert "psum" in str(f.trace(arange(N)).jaxpr)


@pytest.mark.parametrize("op, traffic", [("psum", 42), ("pmax", 42)])
def test_traffic_of_a_ring(op, traffic):
    f = shardax.pmap(lambda x: getattr(lax, op)(x, "i"), axis_name="i")
    assert told(f, arange(N, 6)).collectives[0]["traffic"] == traffic


def test_a_batch_that_is_split_over_an_axis_outside_of_the_map():
    kinds = (shardax.sharding.AxisType.Auto,) * 2
    mesh = shardax.make_mesh((2, 2), ("x", "y"), axis_types=kinds)
    double = shardax.shard_map(
        lambda v: v * 2, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    t = told(shardax.vmap(double, spmd_axis_name="y"), arange(4, 8))
    result = t.results[0]
    assert (result["varying"], result["split"], result["uniform"]) == (["x"], ["x"], [])


def test_how_often_buffers_of_a_loop_are_kept():
    """A scan has results of many sizes; a buffer is one of them for each device, or what it is not
    said to be."""

    def error(w, x):
        return jnp.mean((jnp.tanh(x @ w["in"]) @ w["out"]) ** 2)

    def step(w, x):
        def body(carry, v):
            found = shardax.value_and_grad(error)(w, v)
            return shardax.tree_util.tree_map(jnp.add, carry, found), None

        zero = jnp.zeros(()), shardax.tree_util.tree_map(jnp.zeros_like, w)
        return lax.pmean(lax.scan(body, zero, x)[0], "i")

    f = shardax.pmap(step, axis_name="i", in_axes=(None, 0))
    t = shardax.explain(f)({"in": arange(16, 32), "out": arange(32, 4)}, arange(N, 4, 8, 16))
    assert any(b["copies"] == N for b in t.buffers)
    assert {b["copies"] for b in t.buffers} <= {None, 1, N}


def test_what_is_no_function():
    """It is told when explain is called, as by jit."""
    with pytest.raises(TypeError, match="Expected a callable value, got 3"):
        shardax.explain(3)
