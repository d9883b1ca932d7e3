"""tests/shard_map/test_programs.py - parallel programs give what the unsharded ones do: values and
gradients, in both check modes, staged and not."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import AxisType, P

RNG = np.random.default_rng(0)


def array(*shape):
    return jnp.asarray(RNG.normal(size=shape).astype(np.float32))


def mesh(*sizes, names="xyz"):
    kinds = (AxisType.Auto,) * len(sizes)
    return jax.make_mesh(sizes, tuple(names[: len(sizes)]), axis_types=kinds)


def mlp(x, w1, w2):
    return jnp.tanh(x @ w1) @ w2


def tensor_parallel(x, w1, w2):
    return lax.psum(jnp.tanh(x @ w1) @ w2, "x")


def fsdp(x, w1, w2):
    return mlp(x, *(lax.all_gather(w, "x", tiled=True) for w in (w1, w2)))


def two_dimensions(x, w1, w2):
    return lax.psum(
        jnp.tanh(lax.psum(x @ w1, "y")) @ lax.all_gather(w2, "y", axis=1, tiled=True), "x"
    )


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / q.shape[-1] ** 0.5) @ v


def ring_attention(q, k, v):
    size = lax.axis_size("x")
    ring = [(i, (i + 1) % size) for i in range(size)]

    def step(carry, _):
        total, norm, top, k, v = carry
        scores = q @ k.T / q.shape[-1] ** 0.5
        new_top = jnp.maximum(top, scores.max(-1))
        weights, scale = jnp.exp(scores - new_top[:, None]), jnp.exp(top - new_top)
        total = total * scale[:, None] + weights @ v
        norm = norm * scale + weights.sum(-1)
        return (total, norm, new_top, *(lax.ppermute(a, "x", ring) for a in (k, v))), None

    zero = q[:, 0] * 0
    start = (q @ jnp.zeros((q.shape[1], v.shape[1])), zero, zero - 1e30, k, v)
    (total, norm, *_), _ = lax.scan(step, start, None, size)
    return total / norm[:, None]


def layers(x, w):
    return lax.scan(lambda c, m: (jnp.tanh(c @ m), None), x, w)[0]


def pipeline(x, w):
    """Microbatches go from stage to stage; each device has one layer."""
    stages, stage = lax.axis_size("x"), lax.axis_index("x")
    onward = [(i, i + 1) for i in range(stages - 1)]
    parts = x.reshape(stages, -1, x.shape[1])
    empty = lax.pcast(jnp.zeros_like(parts[0]), "x", to="varying")

    def step(carry, t):
        fed = jnp.where(stage == 0, parts[jnp.minimum(t, stages - 1)], carry)
        out = jnp.tanh(fed @ w[0])
        return lax.ppermute(out, "x", onward), out

    _, outs = lax.scan(step, empty, jnp.arange(2 * stages - 1))
    last = jnp.where(stage == stages - 1, outs[stages - 1 :], 0)
    return lax.psum(last, "x").reshape(x.shape)


def experts(x, w):
    """Row i of each block goes to expert i and comes back."""
    sent = lax.all_to_all(x, "x", 0, 0, tiled=True)
    return lax.all_to_all(jnp.tanh(sent @ w[0]), "x", 0, 0, tiled=True)


def all_experts(x, w):
    return jnp.tanh(jnp.einsum("bek,ekl->bel", x.reshape(4, 4, -1), w)).reshape(16, -1)


def halo(x):
    right = lax.ppermute(x[:1], "x", [(i, (i - 1) % 4) for i in range(4)])
    left = lax.ppermute(x[-1:], "x", [(i, (i + 1) % 4) for i in range(4)])
    padded = jnp.concatenate([left, x, right])
    return padded[:-2] + padded[2:] - 2 * x


def rolled(x):
    return jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) - 2 * x


PROGRAMS = {
    "data parallel": (mlp, mlp, (4,), (P("x"), P(), P()), P("x"), [(8, 6), (6, 8), (8, 4)]),
    "tensor parallel": (
        tensor_parallel, mlp, (4,), (P(), P(None, "x"), P("x")), P(), [(8, 6), (6, 8), (8, 4)],
    ),
    "fsdp": (fsdp, mlp, (2,), (P("x"), P("x"), P("x")), P("x"), [(8, 6), (6, 8), (8, 4)]),
    "two dimensions": (
        two_dimensions, mlp, (2, 2),
        (P(None, "y"), P("y", "x"), P("x", "y")), P(), [(8, 6), (6, 8), (8, 4)],
    ),
    "ring attention": (
        ring_attention, attention, (4,), (P("x"),) * 3, P("x"), [(8, 4), (8, 4), (8, 3)],
    ),
    "pipeline": (pipeline, layers, (4,), (P(), P("x")), P(), [(8, 3), (4, 3, 3)]),
    "experts": (experts, all_experts, (4,), (P("x"), P("x")), P("x"), [(16, 3), (4, 3, 3)]),
    "halo": (halo, rolled, (4,), (P("x"),), P("x"), [(8, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, check):
    sharded, whole, sizes, in_specs, out_specs, shapes = PROGRAMS[name]
    operands = [array(*shape) for shape in shapes]
    if name == "two dimensions" and check:  # the second product has all of w2's columns
        sharded = lambda *a: lax.pmean(two_dimensions(*a), "y")  # noqa: E731
    f = jax.shard_map(
        sharded, mesh=mesh(*sizes), in_specs=in_specs, out_specs=out_specs, check_vma=check
    )
    expected = whole(*operands)
    np.testing.assert_allclose(f(*operands), expected, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(jax.jit(f)(*operands), expected, rtol=2e-5, atol=2e-5)

    def loss(g):
        return lambda *a: (g(*a) ** 2).sum()

    every = tuple(range(len(operands)))
    slopes = jax.grad(loss(whole), every)(*operands)
    for g in (jax.grad(loss(f), every), jax.jit(jax.grad(loss(f), every))):
        for found, slope in zip(g(*operands), slopes):
            np.testing.assert_allclose(found, slope, rtol=2e-4, atol=2e-4)
    batch = [jnp.stack([a, a + 1]) for a in operands]
    np.testing.assert_allclose(jax.vmap(f)(*batch), jax.vmap(whole)(*batch), rtol=5e-5, atol=5e-5)


def test_a_row_split_product_is_one_product(monkeypatch, capfd):
    f = jax.jit(
        jax.shard_map(
            lambda x, w: lax.psum(x @ w, "x"),
            mesh=mesh(4), in_specs=(P(None, "x"), P("x")), out_specs=P(),
        )
    )  # fmt: skip
    x, w = array(8, 12), array(12, 5)
    np.testing.assert_allclose(f(x, w), x @ w, rtol=1e-5, atol=1e-5)


def test_blocks_of_results_are_views():
    x = jnp.arange(32.0).reshape(8, 4)
    y = jax.shard_map(
        lambda a: a + 1, mesh=mesh(4, 2), in_specs=P("x", "y"), out_specs=P("x", "y")
    )(x)
    assert y.sharding.spec == P("x", "y") and len(y.addressable_shards) == 8
    start = y.unsafe_buffer_pointer()
    for shard in y.addressable_shards:
        np.testing.assert_array_equal(shard.data, np.asarray(x + 1)[shard.index])
        assert start <= shard.data.unsafe_buffer_pointer() < start + y.nbytes


def test_many_devices():
    jax.config.update("jax_num_cpu_devices", 1024)
    try:
        f = jax.shard_map(
            lambda x: lax.psum(x, ("x", "y")) + lax.axis_index(("x", "y")),
            mesh=mesh(32, 32), in_specs=P(("x", "y")), out_specs=P(("x", "y")),
        )  # fmt: skip
        np.testing.assert_array_equal(f(jnp.ones(1024)), 1024 + np.arange(1024))
    finally:
        jax.config.update("jax_num_cpu_devices", 8)


@pytest.mark.parametrize("check_vma", [True, False])
def test_gradient_of_branches_within_a_scan_that_differ_by_device(check_vma):
    """A pipeline, whose devices are idle at first and at last."""
    mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    w = jnp.asarray(np.linspace(0.1, 1, 4 * 9, dtype=np.float32).reshape(4, 3, 3))
    x = jnp.asarray(np.linspace(-1, 1, 5 * 6, dtype=np.float32).reshape(5, 2, 3))

    def pipeline(w, x):
        device = lax.axis_index("i")

        def idle(v):
            return v * 0

        def tick(arriving, t):
            v = jnp.where(device == 0, x[jnp.clip(t, 0, 4)], arriving)
            busy = (t >= device) & (t < 5 + device)
            out = lax.cond(busy, lambda v: jnp.tanh(v @ w[0]), idle, v)
            return lax.ppermute(out, "i", [(i, i + 1) for i in range(3)]), out

        start = jnp.zeros_like(x[0])
        start = lax.pcast(start, "i", to="varying") if check_vma else start
        outs = lax.scan(tick, start, jnp.arange(8))[1]
        return lax.psum(jnp.where(device == 3, (outs[3:] ** 2).sum(), 0.0), "i")

    def whole(w, x):
        for each in w:
            x = jnp.tanh(x @ each)
        return (x**2).sum()

    mapped = jax.shard_map(
        pipeline, mesh=mesh, in_specs=(P("i"), P()), out_specs=P(), check_vma=check_vma
    )
    expected = jax.value_and_grad(whole)(w, x)
    for f in (jax.value_and_grad(mapped), jax.jit(jax.value_and_grad(mapped))):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), f(w, x), expected)
