# tests/explain/test_prediction.py - times on separate accelerators, against figures worked out by
# hand from the formulas of Thakur, Rabenseifner and Gropp (2005) and Hockney (1994).
import html
import json

import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax._explain.messages import Link, all_to_all_ring

# alpha 5 us, beta 1/(100 MB/s) = 10 ns a byte, gamma 2 ns a byte; p = 8, n = 1 MB.
LINK = Link(5e-6, 10e-9, 2e-9)
P, SIZE = 8, 1_000_000


@pytest.mark.parametrize(
    "formula, microseconds",
    [
        ("all_gather_ring", 7 * 5 + 8750),
        ("all_gather_recursive_doubling", 3 * 5 + 8750),
        ("broadcast_binomial", 3 * (5 + 10000)),
        ("broadcast_scatter_all_gather", (3 + 7) * 5 + 2 * 8750),
        ("all_to_all_bruck", 3 * 5 + 3 * 5000),
        ("all_to_all_pairwise", 7 * 5 + 10000),
        ("reduce_scatter_ring", 7 * 5 + 8750 + 1750),
        ("reduce_scatter_recursive_halving", 3 * 5 + 8750 + 1750),
        ("all_reduce_recursive_doubling", 3 * (5 + 10000 + 2000)),
        ("all_reduce_rabenseifner", 6 * 5 + 17500 + 1750),
        ("all_reduce_ring", 14 * 5 + 17500 + 1750),
    ],
)
def test_formulas_of_the_paper(formula, microseconds):
    assert getattr(LINK, formula)(P, SIZE) * 1e6 == pytest.approx(microseconds)


def test_quickest_depends_on_the_size():
    """Section 4.5: recursive doubling for short messages, Rabenseifner's for long ones."""
    assert LINK.all_reduce(P, 100) == LINK.all_reduce_recursive_doubling(P, 100)
    assert LINK.all_reduce(P, SIZE) == LINK.all_reduce_rabenseifner(P, SIZE)
    assert LINK.broadcast(P, 100) == LINK.broadcast_binomial(P, 100)
    assert LINK.broadcast(P, SIZE) == LINK.broadcast_scatter_all_gather(P, SIZE)
    assert LINK.all_to_all(P, 8) == LINK.all_to_all_bruck(P, 8)
    assert LINK.all_to_all(P, SIZE) == LINK.all_to_all_pairwise(P, SIZE)


def test_hockney():
    """Half of the bandwidth is reached at n = alpha / beta."""
    half = LINK.alpha / LINK.beta
    assert half / LINK.message(half) == pytest.approx(0.5 / LINK.beta)


def test_measured_latencies():
    """All-reduces of 8 bytes took 163.4 us on 16 devices and 631.3 us on 64: NCCL's own benchmark
    on machines of 8 V100 with EFA, July 2019 (gist.github.com/jacobkahn, a92f4425 and 3150a1a3). A
    ring takes 2 (p - 1) messages: their time there gives the time here."""
    latency = 163.4e-6 / (2 * 15)
    ring = machines(latency=latency, topology="ring")
    assert ring.all_reduce(16, 8) == pytest.approx(163.4e-6, rel=0.01)
    assert ring.all_reduce(64, 8) == pytest.approx(631.3e-6, rel=0.1)


def test_measured_times_by_size():
    """Between two V100 over TCP, NCCL 2.4.7's all-reduce took 2.059, 3.047, 5.074 and 7.145 ms for
    1, 2, 4 and 8 MiB (gist.github.com/cswinter, 3bc2cbcc, May 2019). The line through the first
    and the last, as Hockney has it, is within a fifth of the others."""
    measured = {1: 2.059e-3, 2: 3.047e-3, 4: 5.074e-3, 8: 7.145e-3}
    beta = (measured[8] - measured[1]) / (7 * 2**20)  # of two devices a ring sends all once
    two = machines(
        latency=(measured[1] - beta * 2**20) / 2, link_bandwidth=1 / beta, topology="ring"
    )
    for size, time in measured.items():
        assert two.all_reduce(2, size * 2**20) == pytest.approx(time, rel=0.2)


def test_all_to_all_in_a_ring():
    # 4 devices: one hop each way, and two; 1/4 of the data each: (1 + 1 + 2)/4 over two links.
    assert all_to_all_ring(LINK, 4, 1000) == pytest.approx(2 * 5e-6 + 0.5 * 1000 * 10e-9)
    assert all_to_all_ring(LINK, 2, 1000) == pytest.approx(5e-6 + 500 * 10e-9)
    assert all_to_all_ring(LINK, 1, 1000) == 0


def machines(**changes):
    given = {
        "flops": 1e12,
        "memory_bandwidth": 1e11,
        "link_bandwidth": 1e8,
        "latency": 5e-6,
    }
    return shardax.Accelerators(**given | changes)


def microseconds(time):
    return pytest.approx(time * 1e-6, rel=1e-9)


def test_topologies():
    # Adding up takes 3/1e11 s a byte: 26.25 us for 7/8 of a megabyte.
    ring, tree = machines(), machines(topology="tree")
    assert ring.all_reduce(8, SIZE) == microseconds(14 * 5 + 17500 + 26.25)
    assert tree.all_reduce(8, SIZE) == microseconds(6 * 5 + 17500 + 26.25)
    torus = machines(topology="torus")
    # 16 = 4 x 4: two rings of 4, the second on a quarter.
    assert torus.all_reduce(16, SIZE) == microseconds(12 * 5 + 2 * 9375 + 28.125)
    assert torus.all_reduce(7, SIZE) == ring.all_reduce(7, SIZE)
    nodes = machines(topology="hierarchical", per_node=4, node_bandwidth=1e7, node_latency=5e-5)
    # In nodes of 4: 3/4 twice; between 2 nodes: a quarter, exchanged at once, at 100 ns a byte.
    within = 6 * 5 + 15000 + 22.5
    between = 50 + 25000 + 7.5
    assert nodes.all_reduce(8, SIZE) == microseconds(within + between)
    assert nodes.all_reduce(4, SIZE) == ring.all_reduce(4, SIZE)
    # Neighbours four apart lie on other nodes.
    slow = machines(link_bandwidth=1e7, latency=5e-5, topology="tree")
    assert nodes.all_reduce(2, SIZE, stride=4) == slow.all_reduce(2, SIZE)


def test_permutations():
    assert machines().permute(8, 1000) == microseconds(5 + 10)
    assert machines().permute(8, 1000, hops=3) == microseconds(3 * 15)
    assert machines(topology="tree").permute(8, 1000, hops=3) == microseconds(15)
    assert machines().permute(1, 1000) == 0


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"topology": "star"}, "there is no topology 'star'; choose one of ring, tree"),
        ({"flops": 0}, "flops is 0; it must be positive"),
        ({"count": -1}, "count is -1; it must be positive"),
        ({"latency": -1.0}, "latency is -1.0; it must not be negative"),
        ({"node_bandwidth": -1}, "node_bandwidth is -1; it must be positive"),
        ({"node_latency": -1}, "node_latency is -1; it must not be negative"),
        ({"flops": "1e12"}, "flops is '1e12'; it must be a number"),
        ({"link_bandwidth": None}, "link_bandwidth is None; it must be a number"),
        ({"count": 2.5}, "count is 2.5; it must be an integer"),
        ({"per_node": 2.0}, "per_node is 2.0; it must be an integer"),
    ],
)
def test_figures_are_checked(changes, said):
    with pytest.raises((TypeError, ValueError), match=f"Accelerators: {said}"):
        machines(**changes)


N, ROWS, WIDTH = 8, 64, 128


def layers(weights, x):
    def loss(weights):
        h = x
        for w in weights:
            h = jnp.tanh(h @ w)
        return jnp.mean(h**2)

    gradients = shardax.grad(loss)(weights)
    return [w - 0.1 * lax.pmean(g, "data") for w, g in zip(weights, gradients)]


@pytest.fixture(scope="module")
def told():
    step = shardax.pmap(layers, axis_name="data", in_axes=(None, 0), out_axes=None)
    shape = shardax.ShapeDtypeStruct
    weights = [shape((WIDTH, WIDTH), jnp.float32)] * 4
    return shardax.explain(step)(weights, shape((N, ROWS, WIDTH), jnp.float32))


def test_time_of_a_step(told):
    p = told.on(machines())
    message = machines().all_reduce(N, WIDTH * WIDTH * 4)
    assert p.communication == pytest.approx(4 * message)
    # 4 products forward, and all but one of 8 backward; the first needs no derivative of x.
    products = (4 + 7) * 2 * ROWS * WIDTH * WIDTH
    assert products / 1e12 < p.compute < 2 * products / 1e12 + 1e-4
    assert p.time == pytest.approx(p.compute + p.communication - p.overlap)
    assert p.exposed == pytest.approx(p.time - p.compute)
    assert p.devices == N


def test_messages_overlap_with_the_backward_pass(told):
    p = told.on(machines(flops=1e9))
    assert 0 < p.overlap <= min(p.compute, p.communication)
    first = next(x for x in p.phases if x["kind"] == "communication")
    last = [x for x in p.phases if x["kind"] == "compute"][-1]
    assert first["start"] < last["start"]
    assert first["bytes"] == WIDTH * WIDTH * 4 and first["devices"] == N
    for lane in ("compute", "communication"):
        ends = [(x["start"], x["end"]) for x in p.phases if x["kind"] == lane]
        assert all(a[1] <= b[0] + 1e-12 for a, b in zip(ends, ends[1:]))


def test_memory_of_a_device(told):
    weights, x = 4 * WIDTH * WIDTH * 4, ROWS * WIDTH * 4
    p = told.on(machines(memory=10 * weights))
    assert p.memory["arguments"] == weights + x
    assert p.memory["results"] == weights
    assert p.memory["fits"] is True
    assert told.on(machines(memory=weights)).memory["fits"] is False
    assert "it does NOT fit" in str(told.on(machines(memory=weights)))


def test_scaling(told):
    p = told.on(machines())
    weak, strong = p.scaling(kind="weak"), p.scaling([1, 8], kind="strong")
    assert [row["devices"] for row in weak] == [2**i for i in range(11)]
    assert weak[0]["communication"] == 0 and weak[0]["efficiency"] == 1
    assert weak[3]["time"] == p.time
    assert all(a["efficiency"] >= b["efficiency"] for a, b in zip(weak, weak[1:]))
    assert strong[1]["time"] == pytest.approx(p.time)
    assert strong[0]["compute"] > 6 * p.compute
    quick = told.on(machines(link_bandwidth=1e15, latency=0.0)).scaling([1, 8], kind="strong")
    # Work that all devices do alike, the update of the weights, is not divided.
    assert 0.6 < quick[1]["efficiency"] < 1
    with pytest.raises(ValueError, match="kind is 'other'; it must be"):
        p.scaling(kind="other")
    with pytest.raises(ValueError, match="there is no axis 'model'"):
        p.scaling(axis="model")


def test_another_count(told):
    p = told.on(machines(count=64))
    assert (p.devices, p.axes) == (64, {"data": 64})
    assert p.communication == pytest.approx(4 * machines().all_reduce(64, WIDTH * WIDTH * 4))
    assert told.on(machines(count=N)).time == told.on(machines()).time


def test_meshes():
    mesh = shardax.make_mesh((2, 4), ("data", "model"))
    f = shardax.shard_map(
        lambda x, w: lax.psum(x @ w, "model"),
        mesh=mesh,
        in_specs=(shardax.P("data", "model"), shardax.P("model")),
        out_specs=shardax.P("data"),
    )
    told = shardax.explain(f)(jnp.ones((8, 8)), jnp.ones((8, 8)))
    assert told.on(machines()).communication == pytest.approx(machines().all_reduce(4, 4 * 8 * 4))
    assert told.on(machines(count=16)).axes == {"data": 4, "model": 4}
    with pytest.raises(ValueError, match="7 accelerators cannot be shared out over axes of 4"):
        told.on(machines(count=7))
    with pytest.raises(ValueError, match="6 devices cannot be shared out"):
        told.on(machines()).scaling([6])


def test_loops_repeat_their_phases():
    ring = [(i, (i + 1) % N) for i in range(N)]

    def f(x):
        shift = lambda b, _: (lax.ppermute(b, "i", ring), None)  # noqa: E731
        return lax.scan(shift, x, None, length=5)[0]

    told = shardax.explain(shardax.pmap(f, axis_name="i"))(jnp.ones((N, 1000)))
    assert told.on(machines()).communication == pytest.approx(5 * machines().permute(N, 4000))


def test_forms(told):
    p = told.on(machines())
    assert json.loads(p.to_json())["devices"] == N
    page = p._repr_html_()
    assert page.count("<svg") == page.count("</svg>") == 2
    text = str(p)
    assert text.splitlines()[0] == "layers on 8 separate accelerators, joined as a ring"
    assert "1024 devices" in text and "psum over data" in text


def test_function_and_machines_are_named(told):
    """Alike on pages and in text."""
    one = shardax.explain(lambda x: x + 1)(1.0).on(machines())
    torus = told.on(machines(topology="torus"))
    nodes = told.on(machines(topology="hierarchical", per_node=4))
    for p, title in (
        (torus, "layers on 8 separate accelerators, joined as a torus"),
        (nodes, "layers on 8 separate accelerators, joined in nodes of 4"),
        (one, "<lambda> on 1 separate accelerator"),
    ):
        assert str(p).splitlines()[0] == title
        assert f"<h4>{html.escape(title)}</h4>" in p._repr_html_()


def test_what_is_no_machine(told):
    with pytest.raises(TypeError, match="on: got 'A100'; an Accelerators was expected"):
        told.on("A100")
    with pytest.raises(ValueError, match="on: count is 4, but the program has no mapped axis"):
        shardax.explain(lambda x: x + 1)(1.0).on(machines(count=4))


def test_without_devices():
    p = shardax.explain(shardax.jit(lambda a: a @ a))(jnp.ones((64, 64))).on(machines())
    assert p.devices == 1 and p.communication == 0
    assert p.compute == pytest.approx(2 * 64**3 / 1e12)
    assert "More devices" not in str(p)
    assert p.to_dict()["scaling"] == {}
    with pytest.raises(ValueError, match="no mapped axis that could grow"):
        p.scaling()
