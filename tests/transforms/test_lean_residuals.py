"""tests/transforms/test_lean_residuals.py - residuals that the gradient of a scan keeps of each
turn."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

N = 8


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [jnp.asarray(rng.standard_normal(shape), jnp.float32) for shape in shapes]


def gated(w, h, x):
    """A gate and its derivative are made of one value."""
    s = jax.nn.sigmoid(h @ w + x)
    return s * h + (1 - s) * jnp.tanh(x)


def spread(w, h, x):
    """Slices of xs and what is the same in all turns repeat along a dimension."""
    return jnp.tanh(h * w[:, None] + x[None] * jnp.exp(w)[None])


def rectified(w, h, x):
    return jax.nn.relu(h @ w) * x + jnp.where(h > 0, h, 2 * h)


def cubed(w, h, x):
    """Several residuals of a value that is none itself."""
    t = jnp.tanh(h @ w)
    return (1 + t) * x + t**3


CELLS = {
    gated: arrays((N, N), (N, N), (5, N, N)),
    spread: arrays((N,), (N, N), (5, N)),
    rectified: arrays((N, N), (N, N), (5, N)),
    cubed: arrays((N, N), (N, N), (5, N)),
}


def scanned(cell, reverse=False):
    def loss(w, h, xs):
        def turn(h, x):
            h = cell(w, h, x)
            return h, h * h

        h, ys = lax.scan(turn, h, xs, reverse=reverse)
        return (h * ys).sum()

    return loss


def unrolled(cell, reverse=False):
    def loss(w, h, xs):
        ys = []
        for x in list(xs)[:: -1 if reverse else 1]:
            h = cell(w, h, x)
            ys.append(h * h)
        return (h * jnp.stack(ys)).sum()

    return loss


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", CELLS, ids=lambda f: f.__name__)
def test_values(cell, reverse):
    args = CELLS[cell]
    for derive in (
        lambda f: jax.grad(f, (0, 1, 2)),
        lambda f: jax.jit(jax.grad(f, (0, 1, 2))),
        lambda f: jax.grad(lambda *a: (jax.grad(f)(*a) ** 2).sum(), (0, 1, 2)),
        lambda f: jax.jacfwd(jax.grad(f, 1)),
        lambda f: (
            lambda *a: jax.vmap(jax.grad(f), (None, 0, None))(
                a[0], jnp.stack([a[1], 2 * a[1]]), a[2]
            )
        ),
    ):
        values, expected = (derive(form(cell, reverse))(*args) for form in (scanned, unrolled))
        for one, other in zip(jax.tree.leaves(values), jax.tree.leaves(expected), strict=True):
            scale = float(jnp.abs(other).max())
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4 * scale)


def stacks(cell):
    """Shapes of what the known scan stacks for the linear one."""
    args = CELLS[cell]

    def known(*args):
        return jax.vjp(lambda *a: lax.scan(lambda h, x: (cell(a[0], h, x), None), *a[1:]), *args)

    (scan,) = (e for e in jax.make_jaxpr(known)(*args).eqns if e.primitive.name == "scan")
    return [v.aval.shape[1:] for v in scan.outvars[1:]]


def test_what_is_kept():
    # The gate, h, and 1 - tanh(x)**2 gives way to ... tanh(x).
    assert stacks(gated) == [(N, N)] * 3
    # h and the derivative of tanh.
    assert stacks(spread) == [(N, N)] * 2
    assert stacks(cubed) == [(N, N)] * 2


def chosen(w, h, x):
    """The derivative of a branch is made of its result."""
    return lax.cond(x[0, 0] > 0, lambda h: jnp.tanh(h @ w + x), jax.nn.sigmoid, h)


def switched(w, h, x):
    """Branches that keep results, operands, something else, and nothing."""
    which = jnp.int32(jnp.abs(x[0, 0] * 4)) % 4
    branches = [
        lambda h: (jnp.exp(h @ w / 9), h),
        lambda h: (jnp.sin(h @ w), h * h),
        lambda h: (h, jnp.tanh(jnp.sin(h) @ w)),
        lambda h: (x, jnp.zeros_like(h)),
    ]
    a, b = lax.switch(which, branches, h)
    return jnp.sin(a) + b


CHOICES = {
    chosen: arrays((N, N), (N, N), (5, N, N), seed=1),
    switched: arrays((N, N), (N, N), (9, N, N), seed=2),
}


@pytest.mark.parametrize("cell", CHOICES, ids=lambda f: f.__name__)
def test_values_of_choices(cell, monkeypatch):
    monkeypatch.setitem(CELLS, cell, CHOICES[cell])
    test_values(cell, False)


def test_what_a_choice_keeps(monkeypatch):
    monkeypatch.setitem(CELLS, chosen, CHOICES[chosen])
    # The index of the branch, h and the branches' result; not one derivative for each of them.
    assert sorted(map(len, stacks(chosen))) == [0, 2, 2]
    together = jax.make_jaxpr(jax.grad(lambda h: jnp.sum(chosen(h, h, h))))(jnp.ones((N, N)))
    cond = next(e for e in together.eqns if e.primitive.name == "cond")
    assert len(cond.outvars) == 1


def test_what_a_loop_over_checked_devices_keeps():
    mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    def loss(w, h, xs):
        def turn(h, x):
            h = jnp.tanh(h @ w + x)
            return h, h

        return jnp.sum(lax.scan(turn, h, xs)[1])

    def step(w, h, xs):
        return jax.grad(loss)(w, lax.pcast(h, "i", to="varying"), xs)

    specs = (spec, jax.sharding.PartitionSpec(), jax.sharding.PartitionSpec())
    mapped = jax.shard_map(step, mesh=mesh, in_specs=specs, out_specs=spec)
    w, h, xs = arrays((4 * N, N), (2, N), (5, 2, N))
    (whole,) = (e for e in jax.make_jaxpr(mapped)(w, h, xs).eqns if e.primitive.name == "shard_map")
    known = next(e for e in whole.params["jaxpr"].eqns if e.primitive.name == "scan")
    assert [v.aval.shape for v in known.outvars[1:]] == [(5, 2, N)] * 2  # tanh, h before
    slopes = [jax.grad(loss)(part, h, xs) for part in w.reshape(4, N, N)]
    np.testing.assert_allclose(mapped(w, h, xs), jnp.concatenate(slopes), rtol=1e-5, atol=1e-6)
